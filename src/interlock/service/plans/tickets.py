"""The ticket of a plan: closed when its plan is put away, edited or left behind; reported when its plan has run."""

from __future__ import annotations

from interlock.core.model import TicketState
from interlock.core.plan_records import PLANNED, RUNNING, PlanRow
from interlock.core.records import Ticket, TicketQuery
from interlock.core.ticket import BY_TIME, moved, settled
from interlock.ports import Tx
from interlock.service import denials
from interlock.service.answers import mark_executed
from interlock.service.plans.desk import STARTING
from interlock.service.plans.reviewing import DOOR, NAME
from interlock.service.record import deed
from interlock.service.state import State

LEFT = 900.0  # seconds; a plan that nobody touched for so long was left behind
PUT_AWAY = "the plan was put away"
EDITED = "the plan was edited"
LEFT_BEHIND = "nobody came back to the plan"
_OPEN = (TicketState.COOLING, TicketState.WAITING, TicketState.APPROVED)


def withdraw(state: State, by: str, id: str, why: str) -> bool:
    """Closes the ticket that a plan was held under, by whoever asked for it; nothing is refused by that, and the same can be asked again."""
    if not id or _wanted(state, id):
        return False
    return state.store.write(lambda tx: _close(tx, state, tx.ticket(id), "revoke", by, why))


def close_abandoned(state: State) -> int:
    """Closes the tickets whose plans were left behind, or went with the process that had them; how many those were."""
    query = TicketQuery(_OPEN, name=NAME, limit=1_000)
    open_now = [ticket for ticket in state.store.read(lambda tx: tx.tickets(query)) if ticket.door == DOOR]
    left = [ticket for ticket in open_now if not _attended(state, ticket)]
    if not left:
        return 0

    def work(tx: Tx) -> int:
        mine = [ticket for ticket in left if not state.shared or _written_here(tx, state, ticket)]
        return sum(_close(tx, state, tx.ticket(one.id), "expire", BY_TIME, LEFT_BEHIND) for one in mine)

    return state.store.write(work)


def report_run(tx: Tx, state: State, row: PlanRow, outcome: str) -> None:
    """Says on the ticket of a plan that has run what became of it (R-4); what was let through without one has none."""
    ticket = tx.ticket(row.ticket) if row.ticket else None
    if ticket is not None and ticket.state is TicketState.SPENT:
        mark_executed(tx, state, ticket, ticket.agent.principal, outcome)


def _close(tx: Tx, state: State, before: Ticket | None, move: str, by: str, why: str) -> bool:
    now = state.clock.now()
    ticket = settled(before, now) if before is not None else None
    if before is None or ticket is None or ticket.state not in _OPEN:
        return False
    if not tx.change_ticket(moved(ticket, move, now, by, why), before):
        return False
    denials.let_go(tx, state, ticket, now)
    state.pins.ended(ticket.id)
    event = "expire" if move == "expire" else "revoke"
    state.recorder.now(tx, event, deed(now, event, by, {"ticket": ticket.id, "reason": why}))
    return True


def _wanted(state: State, id: str) -> bool:
    """Whether another plan on the desk, with the same text, waits for the same ticket."""
    return any(plan.ticket == id and plan.status in (PLANNED, STARTING) for plan in state.plans.all())


def _attended(state: State, ticket: Ticket) -> bool:
    """Whether somebody still has a plan in front of them that this ticket is for."""
    now = state.clock.now()
    return any(
        plan.status in (STARTING, RUNNING) or (plan.status == PLANNED and now - plan.touched_at < LEFT)
        for plan in state.plans.all()
        if ticket.id == plan.ticket or ticket.agent.session == plan.id
    )


def _written_here(tx: Tx, state: State, ticket: Ticket) -> bool:
    row = tx.plan(ticket.agent.session)
    return row is not None and row.writer == state.recorder.writer
