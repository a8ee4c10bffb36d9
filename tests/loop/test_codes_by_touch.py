"""A code in the console: shown after a touch for exactly the step that it frees, and good for that step alone."""

from __future__ import annotations

from typing import Any

import pytest

from authenticator import Authenticator
from browsers import SITE, SignedInBrowser, add_authenticator, add_passkey, enter_with_code, enter_with_passkey
from gate import AGENT, PASSPHRASE, Gate
from interlock.approvals import challenges
from interlock.approvals.challenges import BLOCK, VERIFY, releasing
from interlock.approvals.step_up import Reentry, Touch, reveal, reveal_begin
from interlock.error_codes import AnswerRefused
from interlock.model import AgentRef, intent
from interlock.records import Block, Challenge

PUSH = intent("run git push --force origin main")


def issued(gate: Gate, kind: str, digest: str = "", agent: AgentRef = AGENT) -> Challenge:
    now = gate.clock.now()
    return gate.store.write(lambda tx: challenges.issue(tx, gate.state, agent, kind, "why", now, digest=digest))


def paused(gate: Gate, agent: AgentRef = AGENT) -> Challenge:
    return issued(gate, VERIFY, gate.held(PUSH, agent, execution="e1").digest, agent)


def blocked(gate: Gate) -> Challenge:
    block = Block(AGENT.principal, "danger zone", gate.clock.now(), "interlock", AGENT.name)
    gate.store.write(lambda tx: tx.save_block(block))
    gate.state.remember_block(block)
    return issued(gate, BLOCK)


def verified(gate: Gate, challenge: Challenge, code: str) -> Any:
    return releasing.verify(gate.state, AGENT, challenge.id, code)["verified"]


def touched(entered: SignedInBrowser, key: Authenticator, challenge: Challenge) -> str:
    state = entered.gate.state
    asked = reveal_begin(state, entered.visitor, challenge.id, SITE)
    answer = key.get(asked["publicKey"])
    return reveal(state, entered.visitor, challenge.id, Touch(asked["ceremony"], answer, SITE)).code


def test_a_touch_shows_the_code_of_a_step_and_the_code_frees_it_once(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, challenge = enter_with_passkey(gate, key), paused(gate)
    with pytest.raises(AnswerRefused):
        releasing.reveal(gate.state, entered.visitor.session, challenge.id)
    assert verified(gate, challenge, touched(entered, key, challenge)) is True
    assert gate.ask(PUSH).allowed and not gate.ask(PUSH).allowed


def test_a_touch_shows_the_code_of_a_block(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, challenge = enter_with_passkey(gate, key), blocked(gate)
    assert verified(gate, challenge, touched(entered, key, challenge)) is True
    assert not gate.state.blocked(AGENT.principal)


def test_a_touch_for_one_code_shows_no_other(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, one = enter_with_passkey(gate, key), paused(gate)
    other = paused(gate, AgentRef("uid:2000", "codex", "s9"))
    asked = reveal_begin(gate.state, entered.visitor, one.id, SITE)
    answer = key.get(asked["publicKey"])
    with pytest.raises(AnswerRefused, match="something else"):
        reveal(gate.state, entered.visitor, other.id, Touch(asked["ceremony"], answer, SITE))


def test_passphrase_and_code_show_one_to_whoever_has_no_passkey(gate: Gate) -> None:
    app = add_authenticator(gate)
    entered = enter_with_code(gate, app)
    for challenge in (paused(gate), blocked(gate)):
        gate.clock.forward(30)
        given = PASSPHRASE, app.at(int(gate.clock.now()))
        shown = reveal(gate.state, entered.visitor, challenge.id, Reentry(*given))
        assert verified(gate, challenge, shown.code) is True
