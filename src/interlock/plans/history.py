"""The history of plans: texts without secrets, how each ended, and leases for runs at a terminal; one without was interrupted."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import BY_TIME, LIVE_STATES, SPENT, denials, move_settled
from interlock.approvals.answers import mark_executed
from interlock.identity import start_of
from interlock.plans import INTERFACE, NAME, draft_json
from interlock.ports import Tx
from interlock.records import Ticket, TicketQuery
from interlock.records.plans import INTERRUPTED, NO_EXIT, PLANNED, RUNNING, TERMINAL, PlanQuery, PlanRow
from interlock.redaction import redact, redact_text
from interlock.runtime.plan_desk import STARTING, ReviewedPlan
from interlock.runtime.state import State

LEFT = 900.0  # seconds after which an untouched plan counts as abandoned
MOST_OUTPUT = 65_536  # characters of a command's output that the history stores, from its end
LEASE = 120.0  # seconds after which another replica takes the watching program for ended
UNSEEN = 86_400.0  # seconds for a program that cannot be observed from here: it came by the network
UNTIL = "aliveUntil"
MOST = 1_000


def withdraw_ticket(state: State, by: str, id: str, why: str) -> None:
    """Refuses nothing, so that the same can be requested again."""
    # Another plan on the desk, with the same text, may wait for the same ticket.
    if id and not any(plan.ticket == id and plan.status in (PLANNED, STARTING) for plan in state.plans.all()):
        state.store.write(lambda tx: _close_ticket(tx, state, tx.ticket(id), "revoke", by, why))


def close_abandoned(state: State) -> int:
    """Closes tickets of plans abandoned or lost with their process; returns their number."""
    found = state.store.read(lambda tx: tx.tickets(TicketQuery(LIVE_STATES, name=NAME, limit=MOST)))
    left = [ticket for ticket in found if ticket.door == INTERFACE and not _is_attended(state, ticket)]
    if not left:
        return 0

    def work(tx: Tx) -> int:
        rows = [(ticket, tx.plan(ticket.agent.session)) for ticket in left]
        mine = [ticket.id for ticket, row in rows if (_is_own(state, row) if row else not state.shared)]
        why = "nobody came back to the plan"
        return sum(_close_ticket(tx, state, tx.ticket(id), "expire", BY_TIME, why) for id in mine)

    return state.store.write(work)


def _is_own(state: State, row: PlanRow) -> bool:
    return not state.shared or row.writer == state.recorder.writer


def _close_ticket(tx: Tx, state: State, before: Ticket | None, move: str, by: str, why: str) -> bool:
    now = state.clock.now()
    if before is None or move_settled(tx, before, move, now, by, why) is None:
        return False
    denials.release(tx, state, before, now)
    state.baseline.ended(before.id)
    state.recorder.event(tx, move, by, {"ticket": before.id, "reason": why})
    return True


def _is_attended(state: State, ticket: Ticket) -> bool:
    now = state.clock.now()
    return any(
        plan.status in (STARTING, RUNNING) or (plan.status == PLANNED and now - plan.touched_at < LEFT)
        for plan in state.plans.all()
        if ticket.id == plan.ticket or ticket.agent.session == plan.id
    )


def plan_row(state: State, plan: ReviewedPlan) -> PlanRow:
    """Without secrets."""
    found, sure = plan.reviewed, plan.draft.confidence
    details = {
        **draft_json(plan),
        "confidence": None if sure is None else str(sure),
        "reasons": [finding.reason for finding in found.assessment.findings],
        "kept": plan.kept,
        "runsAs": plan.runs_as,
    }
    return PlanRow(
        plan.id, plan.operator, plan.made_at, plan.status, redact_text(plan.intent), redact_text(plan.generated),
        redact_text(plan.command), plan.cwd, found.risk.word, found.assessment.level, plan.planner, plan.place, dict(redact(details)),
        plan.ticket, plan.workflow, plan.step, plan.started_at, writer=state.recorder.writer,
    )  # fmt: skip


def save_plan(state: State, row: PlanRow) -> None:
    """Its loss would endanger nobody, and every pause in typing stores one."""
    state.store.write_soon(lambda tx: tx.save_plan(row))


def record_end(
    state: State, id: str, status: str, code: int, output: str, cut: bool, by: str, journal: str = ""
) -> PlanRow | None:
    """Records a run's end in the history, audit trail and ticket; settles its snapshot with the state that it left."""
    text = redact_text(output[-MOST_OUTPUT:])
    state.plans.settle(id, status)

    def work(tx: Tx) -> PlanRow | None:
        if (row := tx.plan(id)) is None:
            return None
        details = {**row.details, "journal": journal} if journal else row.details
        ended = replace(row, exit_code=code, output=text, cut=cut or len(output) > MOST_OUTPUT, details=details)
        return end_run(tx, state, ended, status, by)

    after = state.store.write(work)
    kept, owner = (str(after.details.get(key) or "") for key in ("kept", "runsAs")) if after else ("", "")
    if kept and (keeper := state.snapshots.taker_for(owner)) is not None:
        keeper.settle(kept)
    return after


def end_run(tx: Tx, state: State, row: PlanRow, status: str, by: str) -> PlanRow:
    now = state.clock.now()
    after = replace(row, status=status, ended_at=now)
    tx.save_plan(after)
    details = {"plan": row.id, "status": status, "seconds": int(now - row.started_at)}
    details |= {} if row.exit_code == NO_EXIT else {"exit": row.exit_code}
    details |= {"journal": row.details["journal"]} if row.details.get("journal") else {}
    state.recorder.event(tx, "plan_end", by, details)
    ticket = tx.ticket(row.ticket) if row.ticket else None
    if ticket and ticket.state is SPENT:
        mark_executed(tx, state, ticket, ticket.agent.principal, status)
    return after


def search_plans(state: State, query: PlanQuery) -> list[PlanRow]:
    return state.store.read(lambda tx: tx.plans(query))


def recover_interrupted(state: State) -> None:
    close_abandoned(state)
    mine = [row for row in state.store.read(_running) if _is_own(state, row)]
    if mine:
        state.store.write(lambda tx: [end_run(tx, state, row, INTERRUPTED, "interlock") for row in mine])


class TerminalProgram(Struct, frozen=True):
    """A pid may be reused, but not with the same start time."""

    pid: int
    start: int

    @property
    def lives(self) -> bool:
        return start_of(self.pid) == self.start


def watch_terminal(state: State, id: str, pid: int) -> None:
    """`pid` is the socket peer's, 0 where unknown."""
    if start := start_of(pid) if pid else 0:
        state.plans.terminals[id] = TerminalProgram(pid, start)
    _renew(state, id, state.clock.now() + (LEASE if start else UNSEEN))


def renew_leases(state: State) -> int:
    """Ends runs that nobody watches; returns their number."""
    now, ended = state.clock.now(), 0
    rows = [row for row in state.store.read(_running) if row.place == TERMINAL]
    known = state.plans.terminals
    for row in rows:
        program, left = known.get(row.id), lease_end(row) - now
        if program and program.lives:
            if left < LEASE / 2:
                _renew(state, row.id, now + LEASE)
        elif program or left <= 0:
            ended += _end(state, row.id, now)
    for id in set(known) - {row.id for row in rows}:
        known.pop(id, None)
    return ended


def lease_end(row: PlanRow) -> float:
    until = row.details.get(UNTIL)
    return float(until) if isinstance(until, int | float) else row.started_at + UNSEEN


def _running(tx: Tx) -> list[PlanRow]:
    return tx.plans(PlanQuery(status=RUNNING, limit=MOST))


def _renew(state: State, id: str, lasts: float) -> None:
    def work(tx: Tx) -> None:
        row = tx.plan(id)
        if row and row.status == RUNNING:
            tx.save_plan(replace(row, details={**row.details, UNTIL: int(lasts)}))

    state.store.write(work)


def _end(state: State, id: str, now: float) -> bool:
    """Its program may only have been out of reach, and still report how it ended."""

    def work(tx: Tx) -> bool:
        row = tx.plan(id)
        if row is None or row.status != RUNNING or (lease_end(row) > now and id not in state.plans.terminals):
            return False
        end_run(tx, state, row, INTERRUPTED, "interlock")
        return True

    done = state.store.write(work)
    state.plans.terminals.pop(id, None)
    state.plans.settle(id, INTERRUPTED)
    return done
