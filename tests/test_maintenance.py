"""What time asks for is done when its time has come, and nothing is looked at meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import stored_records
from gate import Gate
from interlock.maintenance import PAGE, TicketSettler
from interlock.model import AgentRef, TicketState, command
from interlock.ports import Tx

BRANCH = command("git branch -D old", "/home/dev/app")
PUSH = command("git push --force origin main", "/home/dev/app")


@pytest.fixture
def headless(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state", policy={"use": "headless"})
    made.enrol()
    yield made
    made.close()


def state_of(gate: Gate, id: str) -> TicketState:
    ticket = gate.store.read(lambda tx: tx.ticket(id))
    assert ticket is not None
    return ticket.state


@pytest.mark.parametrize("hears", [True, False])
def test_a_ticket_moves_when_its_time_has_come(headless: Gate, hears: bool) -> None:
    settling = TicketSettler(headless.state)
    if hears:
        settling.begin()
    assert settling.settle() == 0
    ticket = headless.held(BRANCH)  # opened after the look before
    assert settling.settle() == 0
    headless.clock.forward(29)
    assert settling.settle() == 0
    headless.clock.forward(1)
    assert settling.settle() == 1 and state_of(headless, ticket.id) is TicketState.APPROVED
    headless.clock.forward(300)
    assert settling.settle() == 1 and state_of(headless, ticket.id) is TicketState.EXPIRED
    assert settling.settle() == 0


def test_an_approval_that_came_later_expires_in_its_own_time(gate: Gate) -> None:
    settling = TicketSettler(gate.state)
    settling.begin()
    ticket = gate.held(PUSH)
    settling.settle()
    gate.approve(ticket)
    settling.settle()
    gate.clock.forward(301)  # long before the hour that it could have waited unanswered
    assert settling.settle() == 1 and state_of(gate, ticket.id) is TicketState.EXPIRED


def test_tickets_are_not_read_while_nothing_changes_and_no_time_has_come(gate: Gate) -> None:
    settling = TicketSettler(gate.state)
    settling.begin()
    gate.held(PUSH)
    settling.settle()
    gate.store.close()  # whoever reads now fails
    assert settling.settle() == 0


@pytest.mark.parametrize("one_moment", [True, False])
def test_tickets_expire_however_many_newer_ones_are_open(gate: Gate, one_moment: bool) -> None:
    """An agent that opens tickets by the thousand keeps no old one from expiring."""
    count, now = PAGE * 2 + 50, gate.clock.now()
    agents = [AgentRef(f"uid:{number}", "a") for number in range(count)]

    def work(tx: Tx) -> None:
        for number, agent in enumerate(agents):
            at = now - 2 if one_moment else now - 2 + number / count
            made = stored_records.ticket(
                f"t{number}", agent=agent, opened_at=at, expires_at=now + (5 if number < 20 else 5_000)
            )
            tx.open_ticket(made, 5)

    gate.store.write(work)
    gate.clock.forward(10)
    assert TicketSettler(gate.state).settle() == 20 and TicketSettler(gate.state).settle() == 0
    assert state_of(gate, "t0") is TicketState.EXPIRED and state_of(gate, "t30") is TicketState.WAITING
