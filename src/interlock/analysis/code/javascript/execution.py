"""Programs that a JavaScript program starts and text that it runs as code: child_process, eval, Function, vm, modules."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.files import Args, Work, arg, setting
from interlock.analysis.code.javascript.methods import unknown_call
from interlock.analysis.code.javascript.names import member, module
from interlock.analysis.code.javascript.values import (
    UNKNOWN,
    JsFunction,
    JsOrigin,
    JsPath,
    Value,
    options,
    strongest,
    to_text,
)
from interlock.analysis.facts import hole, known
from interlock.analysis.programs.languages import input_language, is_shell

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk


def words(value: Value) -> list[str]:
    """An argument list, as the words a program would get."""
    if isinstance(value, list):
        return [to_text(item) for item in value[:1_000]]
    return [] if value is None or isinstance(value, dict | JsFunction) else [to_text(value)]


def base_name(program: str) -> str:
    return program.replace("\\", "/").rpartition("/")[2].lower()


def _shell(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    for text in options(arg(args, 0)):
        text = concat_words(text)
        if not run_text(walk, text):
            _note_download(walk, to_text(text))
            walk.out.shell(to_text(text))
    _fed(walk, base_name(to_text(arg(args, 0)).strip()), setting(args, "input"))
    return _process(walk, callee, args, to_text(arg(args, 0)))


def concat_words(value: Value) -> Value:
    return " ".join(words(value)) if isinstance(value, list) else value


def _program(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    given = arg(args, 1) if not isinstance(arg(args, 1), dict) else None
    for option in options(arg(args, 0)):
        _start(walk, to_text(option), words(given), args, strongest([option, given]))
    return _process(walk, callee, args, to_text(arg(args, 0)))


def _start(walk: JsWalk, program: str, rest: list[str], args: Args, origin: JsOrigin | None) -> None:
    in_shell = setting(args, "shell")
    if strongest([setting(args, "stdio")]) is not None and is_shell(base_name(program)):
        walk.out.effect("reverse_shell", walk.host)
    if origin is not None and origin.kind in ("fetched", "socket") and (is_shell(base_name(program)) or in_shell):
        run_text(walk, origin)
    _note_download(walk, " ".join([program, *rest]))
    if in_shell is not None and in_shell is not False:
        walk.out.shell(" ".join([program, *rest]))
    else:
        walk.out.run([program, *rest])
    _fed(walk, base_name(program), setting(args, "input"))


def _note_download(walk: JsWalk, text: str) -> None:
    for path, url in walk.downloads.items():
        if path in text:
            walk.out.effect("run_download", url)


def _fed(walk: JsWalk, program: str, given: Value) -> None:
    """What a program gets on its standard input is code when the program is an interpreter."""
    if given is None:
        return
    if is_shell(program):
        if not run_text(walk, given):
            walk.out.shell(to_text(given))
    elif language := input_language(program):
        code_of(walk, language, given)


def _process(walk: JsWalk, callee: JsPath, args: Args, program: str) -> Value:
    made = JsOrigin("process", program)
    for value in args:
        if isinstance(value, JsFunction):
            walk.invoke(value, [None, made, made])
    return made


def _fork(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    return _program(walk, callee, ["node", [*words(arg(args, 0)), *words(arg(args, 1))]])


def _argv(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    """Programs whose words come as one list: Bun.spawn(["rm", "x"]), Bun.spawn({cmd: […]}), Deno.run({cmd: […]})."""
    given = setting(args, "cmd") or setting(args, "args") or arg(args, 0)
    argv = words(given if not isinstance(given, dict) else None) or [hole()]
    file = setting(args, "file")
    _start(walk, argv[0] if file is None else to_text(file), argv[1:], args, strongest([given]))
    return _process(walk, callee, args, argv[0])


def _deno_command(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    walk.out.run([to_text(arg(args, 0)), *words(setting(args, "args"))])
    return _process(walk, callee, args, to_text(arg(args, 0)))


def _command_line(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    walk.out.run(to_text(arg(args, 0)).split() or [hole()])
    return _process(walk, callee, args, to_text(arg(args, 0)))


def tagged(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    if arg(args, 1) == JsPath("template"):
        return _shell(walk, callee, args[:1])
    return callee if args and isinstance(args[0], dict) else unknown_call(walk, callee, args)


def _kill(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    number = to_text(arg(args, 0)) if args else hole()
    if arg(args, 1) != 0:  # signal 0 only asks whether the process is there
        walk.out.effect("kill", number, *(("all",) if number == "-1" else ()))
    return UNKNOWN


def _on_process(walk: JsWalk, base: JsOrigin, method: str, args: Args) -> None:
    """Text written to a running interpreter."""
    if method in ("write", "end") and args:
        program = (shlex_words(base.source) or [""])[0]
        _fed(walk, base_name(program), args[0])


def shlex_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def on_made(walk: JsWalk, base: JsOrigin, method: str, args: Args) -> Value:
    """A method called on something whose origin matters; UNKNOWN when the value itself is all that comes of it."""
    if base.kind == "process":
        _on_process(walk, base, method, args)
    if base.kind == "file" and method in ("delete", "unlink"):
        walk.out.effect("delete", base.source)
    if method == "pipe" and args:
        _piped(walk, base, args[0])
        return args[0] if isinstance(args[0], JsOrigin) else base
    return UNKNOWN


def _piped(walk: JsWalk, source: JsOrigin, sink: Value) -> None:
    into = strongest([sink])
    if into is None:
        return
    kinds = {source.kind, into.kind}
    process = source if source.kind == "process" else into
    if kinds == {"process", "socket"} and is_shell(base_name((shlex_words(process.source) or [""])[0])):
        walk.out.effect("reverse_shell", walk.host)
    if source.kind == "fetched" and into.kind == "process":
        walk.out.effect("run_download", source.source)
    if source.kind == "fetched" and into.kind == "file" and known(into.source):
        walk.downloads[into.source] = source.source


def shelljs(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    if callee.last.removesuffix("()") == "exec":
        return _shell(walk, callee, args)
    if callee.name.count(".") == 1 and "(" not in callee.name and callee.last not in _SHELLJS_QUIET:
        walk.out.run([callee.last, *(word for value in args for word in words(value))])
    return unknown_call(walk, callee, args)


_SHELLJS_QUIET = frozenset({"config", "which", "error", "set", "test", "echo", "pwd", "cd", "tempdir"})


def execa(walk: JsWalk, callee: JsPath, args: Args) -> Value:
    name = callee.last.removesuffix("Sync")
    if arg(args, 1) == JsPath("template"):
        return _shell(walk, callee, args[:1])
    if name in ("command", "execaCommand"):
        return _command_line(walk, callee, args)
    if name in ("node", "execaNode"):
        return _fork(walk, callee, args)
    return _program(walk, callee, args) if name in ("execa", "shell", "sync") else tagged(walk, callee, args)


PROGRAMS: dict[str, Work] = {
    "child_process.exec": _shell, "child_process.execFile": _program, "child_process.spawn": _program,
    "child_process.fork": _fork, "Bun.spawn": _argv, "Deno.run": _argv, "Deno.Command": _deno_command,
    "process.binding().spawn": _argv, "Bun.$": tagged, "$": tagged, "process.kill": _kill, "Deno.kill": _kill,
    "execa": execa,
}  # fmt: skip


_PATH = re.compile(r"(?:return\s+)?([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*){0,5});?", re.ASCII)
_REQUIRE = re.compile(r"""(?:return\s+)?require\(['"]([\w:/@.-]{1,80})['"]\);?""", re.ASCII)


def run_text(walk: JsWalk, value: Value) -> bool:
    """Report text that came from elsewhere and is run; False when it did not come from elsewhere."""
    origin = strongest([value])
    if origin is None:
        return False
    if origin.kind == "fetched":
        walk.out.effect("run_download", origin.source)
    elif origin.kind == "socket":
        walk.out.effect("reverse_shell", origin.source or walk.host)
    elif origin.kind == "content":
        walk.out.effect("run_script", origin.source)
    return origin.kind in ("fetched", "socket", "content")


def code_of(walk: JsWalk, language: str, value: Value) -> None:
    """Report text that is run as code in some language."""
    for option in options(value):
        text = to_text(option)
        if run_text(walk, option):
            continue
        if known(text):
            walk.out.code(language, text)
        else:
            walk.out.unreadable("eval of text made at run time", "payload")


def _eval(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if not args or isinstance(args[0], JsFunction):
        return UNKNOWN
    walk.dynamic = True
    value = args[0]
    if isinstance(value, dict | list) or value is None:
        return value
    code_of(walk, "javascript", value)
    return _value_of(walk, to_text(value))


def _value_of(walk: JsWalk, text: str) -> Value:
    """What code gives that only names a thing."""
    text = text.strip()
    required = _REQUIRE.fullmatch(text)
    if required:
        return module(walk, required[1])
    named = _PATH.fullmatch(text)
    if not named:
        return UNKNOWN
    first, *rest = named[1].split(".")
    value = JsPath("globalThis") if first == "this" else walk.lookup(first)
    for key in rest:
        value = member(value, key)
    return value


def _function(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if not args:
        return UNKNOWN
    return JsPath("Function()", (("Function", (_eval(walk, callee, args[-1:]),)),))


def _made_function(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    value: Value = callee.chain[-1][1][0] if callee.chain else UNKNOWN
    return value


def _timer(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if args and isinstance(args[0], str):
        code_of(walk, "javascript", args[0])
    return unknown_call(walk, callee, args)


def _require(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if not args:
        return UNKNOWN
    origin = strongest(args[:1])
    if origin is not None and origin.kind == "content":
        return UNKNOWN
    for option in options(args[0])[1:]:
        module(walk, to_text(option))
    return module(walk, to_text(args[0]))


def _worker(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if len(args) > 1 and isinstance(args[1], dict) and args[1].get("eval") is True:
        code_of(walk, "javascript", args[0])
    elif args and known(to_text(args[0])):
        module(walk, to_text(args[0]))
    return UNKNOWN


def _compile(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    if args:
        code_of(walk, "javascript", args[0])
    return UNKNOWN


def _create_require(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    return JsPath("require")


CODE: dict[str, Callable[[JsWalk, JsPath, list[Value]], Value]] = {
    "eval": _eval, "Function": _function, "Function()": _made_function, "GeneratorFunction": _function,
    "vm.runInThisContext": _eval, "vm.runInNewContext": _eval, "vm.runInContext": _eval, "vm.Script": _eval,
    "vm.compileFunction": _eval, "vm.SourceTextModule": _eval, "setTimeout": _timer, "setInterval": _timer,
    "setImmediate": _timer, "require": _require, "import": _require, "module.require": _require,
    "process.mainModule.require": _require, "?.mainModule.require": _require, "require.main.require": _require,
    "process.getBuiltinModule": _require, "module.createRequire": _create_require, "createRequire": _create_require,
    "module._load": _require, "module.constructor._load": _require, "constructor._load": _require,
    "module.Module._load": _require, "worker_threads.Worker": _worker, "module._compile": _compile,
    "?._compile": _compile,
}  # fmt: skip
