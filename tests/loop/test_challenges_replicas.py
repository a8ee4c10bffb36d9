"""Two services on one PostgreSQL: a code that is shown by one is good at the other, because an operator signed for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

import postgres
from clock import TestClock
from gate import AGENT, CHEAP, PASSPHRASE
from interlock.approvals import challenges
from interlock.approvals.challenges import releasing
from interlock.config import config_of
from interlock.engine.evaluate import Request, evaluate
from interlock.error_codes import LoopProblem
from interlock.identity import operators
from interlock.identity.keys.codes import code_hash, new_code, normal_code
from interlock.identity.keys.passphrases import enrol
from interlock.model import intent
from interlock.ports import Tx
from interlock.records import Block, Challenge
from interlock.startup import open_state, open_store, read_rules

pytestmark = pytest.mark.xdist_group("pg")
PUSH = intent("run git push --force origin main")
RULES = read_rules(config_of({}, environ={}))


class Replica:
    """A service with a store of its own on the shared database."""

    def __init__(self, url: str) -> None:
        self.store, self.clock = open_store(url), TestClock()
        self.state = open_state(config_of({"store": {"url": url}}), self.store, self.clock, known=RULES)

    def shown(self, challenge: Challenge) -> str:
        session = operators.sign_in(self.state, "ann", PASSPHRASE, "cli")[1]
        return releasing.reveal(self.state, session, challenge.id).code

    def blocked(self) -> Challenge:
        now = self.clock.now()
        block = Block(AGENT.principal, "danger zone", now, "interlock", AGENT.name)

        def work(tx: Tx) -> Challenge:
            tx.save_block(block)
            return challenges.issue(tx, self.state, AGENT, challenges.BLOCK, "danger zone", now)

        made = self.store.write(work)
        self.state.remember_block(block)
        return made

    def paused(self) -> Challenge:
        ticket = evaluate(self.state, Request(PUSH, AGENT, "test", execution="e1")).ticket
        assert ticket is not None
        digest, now = ticket.digest, self.clock.now()
        return self.store.write(
            lambda tx: challenges.issue(tx, self.state, AGENT, challenges.VERIFY, "why", now, digest=digest)
        )

    def verify(self, challenge: Challenge, code: str) -> str:
        """The message, or the code of the problem."""
        try:
            return str(releasing.verify(self.state, AGENT, challenge.id, code)["message"])
        except LoopProblem as problem:
            return problem.code

    def is_blocked(self) -> bool:
        self.state.catch_up()
        return bool(self.state.blocked(AGENT.principal))


@pytest.fixture
def url(server: postgres.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # replicas have one installation's keys
    return server.new_database()


@pytest.fixture
def pair(url: str) -> Iterator[tuple[Replica, Replica]]:
    one, two = Replica(url), None
    row, key = enrol("ann", PASSPHRASE, None, now=one.clock.now(), by="ann", roles=("admin",), kdf=CHEAP)
    operators.enrol_first(one.state, row, key)
    two = Replica(url)
    yield one, two
    one.store.close()
    two.store.close()


def eventually(true: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def unlock(replica: Replica) -> None:
    operators.sign_in(replica.state, "ann", PASSPHRASE, "cli")


def test_a_code_that_one_replica_showed_lifts_the_block_at_every_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    unlock(two)
    challenge = one.blocked()
    code = one.shown(challenge)
    eventually(two.is_blocked)
    assert two.verify(challenge, code).startswith("Verified") and not two.is_blocked()
    eventually(lambda: not one.is_blocked())
    assert one.verify(challenge, code) == "TOKEN_ALREADY_USED"


def test_a_code_that_one_replica_showed_approves_a_step_at_the_other_once(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    unlock(two)
    challenge = one.paused()
    assert two.verify(challenge, one.shown(challenge)).startswith("Verified")
    assert evaluate(two.state, Request(PUSH, AGENT, "test", execution="e1")).allowed
    assert not evaluate(one.state, Request(PUSH, AGENT, "test", execution="e1")).allowed


def test_a_replica_that_nobody_unlocked_lets_the_code_live(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    challenge = one.blocked()
    code = one.shown(challenge)
    assert two.verify(challenge, code) == "PERMISSION_DENIED"
    assert one.verify(challenge, code).startswith("Verified")


def test_a_wrong_code_at_one_replica_ends_the_code_at_all(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    unlock(two)
    challenge = one.blocked()
    code = one.shown(challenge)
    assert two.verify(challenge, new_code()) == "TOKEN_INVALID"
    assert one.verify(challenge, code) == "TOKEN_INVALID" == two.verify(challenge, code)
    assert one.is_blocked()
    eventually(two.is_blocked)


def test_the_newest_code_counts_whichever_replica_showed_it(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    challenge = one.blocked()
    first = one.shown(challenge)
    second = two.shown(challenge)
    assert one.verify(challenge, first) == "TOKEN_INVALID"
    assert two.verify(challenge, second) == "TOKEN_INVALID"  # ended by the wrong one before
    assert one.verify(challenge, two.shown(challenge)).startswith("Verified")


def test_a_row_with_a_code_of_the_agents_own_frees_nothing(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    unlock(two)
    challenge, own = one.blocked(), new_code()
    one.shown(challenge)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("UPDATE challenges SET code_hash = %s", (code_hash(challenge.id, own),))
        rows = repr(db.execute("SELECT * FROM challenges").fetchall())
    assert one.verify(challenge, own) == "TOKEN_INVALID" and one.is_blocked()
    assert normal_code(own) not in rows


def test_no_window_shows_codes_where_others_have_to_believe_them(pair: tuple[Replica, Replica]) -> None:
    one, _ = pair
    assert releasing.reveal_unsigned(one.state, "dialog", one.blocked().id) is None
