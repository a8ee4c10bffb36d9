"""The digest of an action: one keyed hash over everything judged, so that an approval is good for that action alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from interlock.model import Action, AgentRef, Kind

VERSION = "v1"
MIN_KEY = 32  # bytes
_MAX_DEPTH = 64
_MAX_BITS = 4096
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
    """What is judged of an action as JSON that has one spelling; refuses floats, lone surrogates and keys that are no strings."""
    if judged is not None and not judged:
        raise DigestError("judged: expected at least one field, got none")
    whole = {
        "cwd": action.cwd,
        "fields": _judged_fields(action, judged),
        "kind": action.kind.value,
        "name": normal_name(agent.name),
        "principal": agent.principal,
        "witnesses": sorted([_text(witness.path, "witnesses"), witness.sha256] for witness in action.witnesses),
    }
    if action.home:  # `~` is another place in another home
        whole["home"] = action.home
    return json.dumps(_plain(whole, "", 0), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


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
    """Whether a character is invisible, so that a name with one more of them looks the same (C-18)."""
    return char in _FILLERS or unicodedata.category(char) in ("Cf", "Cc")


def _judged_fields(action: Action, judged: Collection[str] | None) -> dict[Any, Any]:
    """The fields that count: the named ones of a call's body (of the action itself where it has none), or all but the incidental."""
    fields = action.fields
    head = "hint" if action.kind is Kind.INTENT else action.kind.value
    bodies = {key for key in fields if key in _BODIES and isinstance(fields[key], Mapping)}
    kept: dict[Any, Any] = {}
    for key, value in fields.items():
        if key in bodies:
            kept[key] = {
                name: item for name, item in value.items() if _counts(name) and (judged is None or name in judged)
            }
        elif key == head or (
            key in judged if judged is not None and not bodies else _counts(key) and key not in _INCIDENTAL
        ):
            kept[key] = value
    return kept


def _counts(name: object) -> bool:
    return not (isinstance(name, str) and name.startswith("_"))


def _plain(value: object, path: str, depth: int) -> object:
    """The value with every string in NFC; refuses what JSON could write in more than one way."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _number(value, path)
    if isinstance(value, str):
        return _text(value, path)
    if depth >= _MAX_DEPTH:
        raise DigestError(f"{path}: nested deeper than {_MAX_DEPTH}")
    if isinstance(value, Mapping):
        return _table(value, path, depth)
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{number}]", depth + 1) for number, item in enumerate(value)]
    raise DigestError(f"{path}: expected text, a whole number, true, false, null, a list or a table, got {value!r:.80}")


def _number(value: int, path: str) -> int:
    if value.bit_length() > _MAX_BITS:
        raise DigestError(f"{path}: a number of more than {_MAX_BITS} bits")
    return int(value)


def _text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DigestError(f"{path}: lone surrogate at {error.start}") from None
    if value.isascii():
        return value
    composed = unicodedata.normalize("NFC", value)
    # A text that is neither composed nor taken apart has characters that only look like others: U+037E would become a `;`.
    return composed if value in (composed, unicodedata.normalize("NFD", value)) else value


def _table(value: Mapping[Any, Any], path: str, depth: int) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise DigestError(f"{path}: expected text as key, got {key!r:.80}")
        name = _text(key, path)
        if name in out:
            raise DigestError(f"{path}: two keys are both {name!r}")
        out[name] = _plain(item, f"{path}.{name}" if path else name, depth + 1)
    return out
