"""Parses the body of an evaluate request; every key is checked, and claims stay claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from interlock.approvals.confirmations import SESSION
from interlock.loop.tightening import ADAPTER
from interlock.model import TRUSTS, Action, AgentRef, Level, Trust, command, intent, operation, tool
from interlock.runtime import Request
from interlock.runtime.servers import HINTS, ServerClaim
from interlock.web.callers import ApiCaller
from interlock.web.errors import HttpProblem, invalid_value, too_large, unknown_param

T = TypeVar("T")
INTERFACE, PROXY = "http", "proxy"
KEYS = frozenset(
    "agent action operation adapter command tool input server hint resource params crude cwd pendingId session risk danger".split()
)
_AGENT_KEYS = frozenset({"name", "session", "parent"})
LEVELS = {level.word: level for level in Level}
_CRUDE = {word: word for word in "CREATE DELETE EXECUTE READ UPDATE".split()}
# The key that names each kind of action, and its optional keys.
_NAMED = frozenset({"adapter", "params", "resource", "crude"})
_KINDS: Mapping[str, frozenset[str]] = {
    "action": _NAMED,
    "operation": _NAMED,
    "command": frozenset(),
    "tool": frozenset({"input", "server"}),
    "hint": frozenset(),
}
_ASIDE = frozenset().union(*_KINDS.values())
_NAME, _LONG = 200, 4_096  # characters


def request_of(body: Any, who: ApiCaller) -> Request:
    """With the confirmation token inside its params; raises HttpProblem for a malformed body."""
    if type(body) is not dict:
        raise _type("the body", "an object")
    if not KEYS.issuperset(body):
        raise unknown_param(body, KEYS)
    action, token = _action(body)
    server = server_of(body["server"]) if "server" in body else None
    return Request(
        action,
        _agent(body, who),
        PROXY if server is not None else _interface(body),
        resource=_text(body, "resource", _LONG),
        pending=_text(body, "pendingId"),
        token=token,
        claimed_risk=_risk(body.get("risk")),
        claimed_level=_one_of(body["danger"], "danger", LEVELS) if body.get("danger") is not None else None,
        adapter=_text(body, "adapter"),
        server=server,
        strength=who.isolation,
    )


def _interface(body: dict[str, Any]) -> str:
    """The adapter server's, where it asks in a client's session, else HTTP."""
    who = body.get("agent")
    session = who.get("session") if isinstance(who, dict) else None
    served = body.get("adapter") and str(session).startswith(SESSION)
    return f"{ADAPTER}{body['adapter']}" if served else INTERFACE


def _action(body: dict[str, Any]) -> tuple[Action, str]:
    named = [key for key in _KINDS if key in body]
    if len(named) != 1:
        if named:
            raise invalid_value(f"{' and '.join(named)}: expected one of them")
        words = "missing required parameter: one of 'command', 'operation', 'tool' and 'hint'"
        raise HttpProblem("VALIDATION_MISSING_PARAM", words, details={"param_name": "command"})
    kind = named[0]
    for key in _ASIDE.intersection(body) - _KINDS[kind]:
        raise HttpProblem("VALIDATION_UNKNOWN_PARAM", f"{key!r} does not go with {kind!r}")
    text, cwd = body[kind], _text(body, "cwd", _LONG)
    if type(text) is not str:
        raise _type(kind, "a text")
    if not text.strip():
        raise invalid_value(f"{kind!r} is empty")
    if kind == "command":
        return command(text, cwd), ""
    if kind == "hint":
        return intent(text, cwd), ""
    if kind == "tool":
        given, token = _without_token(_table(body, "input"), "input")
        return tool(text, given, cwd), token
    params, token = _without_token(_table(body, "params"), "params")
    crude = body.get("crude")
    if crude not in (None, ""):
        crude = _one_of(crude.upper() if type(crude) is str else crude, "crude", _CRUDE)
    return operation(text, _with_resource(params, body.get("resource")), crude or "", cwd), token


def _with_resource(params: Mapping[str, Any], resource: Any) -> Mapping[str, Any]:
    if resource in (None, ""):
        return params
    if params.get("resource", resource) != resource:
        raise invalid_value("resource and params.resource are not the same")
    return {**params, "resource": resource}


def _without_token(params: dict[str, Any], where: str) -> tuple[Mapping[str, Any], str]:
    """CT-14: separates a retry's token from the params, as it is no part of the action."""
    if "_confirmation" not in params:
        return params, ""
    token = params["_confirmation"]
    if type(token) is not str:
        raise _type(f"{where}._confirmation", "a text")
    return {key: value for key, value in params.items() if key != "_confirmation"}, token or "conf_"


def _agent(body: dict[str, Any], who: ApiCaller) -> AgentRef:
    given, session = body.get("agent"), _text(body, "session")
    if given is None or type(given) is str:
        return AgentRef(who.principal, _text(body, "agent") or who.name, session)
    if type(given) is not dict:
        raise _type("agent", "a name, or an object with name, session and parent")
    if unknown := sorted(set(given) - _AGENT_KEYS):
        raise HttpProblem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter 'agent.{unknown[0]:.80}'")
    own = _text(given, "session")
    if own and session and own != session:
        raise invalid_value("session and agent.session are not the same")
    name, parent = _text(given, "name"), _text(given, "parent")
    return AgentRef(who.principal, name or who.name, own or session, parent)


def _risk(value: Any) -> int | None:
    if value is None:
        return None
    if type(value) is not int:
        raise _type("risk", "a whole number from 0 to 100")
    if not 0 <= value <= 100:
        raise invalid_value("risk: expected a whole number from 0 to 100")
    return value


def _one_of(value: Any, name: str, known: Mapping[str, T]) -> T:
    if type(value) is not str or value not in known:
        raise invalid_value(f"{name}: expected one of {', '.join(known)}")
    return known[value]


def _table(body: dict[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    if value is None:
        return {}
    if type(value) is not dict:
        raise _type(key, "an object")
    return value


def _text(body: dict[str, Any], key: str, most: int = _NAME) -> str:
    value = body.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise _type(key, "a text")
    if len(value) > most:
        words = f"{key}: expected no more than {most} characters, got {len(value)}"
        raise too_large(words, "string_length", most, "bytes", len(value))
    return value


def _type(name: str, expected: str) -> HttpProblem:
    details = {"param_name": name, "expected_type": expected}
    return HttpProblem("VALIDATION_INVALID_TYPE", f"{name}: expected {expected}", details=details)


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MARK = re.compile(r"[0-9a-f]{64}")
_KEYS = frozenset({"name", "mark", "words", "trust", "level", "why", "hints"})
_RAISED: Mapping[int, Level] = {int(level): level for level in Level if level < Level.FORBIDDEN}


def server_of(given: Any) -> ServerClaim:
    """Raises HttpProblem for a malformed claim."""
    if type(given) is not dict or not _KEYS.issuperset(given):
        raise invalid_value(f"server: expected an object with {', '.join(sorted(_KEYS))}")
    name, mark, level = given.get("name"), given.get("mark"), given.get("level", 0)
    if type(name) is not str or not NAME.fullmatch(name):
        raise invalid_value("server.name: expected 1 to 64 of A-Z, a-z, 0-9, -, _ and .")
    if type(mark) is not str or not _MARK.fullmatch(mark):
        raise invalid_value("server.mark: expected a SHA-256 in hexadecimal")
    if type(level) is not int or level not in _RAISED:
        raise invalid_value(f"server.level: expected one of {', '.join(map(str, _RAISED))}")
    words, why = _words(given, "words"), _words(given, "why")
    trust = _one_of(given.get("trust", Trust.UNTESTED.word), "server.trust", TRUSTS)
    return ServerClaim(name, mark, words, trust, _RAISED[level], why, _hints(given), "trust" in given)


def _hints(given: Mapping[str, Any]) -> frozenset[str]:
    value = given.get("hints", [])
    if type(value) is not list or not all(type(one) is str for one in value) or not HINTS.issuperset(value):
        raise invalid_value(f"server.hints: expected a list of {' and '.join(sorted(HINTS))}")
    return frozenset(value)


def _words(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key, "")
    if type(value) is not str or len(value) > _LONG:
        raise invalid_value(f"server.{key}: expected a text of up to {_LONG} characters")
    return value
