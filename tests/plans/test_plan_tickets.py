"""What happens to the ticket of a plan: closed with its plan, `executed` once it ran; and what a plan changes is copied first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.approvals import answers
from interlock.engine import undoing
from interlock.engine.statistics import figures_of
from interlock.maintenance import expired_share
from interlock.model import TicketState
from interlock.plans import planning, running
from interlock.plans.history import LEFT, close_abandoned
from interlock.plans.releasing import PlanHeld
from interlock.ports import NO_ACCESS, Access
from interlock.records import Ticket
from interlock.runtime.plan_desk import ReviewedPlan
from planner_desk import PlannerDesk, consent_to
from repositories import PATIENT, inspector, repository
from snapshot_child import patient_snapshotter

DANGEROUS = "rm -rf /home/nobody-7f3/photos; touch ran"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[PlannerDesk]:
    made = PlannerDesk(tmp_path)
    yield made
    running.stop_all(made.state)
    made.close()


def held(gate: PlannerDesk, plan: ReviewedPlan) -> Ticket:
    with pytest.raises(PlanHeld) as error:
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert error.value.ticket is not None
    return error.value.ticket


def now(gate: PlannerDesk, ticket: Ticket | str) -> Ticket:
    id = ticket if isinstance(ticket, str) else ticket.id
    found = gate.store.read(lambda tx: tx.ticket(id))
    assert found is not None
    return found


def test_a_person_who_tries_forbidden_plans_is_not_blocked(gate: PlannerDesk) -> None:
    for text in (
        "rm -rf /",
        "mkfs.ext4 /dev/sdz",
        "dd if=/dev/zero of=/dev/sda",
        ":(){ :|:& };:",
        "rm -rf / --no-preserve-root",
    ):
        plan = gate.plan(text)
        with pytest.raises(PlanHeld):
            running.start(gate.state, gate.by, plan.id, consent_to(plan))
    assert not gate.state.blocked("person:ann") and gate.records("block") == []
    assert gate.run(gate.plan("touch one")).status == "success"


def test_a_plan_that_is_put_away_closes_its_ticket_and_can_be_asked_for_again(gate: PlannerDesk) -> None:
    plan = gate.plan(DANGEROUS)
    ticket = held(gate, plan)
    planning.reject(gate.state, gate.by, plan.id)
    closed = now(gate, ticket)
    assert (closed.state, closed.decided_by, closed.decision_reason) == (
        TicketState.REJECTED,
        "ann",
        "the plan was put away",
    )
    again = gate.plan(DANGEROUS)
    other = held(gate, again)
    assert other.id != ticket.id and other.state is TicketState.WAITING
    answers.approve(gate.state, gate.sign_in(), other.id)
    assert gate.run(again).status == "success"


@pytest.mark.parametrize("approved", [False, True])
def test_an_edit_closes_the_ticket_of_the_text_before_also_an_approved_one(gate: PlannerDesk, approved: bool) -> None:
    plan = gate.plan(DANGEROUS)
    ticket = held(gate, plan)
    if approved:
        answers.approve(gate.state, gate.sign_in(), ticket.id)
    after = planning.edit(gate.state, gate.by, plan.id, "touch two")
    assert now(gate, ticket).state is TicketState.REJECTED and gate.run(after).status == "success"


def test_a_plan_that_somebody_else_waits_with_keeps_the_ticket_open(gate: PlannerDesk) -> None:
    """The same text in two windows is one ticket."""
    one, other = gate.plan(DANGEROUS), gate.plan(DANGEROUS)
    ticket = held(gate, one)
    assert held(gate, other).id == ticket.id
    planning.reject(gate.state, gate.by, one.id)
    assert now(gate, ticket).open
    planning.reject(gate.state, gate.by, other.id)
    assert not now(gate, ticket).open


def test_a_plan_that_was_left_behind_closes_its_ticket_and_nobody_is_said_to_have_missed_it(gate: PlannerDesk) -> None:
    ticket = held(gate, gate.plan(DANGEROUS))
    assert close_abandoned(gate.state) == 0
    gate.clock.forward(LEFT + 1)
    assert close_abandoned(gate.state) == 1 and close_abandoned(gate.state) == 0
    closed = now(gate, ticket)
    assert (closed.state, closed.decision_reason) == (TicketState.EXPIRED, "nobody came back to the plan")
    assert expired_share(gate.state) == 0


def test_a_restart_closes_the_tickets_of_plans_that_went_with_it(gate: PlannerDesk) -> None:
    ticket = held(gate, gate.plan(DANGEROUS))
    gate.restart()
    assert now(gate, ticket).state is TicketState.EXPIRED


@pytest.mark.parametrize(("end", "outcome"), [("true", "success"), ("false", "failure")])
def test_the_ticket_of_a_plan_that_ran_is_executed_and_counted(gate: PlannerDesk, end: str, outcome: str) -> None:
    plan = gate.plan(f"rm -rf /home/nobody-7f3/photos; {end}")
    ticket = held(gate, plan)
    answers.approve(gate.state, gate.sign_in(), ticket.id)
    assert gate.run(plan).ticket == ticket.id
    ran = now(gate, ticket)
    assert (ran.state.value, ran.outcome, figures_of(gate.state).executed) == (
        "executed",
        outcome,
        1,
    ) and ran.executed_at
    assert len(gate.records("executed")) == 1


def test_a_ticket_that_the_persons_own_yes_answered_is_executed_too(gate: PlannerDesk) -> None:
    row = gate.run(gate.plan("git reset --hard HEAD~3; true"))
    ticket = gate.store.read(lambda tx: tx.ticket(row.ticket))
    assert ticket is not None and ticket.executed_at and ticket.outcome == "success"


def test_at_a_terminal_the_ticket_is_executed_when_the_run_is_over_or_lost(gate: PlannerDesk) -> None:
    told, lost = gate.plan("git reset --hard HEAD~3; echo told"), gate.plan("git reset --hard HEAD~3; echo lost")
    for plan in (told, lost):
        running.release_to_terminal(gate.state, gate.by, plan.id, consent_to(plan))
    running.end_at_terminal(gate.state, gate.by, told.id, 3)
    gate.restart()
    ids = [gate.row(plan).ticket for plan in (told, lost)]
    assert [now(gate, id).outcome for id in ids] == ["failure", "interrupted"]


@pytest.mark.parametrize("mode", ["monitoring", "logging", "disabled"])
def test_what_nobody_may_approve_runs_in_no_mode(tmp_path: Path, mode: str) -> None:
    gate = PlannerDesk(tmp_path)
    gate.state.enforce(mode=mode)
    plan = gate.plan("mkfs.ext4 /dev/sdz")
    with pytest.raises(PlanHeld, match=r"[Nn]obody may approve"):
        running.start(gate.state, gate.by, plan.id, consent_to(plan))
    gate.close()


def test_what_a_plan_would_destroy_is_copied_first_and_undo_brings_it_back(gate: PlannerDesk, tmp_path: Path) -> None:
    """Under the principal of the user that runs it, which is whom `interlock undo` asks for."""
    own = f"uid:{os.getuid()}"
    with patient_snapshotter(tmp_path / "kept") as keeps, inspector() as look:
        gate.state.snapshots.taker = keeps
        access = Access(inspect=lambda question: look({**question, "ms": PATIENT, "temp": []}), snapshot=keeps.take)
        gate.state.plans.access = lambda who: access if who == own else NO_ACCESS
        notes = repository(gate.here / "app") / "src" / "a.py"
        notes.write_text("three days of work\n")
        text = f"cd {notes.parent} && git reset --hard"
        row = gate.run(gate.plan(text))
        kept = row.details["kept"]
        assert row.status == "success" and kept and notes.read_text() != "three days of work\n"
        assert [one.id for one in undoing.list_snapshots(gate.state, own)] == [kept]
        assert undoing.undo(gate.state, own, principal=own).undone.done and notes.read_text() == "three days of work\n"
        there = gate.plan(text)  # at a terminal of another machine nothing can be copied
        assert running.release_to_terminal(gate.state, gate.by, there.id, consent_to(there)).kept == ""
