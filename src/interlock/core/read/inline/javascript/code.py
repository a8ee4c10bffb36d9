"""Text that a JavaScript program runs as code: eval, Function, vm, modules."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.core.read.facts import known
from interlock.core.read.inline.javascript.methods import unknown_call
from interlock.core.read.inline.javascript.names import member, module
from interlock.core.read.inline.javascript.values import UNKNOWN, Func, Ref, Value, options, strongest, to_text

if TYPE_CHECKING:
    from interlock.core.read.inline.javascript.walk import Walk

_PATH = re.compile(r"(?:return\s+)?([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*){0,5});?", re.ASCII)
_REQUIRE = re.compile(r"""(?:return\s+)?require\(['"]([\w:/@.-]{1,80})['"]\);?""", re.ASCII)


def run_text(walk: Walk, value: Value) -> bool:
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


def code_of(walk: Walk, language: str, value: Value) -> None:
    """Report text that is run as code in some language."""
    for option in options(value):
        text = to_text(option)
        if run_text(walk, option):
            continue
        if known(text):
            walk.out.code(language, text)
        else:
            walk.out.unreadable("eval of text made at run time", "payload")


def _eval(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if not args or isinstance(args[0], Func):
        return UNKNOWN
    walk.dynamic = True
    value = args[0]
    if isinstance(value, dict | list) or value is None:
        return value
    code_of(walk, "javascript", value)
    return _value_of(walk, to_text(value))


def _value_of(walk: Walk, text: str) -> Value:
    """What code gives that only names a thing."""
    text = text.strip()
    required = _REQUIRE.fullmatch(text)
    if required:
        return module(walk, required[1])
    named = _PATH.fullmatch(text)
    if not named:
        return UNKNOWN
    first, *rest = named[1].split(".")
    value = Ref("globalThis") if first == "this" else walk.lookup(first)
    for key in rest:
        value = member(value, key)
    return value


def _function(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if not args:
        return UNKNOWN
    return Ref("Function()", (("Function", (_eval(walk, callee, args[-1:]),)),))


def _made_function(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    value: Value = callee.chain[-1][1][0] if callee.chain else UNKNOWN
    return value


def _timer(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if args and isinstance(args[0], str):
        code_of(walk, "javascript", args[0])
    return unknown_call(walk, callee, args)


def _require(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if not args:
        return UNKNOWN
    origin = strongest(args[:1])
    if origin is not None and origin.kind == "content":
        return UNKNOWN
    for option in options(args[0])[1:]:
        module(walk, to_text(option))
    return module(walk, to_text(args[0]))


def _worker(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if len(args) > 1 and isinstance(args[1], dict) and args[1].get("eval") is True:
        code_of(walk, "javascript", args[0])
    elif args and known(to_text(args[0])):
        module(walk, to_text(args[0]))
    return UNKNOWN


def _compile(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    if args:
        code_of(walk, "javascript", args[0])
    return UNKNOWN


def _create_require(walk: Walk, callee: Ref, args: list[Value]) -> Value:
    return Ref("require")


CODE: dict[str, Callable[[Walk, Ref, list[Value]], Value]] = {
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
