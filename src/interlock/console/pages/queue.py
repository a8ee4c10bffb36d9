"""Queue page: held actions, challenges and blocks, and the answers of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from interlock.approvals import answers, challenges, settle
from interlock.approvals.challenges import releasing
from interlock.approvals.step_up import needs_stepup
from interlock.console.cards import approves_too_fast, card_of, cards, other_attempts, target_of
from interlock.console.replies import waiting_count
from interlock.console.visit import OPEN, InvalidInput, PageRoutes, Visit, existing
from interlock.identity.agents import unblock
from interlock.notify import request_line as message_of
from interlock.ports import Tx
from interlock.records import OPEN_STATES, Approval, Block, Ticket, TicketQuery

HOME = "/console/queue"
routes = PageRoutes()
MOST = 200  # tickets read; the page says where there are more
Held = list[tuple[Ticket, list[Approval]]]


@routes.get("/", OPEN)
@routes.get("/console")
def home(visit: Visit) -> Response:
    return visit.redirect(HOME)


@routes.get("/console/queue")
def queue(visit: Visit) -> Response:
    return visit.page("queue/queue.html", part="queue/_list.html", **_waiting(visit))


@routes.get("/console/queue/count")
def count(visit: Visit) -> Response:
    return visit.page("queue/_count.html", count=visit.state.store.read(waiting_count))


@routes.get("/console/queue/newest", json=True)
def newest(visit: Visit) -> Mapping[str, Any]:
    """For the tab and browser notifications."""
    state = visit.state

    def work(tx: Tx) -> tuple[str, list[Ticket]]:
        return waiting_count(tx), tx.tickets(TicketQuery(states=OPEN_STATES, limit=1))

    count, found = state.store.read(work)
    told = {"id": found[0].id, "words": message_of(found[0]), "level": found[0].level.word} if found else {}
    return {"count": count, **told}


def _waiting(visit: Visit) -> dict[str, object]:
    state = visit.state
    now = state.clock.now()

    def work(tx: Tx) -> tuple[Held, list[Block], dict[str, Ticket | None]]:
        held = [(ticket, tx.approvals(ticket.id)) for ticket in tx.tickets(TicketQuery(states=OPEN_STATES, limit=MOST))]
        about = {one.id: tx.challenged_ticket(one) for one in tx.challenges()}
        return held, [one for one in tx.blocks() if not one.lifted_at], about

    held, blocks, about = state.store.read(work)
    waits = [one for one in ((settle(ticket, now), said) for ticket, said in held) if one[0].open]
    codes = [*challenges.list_waiting(state), *challenges.list_lapsed(state)]
    return {
        "cards": cards(waits, other_attempts(state, [ticket for ticket, _ in waits])),
        "more": len(held) >= MOST,
        "most": MOST,
        "blocks": sorted(blocks, key=lambda one: -one.since),
        "challenges": [
            (one, card_of(step) if (step := about.get(one.id)) else None, one.expires_at <= now) for one in codes
        ],
        "type_target": approves_too_fast(visit),
    }


@routes.get("/console/tickets/{id}")
def one(visit: Visit) -> Response:
    state, id = visit.state, visit.id
    ticket, approvals = find_ticket(visit, id), state.store.read(lambda tx: tx.approvals(id))
    card = card_of(ticket, approvals, other_attempts(state, [ticket]).get(id, ()))
    return visit.page("queue/ticket.html", part="queue/_ticket.html", card=card, type_target=approves_too_fast(visit))


@routes.post("/console/tickets/{id}/approve")
def approve(visit: Visit) -> Response:
    ticket = find_ticket(visit, visit.id)
    if needs_stepup(ticket):
        raise InvalidInput("this takes your passkey, or your passphrase and a code")
    require_typed_name(visit, ticket)
    answers.approve(*visit.by, ticket.id, visit.field("reason", needed=False))
    return _after_answer(visit)


def find_ticket(visit: Visit, id: str) -> Ticket:
    """As time has left it."""
    found = existing(visit.state.store.read(lambda tx: tx.ticket(id)), f"there is no ticket {id[:80]}")
    return settle(found, visit.state.clock.now())


def require_typed_name(visit: Visit, ticket: Ticket) -> None:
    """Refuses an approval after many in a row unless the target's name was typed."""
    wanted = target_of(ticket)
    if approves_too_fast(visit) and visit.form.get("typed", "").strip() != wanted:
        raise InvalidInput(f"you approved many in a row: type {wanted!r} to approve this one too")


@routes.post("/console/tickets/{id}/reject")
def reject(visit: Visit) -> Response:
    """Also vetoes a cooling-off; the reason reaches the agent."""
    answers.reject(*visit.by, visit.id, visit.reason("say why: the agent is told"))
    return _after_answer(visit)


@routes.post("/console/tickets/{id}/revoke")
def revoke(visit: Visit) -> Response:
    answers.revoke(*visit.by, visit.id, visit.reason("say why it is taken back: it is recorded"))
    return one(visit) if visit.part else visit.redirect(f"/console/tickets/{quote(visit.id)}")


@routes.post("/console/blocks/lift")
def lift(visit: Visit) -> Response:
    reason = visit.reason("say why the block is lifted: it is recorded")
    unblock(*visit.by, visit.form.get("principal", ""), reason)
    return _after_answer(visit)


@routes.post("/console/challenges/{id}/reveal")
def reveal(visit: Visit) -> Response:
    shown = releasing.reveal(*visit.by, visit.id)
    return visit.page("queue/_code.html", code=shown.code, expires_at=shown.expires_at)


@routes.post("/console/challenges/{id}/reissue")
def reissue(visit: Visit) -> Response:
    challenges.reissue(*visit.by, visit.id)
    return _after_answer(visit)


def _after_answer(visit: Visit) -> Response:
    return queue(visit) if visit.part else visit.redirect(HOME)
