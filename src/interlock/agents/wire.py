"""Bytes of an agent -> a JSON object without traps; words -> text that is safe to hand to an agent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from interlock.agents.contract import Reply

MAX_BYTES = 32_000_000
MAX_REASON = 2_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
SILENT = "Interlock refused this call."


class Malformed(ValueError):
    """Input that cannot be judged; the message says which field and why."""


def parse(data: bytes) -> dict[str, Any]:
    """One JSON object; refuses other values, bytes that are no UTF-8, keys that occur twice, and what is too long or too deep."""
    if len(data) > MAX_BYTES:
        raise Malformed(f"hook input: longer than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Malformed(f"hook input: not UTF-8 at byte {error.start}") from None
    return as_object(text, "hook input")


def as_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object that a text holds."""
    try:
        value = _DECODER.decode(text)
    except Malformed as error:
        raise Malformed(f"{where}: {error}") from None
    except RecursionError:
        raise Malformed(f"{where}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"{where}: not JSON (line {error.lineno}, column {error.colno})") from None
    except ValueError:
        raise Malformed(f"{where}: a number that is too long") from None
    if not isinstance(value, dict):
        raise Malformed(f"{where}: expected an object, got {_kind(value)}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise Malformed(f"key {twice[:80]!r} occurs twice")
    return found


def _number(digits: str) -> int | str:
    """A fraction in its one spelling: what is judged has no floats. A whole number stays one, however it is written."""
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Malformed(f"{digits[:40]} is no number")
    return int(value) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _no_constant(word: str) -> Any:
    raise Malformed(f"{word} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_number)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def text(data: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is text, or an empty one."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str):
            return value
    return ""


def needed(data: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is text and not blank; refuses when none is."""
    found = text(data, *names)
    if not found.strip():
        got = [data[name] for name in names if name in data]
        if not got:
            raise Malformed(f"{names[0]}: missing")
        raise Malformed(f"{names[0]}: expected text, got {'blank text' if isinstance(got[0], str) else _kind(got[0])}")
    return found


def table(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The first of these fields that is there, as an object; a JSON text of one is read. Refuses when none is there."""
    for name in names:
        if name not in data:
            continue
        value = data[name]
        if isinstance(value, str):
            return as_object(value, name) if value.strip() else {}
        if isinstance(value, dict):
            return value
        raise Malformed(f"{name}: expected an object, got {_kind(value)}")
    raise Malformed(f"{names[0]}: missing")


def tidy(words: str, limit: int = MAX_REASON) -> str:
    """The words on one line, without characters that steer a terminal or hide text, and shortened."""
    line = " ".join(_CONTROL.sub(" ", words[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def because(words: str) -> str:
    """A reason, which is never empty."""
    return tidy(words) or SILENT


def answer(value: Mapping[str, Any] | None, stderr: str = "", exit: int = 0) -> Reply:
    """A reply whose stdout is this one object, or nothing."""
    out = b"" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    return Reply(out, stderr.encode() + b"\n" if stderr else b"", exit)


def refusal(reason: str) -> Reply:
    """The refusal of agents that heed exit codes alone: 2, with the reason on stderr."""
    return answer(None, because(reason), 2)
