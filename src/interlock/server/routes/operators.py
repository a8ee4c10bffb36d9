"""Routes for operators and their sessions: a passphrase comes in, a token that lasts minutes goes out."""

from __future__ import annotations

import os
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.audit.chain import event_body
from interlock.identity.agent_detection import TerminalPlace
from interlock.identity.agents import set_mode
from interlock.identity.console_access import set_up_link
from interlock.identity.isolation import JAILED
from interlock.identity.keys.roster import problems, roster_seal
from interlock.identity.operators import ADMIN, add_operator, change_operator, change_passphrase, enrol_first, sign_in
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import LINK_SECONDS
from interlock.policy.policy import MODES
from interlock.records import OperatorRow
from interlock.server.protocol import CONNECTED
from interlock.server.routes import ANYBODY, OPEN, OPERATOR, describe
from interlock.times import iso
from interlock.web.bodies import FirstOperator, Mode, NewOperator, OperatorChange, Passphrase, Resume, SignIn
from interlock.web.callers import ApiCaller
from interlock.web.context import By, Context, Who, caller_of
from interlock.web.errors import HttpProblem
from interlock.web.wire import operator_json

CLI = "cli"  # the channel of operators' commands
_TUPLES = frozenset({"roles", "teams"})


def operator_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["people"])
    for add in (_add_sign_in, _add_session, _add_operators, _add_mode):
        add(router, context)
    return router


def _add_sign_in(router: APIRouter, context: Context) -> None:
    @router.post("/session", **describe("session_token", OPEN, "Signs an operator in"))
    async def open_session(request: Request, who: Who, body: SignIn) -> Any:
        if who.principal and not who.here:
            raise HttpProblem("PERMISSION_DENIED", "an agent's token does not sign anybody in")
        given = (body.operator, body.passphrase, body.channel)
        async with context.signing_in:
            token, session = await context.pool.run(_sign_in, context, who, *given)
        until = _unlock(context, request, session) if body.channel == CLI else 0.0
        more = {"unlockedUntil": iso(until)} if until else {}
        return {"token": token, "operator": session.operator, "expiresAt": iso(session.expires_at), **more}

    @router.post(
        "/session/resume",
        **describe("session_token", OPEN, "Signs in again at an unlocked terminal; over the unix socket", 404),
    )
    async def resume(request: Request, body: Resume) -> Any:
        token, session = await context.pool.run(_resume, context, request, body.operator)
        return {"token": token, "operator": session.operator, "expiresAt": iso(session.expires_at)}

    @router.delete("/session/resume", **describe("done", OPEN, "Locks this terminal again; over the unix socket", 404))
    async def lock(request: Request) -> Any:
        place = _place(context, request)
        if place is None or not context.state.sessions.lock(place):
            raise HttpProblem("NOT_FOUND_RESOURCE", "this terminal is not unlocked")
        return {"success": True}


def _add_session(router: APIRouter, context: Context) -> None:
    state = context.state

    @router.get("/session", **describe("session", OPERATOR, "The session and its end"))
    async def session(by: By) -> Any:
        person = state.sessions.person(by.operator)
        return {
            "operator": by.operator,
            "expiresAt": iso(by.expires_at),
            "channel": by.channel,
            "roles": sorted(person.roles) if person else [],
            "teams": sorted(person.teams) if person else [],
            "steppedUp": by.stepped_up(state.clock.now()),
        }

    @router.delete("/session", **describe("done", OPERATOR, "Signs out"))
    async def close_session(who: Who) -> Any:
        state.sessions.sign_out(who.token)
        return {"success": True}

    @router.put(
        "/session/passphrase", **describe("done", OPERATOR, "Changes one's own passphrase; ends one's sessions")
    )
    async def new_passphrase(by: By, body: Passphrase) -> Any:
        async with context.signing_in:
            await context.run(change_passphrase, by, body.passphrase)
        return {"success": True}

    @router.post(
        "/session/link",
        **describe(
            "set_up_link",
            OPERATOR,
            "A link to register a passkey or authenticator for the console; over the unix socket",
        ),
    )
    async def link(who: Who) -> Any:
        by = who.operator()
        if not who.here:
            raise HttpProblem(
                "PERMISSION_DENIED",
                "a set-up link is for whoever sits in front of this machine: `interlock operator link`",
            )
        token = await context.run(set_up_link, by)
        expires = iso(state.clock.now() + LINK_SECONDS)
        return {"url": f"{context.address}/console/set-up#{token}", "operator": by.operator, "expiresAt": expires}


def _add_operators(router: APIRouter, context: Context) -> None:
    state = context.state

    @router.get("/operators", **describe("operators", OPERATOR, "All operators"))
    async def operators() -> Any:
        rows = await context.read(lambda tx: tx.operators())
        return {"operators": [operator_json(row) for row in rows]}

    @router.post("/operators", **describe("operator", OPERATOR, "Adds an operator, by an admin"))
    async def new_operator(by: By, body: NewOperator) -> Any:
        row = await context.pool.run(
            add_operator, state, by, body.name, body.passphrase, body.roles, body.teams, body.service
        )
        return operator_json(row)

    @router.post("/operators/first", **describe("operator", OPEN, "The first operator; over the unix socket only", 404))
    async def first_operator(who: Who, body: FirstOperator) -> Any:
        _may_enrol(context, who)
        row = _row_of(body)
        await context.run(enrol_first, row, bytes.fromhex(body.seal_key))
        return operator_json(row)

    @router.patch(
        "/operators/{name}", **describe("operator", OPERATOR, "Changes roles or teams, disables or enables", 404)
    )
    async def change(by: By, name: str, body: OperatorChange) -> Any:
        row = await context.run(change_operator, by, name, body.roles, body.teams, body.disabled)
        return operator_json(row)


def _add_mode(router: APIRouter, context: Context) -> None:
    state = context.state

    @router.get("/mode", **describe("mode", ANYBODY, "The mode in force"))
    async def mode() -> Any:
        return {"mode": state.mode, "known": list(MODES)}

    @router.put("/mode", **describe("mode", OPERATOR, "Changes the mode, by an admin"))
    async def change_mode(by: By, body: Mode) -> Any:
        await context.run(set_mode, by, body.mode, body.reason)
        return {"mode": state.mode, "known": list(MODES)}


def _place(context: Context, request: Request) -> tuple[str, TerminalPlace] | None:
    """The caller's terminal, from the kernel; None for an agent's process, and in a jail."""
    who = caller_of(request)
    if not who.here or not who.pid or who.isolation == JAILED:
        return None
    place = context.place_of(who.pid, (request.scope.get("state") or {}).get(CONNECTED))
    return (who.principal, place) if place is not None else None


def _unlock(context: Context, request: Request, session: OperatorSession) -> float:
    """Unlocks the caller's terminal; the end of that time, or 0 where it cannot be unlocked."""
    minutes, place = context.config.limits.unlock_minutes, _place(context, request)
    if not minutes or place is None:
        return 0.0
    until = context.state.clock.now() + minutes * 60
    context.state.sessions.unlock(place, session, until)
    return until


def _resume(context: Context, request: Request, operator: str) -> tuple[str, OperatorSession]:
    state, place = context.state, _place(context, request)
    now = state.clock.now()
    found = state.sessions.resume(place, now, operator) if place is not None else None
    if found is None:
        raise HttpProblem("NOT_FOUND_RESOURCE", "this terminal is not unlocked; enter your passphrase")
    body = event_body(now, "unlock", found[1].operator, {"channel": CLI, "resumed": True})
    state.store.write(lambda tx: state.recorder.now(tx, "unlock", body))
    return found


def _sign_in(context: Context, who: ApiCaller, name: str, passphrase: str, channel: str) -> tuple[str, OperatorSession]:
    """Signs an operator in; failures are counted by origin, so that no agent can lock an operator out."""
    source = who.principal or "tcp"
    if who.here and context.agent_above(who.pid):
        source = f"agent of {source}"
    return sign_in(context.state, name, passphrase, channel, source)


def _may_enrol(context: Context, who: ApiCaller) -> None:
    """Refuses processes of other users, and any that an agent started, to enrol the first operator."""
    if not who.here:
        raise HttpProblem("NOT_FOUND_RESOURCE", "the first operator is made in a terminal: `interlock operator add`")
    if who.principal not in (f"uid:{os.getuid()}", "uid:0"):
        raise HttpProblem("PERMISSION_DENIED", "the first operator is made by the daemon's own user, or by root")
    if why := context.agent_above(who.pid):
        raise HttpProblem("PERMISSION_DENIED", f"an agent cannot make the first operator: {why}")


def _row_of(body: FirstOperator) -> OperatorRow:
    """The sealed row; refuses one whose seal does not match its key."""
    if unknown := sorted(set(body.row) - set(OperatorRow.__struct_fields__)):
        raise HttpProblem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter 'row.{unknown[0]:.80}'")
    values: dict[str, Any] = dict(body.row)
    for key, value in values.items():
        if key in _TUPLES:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise HttpProblem("VALIDATION_INVALID_TYPE", f"row.{key}: expected a list of texts")
            values[key] = tuple(value)
        elif key in ("created_at", "disabled_at"):
            values[key] = _number(key, value)
        elif not isinstance(value, bool if key == "service" else str):
            raise HttpProblem("VALIDATION_INVALID_TYPE", f"row.{key}: expected another type")
    try:
        row, key_bytes = OperatorRow(**values), bytes.fromhex(body.seal_key)
    except TypeError:
        raise HttpProblem("VALIDATION_MISSING_PARAM", "row: a field is missing") from None
    if problems([row], key_bytes, roster_seal([row], key_bytes)) or ADMIN not in row.roles or row.disabled_at:
        raise HttpProblem("VALIDATION_INVALID_VALUE", "row: not sealed with this key, or no admin")
    return row


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HttpProblem("VALIDATION_INVALID_TYPE", f"row.{key}: expected a number")
    return float(value)


ROUTES = (operator_routes,)
