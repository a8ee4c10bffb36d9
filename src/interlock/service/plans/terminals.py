"""Does a command still run at somebody's terminal? While its program lives the daemon renews a lease; whatever has none was interrupted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from interlock.core.plan_records import INTERRUPTED, RUNNING, TERMINAL, PlanQuery, PlanRow
from interlock.ports import Tx
from interlock.service.plans.history import end
from interlock.service.processes import start_of
from interlock.service.state import State

LEASE = 120.0  # seconds; after that another replica takes it that whoever watched is gone
UNSEEN = 86_400.0  # seconds for a program that cannot be seen from here: it came by the network
UNTIL = "aliveUntil"
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Program:
    """The program at the terminal: its number may be given out again, but not with the same beginning."""

    pid: int
    start: int

    @property
    def lives(self) -> bool:
        return start_of(self.pid) == self.start


def begin(state: State, id: str, pid: int) -> None:
    """Watches the program that runs a plan; `pid` is what the kernel says of whoever asked, 0 where it says nothing."""
    start = start_of(pid) if pid else 0
    if start:
        state.plans.terminals[id] = Program(pid, start)
    _renew(state, id, state.clock.now() + (LEASE if start else UNSEEN))


def look(state: State) -> int:
    """Renews the leases of programs that live, and ends what nobody watches any more; how many those were."""
    now, ended = state.clock.now(), 0
    rows = [row for row in state.store.read(_running) if row.place == TERMINAL]
    known = state.plans.terminals
    for row in rows:
        program = known.get(row.id)
        if program is not None and program.lives:
            if until(row) - now < LEASE / 2:
                _renew(state, row.id, now + LEASE)
        elif program is not None or until(row) <= now:
            ended += _end(state, row.id, now)
    for id in set(known) - {row.id for row in rows}:
        known.pop(id, None)
    return ended


def until(row: PlanRow) -> float:
    """When its lease ends."""
    said = row.details.get(UNTIL)
    return float(said) if isinstance(said, int | float) else row.started_at + UNSEEN


def _running(tx: Tx) -> list[PlanRow]:
    return tx.plans(PlanQuery(status=RUNNING, limit=MOST))


def _renew(state: State, id: str, lasts: float) -> None:
    def work(tx: Tx) -> None:
        row = tx.plan(id)
        if row is not None and row.status == RUNNING:
            tx.save_plan(replace(row, details={**row.details, UNTIL: int(lasts)}))

    state.store.write(work)


def _end(state: State, id: str, now: float) -> bool:
    """In the history and on the record; the program may still say how it ended, if it was only out of sight."""

    def work(tx: Tx) -> bool:
        row = tx.plan(id)
        if row is None or row.status != RUNNING or (until(row) > now and id not in state.plans.terminals):
            return False
        end(tx, state, row, INTERRUPTED, "interlock")
        return True

    done = state.store.write(work)
    state.plans.terminals.pop(id, None)
    state.plans.settle(id, INTERRUPTED)
    return done
