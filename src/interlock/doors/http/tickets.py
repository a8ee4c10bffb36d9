"""Tickets over HTTP: list, look, wait, answer, report back."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from interlock.core.model import AgentRef, TicketState
from interlock.core.records import Approval, Ticket, TicketQuery
from interlock.core.ticket import settled
from interlock.doors.http.bodies import Outcome, Reason, Rejection
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import AGENT, ANYBODY, OPERATOR, says
from interlock.doors.http.errors import Problem
from interlock.doors.http.times import Moment, seconds_of
from interlock.doors.http.waiting import until_time_moves_it
from interlock.doors.http.who import Who
from interlock.doors.http.wire import ticket_json, wire_state
from interlock.service import answers
from interlock.service.state import State

_PENDING = (TicketState.COOLING, TicketState.WAITING)
_ASKED: dict[str, tuple[TicketState, ...]] = {
    "": (),
    "open": _PENDING,
    "pending_cooling": _PENDING,  # time alone may have moved it
    "pending_approval": _PENDING,
    "approved": (*_PENDING, TicketState.APPROVED, TicketState.SPENT),
    "rejected": (TicketState.REJECTED,),
    "expired": (*_PENDING, TicketState.APPROVED, TicketState.EXPIRED),
    "executed": (TicketState.SPENT,),
}
_STATES = "^(|open|pending_cooling|pending_approval|approved|rejected|expired|executed)$"
_BEGINNING = "^[A-Za-z0-9_-]{0,100}$"
Found = tuple[Ticket, list[Approval]]
Id = str


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/tickets", tags=["tickets"]), context.state

    @router.get("", **says("tickets", ANYBODY, "The newest tickets first; an agent sees its own"))
    async def list_tickets(
        request: Request,
        state: Annotated[str, Query(pattern=_STATES, description="a state, or `open`")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
        before: Annotated[Moment, Query(description="only tickets opened before this: `next` of the page before")] = "",
        agent: Annotated[str, Query(max_length=200, description="a claimed name to look for")] = "",
        prefix: Annotated[str, Query(pattern=_BEGINNING, description="the beginning of an id")] = "",
    ) -> Any:
        who = who_asks(request).known()
        query = TicketQuery(_ASKED[state], who.principal, agent, seconds_of("before", before), limit, prefix)
        return await context.pool.run(_page, context, query, state)

    @router.get("/{id}", **says("ticket", ANYBODY, "One ticket", 404))
    async def ticket(request: Request, id: Id) -> Any:
        return _shown(context, await context.pool.run(_find, context, who_asks(request).known(), id))

    @router.get("/{id}/wait", **says("ticket", ANYBODY, "Answers when the ticket is decided, else after the time", 404))
    async def wait(
        request: Request,
        id: Id,
        seconds: Annotated[int, Query(ge=0, le=600, description="at most; the daemon's own limit counts too")] = 30,
    ) -> Any:
        who = who_asks(request).known()
        return await _wait(context, request, who, id, min(seconds, context.config.limits.long_poll_seconds))

    @router.get("/{id}/grant", **says("grant_offer", OPERATOR, "The narrow grant that a ticket suggests", 404))
    async def grant(request: Request, id: Id) -> Any:
        who_asks(request).operator()
        return await context.pool.run(_offer, state, id)

    @router.post("/{id}/approve", **says("ticket", OPERATOR, "Signs an approval", 404, 409))
    async def approve(request: Request, id: Id, body: Reason | None = None) -> Any:
        return await _answer(context, request, answers.approve, id, body.reason if body else "")

    @router.post(
        "/{id}/reject", **says("ticket", OPERATOR, "Signs a rejection; the reason is told to the agent", 404, 409)
    )
    async def reject(request: Request, id: Id, body: Rejection) -> Any:
        return await _answer(context, request, answers.reject, id, body.reason)

    @router.post("/{id}/revoke", **says("ticket", OPERATOR, "Takes an approval back before it was used", 404, 409))
    async def revoke(request: Request, id: Id, body: Reason | None = None) -> Any:
        return await _answer(context, request, answers.revoke, id, body.reason if body else "")

    @router.post(
        "/{id}/executed", **says("ticket", AGENT, "Reports what became of an action that was let through", 404)
    )
    async def executed(request: Request, id: Id, body: Outcome) -> Any:
        who = who_asks(request)
        principal = who.agent()
        return _shown(context, await context.pool.run(_report, context, who, principal, id, body))

    return router


def _offer(state: State, id: str) -> dict[str, object]:
    """The grant, and where people said yes to the like again and again, how often, and the command that makes one for it."""
    from interlock.service.granting import suggestion
    from interlock.service.habits import habit

    found = habit(state, id)
    more = {"approvals": found.count, "command": shlex.join(found.command)} if found is not None else {}
    return {**suggestion(state, id), **more}


async def _answer(context: Context, request: Request, work: Any, id: str, reason: str) -> Any:
    session = who_asks(request).operator()
    await context.pool.run(work, context.state, session, id, reason)
    return _shown(context, await context.pool.run(_find, context, who_asks(request), id))


def _report(context: Context, who: Who, principal: str, id: str, body: Outcome) -> Found:
    name = body.agent
    if not name:
        found, _ = _find(context, who, id)
        name = found.agent.name  # a claim, as it was then; the principal is what counts
    answers.executed(context.state, AgentRef(principal, name), id, body.outcome)
    return _find(context, who, id)


def _page(context: Context, query: TicketQuery, state: str) -> dict[str, Any]:
    """`next` leads on, also from a page whose tickets were all in another state by now."""
    now = context.state.clock.now()

    def work(tx: Any) -> list[Found]:
        return [(ticket, tx.approvals(ticket.id)) for ticket in tx.tickets(query)]

    found = context.state.store.read(work)
    shown = [(settled(ticket, now), approvals) for ticket, approvals in found]
    wanted = {"pending_cooling", "pending_approval"} if state == "open" else {state}
    kept = [(ticket, said) for ticket, said in shown if not state or wire_state(ticket) in wanted]
    return {
        "tickets": [ticket_json(ticket, said) for ticket, said in kept],
        "next": repr(found[-1][0].opened_at) if len(found) == query.limit else None,
    }


def _find(context: Context, who: Who, id: str) -> Found:
    """A ticket that the caller may see; another agent's is as if it did not exist."""
    found = context.state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id)))
    ticket, approvals = found
    if ticket is None or (who.session is None and ticket.agent.principal != who.principal):
        raise Problem("NOT_FOUND_RESOURCE", f"no ticket {id!r:.80}", details={"resource_type": "ticket"})
    return settled(ticket, context.state.clock.now()), approvals


def _shown(context: Context, found: Found) -> dict[str, Any]:
    return ticket_json(*found)


async def _wait(context: Context, request: Request, who: Who, id: str, seconds: float) -> Any:
    """Reads, then sleeps until something changed; nobody's thread is held meanwhile."""
    loop = asyncio.get_running_loop()
    end, event = loop.time() + seconds, context.waiters.add(id)
    gone = asyncio.ensure_future(_gone(request))
    try:
        while True:
            event.clear()
            found = await context.pool.run(_find, context, who, id)
            if who.session is None:
                context.state.pins.ask(found[0].id, context.state.clock.now())
            left = end - loop.time()
            if found[0].state not in _PENDING or left <= 0 or gone.done() or context.waiters.closed:
                return _shown(context, found)
            await _first(event, gone, min(left, until_time_moves_it(found[0], context.state.clock.now())))
    finally:
        gone.cancel()
        context.waiters.remove(id, event)


async def _first(event: asyncio.Event, gone: asyncio.Future[None], seconds: float) -> None:
    changed = asyncio.ensure_future(event.wait())
    waited: set[asyncio.Future[Any]] = {changed, gone}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        changed.cancel()


async def _gone(request: Request) -> None:
    """Ends when whoever waits has hung up."""
    with contextlib.suppress(Exception):
        while (await request.receive())["type"] != "http.disconnect":
            pass
