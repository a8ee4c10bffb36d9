"""Two services on one PostgreSQL: an agent that is paused or blocked at one is so at the other, and races are one agent's steps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres
from clock import TestClock
from gate import CHEAP, PASSPHRASE
from interlock.approvals import answers
from interlock.config import config_of
from interlock.identity import operators
from interlock.identity.keys.passphrases import enrol
from interlock.records import Ticket
from interlock.startup import open_state, open_store, read_rules
from loop_agents import FREE, READ, Agent

pytestmark = pytest.mark.xdist_group("pg")
RULES = read_rules(config_of({}, environ={}))


class Replica:
    """Enough of a gate for agents, on the shared database."""

    def __init__(self, url: str, policy: Path) -> None:
        self.store, self.clock = open_store(url), TestClock()
        config = config_of({"store": {"url": url}, "policy": {"use": str(policy)}})
        self.state = open_state(config, self.store, self.clock, known=RULES)

    def approve(self, ticket: Ticket) -> Ticket:
        session = operators.sign_in(self.state, "ann", PASSPHRASE, "cli")[1]
        return answers.approve(self.state, session, ticket.id)


@pytest.fixture
def pair(server: postgres.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Replica, Replica]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    policy = tmp_path / "free.toml"
    policy.write_text(FREE.format(steps=10, ceiling=100))
    url = server.new_database()
    one = Replica(url, policy)
    row, key = enrol("ann", PASSPHRASE, None, now=one.clock.now(), by="ann", roles=("admin",), kdf=CHEAP)
    operators.enrol_first(one.state, row, key)
    two = Replica(url, policy)
    operators.sign_in(two.state, "ann", PASSPHRASE, "cli")
    yield one, two
    one.store.close()
    two.store.close()


def test_a_pause_of_one_replica_holds_at_the_other_and_is_answered_there(pair: tuple[Replica, Replica]) -> None:
    here, there = (Agent(one) for one in pair)  # type: ignore[arg-type]
    here.started()
    assert here.told("delete_user 42")["continue"] is False
    assert there.told(READ)["continue"] is False
    there.approve(there.tickets()[0])
    assert there.told("delete_user 42")["continue"] is True
    assert here.told(READ)["continue"] is True
    assert here.told("delete_user 42")["continue"] is False


def test_a_block_of_one_replica_holds_at_the_other(pair: tuple[Replica, Replica]) -> None:
    here, there = (Agent(one) for one in pair)  # type: ignore[arg-type]
    here.started()
    assert here.told("rm -rf /")["stopped"] is True
    assert there.told(READ)["stopped"] is True


def test_steps_of_one_agent_that_come_all_at_once_are_counted_one_by_one(pair: tuple[Replica, Replica]) -> None:
    here, there = (Agent(one) for one in pair)  # type: ignore[arg-type]
    here.started()
    answers_: list[bool] = []

    def report(agent: Agent, number: int) -> None:
        answers_.append(agent.told(f"reading notes/{number}.md")["continue"])

    threads = [threading.Thread(target=report, args=((here, there)[n % 2], n)) for n in range(14)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers_) == [False] * 4 + [True] * 10
    assert here.standing()["steps"] == 10
