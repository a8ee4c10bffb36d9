"""Evaluates members, indexes and pure methods of known values."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable
from typing import Any

from interlock.analysis.facts import hole, known
from interlock.analysis.powershell.operators import binary, cast, fill, join
from interlock.analysis.powershell.values import (
    MAX_TEXT,
    Items,
    PsChoice,
    PsObject,
    Records,
    Script,
    Value,
    bound_text,
    combine,
    number,
    plain,
    spread,
    texts,
    unknown,
)
from interlock.analysis.windows import TEMP, place

_ENCODINGS = {"utf8": "utf-8", "unicode": "utf-16-le", "ascii": "ascii", "default": "latin-1", "utf32": "utf-32-le"}
_ENCODINGS |= {"bigendianunicode": "utf-16-be", "latin1": "latin-1", "utf7": "utf-7"}
_FOLDERS = {
    "userprofile": "~",
    "personal": "~\\Documents",
    "mydocuments": "~\\Documents",
    "desktop": "~\\Desktop",
    "desktopdirectory": "~\\Desktop",
    "windows": "C:\\Windows",
    "system": "C:\\Windows\\System32",
    "applicationdata": "~\\AppData\\Roaming",
    "localapplicationdata": "~\\AppData\\Local",
    "programfiles": "C:\\Program Files",
    "startup": "~\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup",
}
_PATH_MEMBERS = frozenset({"fullname", "name", "pspath", "path", "providerpath", "value", "basename"})


def index(value: Value, at: Value) -> Value:
    """`value[at]`."""
    if isinstance(value, dict):
        return value.get(plain(at).lower())
    if isinstance(at, list):
        return [index(value, one) for one in at]
    place_of = number(at)
    if (isinstance(value, str) and not known(value)) or place_of is None:
        return unknown("", value)
    if isinstance(value, (str, list, bytes)):
        try:
            return value[int(place_of)]
        except IndexError:
            return None
    return value


def member(value: Value, name: str) -> Value:
    """`value.name`."""
    if isinstance(value, dict) and name in value:
        return value[name]
    if isinstance(value, Items):
        return value if name in _PATH_MEMBERS else hole(name)
    if isinstance(value, list) and value and name not in ("length", "count"):
        return [member(item, name) for item in value]
    if name in ("length", "count") and isinstance(value, (str, list, bytes)):
        return len(value) if not isinstance(value, str) or known(value) else hole(name)
    if isinstance(value, PsObject):
        return (
            value
            if name in ("result", "content", "baseresponse", "stdout")
            else PsObject(f"{value.kind}.{name}", value.note)
        )
    if isinstance(value, Records):
        return value
    if isinstance(value, str) and name in (*_PATH_MEMBERS, "content", "rawcontent", "result"):
        return value
    return unknown(name, value)


def static_member(kind: str, name: str) -> Value:
    """`[kind]::name`."""
    if kind.endswith("text.encoding"):
        return PsObject("encoding", _ENCODINGS.get(name, "utf-8"))
    if kind.endswith("environment"):
        return {"systemdirectory": "C:\\Windows\\System32", "newline": "\r\n", "currentdirectory": "."}.get(
            name, hole(name)
        )
    if kind == "string" and name == "empty":
        return ""
    return hole(name)


def method(value: Value, name: str, arguments: list[Value]) -> Value:
    """`value.name(arguments)`, for methods that only make a value; a hole for all others."""
    if isinstance(value, PsChoice):
        made = [method(option, name, arguments) for option in value.options]
        return PsChoice(tuple(plain(one) for one in made))
    if isinstance(value, PsObject) and value.kind == "encoding":
        return _encoded(value.note, name, arguments)
    if isinstance(value, PsObject) and value.data is not None and name in ("readtoend", "toarray", "getstring"):
        return value.data.decode("utf-8", "replace") if name == "readtoend" else value.data
    if isinstance(value, list) and name in ("tostring", "getenumerator", "clone"):
        return value
    if isinstance(value, (int, float)) and name == "tostring":
        return fill("{0:" + plain(arguments[0]) + "}", value) if arguments else str(value)
    act = _TEXT_METHODS.get(name)
    if isinstance(value, str) and act and all(known(text) for one in arguments for text in texts(one)):
        try:
            return act(value, *arguments)
        except (TypeError, ValueError, IndexError, OverflowError):
            return unknown("", value)
    return unknown(name, value, *arguments)


def _substring(text: str, start: Value, length: Value = None) -> Value:
    first = int(number(start) or 0)
    return text[first:] if length is None else text[first : first + int(number(length) or 0)]


def _split(text: str, *separators: Value) -> Value:
    marks = [mark for separator in separators for mark in texts(separator) if isinstance(separator, (str, list))]
    letters = "".join(marks)
    if not letters:
        return text.split()
    return "".join(letters[0] if letter in letters else letter for letter in text).split(letters[0])


def _exact(act: Callable[..., Any]) -> Callable[..., Any]:
    """A method that needs the whole text."""
    return lambda text, *rest: act(text, *rest) if known(text) else unknown("", text)


_TEXT_METHODS: dict[str, Callable[..., Any]] = {
    "replace": lambda text, old, new: bound_text(text.replace(plain(old), plain(new))) if plain(old) else text,
    "substring": _exact(_substring),
    "split": _split,
    "trim": lambda text, *marks: text.strip("".join(map(plain, marks)) or None),
    "trimstart": lambda text, *marks: text.lstrip("".join(map(plain, marks)) or None),
    "trimend": lambda text, *marks: text.rstrip("".join(map(plain, marks)) or None),
    "tolower": lambda text: text.lower(),
    "toupper": lambda text: text.upper(),
    "tolowerinvariant": lambda text: text.lower(),
    "tostring": lambda text, *_: text,
    "tochararray": _exact(list),
    "insert": _exact(lambda text, at, new: text[: int(at)] + plain(new) + text[int(at) :]),
    "remove": _exact(
        lambda text, at, count=None: text[: int(at)] + ("" if count is None else text[int(at) + int(count) :])
    ),
    "padleft": _exact(lambda text, width, mark=" ": text.rjust(min(int(width), MAX_TEXT), plain(mark))),
    "padright": _exact(lambda text, width, mark=" ": text.ljust(min(int(width), MAX_TEXT), plain(mark))),
    "normalize": lambda text, *_: text,
    "getenumerator": _exact(list),
}


def _encoded(encoding: str, name: str, arguments: list[Value]) -> Value:
    first = arguments[0] if arguments else None
    if name == "getstring":
        data = first
        if isinstance(first, list) and all(isinstance(one, int) and 0 <= one < 256 for one in first):
            data = bytes(first)
        return data.decode(encoding, "replace") if isinstance(data, bytes) else unknown("", first)
    if name == "getbytes" and isinstance(first, str) and known(first):
        return first.encode(encoding, "replace")
    return unknown(name, first)


def static_method(kind: str, name: str, arguments: list[Value]) -> Value:
    """`[kind]::name(arguments)`, for methods that only make a value; a hole for all others."""
    act = _STATIC.get((kind.removeprefix("system."), name))
    if act is None:
        return unknown(name, *arguments)
    try:
        return act(*arguments)
    except (TypeError, ValueError, IndexError, binascii.Error):
        return unknown(name, *arguments)


def _from_base64(value: Value) -> Value:
    text = plain(value)
    return base64.b64decode("".join(text.split()), validate=True) if known(text) else unknown("", value)


def _to_integer(value: Value, base: Value = 10) -> Value:
    return int(plain(value), int(base)) if known(plain(value)) else hole()


def _reverse(value: Value) -> None:
    if isinstance(value, list):
        value.reverse()


def _paths(*parts: Value) -> Value:
    made = parts[0][0] if isinstance(parts[0], list) else parts[0]
    for part in [*(parts[0][1:] if isinstance(parts[0], list) else []), *parts[1:]]:
        made = combine([made, "" if plain(made).endswith("\\") else "\\", part])
    return made


_STATIC: dict[tuple[str, str], Callable[..., Any]] = {
    ("convert", "frombase64string"): _from_base64,
    ("convert", "toint32"): _to_integer,
    ("convert", "toint16"): _to_integer,
    ("convert", "tobyte"): _to_integer,
    ("convert", "tochar"): lambda value: cast("char", value),
    ("convert", "tostring"): lambda value, *_: combine([value]),
    ("char", "convertfromutf32"): lambda value: cast("char", value),
    ("string", "join"): lambda mark, *items: join([one for item in items for one in spread(item)], mark),
    ("string", "concat"): lambda *items: combine([one for item in items for one in spread(item)]),
    ("string", "format"): lambda template, *items: fill(template, list(items)),
    ("string", "new"): lambda value: join(value, ""),
    ("array", "reverse"): _reverse,
    ("regex", "replace"): lambda text, old, new, *_: binary("-replace", text, [old, new]),
    ("regex", "split"): lambda text, mark, *_: binary("-split", text, mark),
    ("regex", "unescape"): lambda text: text,
    ("scriptblock", "create"): lambda text: PsObject("script", plain(text)),
    ("environment", "getfolderpath"): lambda name: _FOLDERS.get(plain(name).lower(), hole(plain(name))),
    ("environment", "getenvironmentvariable"): lambda name, *_: place(plain(name)),
    ("environment", "expandenvironmentvariables"): lambda text: expand(plain(text)),
    ("io.path", "combine"): _paths,
    ("io.path", "join"): _paths,
    ("io.path", "gettemppath"): lambda: TEMP,
    ("io.path", "gettempfilename"): lambda: TEMP + "\\tmp.tmp",
    ("io.path", "getfullpath"): lambda path: path,
    ("io.file", "readalltext"): lambda path, *_: hole(plain(path)),
}


def expand(text: str) -> str:
    """Text with every %NAME% filled in."""
    pieces = text.split("%")
    for at in range(1, len(pieces) - 1, 2):
        pieces[at] = place(pieces[at])
    return "".join(pieces)


def unpack(kind: str, data: bytes | None) -> bytes | None:
    """The bytes behind a stream that unpacks them, bounded in size."""
    if data is None or not ("gzip" in kind or "deflate" in kind):
        return data
    try:
        return zlib.decompressobj(31 if "gzip" in kind else -15).decompress(data, MAX_TEXT)
    except zlib.error:
        return None


def is_code(value: Value) -> bool:
    """True for a value that can be run as it is."""
    return isinstance(value, Script) or (isinstance(value, PsObject) and value.kind == "script")
