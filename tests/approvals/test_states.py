"""The moves of a ticket, and what an action is answered for each place a ticket can stand in."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from cases import each
from effort import EFFORT
from interlock.approvals import MOVES, MoveRefused, TicketChange, apply_move, first_state, settle
from interlock.engine.decide import resolve
from interlock.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.records import Ticket

ASK = Requirement(human=Human.CONFIRM)
WAIT = Requirement(cooling_seconds=30)
BOTH = Requirement(cooling_seconds=30, human=Human.APPROVE)


def ticket(requirement: Requirement = ASK, now: float = 1000.0, level: Level = Level.DESTRUCTIVE) -> Ticket:
    made = Ticket(
        "pdact_1", "v1:x", AgentRef("uid:1", "a"), TicketState.WAITING, requirement, now, now + 3600, level,
        cooling_ends_at=now + requirement.cooling_seconds if requirement.cooling_seconds else 0.0,
    )  # fmt: skip
    return replace(made, state=first_state(made))


def test_a_move_that_is_not_in_the_table_is_refused() -> None:
    for state in TicketState:
        for move in ("approve", "cooled", "reject", "expire", "revoke", "spend"):
            standing = replace(ticket(), state=state)
            if (state, move) in MOVES:
                assert apply_move(standing, move, 1001.0).state is MOVES[state, move]
            else:
                with pytest.raises(MoveRefused):
                    apply_move(standing, move, 1001.0)


def test_a_ticket_cannot_be_spent_while_it_cools_or_after_it_expired() -> None:
    approved = apply_move(ticket(BOTH), "approve", 1001.0, "ann")
    with pytest.raises(MoveRefused, match="cooling for 29 s more"):
        apply_move(approved, "spend", 1001.5)
    with pytest.raises(MoveRefused, match="expired"):
        apply_move(approved, "spend", approved.expires_at)
    assert apply_move(approved, "spend", 1031.0).spent_at == 1031.0


@pytest.mark.parametrize(
    ("level", "seconds"), [(Level.DESTRUCTIVE, 300), (Level.DANGEROUS, 300), (Level.FORBIDDEN, 120)]
)
def test_the_lifetime_starts_when_a_human_armed_it_and_cooling_has_ended(level: Level, seconds: int) -> None:
    """CT-06, R-4."""
    assert apply_move(ticket(ASK, level=level), "approve", 1500.0).expires_at == 1500.0 + seconds
    assert apply_move(ticket(BOTH, level=level), "approve", 1001.0).expires_at == 1030.0 + seconds


def test_time_approves_only_where_nothing_but_time_was_asked_for() -> None:
    """R-3."""
    assert settle(ticket(WAIT), 1029.9).state is TicketState.COOLING
    assert settle(ticket(WAIT), 1030.0).state is TicketState.APPROVED
    assert settle(ticket(BOTH), 1030.0).state is TicketState.WAITING


@each(
    ("requirement", "state"),
    [
        (WAIT, TicketState.COOLING),
        (ASK, TicketState.WAITING),
        (BOTH, TicketState.WAITING),
        (replace(WAIT, blocked=True), TicketState.WAITING),
        (replace(WAIT, cooling_seconds=0.25), TicketState.COOLING),
    ],
)
def test_a_ticket_cools_only_where_time_alone_frees_it(requirement: Requirement, state: TicketState) -> None:
    """R-21; and so does one that an older version left cooling."""
    opened = ticket(requirement)
    assert opened.state is state
    assert settle(replace(opened, state=TicketState.COOLING), 1000.0).state is state
    assert opened.cooling_ends_at == (1000.0 + requirement.cooling_seconds if requirement.cooling_seconds else 0)


@each(
    ("requirement", "standing", "agreed", "now", "expected"),
    [
        (Requirement(blocked=True), None, "", 1000, ("block", TicketChange.NOTHING)),
        (Requirement(), None, "", 1000, ("allow", TicketChange.NOTHING)),
        (ASK, None, "", 1000, ("confirm", TicketChange.OPEN)),
        (WAIT, None, "", 1000, ("cool_off", TicketChange.OPEN)),
        (ASK, ticket(), "nobody", 1001, ("confirm", TicketChange.NOTHING)),
        (ASK, ticket(), "nobody", 4600, ("confirm", TicketChange.OPEN)),  # too late: asked anew
        (WAIT, ticket(WAIT), "", 1010, ("cool_off", TicketChange.NOTHING)),
        (WAIT, ticket(WAIT), "", 1030, ("allow", TicketChange.SPEND)),
        (BOTH, apply_move(ticket(BOTH), "approve", 1001), "", 1010, ("cool_off", TicketChange.NOTHING)),
        (BOTH, apply_move(ticket(BOTH), "approve", 1001), "", 1030, ("allow", TicketChange.SPEND)),
        (ASK, apply_move(ticket(), "approve", 1001), "", 1002, ("allow", TicketChange.SPEND)),
        (ASK, apply_move(ticket(), "approve", 1001), "no valid signature", 1002, ("deny", TicketChange.NOTHING)),
        (ASK, apply_move(ticket(), "reject", 1001, "ann", "no"), "", 1002, ("deny", TicketChange.NOTHING)),
        (
            ASK,
            apply_move(ticket(), "reject", 1001, "ann", "no"),
            "",
            1602,
            ("confirm", TicketChange.OPEN),
        ),  # ten minutes later
        (
            ASK,
            apply_move(apply_move(ticket(), "approve", 1001), "spend", 1002),
            "",
            1003,
            ("confirm", TicketChange.OPEN),
        ),  # once
    ],
)
def test_the_answer_for_each_place_a_ticket_stands_in(
    requirement: Requirement, standing: Ticket | None, agreed: str, now: float, expected: tuple[str, TicketChange]
) -> None:
    held = resolve(requirement, False, standing, agreed, float(now), 600)
    assert (held.outcome, held.keep) == expected


def test_a_headless_answer_is_no_and_opens_a_ticket() -> None:
    held = resolve(ASK, True, None, "", 1000.0, 600)
    assert (held.outcome, held.keep) == ("deny", TicketChange.OPEN)


class Tickets(RuleBasedStateMachine):
    """Any sequence of moves and any passing of time: spent at most once, never unasked, never early, never late."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.spent, self.approved_by_human = 1000.0, 0, False
        self.requirement = ASK
        self.ticket = ticket(ASK, self.now)

    @rule(seconds=st.sampled_from([0.5, 5, 29, 31, 200, 400, 3600]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.ticket = settle(self.ticket, self.now)

    @rule(requirement=st.sampled_from([ASK, WAIT, BOTH]))
    @precondition(lambda self: self.ticket.state in (TicketState.SPENT, TicketState.EXPIRED, TicketState.REJECTED))
    def asked_again(self, requirement: Requirement) -> None:
        self.requirement, self.approved_by_human, self.spent = requirement, False, 0
        self.ticket = ticket(requirement, self.now)

    @rule(move=st.sampled_from(["approve", "reject", "revoke", "expire"]))
    def somebody_moves(self, move: str) -> None:
        try:
            self.ticket = apply_move(self.ticket, move, self.now, "ann")
        except MoveRefused:
            return
        self.approved_by_human = self.approved_by_human or move == "approve"

    @rule()
    def the_agent_tries(self) -> None:
        agreed = "" if self.approved_by_human or self.requirement.human is Human.NONE else "nobody agreed"
        held = resolve(self.requirement, False, self.ticket, agreed, self.now, 600)
        if held.keep is TicketChange.SPEND:
            assert held.ticket is not None
            self.ticket = apply_move(held.ticket, "spend", self.now)
            self.spent += 1
            assert self.approved_by_human or self.requirement.human is Human.NONE
            assert self.now >= self.ticket.cooling_ends_at
            assert self.now < held.ticket.expires_at
        else:
            assert held.outcome != "allow"

    @invariant()
    def spent_at_most_once(self) -> None:
        assert self.spent <= 1 and (self.ticket.state is TicketState.SPENT) == (self.spent == 1)


TestTickets = Tickets.TestCase
TestTickets.settings = settings(max_examples=60 * EFFORT, stateful_step_count=30, deadline=None)
