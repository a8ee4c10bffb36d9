"""The body of an evaluate request -> what the service is asked; every key is checked, and claims stay claims."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from interlock.core.model import Action, AgentRef, Level, command, intent, operation, tool
from interlock.doors.hook.eyes import Files
from interlock.doors.http.errors import Problem
from interlock.doors.http.served import server_of
from interlock.doors.http.who import Who
from interlock.service.loop.tightened import ADAPTER
from interlock.service.request import Request
from interlock.service.unattested import SESSION

DOOR, PROXY = "http", "proxy"
KEYS = frozenset(
    "agent action operation adapter command tool input server hint resource params crude cwd pendingId session risk danger".split()
)
_AGENT_KEYS = frozenset({"name", "session", "parent"})
LEVELS = MappingProxyType({level.word: level for level in Level})
_CRUDE = frozenset({"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"})
# What a kind of action is named by, and what may stand beside it.
_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "action": frozenset({"adapter", "params", "resource", "crude"}),
        "operation": frozenset({"adapter", "params", "resource", "crude"}),
        "command": frozenset(),
        "tool": frozenset({"input", "server"}),
        "hint": frozenset(),
    }
)
_ASIDE = frozenset({"adapter", "params", "resource", "crude", "input", "server"})
_NAME, _LONG = 200, 4_096  # characters


def request_of(body: Any, who: Who, files: Files | None = None) -> tuple[Request, str]:
    """The question, and the confirmation token that came inside its params; raises Problem for a body that asks nothing clear."""
    if type(body) is not dict:
        raise _type("the body", "an object")
    if not KEYS.issuperset(body):
        unknown = sorted(set(body) - KEYS)
        details = {"unknown_params": unknown[:10], "valid_params": sorted(KEYS)}
        near = get_close_matches(unknown[0][:60], KEYS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Problem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter {unknown[0]!r:.80}{hint}", details=details)
    action, token = _action(body)
    server = server_of(body["server"]) if "server" in body else None
    request = Request(
        action,
        _agent(body, who),
        PROXY if server is not None else _door(body),
        resource=_text(body, "resource", _LONG),
        pending=_text(body, "pendingId", _NAME),
        claimed_risk=_risk(body.get("risk")),
        claimed_level=_danger(body.get("danger")),
        adapter=_text(body, "adapter", _NAME),
        server=server,
        files=files,
        strength=who.strength,
    )
    return request, token


def _door(body: dict[str, Any]) -> str:
    """An operation that a server of adapters asks about in the session of its client comes in by that server's door."""
    who = body.get("agent")
    session = who.get("session") if isinstance(who, dict) else None
    return f"{ADAPTER}{body['adapter']}" if body.get("adapter") and str(session or "").startswith(SESSION) else DOOR


def _action(body: dict[str, Any]) -> tuple[Action, str]:
    named = [key for key in _KINDS if key in body]
    if len(named) != 1:
        if not named:
            words = "missing required parameter: one of 'command', 'operation', 'tool' and 'hint'"
            raise Problem("VALIDATION_MISSING_PARAM", words, details={"param_name": "command"})
        raise Problem("VALIDATION_INVALID_VALUE", f"{' and '.join(named)}: expected one of them")
    kind = named[0]
    for key in _ASIDE.intersection(body) - _KINDS[kind]:
        raise Problem("VALIDATION_UNKNOWN_PARAM", f"{key!r} does not go with {kind!r}")
    text, cwd = body[kind], _text(body, "cwd", _LONG)
    if type(text) is not str:
        raise _type(kind, "a text")
    if not text.strip():
        raise Problem("VALIDATION_INVALID_VALUE", f"{kind!r} is empty")
    if kind == "command":
        return command(text, cwd), ""
    if kind == "hint":
        return intent(text, cwd), ""
    if kind == "tool":
        given, token = _without_token(_table(body, "input"), "input")
        return tool(text, given, cwd), token
    params, token = _without_token(_table(body, "params"), "params")
    return operation(text, _with_resource(params, body.get("resource")), _crude(body.get("crude")), cwd), token


def _with_resource(params: Mapping[str, Any], resource: Any) -> Mapping[str, Any]:
    """What an operation is done to is part of it: an approval for one table is none for another."""
    if resource is None or resource == "":
        return params
    if params.get("resource", resource) != resource:
        raise Problem("VALIDATION_INVALID_VALUE", "resource and params.resource are not the same")
    return {**params, "resource": resource}


def _without_token(params: dict[str, Any], where: str) -> tuple[Mapping[str, Any], str]:
    """CT-14: the token that a retry carries; it is no part of the action."""
    if "_confirmation" not in params:
        return params, ""
    token = params["_confirmation"]
    if type(token) is not str:
        raise _type(f"{where}._confirmation", "a text")
    return {key: value for key, value in params.items() if key != "_confirmation"}, token or "conf_"


def _agent(body: dict[str, Any], who: Who) -> AgentRef:
    given, session = body.get("agent"), _text(body, "session", _NAME)
    if given is None:
        return AgentRef(who.principal, who.name, session)
    if type(given) is str:
        return AgentRef(who.principal, _bounded(given, "agent", _NAME) or who.name, session)
    if type(given) is not dict:
        raise _type("agent", "a name, or an object with name, session and parent")
    if unknown := sorted(set(given) - _AGENT_KEYS):
        raise Problem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter 'agent.{unknown[0]:.80}'")
    own = _text(given, "session", _NAME)
    if own and session and own != session:
        raise Problem("VALIDATION_INVALID_VALUE", "session and agent.session are not the same")
    return AgentRef(
        who.principal, _text(given, "name", _NAME) or who.name, own or session, _text(given, "parent", _NAME)
    )


def _crude(value: Any) -> str:
    if value is None or value == "":
        return ""
    if type(value) is not str or value.upper() not in _CRUDE:
        raise Problem("VALIDATION_INVALID_VALUE", f"crude: expected one of {', '.join(sorted(_CRUDE))}")
    return value.upper()


def _risk(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int:
        raise _type("risk", "a whole number from 0 to 100")
    if not 0 <= value <= 100:
        raise Problem("VALIDATION_INVALID_VALUE", "risk: expected a whole number from 0 to 100")
    return value


def _danger(value: Any) -> Level | None:
    if value is None:
        return None
    if type(value) is not str or value not in LEVELS:
        raise Problem("VALIDATION_INVALID_VALUE", f"danger: expected one of {', '.join(LEVELS)}")
    return LEVELS[value]


def _table(body: dict[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if type(value) is not dict:
        raise _type(key, "an object")
    return value


def _text(body: dict[str, Any], key: str, most: int) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise _type(key, "a text")
    return _bounded(value, key, most)


def _bounded(value: str, key: str, most: int) -> str:
    if len(value) > most:
        details = {"limit_type": "string_length", "limit_value": most, "actual_value": len(value), "unit": "bytes"}
        raise Problem(
            "VALIDATION_PAYLOAD_TOO_LARGE",
            f"{key}: expected no more than {most} characters, got {len(value)}",
            details=details,
        )
    return value


def _type(name: str, expected: str) -> Problem:
    return Problem(
        "VALIDATION_INVALID_TYPE",
        f"{name}: expected {expected}",
        details={"param_name": name, "expected_type": expected},
    )
