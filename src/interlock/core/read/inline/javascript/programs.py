"""Which programs the calls of a JavaScript program run, and what they feed to them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from interlock.core.read.facts import hole, known
from interlock.core.read.inline.javascript.code import code_of, run_text
from interlock.core.read.inline.javascript.files import Args, Work, arg, setting
from interlock.core.read.inline.javascript.methods import unknown_call
from interlock.core.read.inline.javascript.values import UNKNOWN, Func, Made, Ref, Value, options, strongest, to_text

if TYPE_CHECKING:
    from interlock.core.read.inline.javascript.walk import Walk

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "cmd.exe", "powershell", "pwsh"})
_INTERPRETERS = {
    "python": "python", "python3": "python", "node": "javascript", "perl": "perl", "ruby": "ruby", "php": "php",
}  # fmt: skip


def words(value: Value) -> list[str]:
    """An argument list, as the words a program would get."""
    if isinstance(value, list):
        return [to_text(item) for item in value[:1_000]]
    return [] if value is None or isinstance(value, dict | Func) else [to_text(value)]


def base_name(program: str) -> str:
    return program.replace("\\", "/").rpartition("/")[2].lower()


def _shell(walk: Walk, callee: Ref, args: Args) -> Value:
    for text in options(arg(args, 0)):
        text = concat_words(text)
        if not run_text(walk, text):
            _note_download(walk, to_text(text))
            walk.out.shell(to_text(text))
    _fed(walk, base_name(to_text(arg(args, 0)).strip()), setting(args, "input"))
    return _process(walk, callee, args, to_text(arg(args, 0)))


def concat_words(value: Value) -> Value:
    return " ".join(words(value)) if isinstance(value, list) else value


def _program(walk: Walk, callee: Ref, args: Args) -> Value:
    given = arg(args, 1) if not isinstance(arg(args, 1), dict) else None
    for option in options(arg(args, 0)):
        _start(walk, to_text(option), words(given), args, strongest([option, given]))
    return _process(walk, callee, args, to_text(arg(args, 0)))


def _start(walk: Walk, program: str, rest: list[str], args: Args, origin: Made | None) -> None:
    in_shell = setting(args, "shell")
    if strongest([setting(args, "stdio")]) is not None and base_name(program) in _SHELLS:
        walk.out.effect("reverse_shell", walk.host)
    if origin is not None and origin.kind in ("fetched", "socket") and (base_name(program) in _SHELLS or in_shell):
        run_text(walk, origin)
    _note_download(walk, " ".join([program, *rest]))
    if in_shell is not None and in_shell is not False:
        walk.out.shell(" ".join([program, *rest]))
    else:
        walk.out.run([program, *rest])
    _fed(walk, base_name(program), setting(args, "input"))


def _note_download(walk: Walk, text: str) -> None:
    for path, url in walk.downloads.items():
        if path in text:
            walk.out.effect("run_download", url)


def _fed(walk: Walk, program: str, given: Value) -> None:
    """What a program gets on its standard input is code when the program is an interpreter."""
    if given is None:
        return
    if program in _SHELLS:
        if not run_text(walk, given):
            walk.out.shell(to_text(given))
    elif program in _INTERPRETERS:
        code_of(walk, _INTERPRETERS[program], given)


def _process(walk: Walk, callee: Ref, args: Args, program: str) -> Value:
    made = Made("process", program)
    for value in args:
        if isinstance(value, Func):
            walk.invoke(value, [None, made, made])
    return made


def _fork(walk: Walk, callee: Ref, args: Args) -> Value:
    return _program(walk, callee, ["node", [*words(arg(args, 0)), *words(arg(args, 1))]])


def _argv(walk: Walk, callee: Ref, args: Args) -> Value:
    """Programs whose words come as one list: Bun.spawn(["rm", "x"]), Bun.spawn({cmd: […]}), Deno.run({cmd: […]})."""
    given = setting(args, "cmd") or setting(args, "args") or arg(args, 0)
    argv = words(given if not isinstance(given, dict) else None) or [hole()]
    file = setting(args, "file")
    _start(walk, argv[0] if file is None else to_text(file), argv[1:], args, strongest([given]))
    return _process(walk, callee, args, argv[0])


def _deno_command(walk: Walk, callee: Ref, args: Args) -> Value:
    walk.out.run([to_text(arg(args, 0)), *words(setting(args, "args"))])
    return _process(walk, callee, args, to_text(arg(args, 0)))


def _command_line(walk: Walk, callee: Ref, args: Args) -> Value:
    walk.out.run(to_text(arg(args, 0)).split() or [hole()])
    return _process(walk, callee, args, to_text(arg(args, 0)))


def tagged(walk: Walk, callee: Ref, args: Args) -> Value:
    if arg(args, 1) == Ref("template"):
        return _shell(walk, callee, args[:1])
    return callee if args and isinstance(args[0], dict) else unknown_call(walk, callee, args)


def _kill(walk: Walk, callee: Ref, args: Args) -> Value:
    number = to_text(arg(args, 0)) if args else hole()
    if arg(args, 1) != 0:  # signal 0 only asks whether the process is there
        walk.out.effect("kill", number, *(("all",) if number == "-1" else ()))
    return UNKNOWN


def _on_process(walk: Walk, base: Made, method: str, args: Args) -> None:
    """Text written to a running interpreter."""
    if method in ("write", "end") and args:
        program = (shlex_words(base.source) or [""])[0]
        _fed(walk, base_name(program), args[0])


def shlex_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def on_made(walk: Walk, base: Made, method: str, args: Args) -> Value:
    """A method called on something whose origin matters; UNKNOWN when the value itself is all that comes of it."""
    if base.kind == "process":
        _on_process(walk, base, method, args)
    if base.kind == "file" and method in ("delete", "unlink"):
        walk.out.effect("delete", base.source)
    if method == "pipe" and args:
        _piped(walk, base, args[0])
        return args[0] if isinstance(args[0], Made) else base
    return UNKNOWN


def _piped(walk: Walk, source: Made, sink: Value) -> None:
    into = strongest([sink])
    if into is None:
        return
    kinds = {source.kind, into.kind}
    process = source if source.kind == "process" else into
    if kinds == {"process", "socket"} and base_name((shlex_words(process.source) or [""])[0]) in _SHELLS:
        walk.out.effect("reverse_shell", walk.host)
    if source.kind == "fetched" and into.kind == "process":
        walk.out.effect("run_download", source.source)
    if source.kind == "fetched" and into.kind == "file" and known(into.source):
        walk.downloads[into.source] = source.source


def shelljs(walk: Walk, callee: Ref, args: Args) -> Value:
    if callee.last.removesuffix("()") == "exec":
        return _shell(walk, callee, args)
    if callee.name.count(".") == 1 and "(" not in callee.name and callee.last not in _SHELLJS_QUIET:
        walk.out.run([callee.last, *(word for value in args for word in words(value))])
    return unknown_call(walk, callee, args)


_SHELLJS_QUIET = frozenset({"config", "which", "error", "set", "test", "echo", "pwd", "cd", "tempdir"})


def execa(walk: Walk, callee: Ref, args: Args) -> Value:
    name = callee.last.removesuffix("Sync")
    if arg(args, 1) == Ref("template"):
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
