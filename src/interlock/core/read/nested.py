"""Operations that the parameters of another one name: {"operation": "delete_user", "params": {…}}, and lists of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.read.lexicon import split_name
from interlock.core.read.names import Act, acts_of
from interlock.core.read.params import MAX_TEXT, short_keys, squash

Reader = Callable[[str, Mapping[str, Any]], None]  # reads one operation, a level deeper
_NAMES = frozenset(
    "operation operationname operationid methodname apiname action verb op tool toolname function functionname task mutation intent".split()
)
_PARAMS = ("params", "arguments", "args", "input", "parameters", "toolinput", "payload", "kwargs", "variables")
_BATCHES = frozenset("changes operations actions calls requests steps tasks batch commands mutations toolcalls".split())
_NAMING = _NAMES | _BATCHES | {"service", "name", "type"}  # without one of these, no other operation is named
_CALLS = frozenset("call invoke execute run use".split())
_CALLED = frozenset("tool tools function functions operation operations action actions api method".split())
_EMPTY = frozenset("manage operation action management admin".split())
_DOMAINS: Mapping[str, str] = {"lock": "door", "cover": "garage"}
_WRITTEN = frozenset(
    "test tests case scenario template log logs event events audit history".split()
)  # what is said of an act
_MOST = 100


def read_nested(act: Act, params: Mapping[str, Any], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads every operation that is named; True when there was one."""
    if _NAMING.isdisjoint(keys) or (act.kind == "read" and act.verb != "query"):
        return False
    if act.kind in ("create", "read") and (act.object == "audit" or act.noun in _WRITTEN):
        return False
    found = _one(act, keys, params, reader)
    for key in sorted(_BATCHES & keys.keys()):
        value = keys[key]
        for item in value[:_MOST] if isinstance(value, (list, tuple)) else ():
            if isinstance(item, Mapping):
                inner = short_keys(item)
                found = _one(act, inner, item, reader) or found
                name = inner.get("name")
                if isinstance(name, str) and not _NAMES & inner.keys() and not inner.keys().isdisjoint(_PARAMS):
                    found = _inside(name, _params(inner, {}), reader) or found
    return found


def _one(act: Act, keys: Mapping[str, Any], params: Mapping[str, Any], reader: Reader) -> bool:
    found = False
    named = _NAMES | {"type"} if "action" in (act.noun, *act.phrase[-1:]) else _NAMES
    for key in sorted(named & keys.keys()):
        value = keys[key]
        if value == "off" and "power" in act.phrase:
            value = "poweroff"
        if isinstance(value, str) and 0 < len(value) < 120 and " " not in value.strip():
            inner = _params(keys, params)
            found = _inside(value if _is_tool(value, inner) else _title(value, act), inner, reader) or found
    service = keys.get("service")
    if (
        act.verb in _CALLS and act.noun == "service" and isinstance(service, str)
    ):  # {"domain": "lock", "service": "unlock"}
        verb, _, domain = service.rpartition(".")[2], "", str(keys.get("domain", service.partition(".")[0]))[:40]
        found = _inside(f"{verb}_{_DOMAINS.get(domain, domain)}"[:120], {}, reader) or found
    name = keys.get("name")
    if isinstance(name, str) and _calls(act) and not _NAMES & keys.keys():
        found = _inside(name, _params(keys, {}), reader) or found
    return found


def _calls(act: Act) -> bool:
    """call_tool, and tools/call: what is called is named in the parameters."""
    words = {act.verb, *act.phrase}
    return not words.isdisjoint(_CALLS) and not words.isdisjoint(_CALLED)


def _title(value: str, act: Act) -> str:
    """manage_user {"action": "delete"} deletes a user."""
    known = acts_of(split_name(value))[1]
    nouns = [word for word in act.phrase if word not in _EMPTY]
    return value if not nouns or (known and known[0].object) else "_".join((value, *nouns))


def _inside(name: str, params: Mapping[str, Any], reader: Reader) -> bool:
    acts = acts_of(split_name(name))[1]
    if (not acts or not acts[0].kind) and not _is_tool(name, params):
        return False
    reader(name, params)
    return True


def _is_tool(name: str, params: Mapping[str, Any]) -> bool:
    from interlock.core.read.tools import is_built_in

    return is_built_in(name, params, "")


def _params(keys: Mapping[str, Any], outer: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _PARAMS:
        value = keys.get(key)
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str) and value.lstrip().startswith("{") and len(value) < MAX_TEXT:
            try:
                parsed = json.loads(value)
            except (ValueError, RecursionError):
                continue
            if isinstance(parsed, Mapping):
                return parsed
    return {key: value for key, value in outer.items() if isinstance(key, str) and squash(key) not in _NAMES}
