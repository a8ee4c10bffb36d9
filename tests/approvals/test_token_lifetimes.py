"""How long a token counts, how many there can be, and what of it can be forged: CT-06, CT-08, CT-10, CT-11, C-27."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate import Gate
from interlock.approvals.tickets import token_of
from interlock.maintenance import TicketSettler
from interlock.model import Action, AgentRef, command
from interlock.records import TicketQuery

RESET, PUSH = command("git reset --hard HEAD~3", "/srv/app"), command("git push --force origin main", "/srv/app")
DROP = command("psql -c 'DROP DATABASE shop'", "/srv/app")
PRINCIPALS, EACH = 250, 4  # 1000 tokens


@pytest.mark.parametrize(("action", "seconds"), [(RESET, 300), (PUSH, 300), (DROP, 120)])
def test_CT_06_CT_08_an_armed_token_counts_for_its_lifetime_and_not_a_second_longer(
    gate: Gate, action: Action, seconds: int
) -> None:
    for late, code in ((seconds - 1, ""), (seconds, "TOKEN_EXPIRED")):  # C-27: one clock, no grace
        ticket = gate.held(action)
        token = token_of(gate.state, gate.approve(ticket))
        gate.clock.forward(late)
        found = gate.ask(action, token=token)
        assert (found.allowed, found.code) == (not code, code)
        gate.clock.forward(3_600)


def test_CT_10_a_token_that_differs_in_one_place_is_none(gate: Gate) -> None:
    ticket = gate.approve(gate.held(RESET))
    token = token_of(gate.state, ticket)
    other = {"a": "b"}
    for at in (5, len(token) // 2, len(token) - 1):  # beyond its prefix
        forged = token[:at] + other.get(token[at], "a") + token[at + 1 :]
        assert gate.ask(RESET, token=forged).code == "TOKEN_INVALID"
    assert gate.ask(RESET, token=token.swapcase()).code == "TOKEN_INVALID"  # CT-01: case counts
    assert gate.ask(RESET, token=token).allowed


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state")
    made.enrol()
    yield made
    made.close()


@pytest.mark.slow("opens a thousand tickets")
def test_CT_11_a_thousand_tokens_live_at_once_and_are_gone_when_their_time_is_over(crowded: Gate) -> None:
    gate = crowded
    asked = [
        (AgentRef(f"uid:{who}", "claude", "s"), command(f"git -C /srv/{number} reset --hard", "/srv"))
        for who in range(PRINCIPALS)
        for number in range(EACH)
    ]
    tickets = [gate.held(action, who) for who, action in asked]
    assert len({ticket.id for ticket in tickets}) == PRINCIPALS * EACH
    for at in (0, len(asked) // 2, -1):  # the oldest is not pushed out by the newest
        who, action = asked[at]
        token = token_of(gate.state, gate.approve(tickets[at]))
        assert gate.ask(action, who, token=token).allowed
    gate.clock.forward(3_600)
    assert TicketSettler(gate.state).settle() == PRINCIPALS * EACH - 3  # as the daemon does every half second
    assert not [one for one in gate.store.read(lambda tx: tx.tickets(TicketQuery(limit=2_000))) if one.open]
    who, action = asked[1]
    assert gate.ask(action, who, token=token_of(gate.state, tickets[1])).code == "TOKEN_EXPIRED"
