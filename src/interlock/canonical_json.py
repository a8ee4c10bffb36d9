"""Writes any value as JSON with exactly one spelling, and reads it back; the audit record refuses nothing that an agent sends."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from msgspec.json import Encoder

MAX_DEPTH = 64
TOO_DEEP = "<nested too deep>"
_MAX_BITS = 4096
_MARK = "~"  # opens a key of ours; a caller's key that opens with it gets one more
_HALVES = "~text"  # text with lone surrogates, as hex
_FLOAT = "~float"
_HUGE = "~int"
_FAST = Encoder(order="sorted")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
_ATOMS = frozenset({str, int, bool, float, type(None)})
_LISTS = (list, tuple)
_TABLES = (dict, MappingProxyType)


def simplify(value: object, depth: int = 0) -> Any:
    """Structs, enums and sets as tables, text and lists; anything unknown as its text. The most frequent types come first."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind in _LISTS and depth < MAX_DEPTH:
        return [simplify(item, depth + 1) for item in value]  # type: ignore[attr-defined]
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth >= MAX_DEPTH:
        return TOO_DEEP
    if names := getattr(kind, "__struct_fields__", None):
        return {name: simplify(getattr(value, name), depth + 1) for name in names}
    if isinstance(value, Mapping):
        return {str(key): simplify(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((simplify(item, depth + 1) for item in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [simplify(item, depth + 1) for item in value]
    return str(value)


def canonical_json(value: object) -> str:
    """The one spelling of a value: sorted keys, NFC, no blanks, no floats."""
    return dump_json(_tagged(value, 0))


def dump_json(value: object) -> str:
    """JSON with sorted keys and no blanks, lone surrogates included."""
    try:
        return _FAST.encode(value).decode()
    except (UnicodeEncodeError, TypeError):  # a lone surrogate, or a subclass of str or int
        return _ENCODER.encode(value)


def parse_canonical(text: str) -> Any:
    """The value that `canonical_json` was given; refuses what is no JSON with ValueError."""
    try:
        return _untagged(json.loads(text))
    except RecursionError:
        raise ValueError("nested too deep") from None


def _tagged(value: Any, depth: int) -> Any:
    """A value in which everything with two JSON spellings has one; the most frequent types come first."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _text(value)
    if kind in _TABLES and depth < MAX_DEPTH:
        return _table(value, depth)
    if kind in _LISTS and depth < MAX_DEPTH:
        return [_tagged(item, depth + 1) for item in value]
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() <= _MAX_BITS else {_HUGE: hex(value)}
    if kind is float:
        return {_FLOAT: repr(value)}
    plain = simplify(value, depth)
    return _tagged(plain, depth) if type(plain) is not kind else _tagged(str(value), depth)


def _table(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    try:  # all of them before any value: nested values must not be visited twice
        names = "".join(value)
    except TypeError:  # a key that is no text
        return _odd_table(value, depth)
    if not names.isascii() or _MARK in names:
        return _odd_table(value, depth)
    return {
        key: item if type(item) is str and item.isascii() else _tagged(item, depth + 1) for key, item in value.items()
    }


def _odd_table(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """A table with a key that has two spellings, or that looks like one of our tags."""
    out: dict[str, Any] = {}
    for key, item in sorted(simplify(value, depth).items()):
        name = key if _is_plain(key) else _key(key)
        while name in out:  # two spellings of one name: both stay
            name += "'"
        out[name] = _tagged(item, depth + 1)
    return out


def _is_plain(key: Any) -> bool:
    return type(key) is str and key.isascii() and not key.startswith(_MARK)


def _text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {_HALVES: value.encode("utf-8", "surrogatepass").hex()}
    return value if value.isascii() else unicodedata.normalize("NFC", value)


def _key(key: str) -> str:
    name = unicodedata.normalize("NFC", key.encode("utf-8", "backslashreplace").decode())
    return _MARK + name if name.startswith(_MARK) else name


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (tag, held), *_ = value.items()
        if isinstance(held, str) and tag in _TAGS:
            return _TAGS[tag](held)
    return {key.removeprefix(_MARK): _untagged(item) for key, item in value.items()}


_TAGS: dict[str, Callable[[str], Any]] = {
    _HALVES: lambda held: bytes.fromhex(held).decode("utf-8", "surrogatepass"),
    _FLOAT: float,
    _HUGE: lambda held: int(held, 16),
}
