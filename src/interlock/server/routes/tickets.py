"""Routes for tickets and their challenges: list, show, wait, answer, report; agents never see a challenge's code."""

from __future__ import annotations

import asyncio
import shlex
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import JSONResponse

from interlock.analysis.display_text import SHORT
from interlock.approvals import answers, settle
from interlock.approvals import challenges as service
from interlock.approvals.challenges import revealing
from interlock.approvals.grants import suggest_grant
from interlock.engine.trials import find_habit
from interlock.model import AgentRef, TicketState
from interlock.records import Approval, Challenge, Ticket, TicketQuery
from interlock.runtime.state import State
from interlock.server.routes import AGENT, ANYBODY, OPERATOR, describe
from interlock.times import iso
from interlock.web.bodies import Moment, Reason, Rejection, ReportedOutcome, seconds_of
from interlock.web.callers import ApiCaller
from interlock.web.concurrency import changed_or_gone, seconds_until_due
from interlock.web.context import By, Context, Who
from interlock.web.errors import HttpProblem
from interlock.web.guards import hung_up
from interlock.web.wire import agent_ref_json, ticket_json, wire_fields, wire_state

_PENDING = (TicketState.COOLING, TicketState.WAITING)
_ASKED: dict[str, tuple[TicketState, ...]] = {
    "": (),
    "open": _PENDING,
    "pending_cooling": _PENDING,  # time may have changed its state
    "pending_approval": _PENDING,
    "approved": (*_PENDING, TicketState.APPROVED, TicketState.SPENT),
    "rejected": (TicketState.REJECTED,),
    "expired": (*_PENDING, TicketState.APPROVED, TicketState.EXPIRED),
    "executed": (TicketState.SPENT,),
}
_STATES = "^(|open|pending_cooling|pending_approval|approved|rejected|expired|executed)$"
_BEGINNING = "^[A-Za-z0-9_-]{0,100}$"
Found = tuple[Ticket, list[Approval]]


def ticket_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1/tickets", tags=["tickets"])

    @router.get("", **describe("tickets", ANYBODY, "The newest tickets first; an agent sees its own"))
    async def list_tickets(
        who: Who,
        state: Annotated[str, Query(pattern=_STATES, description="a state, or `open`")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
        before: Annotated[Moment, Query(description="only tickets opened before this: `next` of the page before")] = "",
        agent: Annotated[str, Query(max_length=200, description="a claimed name to filter by")] = "",
        prefix: Annotated[str, Query(pattern=_BEGINNING, description="the beginning of an id")] = "",
    ) -> Any:
        query = TicketQuery(_ASKED[state], who.principal, agent, seconds_of("before", before), limit, prefix)
        return await context.pool.run(_page, context, query, state)

    @router.get("/{id}", **describe("ticket", ANYBODY, "One ticket", 404))
    async def ticket(who: Who, id: str) -> Any:
        return ticket_json(
            *await context.pool.run(_find, context, who, await context.pool.run(_whole_id, context, who, id))
        )

    @router.get(
        "/{id}/wait", **describe("ticket", ANYBODY, "Answers when the ticket is decided, else after the time", 404)
    )
    async def wait(
        request: Request,
        who: Who,
        id: str,
        seconds: Annotated[int, Query(ge=0, le=600, description="at most; the daemon's own limit counts too")] = 30,
    ) -> Any:
        id = await context.pool.run(_whole_id, context, who, id)
        return await _wait(context, request, who, id, min(seconds, context.config.limits.long_poll_seconds))

    @router.get("/{id}/grant", **describe("grant_offer", OPERATOR, "The narrow grant that a ticket suggests", 404))
    async def grant(who: Who, id: str) -> Any:
        return await context.run(_offer, await context.pool.run(_whole_id, context, who, id))

    @router.post("/{id}/approve", **describe("ticket", OPERATOR, "Signs an approval", 404, 409))
    async def approve(who: Who, id: str, body: Reason | None = None) -> Any:
        return await _answer(context, who, answers.approve, id, body.reason if body else "")

    @router.post(
        "/{id}/reject", **describe("ticket", OPERATOR, "Signs a rejection; the agent gets the reason", 404, 409)
    )
    async def reject(who: Who, id: str, body: Rejection) -> Any:
        return await _answer(context, who, answers.reject, id, body.reason)

    @router.post("/{id}/revoke", **describe("ticket", OPERATOR, "Revokes an approval before it is used", 404, 409))
    async def revoke(who: Who, id: str, body: Reason | None = None) -> Any:
        return await _answer(context, who, answers.revoke, id, body.reason if body else "")

    @router.post("/{id}/executed", **describe("ticket", AGENT, "Reports the outcome of an allowed action", 404))
    async def executed(who: Who, id: str, body: ReportedOutcome) -> Any:
        return ticket_json(*await context.pool.run(_report, context, who, id, body))

    return router


def _offer(state: State, id: str) -> dict[str, object]:
    """The narrow grant for a ticket; after repeated approvals of similar actions, also their number and the command that makes it."""
    found = find_habit(state, id)
    more = {"approvals": found.count, "command": shlex.join(found.command)} if found is not None else {}
    return {**suggest_grant(state, id), **more}


async def _answer(context: Context, who: ApiCaller, work: Any, id: str, reason: str) -> Any:
    by = who.operator()
    id = await context.pool.run(_whole_id, context, who, id)
    await context.run(work, by, id, reason)
    return ticket_json(*await context.pool.run(_find, context, who, id))


def _report(context: Context, who: ApiCaller, id: str, body: ReportedOutcome) -> Found:
    id, name = _whole_id(context, who, id), body.agent
    if not name:
        found, _ = _find(context, who, id)
        name = found.agent.name  # a claim; the principal is what counts
    answers.report_execution(context.state, AgentRef(who.agent(), name), id, body.outcome)
    return _find(context, who, id)


def _page(context: Context, query: TicketQuery, state: str) -> dict[str, Any]:
    """One page; `next` continues even from a page whose tickets have all changed state."""
    now = context.state.clock.now()

    def work(tx: Any) -> list[Found]:
        return [(ticket, tx.approvals(ticket.id)) for ticket in tx.tickets(query)]

    found = context.state.store.read(work)
    shown = [(settle(ticket, now), approvals) for ticket, approvals in found]
    wanted = {"pending_cooling", "pending_approval"} if state == "open" else {state}
    kept = [(ticket, said) for ticket, said in shown if not state or wire_state(ticket) in wanted]
    return {
        "tickets": [ticket_json(ticket, said) for ticket, said in kept],
        "next": repr(found[-1][0].opened_at) if len(found) == query.limit else None,
    }


def _find(context: Context, who: ApiCaller, id: str) -> Found:
    """A ticket that the caller may see; another agent's is not found."""
    found = context.state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id)))
    ticket, approvals = found
    if ticket is None or (who.session is None and ticket.agent.principal != who.principal):
        raise HttpProblem("NOT_FOUND_RESOURCE", f"no ticket {id!r:.80}", details={"resource_type": "ticket"})
    return settle(ticket, context.state.clock.now()), approvals


def _whole_id(context: Context, who: ApiCaller, id: str) -> str:
    """The id of the caller's only ticket that begins so, at least as long as messages show it; else the id as it was given."""
    if len(id.partition("_")[2]) < SHORT:
        return id
    query = TicketQuery(principal=who.principal if who.session is None else "", limit=2, prefix=id)
    found = context.state.store.read(lambda tx: tx.tickets(query))
    return found[0].id if len(found) == 1 else id


async def _wait(context: Context, request: Request, who: ApiCaller, id: str, seconds: float) -> Any:
    """Reads the ticket, then sleeps until it changes, without occupying a thread."""
    loop = asyncio.get_running_loop()
    end, event = loop.time() + seconds, context.waiters.add(id)
    gone = asyncio.ensure_future(hung_up(request.receive))
    try:
        while True:
            event.clear()
            found = await context.pool.run(_find, context, who, id)
            if who.session is None:
                context.state.baseline.ask(found[0].id, context.state.clock.now())
            left = end - loop.time()
            if found[0].state not in _PENDING or left <= 0 or gone.done() or context.waiters.closed:
                return ticket_json(*found)
            await changed_or_gone(event, gone, min(left, seconds_until_due(found[0], context.state.clock.now())))
    finally:
        gone.cancel()
        context.waiters.remove(id, event)


def challenge_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["challenges"])

    @router.get(
        "/challenges", **describe("challenges", OPERATOR, "Open challenges, and blocks whose challenge expired")
    )
    async def challenges() -> Any:
        found = [
            *await context.run(service.list_waiting),
            *await context.run(service.list_lapsed),
        ]
        return {"challenges": await context.read(lambda tx: [_json(one, tx.challenged_ticket(one)) for one in found])}

    @router.post(
        "/challenges/{id}/reveal",
        **describe("code", OPERATOR, "A new code, shown once; invalidates the previous one", 404, 409),
    )
    async def reveal(by: By, id: str) -> Any:
        shown = await context.run(revealing.reveal, by, id)
        body = {"code": shown.code, "expiresAt": iso(shown.expires_at)}
        return JSONResponse(body, headers={"cache-control": "no-store"})

    @router.post(
        "/challenges/{id}/reissue",
        **describe("challenge", OPERATOR, "Replaces an expired challenge", 404, 409),
    )
    async def reissue(by: By, id: str) -> Any:
        made = await context.run(service.reissue, by, id)
        return await context.read(lambda tx: _json(made, tx.challenged_ticket(made)))

    return router


def _json(challenge: Challenge, ticket: Ticket | None) -> dict[str, Any]:
    body = wire_fields(
        challenge,
        "id,kind,state,agent,reason,opened_at,expires_at,shown,attempts",
        agent=agent_ref_json(challenge.agent),
        shown=bool(challenge.code_hash),
    )
    return body | ({"ticket": ticket.id, "title": ticket.title, "level_name": ticket.level.word} if ticket else {})


ROUTES = (ticket_routes, challenge_routes)
