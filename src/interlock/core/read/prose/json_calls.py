"""JSON in a sentence that is the call of a tool -> where it stands, and the operations that it calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from interlock.core.read.operation_names import may_be_operation
from interlock.core.read.params import short_keys

Call = tuple[str, Mapping[str, Any]]
_OPENS = re.compile(r'[{\[]\s*[{"]')
_MOST, _DEEPEST, _LONGEST = 8, 4, 20_000
_NAMES = (
    "tool",
    "toolname",
    "operation",
    "operationname",
    "recipientname",
    "function",
    "functionname",
    "op",
    "action",
    "mutation",
)
_GIVEN = ("arguments", "args", "input", "params", "parameters", "toolinput", "payload", "kwargs")
_INNER = (
    "toolcalls",
    "tooluses",
    "calls",
    "operations",
    "actions",
    "steps",
    "functioncall",
    "toolcall",
    "toolinvocation",
    "function",
    "call",
)
_UPON = ("resource", "target", "object", "entity", "resourcetype", "type", "kind")
_RUNS = frozenset("command cmd sql script shell bash statement".split())
_SAYS = ("nextactionhint", "nextaction", "hint", "step", "stepdescription", "task", "plan", "instruction", "prompt")
_WORD = re.compile(r"[A-Za-z][\w.:/-]{0,99}")
_DECODER = json.JSONDecoder()


def objects_in(text: str) -> Iterator[tuple[int, int]]:
    """Where JSON stands that calls something."""
    done = tried = 0
    for found in _OPENS.finditer(text[:_LONGEST]):
        if found.start() < done or tried >= _MOST:
            continue
        tried += 1
        try:
            value, done = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if any(True for _ in calls_of(value)):
            yield found.start(), done


def calls_in(text: str) -> list[Call]:
    """The operations that a JSON text calls, with what they are given."""
    return list(calls_of(json.loads(text)))[:_MOST]


def calls_of(value: object, depth: int = 0) -> Iterator[Call]:
    """Every call in a value: of a tool by name, of several in a list, or of a shell or a database by what it is given."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:_MOST]:
            yield from calls_of(item, depth + 1)
    if not isinstance(value, Mapping):
        return
    keys = short_keys(value)
    if keys.get("method") == "tools/call":
        yield from calls_of(keys.get("params"), depth + 1)
        return
    inner = [keys[key] for key in _INNER if isinstance(keys.get(key), (Mapping, list))]
    for one in inner:
        yield from calls_of(one, depth + 1)
    name = _name(keys)
    if name:
        yield name, _given(value, keys)
    elif not inner and any(isinstance(keys.get(key), str) and keys[key].strip() for key in _RUNS):
        yield "call_tool", value
    elif not inner and (said := next((keys[key] for key in _SAYS if isinstance(keys.get(key), str)), "")):
        yield "Task", {"prompt": said}


def _name(keys: Mapping[str, Any]) -> str:
    name = next((keys[key] for key in _NAMES if isinstance(keys.get(key), str)), "")
    if not name and (any(key in keys for key in _GIVEN) or keys.get("type") in ("tool_use", "function")):
        name = keys.get("name", "")
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        return ""
    upon = next((keys[key] for key in _UPON if isinstance(keys.get(key), str)), "")
    upon = "_".join(upon.split())
    return f"{name}_{upon}" if name.isalpha() and not may_be_operation(name) and _WORD.fullmatch(upon) else name


def _given(value: Mapping[str, Any], keys: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _GIVEN:
        given = keys.get(key)
        if isinstance(given, str) and given.lstrip().startswith("{"):
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                continue
        if isinstance(given, Mapping):
            return given
    return {
        key: item
        for key, item in value.items()
        if isinstance(key, str) and item not in (keys.get(name) for name in _NAMES)
    }
