"""Resolves JavaScript names, members and operators as far as the text alone tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec.structs import replace

from interlock.analysis.code.javascript.builtins import PURE
from interlock.analysis.code.javascript.values import (
    HOMES,
    NAMED,
    UNKNOWN,
    JsChoice,
    JsFunction,
    JsOrigin,
    JsPath,
    Regex,
    Value,
    concat,
    either,
    same,
    to_text,
    truth,
)
from interlock.analysis.facts import hole, known, without_holes

if TYPE_CHECKING:
    from tree_sitter import Node

    from interlock.analysis.code.javascript.walk import JsWalk

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
# The same thing under another module's name.
_MODULES = {
    "fs/promises": "fs", "fs-extra": "fs", "graceful-fs": "fs", "mz/fs": "fs", "path/posix": "path", "https": "http",
    "cross-spawn": "child_process.spawn", "node-fetch": "fetch", "cross-fetch": "fetch", "isomorphic-fetch": "fetch",
    "fast-glob": "glob", "globby": "glob", "tiny-glob": "glob", "follow-redirects": "http", "tls": "net",
    "bun": "Bun", "timers/promises": "timers", "process": "process", "buffer": "globalThis", "zx/core": "zx",
}  # fmt: skip
_TRANSPARENT = frozenset({"default", "promises", "posix", "win32", "prototype", "__proto__"})
_GLOBALS = frozenset({"globalThis", "global", "window", "self", "top"})
_LONGEST_NAME = 300


def text_of(node: Node | None) -> str:
    """The source text of a node."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def unescaped(node: Node) -> str:
    """A piece of a string literal, as the text it stands for."""
    text = text_of(node)
    if node.type != "escape_sequence":
        return text
    body = text[1:]
    try:
        if body[:1] in "xu" and len(body) > 1:
            return chr(int(body[1:].strip("{}"), 16))
        if body.isdigit() and body != "0":
            return chr(int(body, 8))
    except (ValueError, OverflowError):
        return hole()
    return _ESCAPES.get(body, body)


def module(walk: JsWalk, name: str) -> Value:
    """What `require` or `import` of this name gives."""
    if name.startswith("data:") and "," in name:
        return walk.deed(walk, JsPath("eval"), [_data(name)], UNKNOWN)
    if name.startswith((".", "/", "~")):
        if not name.endswith(".json"):
            walk.out.effect("run_script", name)
        return UNKNOWN
    if not without_holes(name):
        walk.out.unreadable("a module that is chosen at run time", "payload")
        return UNKNOWN
    if name.startswith(("http:", "https:")):
        walk.out.effect("run_download", name)
        return UNKNOWN
    name = name.removeprefix("node:").removeprefix("npm:").removeprefix("bun:")
    return JsPath(_MODULES.get(name, name))


def _data(url: str) -> Value:
    head, _, body = url.partition(",")
    return PURE["atob"]([body]) if head.endswith("base64") else unquote(body)


def member(base: Value, key: str) -> Value:
    """What `base.key` stands for."""
    if isinstance(base, JsChoice):
        return either(*(member(option, key) for option in base.options))
    if isinstance(base, dict):
        return _property(base, key)
    if isinstance(base, list | str) and not isinstance(base, JsPath):
        return _element(base, key)
    if isinstance(base, JsOrigin):
        if base.kind == "entry" and key in ("path", "parentPath") and base.text == "*":
            return base.source
        return base if key != "length" else UNKNOWN
    if key == "constructor":
        maker = isinstance(base, JsFunction) or (isinstance(base, JsPath) and base.last in ("constructor", "?"))
        return JsPath("Function") if maker else JsPath("constructor")
    return _of_ref(base, key) if isinstance(base, JsPath) else UNKNOWN


def _property(base: dict[str, Value], key: str) -> Value:
    if key in base:
        return base[key]
    if not known(key) and base:
        return either(*base.values())
    return member(base["..."], key) if "..." in base else JsPath("constructor") if key == "constructor" else UNKNOWN


def _element(base: list[Value] | str, key: str) -> Value:
    if key == "length":
        return len(base) if not isinstance(base, str) or known(base) else UNKNOWN
    if key == "constructor":
        return JsPath("constructor")
    if isinstance(base, str) and not known(base):
        return hole()
    if key.isdigit():
        return base[int(key)] if len(key) < 7 and int(key) < len(base) else None
    if isinstance(base, list) and not known(key) and base:
        return either(*base[:8])
    return UNKNOWN


def _of_ref(base: JsPath, key: str) -> Value:
    if base.name == "process.env" or base.name in ("Bun.env", "Deno.env", "import.meta.env"):
        return "~" if key in HOMES else hole(key if known(key) else "")
    if key in _TRANSPARENT and base.name not in _GLOBALS:
        return base
    if base.name in _GLOBALS:
        return NAMED[key] if key in NAMED else JsPath(key if known(key) else "globalThis.?")
    name = f"{base.name}.{key if known(key) else '?'}"
    return NAMED[name] if name in NAMED else JsPath(name, base.chain) if len(name) <= _LONGEST_NAME else UNKNOWN


def items_of(over: Value, keys: bool = False) -> list[Value]:
    """What a loop over this value goes through."""
    if isinstance(over, list):
        return [str(at) for at in range(len(over))] if keys else list(over)
    if isinstance(over, dict):
        return list(over) if keys else list(over.values())
    if isinstance(over, str) and known(over):
        return list(over)
    if isinstance(over, JsChoice):
        return [item for option in over.options for item in items_of(option, keys)]
    return [over if isinstance(over, JsOrigin) else JsOrigin("item")]


# ---- operators

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "-": lambda a, b: a - b, "*": lambda a, b: a * b, "%": lambda a, b: a % b if b else 0, "+": lambda a, b: a + b,
    "^": lambda a, b: int(a) ^ int(b), "&": lambda a, b: int(a) & int(b), "|": lambda a, b: int(a) | int(b),
    ">>": lambda a, b: int(a) >> (int(b) & 31), "<<": lambda a, b: int(a) << (int(b) & 31),
    ">>>": lambda a, b: (int(a) & 0xFFFFFFFF) >> (int(b) & 31), "/": lambda a, b: a / b if b else 0,
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def combined(operator: str, left: Value, right: Value) -> Value:
    """What an operator gives for two values."""
    if operator in ("||", "??", "&&"):
        return _chosen(operator, left, right)
    if operator in ("==", "===", "!=", "!=="):
        return _compared(operator, left, right)
    if isinstance(left, int | float) and isinstance(right, int | float) and operator in _ARITHMETIC:
        try:
            value = _ARITHMETIC[operator](left, right)
            return value if abs(value) < 1e15 else UNKNOWN
        except (ValueError, OverflowError):
            return UNKNOWN
    return concat(left, right) if operator == "+" else UNKNOWN


def _chosen(operator: str, left: Value, right: Value) -> Value:
    holds = truth(left)
    if operator == "??":
        return right if left is None else left if holds is not None else either(left, right)
    if holds is None and left is not None:
        return either(right, left) if operator == "||" else right
    return left if bool(holds) == (operator == "||") else right


def _compared(operator: str, left: Value, right: Value) -> Value:
    plain = (str, int, float, bool)
    if isinstance(left, plain) and isinstance(right, plain) and known(to_text(left)) and known(to_text(right)):
        return same(left, right) == (not operator.startswith("!"))
    return UNKNOWN


# ---- what a condition tells about the name it asks about


def narrowed(walk: JsWalk, condition: Node | None) -> dict[str, Value]:
    """The names that a condition like `name.endsWith(".log")` tells more about, with what they then stand for."""
    while condition is not None and condition.type == "parenthesized_expression" and condition.named_children:
        condition = condition.named_children[0]
    if condition is None or condition.type != "call_expression":
        return {}
    function, given = condition.child_by_field_name("function"), condition.child_by_field_name("arguments")
    if function is None or function.type != "member_expression" or given is None or len(given.named_children) != 1:
        return {}
    subject, method = function.child_by_field_name("object"), text_of(function.child_by_field_name("property"))
    argument: Node | None = given.named_children[0]
    if method == "test":
        subject, argument = argument, subject
    if subject is None or subject.type != "identifier":
        return {}
    entry = walk.lookup(text_of(subject))
    if not isinstance(entry, JsOrigin):
        return {}
    text = matched(entry.text, method, walk.read(argument))
    return {text_of(subject): replace(entry, text=text)} if text else {}


def matched(text: str, method: str, value: Value) -> str:
    """The pattern of those names that pass such a test; empty when that cannot be said."""
    if not text.endswith("*"):
        return ""
    front = text[:-1]
    if method == "endsWith" and isinstance(value, str) and value and known(value):
        return f"{front}*{value}"
    if method == "startsWith" and isinstance(value, str) and value and known(value) and not front.endswith("*"):
        return f"{front}{value}*"
    if method == "test" and isinstance(value, Regex):
        ending = value.pattern.removesuffix("$").replace("\\.", ".")
        plain = ending.replace(".", "").replace("_", "").replace("-", "").isalnum()
        return f"{front}*{ending}" if plain and value.pattern.endswith("$") and ending.startswith(".") else ""
    return ""
