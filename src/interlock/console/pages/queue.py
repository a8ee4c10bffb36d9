"""Queue page: held actions, challenges and blocks, and the answers of people."""

from __future__ import annotations

from urllib.parse import quote

from interlock.approvals import answers, challenges, settle
from interlock.console.cards import Card, approves_too_fast, card_of, cards, needs_step_up, other_attempts, target_of
from interlock.console.replies import form_field, waiting_count
from interlock.console.visit import (
    APPROVER,
    OPEN,
    Answer,
    InvalidInput,
    JsonAnswer,
    Page,
    PageNotFound,
    RedirectTo,
    Route,
    Visit,
)
from interlock.identity.agents import unblock
from interlock.model import TicketState
from interlock.notify import request_line as message_of
from interlock.ports import Tx
from interlock.records import Approval, Block, Challenge, Ticket, TicketQuery

HOME = "/console/queue"
MOST = 200  # tickets read; the page says where there are more
_OPEN = (TicketState.COOLING, TicketState.WAITING)
Held = list[tuple[Ticket, list[Approval]]]


def home(visit: Visit) -> Answer:
    return RedirectTo(HOME)


def queue(visit: Visit) -> Answer:
    return Page("queue/_list.html" if visit.part else "queue/queue.html", _waiting(visit))


def count(visit: Visit) -> Answer:
    return Page("queue/_count.html", {"count": visit.context.state.store.read(waiting_count)})


def newest(visit: Visit) -> Answer:
    """The number of waiting tickets and a summary of the newest, for the tab and browser notifications."""
    state = visit.context.state

    def work(tx: Tx) -> tuple[str, list[Ticket]]:
        return waiting_count(tx), tx.tickets(TicketQuery(states=_OPEN, limit=1))

    count, found = state.store.read(work)
    told = {"id": found[0].id, "words": message_of(found[0]), "level": found[0].level.word} if found else {}
    return JsonAnswer({"count": count, **told})


def _waiting(visit: Visit) -> dict[str, object]:
    """Everything that waits for an operator."""
    state = visit.context.state
    now = state.clock.now()

    def work(tx: Tx) -> tuple[Held, list[Block], dict[str, Ticket]]:
        held = [(ticket, tx.approvals(ticket.id)) for ticket in tx.tickets(TicketQuery(states=_OPEN, limit=MOST))]
        about = {one.id: found for one in tx.challenges() if (found := _ticket(tx, one)) is not None}
        return held, [one for one in tx.blocks() if not one.lifted_at], about

    held, blocks, about = state.store.read(work)
    waits = [one for one in ((settle(ticket, now), said) for ticket, said in held) if one[0].open]
    codes = [*challenges.list_waiting(state), *challenges.list_lapsed(state)]
    return {
        "cards": cards(waits, now, other_attempts(state, [ticket for ticket, _ in waits])),
        "more": len(held) >= MOST,
        "most": MOST,
        "blocks": sorted(blocks, key=lambda one: -one.since),
        "challenges": [(one, _about(about.get(one.id)), one.expires_at <= now) for one in codes],
        "type_target": approves_too_fast(state, visit.who.operator),
    }


def _about(ticket: Ticket | None) -> Card | None:
    return card_of(ticket) if ticket is not None else None


def _ticket(tx: Tx, challenge: Challenge) -> Ticket | None:
    return tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None


def one(visit: Visit) -> Answer:
    """One ticket's page, in any state."""
    state, id = visit.context.state, visit.params["id"]
    ticket, approvals = state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id)))
    if ticket is None:
        raise PageNotFound(f"there is no ticket {id[:80]}")
    tries = other_attempts(state, [ticket]).get(id, ())
    card = card_of(settle(ticket, state.clock.now()), approvals, tries)
    template = "queue/_ticket.html" if visit.part else "queue/ticket.html"
    return Page(template, {"card": card, "type_target": approves_too_fast(state, visit.who.operator)})


def approve(visit: Visit) -> Answer:
    """Approves a ticket for which a cookie suffices; refuses one that takes a step-up."""
    state, id = visit.context.state, visit.params["id"]
    ticket = state.store.read(lambda tx: tx.ticket(id))
    if ticket is None:
        raise PageNotFound(f"there is no ticket {id[:80]}")
    if needs_step_up(ticket):
        raise InvalidInput("this takes your passkey, or your passphrase and a code")
    require_typed_name(visit, ticket)
    answers.approve(state, visit.who.session, id, form_field(visit, "reason", needed=False))
    return _after_answer(visit)


def require_typed_name(visit: Visit, ticket: Ticket) -> None:
    """Refuses an approval after many in a row unless the target's name was typed."""
    wanted = target_of(ticket)
    if approves_too_fast(visit.context.state, visit.who.operator) and visit.form.get("typed", "").strip() != wanted:
        raise InvalidInput(f"you approved many in a row: type {wanted!r} to approve this one too")


def _why(visit: Visit, words: str) -> str:
    """The reason in the form; refuses an empty or over-long one."""
    reason = form_field(visit, "reason", needed=False).strip()
    if not reason:
        raise InvalidInput(words)
    return reason


def reject(visit: Visit) -> Answer:
    """Rejects, which also vetoes a cooling-off; the reason reaches the agent."""
    reason = _why(visit, "say why: the agent is told")
    answers.reject(visit.context.state, visit.who.session, visit.params["id"], reason)
    return _after_answer(visit)


def revoke(visit: Visit) -> Answer:
    """Revokes an approval that no agent has used yet."""
    reason = _why(visit, "say why it is taken back: it is recorded")
    answers.revoke(visit.context.state, visit.who.session, visit.params["id"], reason)
    return one(visit) if visit.part else RedirectTo(f"/console/tickets/{quote(visit.params['id'])}")


def lift(visit: Visit) -> Answer:
    """Lifts a block; approves nothing."""
    reason = _why(visit, "say why the block is lifted: it is recorded")
    unblock(visit.context.state, visit.who.session, visit.form.get("principal", ""), reason)
    return _after_answer(visit)


def reveal(visit: Visit) -> Answer:
    """A new code, shown once, on this page alone."""
    shown = challenges.reveal(visit.context.state, visit.who.session, visit.params["id"])
    return Page("queue/_code.html", {"code": shown.code, "expires_at": shown.expires_at})


def reissue(visit: Visit) -> Answer:
    challenges.reissue(visit.context.state, visit.who.session, visit.params["id"])
    return _after_answer(visit)


def _after_answer(visit: Visit) -> Answer:
    return queue(visit) if visit.part else RedirectTo(HOME)


ROUTES = (
    Route("GET", "/", home, OPEN),  # the cookie's path is /console
    Route("GET", "/console", home),
    Route("GET", "/console/events", home),
    Route("GET", HOME, queue),
    Route("GET", "/console/queue/count", count),
    Route("GET", "/console/queue/newest", newest),
    Route("GET", "/console/tickets/{id}", one),
    Route("POST", "/console/tickets/{id}/approve", approve, APPROVER),
    Route("POST", "/console/tickets/{id}/reject", reject, APPROVER),
    Route("POST", "/console/tickets/{id}/revoke", revoke, APPROVER),
    Route("POST", "/console/blocks/lift", lift, APPROVER),
    Route("POST", "/console/challenges/{id}/reveal", reveal, APPROVER),
    Route("POST", "/console/challenges/{id}/reissue", reissue, APPROVER),
)
