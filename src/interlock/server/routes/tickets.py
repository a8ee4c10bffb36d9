"""Routes for tickets and their challenges; agents never see a challenge's code."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import JSONResponse

from interlock.analysis.display_text import SHORT
from interlock.approvals import answers, settle
from interlock.approvals import challenges as service
from interlock.approvals.challenges import releasing
from interlock.approvals.grants import suggest_grant
from interlock.engine.trials import find_habit
from interlock.model import AgentRef, TicketState
from interlock.records import OPEN_STATES, Approval, Challenge, Ticket, TicketQuery
from interlock.server.routes import AGENT, ANYBODY, RouteGroup
from interlock.times import iso
from interlock.web.bodies import Moment, Reason, Rejection, ReportedOutcome, seconds_of
from interlock.web.callers import ApiCaller
from interlock.web.concurrency import changed_or_gone, seconds_until_due
from interlock.web.context import By, Context, TheContext, TheState, Who
from interlock.web.errors import HttpProblem
from interlock.web.guards import hung_up
from interlock.web.wire import agent_ref_json, ticket_json, wire_fields, wire_state

_ASKED: dict[str, tuple[TicketState, ...]] = {
    "": (),
    "open": OPEN_STATES,
    "pending_cooling": OPEN_STATES,  # time may have changed its state
    "pending_approval": OPEN_STATES,
    "approved": (*OPEN_STATES, TicketState.APPROVED, TicketState.SPENT),
    "rejected": (TicketState.REJECTED,),
    "expired": (*OPEN_STATES, TicketState.APPROVED, TicketState.EXPIRED),
    "executed": (TicketState.SPENT,),
}
_STATES = f"^({'|'.join(_ASKED)})$"
_BEGINNING = "^[A-Za-z0-9_-]{0,100}$"

ticket_routes = RouteGroup("/api/v1/tickets", "tickets")


@ticket_routes("GET", "", "tickets", "The newest tickets first; an agent sees its own", who=ANYBODY)
def list_tickets(
    context: TheContext,
    who: Who,
    state: str = Query("", pattern=_STATES, description="a state, or `open`"),
    limit: int = Query(100, ge=1, le=500),
    before: Annotated[Moment, Query(description="only tickets opened before this: `next` of the page before")] = "",
    agent: str = Query("", max_length=200, description="a claimed name to filter by"),
    prefix: str = Query("", pattern=_BEGINNING, description="the beginning of an id"),
) -> Any:
    query = TicketQuery(_ASKED[state], who.principal, agent, seconds_of("before", before), limit, prefix)
    now = context.state.clock.now()
    found = context.state.store.read(lambda tx: [(one, tx.approvals(one.id)) for one in tx.tickets(query)])
    shown = [(settle(ticket, now), approvals) for ticket, approvals in found]
    wanted = {"pending_cooling", "pending_approval"} if state == "open" else {state}
    return {
        "tickets": [ticket_json(*one) for one in shown if not state or wire_state(one[0]) in wanted],
        # continues even from a page whose tickets have all changed state
        "next": repr(found[-1][0].opened_at) if len(found) == limit else None,
    }


@ticket_routes("GET", "/{id}", "ticket", "One ticket", who=ANYBODY)
def ticket(context: TheContext, who: Who, id: str) -> Any:
    return ticket_json(*_find(context, who, _whole_id(context, who, id)))


@ticket_routes("GET", "/{id}/wait", "ticket", "Answers when the ticket is decided, else after the time", who=ANYBODY)
async def wait(
    context: TheContext,
    request: Request,
    who: Who,
    id: str,
    seconds: int = Query(30, ge=0, le=600, description="at most; the daemon's own limit counts too"),
) -> Any:
    id = await context.pool.run(_whole_id, context, who, id)
    loop = asyncio.get_running_loop()
    end, event = loop.time() + min(seconds, context.config.limits.long_poll_seconds), context.waiters.add(id)
    gone = asyncio.ensure_future(hung_up(request.receive))
    try:
        while True:
            event.clear()
            found = await context.pool.run(_find, context, who, id)
            if who.session is None:
                context.state.baseline.ask(found[0].id, context.state.clock.now())
            left = end - loop.time()
            if found[0].state not in OPEN_STATES or left <= 0 or gone.done() or context.waiters.closed:
                return ticket_json(*found)
            await changed_or_gone(event, gone, min(left, seconds_until_due(found[0], context.state.clock.now())))
    finally:
        gone.cancel()
        context.waiters.remove(id, event)


@ticket_routes("GET", "/{id}/grant", "grant_offer", "The narrow grant that a ticket suggests")
def grant(state: TheState, context: TheContext, who: Who, id: str) -> Any:
    id = _whole_id(context, who, id)
    habit = find_habit(state, id)
    more = {"approvals": habit.count, "command": shlex.join(habit.command)} if habit is not None else {}
    return suggest_grant(state, id) | more


@ticket_routes("POST", "/{id}/approve", "ticket", "Signs an approval", 409)
def approve(context: TheContext, who: Who, id: str, body: Reason | None = None) -> Any:
    return _answer(context, who, answers.approve, id, body.reason if body else "")


@ticket_routes("POST", "/{id}/reject", "ticket", "Signs a rejection; the agent gets the reason", 409)
def reject(context: TheContext, who: Who, id: str, body: Rejection) -> Any:
    return _answer(context, who, answers.reject, id, body.reason)


@ticket_routes("POST", "/{id}/revoke", "ticket", "Revokes an approval before it is used", 409)
def revoke(context: TheContext, who: Who, id: str, body: Reason | None = None) -> Any:
    return _answer(context, who, answers.revoke, id, body.reason if body else "")


@ticket_routes("POST", "/{id}/executed", "ticket", "Reports the outcome of an allowed action", who=AGENT)
def executed(context: TheContext, who: Who, id: str, body: ReportedOutcome) -> Any:
    id = _whole_id(context, who, id)
    name = body.agent or _find(context, who, id)[0].agent.name  # a claim; the principal is what counts
    answers.report_execution(context.state, AgentRef(who.agent(), name), id, body.outcome)
    return ticket_json(*_find(context, who, id))


def _answer(context: Context, who: ApiCaller, work: Callable[..., object], id: str, reason: str) -> Any:
    id = _whole_id(context, who, id)
    work(context.state, who.operator(), id, reason)
    return ticket_json(*_find(context, who, id))


def _find(context: Context, who: ApiCaller, id: str) -> tuple[Ticket, list[Approval]]:
    """Another agent's ticket is not found."""
    ticket, approvals = context.state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id)))
    if ticket is None or (who.session is None and ticket.agent.principal != who.principal):
        raise HttpProblem("NOT_FOUND_RESOURCE", f"no ticket {id!r:.80}", details={"resource_type": "ticket"})
    return settle(ticket, context.state.clock.now()), approvals


def _whole_id(context: Context, who: ApiCaller, id: str) -> str:
    """Of the caller's only ticket that begins so, at least as long as messages show it; else as given."""
    if len(id.partition("_")[2]) < SHORT:
        return id
    query = TicketQuery(principal=who.principal if who.session is None else "", limit=2, prefix=id)
    found = context.state.store.read(lambda tx: tx.tickets(query))
    return found[0].id if len(found) == 1 else id


challenge_routes = RouteGroup("/api/v1/challenges", "challenges")


@challenge_routes("GET", "", "challenges", "Open challenges, and blocks whose challenge expired")
def challenges(state: TheState) -> Any:
    found = [*service.list_waiting(state), *service.list_lapsed(state)]
    return {"challenges": state.store.read(lambda tx: [_json(one, tx.challenged_ticket(one)) for one in found])}


@challenge_routes("POST", "/{id}/reveal", "code", "A new code, shown once; invalidates the previous one", 409)
def reveal(state: TheState, by: By, id: str) -> Any:
    shown = releasing.reveal(state, by, id)
    body = {"code": shown.code, "expiresAt": iso(shown.expires_at)}
    return JSONResponse(body, headers={"cache-control": "no-store"})


@challenge_routes("POST", "/{id}/reissue", "challenge", "Replaces an expired challenge", 409)
def reissue(state: TheState, by: By, id: str) -> Any:
    made = service.reissue(state, by, id)
    return state.store.read(lambda tx: _json(made, tx.challenged_ticket(made)))


def _json(challenge: Challenge, ticket: Ticket | None) -> dict[str, Any]:
    body = wire_fields(
        challenge,
        "id,kind,state,agent,reason,opened_at,expires_at,shown,attempts",
        agent=agent_ref_json(challenge.agent),
        shown=bool(challenge.code_hash),
    )
    return body | ({"ticket": ticket.id, "title": ticket.title, "level_name": ticket.level.word} if ticket else {})
