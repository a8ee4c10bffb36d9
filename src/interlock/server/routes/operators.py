"""Routes for operators and their sessions: a passphrase comes in, a token that lasts minutes goes out."""

from __future__ import annotations

import os
from typing import Any

from msgspec import ValidationError, convert
from starlette.requests import Request

from interlock.approvals.statements import ADMIN
from interlock.identity.agent_detection import TerminalPlace
from interlock.identity.agents import set_mode
from interlock.identity.console_access import set_up_link
from interlock.identity.isolation import JAILED
from interlock.identity.keys.roster import problems, roster_seal
from interlock.identity.operators import add_operator, change_operator, change_passphrase, enrol_first, sign_in
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import LINK_SECONDS
from interlock.policy.policy import MODES
from interlock.records import OperatorRow
from interlock.server.protocol import CONNECTED
from interlock.server.routes import ANYBODY, OPEN, RouteGroup
from interlock.times import iso
from interlock.web.bodies import FirstOperator, Mode, NewOperator, OperatorChange, Passphrase, Resume, SignIn
from interlock.web.callers import ApiCaller
from interlock.web.context import By, Context, TheContext, TheState, Who
from interlock.web.errors import HttpProblem, invalid_value, permission_denied
from interlock.web.wire import operator_json, wire_fields

CLI = "cli"  # the channel of operators' commands


routes = RouteGroup("/api/v1", "people")


@routes("POST", "/session", "session_token", "Signs an operator in", who=OPEN)
async def open_session(context: TheContext, request: Request, who: Who, body: SignIn) -> Any:
    if who.principal and not who.here:
        raise permission_denied("an agent's token does not sign anybody in")
    async with context.signing_in:
        token, session = await context.pool.run(_sign_in, context, who, body)
    until = _unlock(context, request, who, session) if body.channel == CLI else 0.0
    return _token_json(token, session) | ({"unlockedUntil": iso(until)} if until else {})


@routes(
    "POST",
    "/session/resume",
    "session_token",
    "Signs in again at an unlocked terminal; over the unix socket",
    404,
    who=OPEN,
)
def resume(state: TheState, context: TheContext, request: Request, who: Who, body: Resume) -> Any:
    place, now = _place(context, request, who), state.clock.now()
    found = state.sessions.resume(place, now, body.operator) if place is not None else None
    if found is None:
        raise _not_found("this terminal is not unlocked; enter your passphrase")
    token, session = found
    state.recorder.event_alone("unlock", session.operator, {"channel": CLI, "resumed": True})
    return _token_json(token, session)


@routes("DELETE", "/session/resume", "done", "Locks this terminal again; over the unix socket", 404, who=OPEN)
def lock(state: TheState, context: TheContext, request: Request, who: Who) -> Any:
    place = _place(context, request, who)
    if place is None or not state.sessions.lock(place):
        raise _not_found("this terminal is not unlocked")
    return {"success": True}


@routes("GET", "/session", "session", "The session and its end")
def session(state: TheState, by: By) -> Any:
    person = state.sessions.person(by.operator)
    return wire_fields(by, "operator,expires_at,channel") | {
        "roles": sorted(person.roles) if person else [],
        "teams": sorted(person.teams) if person else [],
        "steppedUp": by.stepped_up(state.clock.now()),
    }


@routes("DELETE", "/session", "done", "Signs out")
def close_session(state: TheState, who: Who) -> Any:
    state.sessions.sign_out(who.token)
    return {"success": True}


@routes("PUT", "/session/passphrase", "done", "Changes one's own passphrase; ends one's sessions")
async def new_passphrase(context: TheContext, by: By, body: Passphrase) -> Any:
    async with context.signing_in:
        await context.pool.run(change_passphrase, context.state, by, body.passphrase)
    return {"success": True}


@routes(
    "POST",
    "/session/link",
    "set_up_link",
    "A link to register a passkey or authenticator for the console; over the unix socket",
)
def link(state: TheState, context: TheContext, who: Who) -> Any:
    by = who.operator()
    if not who.here:
        raise permission_denied("a set-up link is for whoever sits in front of this machine: `interlock operator link`")
    token = set_up_link(state, by)
    expires = iso(state.clock.now() + LINK_SECONDS)
    return {"url": f"{context.address}/console/set-up#{token}", "operator": by.operator, "expiresAt": expires}


@routes("GET", "/operators", "operators", "All operators")
def operators(state: TheState) -> Any:
    return {"operators": [operator_json(row) for row in state.store.read(lambda tx: tx.operators())]}


@routes("POST", "/operators", "operator", "Adds an operator, by an admin")
def new_operator(state: TheState, by: By, body: NewOperator) -> Any:
    return operator_json(add_operator(state, by, body.name, body.passphrase, body.roles, body.teams, body.service))


@routes("POST", "/operators/first", "operator", "The first operator; over the unix socket only", 404, who=OPEN)
def first_operator(state: TheState, context: TheContext, who: Who, body: FirstOperator) -> Any:
    _may_enrol(context, who)
    row = _row_of(body)
    enrol_first(state, row, bytes.fromhex(body.seal_key))
    return operator_json(row)


@routes("PATCH", "/operators/{name}", "operator", "Changes roles or teams, disables or enables")
def change(state: TheState, by: By, name: str, body: OperatorChange) -> Any:
    return operator_json(change_operator(state, by, name, body.roles, body.teams, body.disabled))


@routes("GET", "/mode", "mode", "The mode in force", who=ANYBODY)
def mode(state: TheState) -> Any:
    return {"mode": state.mode, "known": list(MODES)}


@routes("PUT", "/mode", "mode", "Changes the mode, by an admin")
def change_mode(state: TheState, by: By, body: Mode) -> Any:
    set_mode(state, by, body.mode, body.reason)
    return mode(state)


def _not_found(words: str) -> HttpProblem:
    return HttpProblem("NOT_FOUND_RESOURCE", words)


def _token_json(token: str, session: OperatorSession) -> dict[str, Any]:
    return {"token": token} | wire_fields(session, "operator,expires_at")


def _place(context: Context, request: Request, who: ApiCaller) -> tuple[str, TerminalPlace] | None:
    """From the kernel; None for an agent's process, and in a jail."""
    if not who.here or not who.pid or who.isolation == JAILED:
        return None
    place = context.place_of(who.pid, (request.scope.get("state") or {}).get(CONNECTED))
    return (who.principal, place) if place is not None else None


def _unlock(context: Context, request: Request, who: ApiCaller, session: OperatorSession) -> float:
    """Until when the caller's terminal is unlocked; 0 where it cannot be."""
    minutes, place = context.config.limits.unlock_minutes, _place(context, request, who)
    if not minutes or place is None:
        return 0.0
    until = context.state.clock.now() + minutes * 60
    context.state.sessions.unlock(place, session, until)
    return until


def _sign_in(context: Context, who: ApiCaller, body: SignIn) -> tuple[str, OperatorSession]:
    """Failures are counted by origin, so that no agent can lock an operator out."""
    source = who.principal or "tcp"
    if who.here and context.agent_above(who.pid):
        source = f"agent of {source}"
    return sign_in(context.state, body.operator, body.passphrase, body.channel, source)


def _may_enrol(context: Context, who: ApiCaller) -> None:
    if not who.here:
        raise _not_found("the first operator is made in a terminal: `interlock operator add`")
    if who.principal not in (f"uid:{os.getuid()}", "uid:0"):
        raise permission_denied("the first operator is made by the daemon's own user, or by root")
    if why := context.agent_above(who.pid):
        raise permission_denied(f"an agent cannot make the first operator: {why}")


def _row_of(body: FirstOperator) -> OperatorRow:
    if unknown := sorted(set(body.row) - set(OperatorRow.__struct_fields__)):
        raise HttpProblem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter 'row.{unknown[0]:.80}'")
    try:
        row, key_bytes = convert(body.row, OperatorRow), bytes.fromhex(body.seal_key)
    except ValidationError as error:
        missing = "missing required field" in str(error)
        words = "a field is missing" if missing else "a field of another type"
        raise HttpProblem(f"VALIDATION_{'MISSING_PARAM' if missing else 'INVALID_TYPE'}", f"row: {words}") from None
    if problems([row], key_bytes, roster_seal([row], key_bytes)) or ADMIN not in row.roles or row.disabled_at:
        raise invalid_value("row: not sealed with this key, or no admin")
    return row
