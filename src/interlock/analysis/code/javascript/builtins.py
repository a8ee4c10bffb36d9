"""Results of JavaScript's own string, array and pure functions, computed without running anything."""

from __future__ import annotations

import base64
import binascii
import importlib
import json
import posixpath
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote

from interlock.analysis.code.javascript.values import (
    LONGEST,
    UNKNOWN,
    JsChoice,
    JsOrigin,
    Regex,
    Value,
    concat,
    join_path,
    same,
    strongest,
    to_text,
)
from interlock.analysis.facts import hole, known


def _index(value: Value, default: int) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) < 1e9 else default


def _slice(of: Any, args: list[Value]) -> Any:
    return of[slice(_index(args[0], 0) if args else 0, _index(args[1], len(of)) if len(args) > 1 else None)]


def _substring(text: str, args: list[Value]) -> str:
    ends = sorted(max(0, _index(arg, 0)) for arg in (args[:2] if len(args) > 1 else [*args[:1], len(text)]))
    return text[ends[0] : ends[-1]]


def _substr(text: str, args: list[Value]) -> str:
    start = _index(args[0], 0) if args else 0
    start = max(0, start + len(text)) if start < 0 else start
    return text[start : start + _index(args[1], 0)] if len(args) > 1 else text[start:]


def _replace(text: str, args: list[Value], everywhere: bool = False) -> Value:
    if len(args) < 2 or not isinstance(args[1], str):
        return hole()
    if isinstance(args[0], str):
        return text.replace(args[0], args[1], -1 if everywhere else 1)
    if not isinstance(args[0], Regex) or len(args[0].pattern) > 500:
        return hole()
    re2 = importlib.import_module("re2")  # linear time whatever the pattern is

    flags = f"(?{''.join(flag for flag in 'ims' if flag in args[0].flags)})".replace("(?)", "")
    try:
        pattern, new = re2.compile(flags + args[0].pattern), args[1].replace("\\", r"\\").replace("$&", r"\0")
        for group in "123456789":
            new = new.replace(f"${group}", f"\\{group}")
        return str(pattern.sub(new, text, 0 if "g" in args[0].flags else 1))
    except (re2.error, ValueError, TypeError):
        return hole()


def _split(text: str, args: list[Value]) -> Value:
    if not args or not isinstance(args[0], str):
        return text.split() if args and isinstance(args[0], Regex) else [text]
    return list(text.split(args[0]) if args[0] else text)


def _repeat(text: str, args: list[Value]) -> str:
    times = _index(args[0], 0) if args else 0
    return text * times if 0 <= times * len(text) <= LONGEST else hole()


def _decoded(text: str, encoding: str) -> str:
    """Bytes written as base64 or hex, as the text they stand for."""
    try:
        if encoding == "hex":
            return bytes.fromhex(text).decode("utf-8", "replace")
        clean = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
        return base64.b64decode(clean + "=" * (-len(clean) % 4)).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return hole()


def _encoded(text: str, args: list[Value]) -> str:
    encoding = args[0] if args else "utf8"
    if encoding == "base64":
        return base64.b64encode(text.encode("utf-8", "replace")).decode()
    return text.encode("utf-8", "replace").hex() if encoding == "hex" else text


def _char(text: str, args: list[Value]) -> str:
    at = _index(args[0], 0) if args else 0
    return text[at] if -len(text) <= at < len(text) else ""


def _first(args: list[Value]) -> str:
    return to_text(args[0]) if args else ""


TEXT_METHODS: dict[str, Callable[[str, list[Value]], Value]] = {
    "toString": _encoded, "valueOf": lambda t, a: t, "trim": lambda t, a: t.strip(),
    "trimEnd": lambda t, a: t.rstrip(), "trimStart": lambda t, a: t.lstrip(),
    "toLowerCase": lambda t, a: t.lower(), "toUpperCase": lambda t, a: t.upper(),
    "slice": _slice, "subarray": _slice, "substring": _substring, "substr": _substr,
    "split": _split, "repeat": _repeat, "replace": _replace, "replaceAll": lambda t, a: _replace(t, a, True),
    "concat": lambda t, a: concat(t, *a), "charAt": _char, "at": _char,
    "charCodeAt": lambda t, a: ord(_char(t, a)) if _char(t, a) else 0,
    "codePointAt": lambda t, a: ord(_char(t, a)) if _char(t, a) else 0,
    "normalize": lambda t, a: t, "padStart": lambda t, a: t, "padEnd": lambda t, a: t,
    "startsWith": lambda t, a: t.startswith(_first(a)), "endsWith": lambda t, a: t.endswith(_first(a)),
    "includes": lambda t, a: _first(a) in t, "indexOf": lambda t, a: t.find(_first(a)),
}  # fmt: skip


def _join(items: list[Value], args: list[Value]) -> Value:
    between = to_text(args[0]) if args else ","
    parts: list[Value] = []
    for item in items:
        parts += [between, item]
    return concat(*parts[1:])


def _push(items: list[Value], args: list[Value], at: int | None = None) -> Value:
    if len(items) < LONGEST:
        at = len(items) if at is None else at
        items[at:at] = args
    return len(items)


def _reversed(items: list[Value], args: list[Value]) -> Value:
    items.reverse()
    return items


def _concat_lists(items: list[Value], args: list[Value]) -> Value:
    found = list(items)
    for arg in args:
        found += arg if isinstance(arg, list) else [arg]
    return found[:LONGEST]


def _flat(items: list[Value], args: list[Value]) -> Value:
    return _concat_lists([], items)


def _item(items: list[Value], args: list[Value]) -> Value:
    at = _index(args[0], 0) if args else 0
    return items[at] if -len(items) <= at < len(items) else None


LIST_METHODS: dict[str, Callable[[list[Any], list[Value]], Value]] = {
    "join": _join, "toString": lambda t, a: _join(t, [","]), "reverse": _reversed,
    "toReversed": lambda t, a: t[::-1], "slice": _slice, "subarray": _slice, "concat": _concat_lists,
    "push": _push, "unshift": lambda t, a: _push(t, a, 0), "flat": _flat, "at": _item,
    "pop": lambda t, a: t.pop() if t else None, "shift": lambda t, a: t.pop(0) if t else None,
    "values": lambda t, a: t, "entries": lambda t, a: [[at, item] for at, item in enumerate(t)],
    "keys": lambda t, a: list(range(len(t))), "sort": lambda t, a: t,
    "includes": lambda t, a: any(same(a[0], item) for item in t) if a else False,
}  # fmt: skip


# ---- functions of the language and of Node that only compute


def _from_codes(args: list[Value]) -> Value:
    codes = [int(arg) for arg in args if isinstance(arg, int | float) and 0 <= arg < 0x110000]
    return "".join(map(chr, codes)) if len(codes) == len(args) else hole()


def _buffer(args: list[Value]) -> Value:
    if args and isinstance(args[0], list):
        return _from_codes([item & 255 if isinstance(item, int) else item for item in args[0]])
    if len(args) > 1 and isinstance(args[0], str) and args[1] in ("base64", "hex", "base64url"):
        return _decoded(args[0], str(args[1]))
    return args[0] if args and isinstance(args[0], str | JsOrigin | JsChoice) else hole()


def _parse_json(args: list[Value]) -> Value:
    try:
        value: Value = json.loads(to_text(args[0])) if args else None
    except (ValueError, RecursionError):
        return strongest(args) or UNKNOWN
    return value


def _whole(args: list[Value]) -> Value:
    base = args[1] if len(args) > 1 and isinstance(args[1], int) and 2 <= args[1] <= 36 else 0
    try:
        text = _first(args).strip()
        return int(text, base or 10) if base or not text.lower().startswith("0x") else int(text, 16)
    except ValueError:
        return UNKNOWN


def _number(args: list[Value]) -> Value:
    try:
        number = float(_first(args))
    except ValueError:
        return _whole(args)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _same(args: list[Value]) -> Value:
    return args[0] if args else UNKNOWN


def _decode_url(args: list[Value]) -> Value:
    return unquote(args[0]) if args and isinstance(args[0], str) else _same(args)


def _file_url(args: list[Value]) -> Value:
    return _first(args).removeprefix("file://") if known(_first(args)) else _same(args)


def _new_url(args: list[Value]) -> Value:
    if len(args) > 1 and "://" not in to_text(args[0]):
        base = to_text(args[1])
        return join_path([posixpath.dirname(base) if known(base) else ".", args[0]], False)
    return _same(args)


def _entries(args: list[Value], shape: Callable[[str, Value], Value]) -> Value:
    if args and isinstance(args[0], dict):
        return [shape(key, value) for key, value in args[0].items()]
    return strongest(args) or UNKNOWN


def _merged(args: list[Value]) -> Value:
    if not args or not isinstance(args[0], dict):
        return strongest(args) or _same(args)
    for arg in args[1:]:
        args[0].update(arg if isinstance(arg, dict) else {"...": arg})
    return args[0]


PURE: dict[str, Callable[[list[Value]], Value]] = {
    "String": lambda a: concat(*a[:1]), "String.fromCharCode": _from_codes, "String.fromCodePoint": _from_codes,
    "atob": lambda a: _decoded(a[0], "base64") if a and isinstance(a[0], str) else _same(a),
    "btoa": lambda a: _encoded(a[0], ["base64"]) if a and isinstance(a[0], str) else _same(a),
    "Buffer.from": _buffer, "Buffer": _buffer, "Uint8Array": _buffer, "Uint8Array.from": _buffer,
    "TextDecoder().decode": _same, "TextEncoder().encode": _same, "Number": _number, "parseInt": _whole,
    "parseFloat": _number, "unescape": _decode_url, "decodeURIComponent": _decode_url, "decodeURI": _decode_url,
    "encodeURIComponent": lambda a: quote(a[0]) if a and isinstance(a[0], str) and known(a[0]) else _same(a),
    "encodeURI": _same, "escape": _same, "JSON.parse": _parse_json, "structuredClone": _same,
    "path.join": lambda a: join_path(a, False), "path.resolve": lambda a: join_path(a, True),
    "path.normalize": lambda a: join_path(a, False), "path.toNamespacedPath": _same,
    "path.dirname": lambda a: posixpath.dirname(_first(a)) or "." if known(_first(a)) else _same(a),
    "path.basename": lambda a: posixpath.basename(_first(a)) if known(_first(a)) else _same(a),
    "os.homedir": lambda a: "~", "os.tmpdir": lambda a: "/tmp", "process.cwd": lambda a: ".", "Deno.cwd": lambda a: ".",
    "url.fileURLToPath": _file_url, "url.pathToFileURL": _same, "URL": _new_url, "url.URL": _new_url,
    "util.promisify": _same, "Promise.resolve": _same, "Promise.all": _same, "Promise.allSettled": _same,
    "Promise.race": _same, "Promise.any": _same, "Object.freeze": _same, "Set": _same, "Map": _same, "Array.of": list,
    "Object.assign": _merged, "Object.keys": lambda a: _entries(a, lambda k, v: k),
    "Object.values": lambda a: _entries(a, lambda k, v: v), "Object.fromEntries": _same,
    "Object.entries": lambda a: _entries(a, lambda k, v: [k, v]), "Error": lambda a: UNKNOWN,
}  # fmt: skip
