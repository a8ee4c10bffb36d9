"""Decodes an agent's hook input strictly and encodes verdicts as JSON; malformed input becomes an event that is denied."""

from __future__ import annotations

import contextlib
import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words
from interlock.model import Action
from interlock.strict_json import UnclearJson, decoder, number, table_in

Json = Mapping[str, Any]
MAX_BYTES = 32_000_000
MAX_REASON = 2_000
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")
SILENT = "Interlock refused this call."
GATING = frozenset({"before", "permission"})  # the kinds of event that an answer can stop


class AgentCall(Struct, frozen=True):
    tool: str  # the agent's own name for it
    input: Json
    action: Action  # what is judged, built from the judged fields only
    judged: frozenset[str]  # names of the fields that count for the digest; never empty
    id: str = ""  # where the agent gives calls an id


class Event(Struct, frozen=True):
    kind: str  # before | after | failed | permission | config | session | other
    name: str  # the agent's own event name
    calls: tuple[AgentCall, ...] = ()
    session: str = ""
    cwd: str = ""
    parent: str = ""  # the agent that this one is a subagent of, where it is named
    transcript: str = ""
    asks: bool = False  # whether a prompt of this client reaches a human for this call
    problem: str = ""  # a missing or malformed field that the judgement needs; the reason of the denial
    outcome: str = ""  # of a call that has run: `failed` or `unknown` where the agent reports it
    pair: str = ""  # an id that two events of the same call share
    mode: str = ""  # the agent's permission mode, where it says one


class RewrittenCall(Struct, frozen=True):
    input: Json  # the fields that change
    whole: Json  # all of it
    asked: bool  # the agent's own rules would ask about the original, or may
    reason: str = ""  # for the prompt that shows the new input
    id: str = ""  # of the call, in its new text


class HookVerdict(Struct, frozen=True):
    word: str  # allow | ask | deny; anything else is a deny
    reason: str = ""  # for a human or the model
    context: str = ""  # for the model, beside an allow
    notice: str = ""  # for the person at the agent, where it can show one
    rewrite: RewrittenCall | None = None  # beside an allow


class HookOutput(Struct, frozen=True):
    stdout: bytes = b""
    stderr: bytes = b""
    exit: int = 0


class MalformedInput(ValueError):
    """Input that cannot be judged; the message says which field and why."""


def parse(data: bytes) -> dict[str, Any]:
    """Refuses all but one object, invalid UTF-8, duplicate keys, and what is too long or too deep."""
    if len(data) > MAX_BYTES:
        raise MalformedInput(f"hook input: longer than {MAX_BYTES} bytes")
    try:
        value = _CANONICAL.decode(data)
        canonical = isinstance(value, dict) and msgspec.json.encode(value) == data
    except (msgspec.MsgspecError, ValueError, RecursionError):
        canonical = False
    if canonical:  # as JSON.stringify writes it, so that it has one reading only
        return dict(value)
    try:
        text = data.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise MalformedInput(f"hook input: not UTF-8 at byte {error.start}") from None
    return as_object(text, "hook input")


def as_object(text: str, where: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(text)
    except UnclearJson as error:
        raise MalformedInput(f"{where}: {error}") from None
    except RecursionError:
        raise MalformedInput(f"{where}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise MalformedInput(f"{where}: not JSON (line {error.lineno}, column {error.colno})") from None
    if not isinstance(value, dict):
        raise MalformedInput(f"{where}: expected an object, got {_kind(value)}")
    return value


def _fraction(digits: str) -> int | str:
    """Digests allow no floats: integers stay, fractions become canonical text."""
    value = number(digits)
    return int(value) if value.is_integer() and abs(value) < 2**53 else repr(value)


_DECODER = decoder(_fraction)
_CANONICAL = msgspec.json.Decoder(float_hook=str)  # a text in place of a number is never the same again


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def text(data: Json, *names: str) -> str:
    for name in names:
        value = data.get(name)
        if isinstance(value, str):
            return value
    return ""


def required_text(data: Json, *names: str) -> str:
    found = text(data, *names)
    if found.strip():
        return found
    for got in (data[name] for name in names if name in data):
        kind = "blank text" if isinstance(got, str) else _kind(got)
        raise MalformedInput(f"{names[0]}: expected text, got {kind}")
    raise MalformedInput(f"{names[0]}: missing")


def table(data: Json, *names: str) -> dict[str, Any]:
    """The first of these fields that is there, as an object or a JSON text of one."""
    for name in names:
        if name not in data:
            continue
        value = data[name]
        if isinstance(value, str):
            return as_object(value, name) if value.strip() else {}
        if isinstance(value, dict):
            return value
        raise MalformedInput(f"{name}: expected an object, got {_kind(value)}")
    raise MalformedInput(f"{names[0]}: missing")


def tidy(words: str) -> str:
    line = " ".join(_CONTROL.sub(" ", words[: MAX_REASON * 4]).split())
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1].rstrip() + "…"


def answer(value: Json | None, stderr: str = "", exit: int = 0) -> HookOutput:
    out = b"" if value is None else msgspec.json.encode(value) + b"\n"
    return HookOutput(out, stderr.encode() + b"\n" if stderr else b"", exit)


SUCCEEDED, FAILED, UNKNOWN = "", "failed", "unknown"
_LONGEST = 20_000
FIELDS = own_words("agents/fields.toml")
_SAID = lazy_regex(lambda: "|".join(FIELDS.in_order("failures")), re.IGNORECASE | re.MULTILINE)


def outcome_of(given: Json) -> str:
    """`failed` where the result reports it, `unknown` in the background; empty for success."""
    given, listed = {**table_in(given, "extra"), **given}, FIELDS.in_order
    result = next((_read(given[name]) for name in listed("results") if name in given), None)
    fields: Json = result if isinstance(result, Mapping) else {}
    asked: Json = next((one for name in listed("inputs") if isinstance(one := _read(given.get(name)), Mapping)), {})
    if any(one.get(name) for one in (asked, fields) for name in FIELDS.background):
        return UNKNOWN
    codes = [one[name] for one in (given, fields) for name in FIELDS.codes if type(one.get(name)) is int]
    kind = fields.get("resultType", fields.get("status"))
    if any(codes) or any(fields.get(name) is True for name in FIELDS.wrong) or fields.get("error"):
        return FAILED
    if isinstance(kind, str) and kind.casefold() not in FIELDS.fine:
        return FAILED
    said = [str(fields[name]) for name in listed("texts") if name in fields]
    text = result if isinstance(result, str) else "\n".join(said)
    return FAILED if _SAID.search(text[:_LONGEST]) or _SAID.search(text[-_LONGEST:]) else SUCCEEDED


def _read(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


Fill = Callable[[Json, Event], Event]
