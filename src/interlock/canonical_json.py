"""Values with one spelling: JSON for the audit record, names for comparison, the digest that binds an approval to one action."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from msgspec.json import Encoder

from interlock.model import Action, AgentRef, Kind

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
    if isinstance(value, _LISTS) and depth < MAX_DEPTH:
        return [simplify(item, depth + 1) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (int, float, str)):
        return value
    if depth >= MAX_DEPTH:
        return TOO_DEEP
    if names := getattr(kind, "__struct_fields__", None):
        return {name: simplify(getattr(value, name), depth + 1) for name in names}
    if isinstance(value, Mapping):
        return {str(key): simplify(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((simplify(item, depth + 1) for item in value), key=repr)
    return str(value)


def json_table(text: str | bytes) -> dict[str, Any]:
    """The JSON object in a stored text; empty for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def canonical_json(value: object) -> str:
    """Sorted keys, NFC, no blanks, no floats."""
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
        names = _MARK
    if not names.isascii() or _MARK in names:
        return _odd_table(value, depth)
    return {
        key: item if type(item) is str and item.isascii() else _tagged(item, depth + 1) for key, item in value.items()
    }


def _odd_table(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, item in sorted(simplify(value, depth).items()):
        name = key if (type(key) is str and key.isascii() and not key.startswith(_MARK)) else _key(key)
        while name in out:  # two spellings of one name: both stay
            name += "'"
        out[name] = _tagged(item, depth + 1)
    return out


def _text(value: str) -> Any:
    try:
        value.encode()
    except UnicodeEncodeError:
        return {_HALVES: value.encode("utf-8", "surrogatepass").hex()}
    return unicodedata.normalize("NFC", value)


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


VERSION = "v1"
MIN_KEY = 32  # bytes
_BODIES = frozenset({"params", "input"})  # what an operation or a tool is called with
# Not part of the action: a model that retries rewords these, and still has to find its ticket.
_INCIDENTAL = frozenset({"description", "timeout", "session", "session_id", "call_id", "tool_call_id", "tool_use_id"})
# Letters and marks that are drawn as nothing: fillers, joiners and variation selectors.
_FILLERS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)


class DigestError(ValueError):
    """A value that has no one canonical form; the message names where it stands."""


def digest(action: Action, agent: AgentRef, key: bytes, judged: Collection[str] | None = None) -> str:
    """`v1:` and the HMAC-SHA-256 of the canonical form; refuses a short key and what `canonical` refuses."""
    if len(key) < MIN_KEY:
        raise DigestError(f"key: expected at least {MIN_KEY} bytes, got {len(key)}")
    return f"{VERSION}:{hmac.new(key, canonical(action, agent, judged), hashlib.sha256).hexdigest()}"


def canonical(action: Action, agent: AgentRef, judged: Collection[str] | None = None) -> bytes:
    """Refuses floats, lone surrogates and keys that are no strings."""
    if judged is not None and not judged:
        raise DigestError("judged: expected at least one field, got none")
    whole = {
        "cwd": action.cwd,
        "fields": _judged_fields(action, judged),
        "kind": action.kind.value,
        "name": normal_name(agent.name),
        "principal": agent.principal,
        "witnesses": sorted([_exact_text(witness.path, "witnesses"), witness.sha256] for witness in action.witnesses),
    }
    if action.home:  # `~` is another place in another home
        whole["home"] = action.home
    return _ENCODER.encode(_exact(whole, "", 0)).encode()


def normal_name(name: str) -> str:
    """A claimed name for comparison, without compatibility forms, case, blanks and invisible characters."""
    if name.isascii() and name.isprintable():
        return " ".join(name.lower().split())
    for _ in range(2):  # folding case can undo a normal form, and a second round settles it
        visible = "".join(char for char in name if char.isspace() or not leaves_no_mark(char))
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", visible).casefold())
        name = " ".join(name.split())
    return name


def leaves_no_mark(char: str) -> bool:
    """A name with one more of them looks the same (C-18)."""
    return char in _FILLERS or unicodedata.category(char) in ("Cf", "Cc")


def _judged_fields(action: Action, judged: Collection[str] | None) -> dict[Any, Any]:
    fields = action.fields
    head = "hint" if action.kind is Kind.INTENT else action.kind.value
    bodies = {key for key in fields if key in _BODIES and isinstance(fields[key], Mapping)}
    kept: dict[Any, Any] = {}
    for key, value in fields.items():
        if key in bodies:
            kept[key] = {name: value[name] for name in value if _counts(name) and (judged is None or name in judged)}
        elif key == head or (
            key in judged if judged is not None and not bodies else _counts(key) and key not in _INCIDENTAL
        ):
            kept[key] = value
    return kept


def _counts(name: object) -> bool:
    return not (isinstance(name, str) and name.startswith("_"))


def _exact(value: object, path: str, depth: int) -> object:
    """The value with every string in NFC; refuses what JSON could write in more than one way."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise DigestError(f"{path}: a number of more than {_MAX_BITS} bits")
        return int(value)
    if isinstance(value, str):
        return _exact_text(value, path)
    if depth >= MAX_DEPTH:
        raise DigestError(f"{path}: nested deeper than {MAX_DEPTH}")
    if isinstance(value, Mapping):
        return _exact_table(value, path, depth)
    if isinstance(value, _LISTS):
        return [_exact(item, f"{path}[{number}]", depth + 1) for number, item in enumerate(value)]
    raise DigestError(f"{path}: expected text, a whole number, true, false, null, a list or a table, got {value!r:.80}")


def _exact_text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DigestError(f"{path}: lone surrogate at {error.start}") from None
    if value.isascii():
        return value
    composed = unicodedata.normalize("NFC", value)
    # A text that is neither composed nor taken apart has characters that only look like others: U+037E would become a `;`.
    return composed if value in (composed, unicodedata.normalize("NFD", value)) else value


def _exact_table(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise DigestError(f"{path}: expected text as key, got {key!r:.80}")
        name = _exact_text(key, path)
        if name in out:
            raise DigestError(f"{path}: two keys are both {name!r}")
        out[name] = _exact(item, f"{path}.{name}" if path else name, depth + 1)
    return out
