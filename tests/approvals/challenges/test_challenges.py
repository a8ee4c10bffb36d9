"""Out-of-band verification on a real store: who is shown a code, what it frees, and everything that frees nothing (OOB-01 to OOB-14)."""

from __future__ import annotations

import json
import re
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, Gate
from interlock.approvals import answers, challenges
from interlock.approvals.challenges import BLOCK, VERIFY, releasing
from interlock.audit.chain import fingerprint
from interlock.error_codes import AnswerRefused, LoopProblem, codes
from interlock.identity import agents
from interlock.identity.attempts import LONGEST
from interlock.identity.keys.codes import LENGTH, code_hash, new_code, normal_code
from interlock.model import AgentRef, TicketState, intent
from interlock.records import Block, Challenge, Ticket

PUSH = intent("run git push --force origin main")
OTHER = AgentRef("uid:2000", "codex", "s9")
LEAK = re.compile(r"typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/|\.ts:\d|\.js:\d", re.IGNORECASE)


def blocked(gate: Gate, agent: AgentRef = AGENT) -> Challenge:
    """A principal that the loop blocked, and its challenge."""
    now = gate.clock.now()
    block = Block(agent.principal, "danger zone", now, "interlock", agent.name)

    def work(tx: Any) -> Challenge:
        if tx.block(agent.principal) is None:
            tx.save_block(block)
        return challenges.issue(tx, gate.state, agent, BLOCK, "danger zone", now)

    made = gate.store.write(work)
    gate.state.remember_block(block)
    return made


def paused(gate: Gate, agent: AgentRef = AGENT) -> tuple[Challenge, Ticket]:
    """An agent whose step waits for a code."""
    ticket = gate.held(PUSH, agent, execution="e1")
    return issued(gate, VERIFY, agent, ticket.digest), ticket


def issued(gate: Gate, kind: str, agent: AgentRef = AGENT, digest: str = "") -> Challenge:
    now = gate.clock.now()
    return gate.store.write(lambda tx: challenges.issue(tx, gate.state, agent, kind, "why", now, digest=digest))


def kept(gate: Gate, challenge: Challenge) -> Challenge:
    found = gate.store.read(lambda tx: tx.challenge(challenge.id))
    assert found is not None
    return found


def shown(gate: Gate, challenge: Challenge, by: str = "ann") -> str:
    return releasing.reveal(gate.state, gate.sign_in(by), challenge.id).code


def verify(gate: Gate, challenge: Challenge | str, code: str, agent: AgentRef = AGENT) -> dict[str, Any]:
    id = challenge if isinstance(challenge, str) else challenge.id
    return releasing.verify(gate.state, agent, id, code)


def refused(gate: Gate, challenge: Challenge | str, code: str, agent: AgentRef = AGENT) -> LoopProblem:
    with pytest.raises(LoopProblem) as found:
        verify(gate, challenge, code, agent)
    problem = found.value
    assert set(problem.details) <= set(codes()[problem.code].details)
    assert not LEAK.search(problem.message)
    if normal_code(code):
        assert code not in f"{problem.message}{dict(problem.details)}"
    return problem


def edit(gate: Gate, sql: str, *values: object) -> None:
    """What an agent that is the same user can do to the database behind our back."""
    with sqlite3.connect(Path(gate.folder) / "state.db", timeout=10) as db:
        db.execute(sql, values)
    db.close()


# Codes


def test_oob03_a_code_has_130_random_bits_and_no_two_are_alike() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200 and LENGTH * 5 >= 128
    assert all(re.fullmatch(r"[A-Z2-7]{5}(-[A-Z2-7]{5}){3}-[A-Z2-7]{6}", code) for code in codes)


@pytest.mark.parametrize("change", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code} \n"])
def test_a_code_is_taken_in_any_spelling_a_person_types(gate: Gate, change: Any) -> None:
    challenge = blocked(gate)
    assert verify(gate, challenge, change(shown(gate, challenge)))["verified"] is True


def test_look_alikes_of_letters_are_taken_for_them() -> None:
    assert normal_code("0" * 13 + "1" * 12 + "8") == "O" * 13 + "I" * 12 + "B"
    assert normal_code("9" * LENGTH) == normal_code("A" * 25) == normal_code("A" * 300) == ""


# Ids, and what frees


def test_oob03_a_challenge_is_the_same_uuid_v4_from_issue_to_verify(gate: Gate) -> None:
    challenge = blocked(gate)
    assert uuid.UUID(challenge.id).version == 4
    assert verify(gate, challenge.id.upper(), shown(gate, challenge))["challenge_id"] == challenge.id


def test_oob09_the_right_code_lifts_the_block_for_good_and_approves_nothing(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    challenge = blocked(gate)
    said = verify(gate, challenge, shown(gate, challenge))
    assert said == {
        "verified": True,
        "challenge_id": challenge.id,
        "unblocked_agent": "claude",
        "message": said["message"],
    }
    assert not LEAK.search(said["message"])
    assert gate.state.blocked(AGENT.principal) == ""
    assert gate.ask(PUSH).ticket.id == ticket.id  # type: ignore[union-attr]
    gate.restart()
    assert gate.state.blocked(AGENT.principal) == ""
    assert json.loads(gate.records("unblock")[-1].body)["by"] == "ann"


def test_r10_lifting_a_pause_approves_exactly_that_step_once(gate: Gate) -> None:
    challenge, ticket = paused(gate)
    assert "unblocked_agent" not in verify(gate, challenge, shown(gate, challenge))
    verified = kept(gate, challenge)
    found = gate.store.read(lambda tx: tx.live_ticket(verified.digest, verified.agent))
    assert found is not None and (found.id, found.state) == (ticket.id, TicketState.APPROVED)
    assert not gate.ask(intent("run git push --force origin release"), execution="e1").allowed
    assert gate.ask(PUSH, execution="e1").allowed
    assert not gate.ask(PUSH, execution="e1").allowed


def test_what_a_code_approved_has_the_operators_signature(gate: Gate) -> None:
    challenge, ticket = paused(gate)
    code = shown(gate, challenge)
    assert gate.store.read(lambda tx: tx.approvals(ticket.id)) == []
    verify(gate, challenge, code)
    [approval] = gate.store.read(lambda tx: tx.approvals(ticket.id))
    assert (approval.operator, approval.reauth) == ("ann", True)


def test_an_operator_who_may_not_answer_is_shown_no_code(gate: Gate) -> None:
    gate.add("bo")
    wipe = gate.held(intent("delete the production database"), execution="e1")
    challenge = issued(gate, VERIFY, digest=wipe.digest)
    with pytest.raises(AnswerRefused, match="role:admin"):
        shown(gate, challenge, "bo")
    verify(gate, challenge, shown(gate, challenge, "ann"))


def test_a_code_takes_a_fresh_sign_in(gate: Gate) -> None:
    challenge, session = blocked(gate), gate.sign_in()
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="passphrase again"):
        releasing.reveal(gate.state, session, challenge.id)


# Wrong, late, used, somebody else's


def test_oob07_a_wrong_code_ends_the_code_and_the_next_one_counts(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    assert refused(gate, challenge, new_code()).code == "TOKEN_INVALID"
    assert refused(gate, challenge, code).code == "TOKEN_INVALID"
    assert kept(gate, challenge).state == "open" and kept(gate, challenge).attempts == 2
    verify(gate, challenge, shown(gate, challenge))


def test_r10_showing_a_code_again_replaces_it(gate: Gate) -> None:
    challenge = blocked(gate)
    first, second = shown(gate, challenge), shown(gate, challenge)
    assert first != second
    assert refused(gate, challenge, first).code == "TOKEN_INVALID"


def test_c17_malformed_unknown_and_wrong_are_one_answer(gate: Gate) -> None:
    challenge = blocked(gate)
    shown(gate, challenge)
    answers_ = [
        refused(gate, challenge, "hello"),
        refused(gate, challenge, ""),
        refused(gate, challenge, new_code()),
        refused(gate, str(uuid.uuid4()), new_code()),
        refused(gate, "no id", new_code()),
        refused(gate, "x" * 10_000, "y" * 10_000),
    ]
    assert {(one.code, one.message) for one in answers_} == {("TOKEN_INVALID", answers_[0].message)}


def test_c17_a_code_in_the_place_of_the_id_is_not_repeated(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    problem = refused(gate, code, challenge.id)
    assert code not in f"{problem.message}{dict(problem.details)}"
    assert all(code not in row.body for row in gate.records())
    verify(gate, challenge, code)


def test_oob08_an_expired_challenge_has_failed(gate: Gate) -> None:
    challenge = blocked(gate)
    gate.clock.forward(290)
    code = shown(gate, challenge)
    gate.clock.forward(11)
    problem = refused(gate, challenge, code)
    assert problem.code == "TOKEN_EXPIRED" and problem.details["token"] == challenge.id
    assert kept(gate, challenge).state == "expired"
    assert refused(gate, challenge, code).code == "TOKEN_EXPIRED"
    assert gate.state.blocked(AGENT.principal)


def test_oob08_how_long_a_challenge_lives_is_configured(tmp_path: Path) -> None:
    gate = Gate(tmp_path, limits={"challenge_seconds": 30})
    assert blocked(gate).expires_at == gate.clock.now() + 30
    gate.close()


def test_c17_a_used_challenge_says_so(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    verify(gate, challenge, code)
    problem = refused(gate, challenge, code)
    assert (problem.code, problem.details["token"]) == ("TOKEN_ALREADY_USED", challenge.id)


def test_r10_another_principal_is_refused_and_burns_nothing(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    for given in (code, new_code(), "nonsense"):
        assert refused(gate, challenge, given, OTHER).code == "TOKEN_INVALID"
    verify(gate, challenge, code)


def test_c18_another_name_of_the_same_principal_has_the_same_block(gate: Gate) -> None:
    challenge = blocked(gate)
    for name in ("CLAUDE", " claude ", "somebody else"):
        assert issued(gate, BLOCK, AgentRef(AGENT.principal, name, "s2")).id == challenge.id
    assert issued(gate, BLOCK, OTHER).id != challenge.id


# Limits


def test_oob13_the_eleventh_attempt_in_a_minute_is_not_looked_at(gate: Gate) -> None:
    challenge = blocked(gate)
    for _ in range(10):
        assert refused(gate, challenge, new_code()).code == "TOKEN_INVALID"
    code = shown(gate, challenge)
    problem = refused(gate, challenge, code)
    assert problem.code == "RATE_LIMIT_EXCEEDED"
    assert problem.details["limit"] == 10 and 0 < problem.details["retry_after_seconds"] <= 61
    gate.clock.forward(61)
    verify(gate, challenge, code)


def test_oob13_each_lockout_is_twice_as_long_and_outlives_a_restart(gate: Gate) -> None:
    waits = []
    for _ in range(3):
        for _ in range(10):
            refused(gate, str(uuid.uuid4()), new_code())
        waits.append(refused(gate, str(uuid.uuid4()), new_code()).details["retry_after_seconds"])
        gate.restart()
        assert refused(gate, str(uuid.uuid4()), new_code()).code == "RATE_LIMIT_EXCEEDED"
        gate.clock.forward(waits[-1])
    assert [wait // 60 for wait in waits] == [1, 2, 4]
    gate.clock.forward(LONGEST + 1)
    for _ in range(10):
        refused(gate, str(uuid.uuid4()), new_code())
    assert refused(gate, str(uuid.uuid4()), new_code()).details["retry_after_seconds"] // 60 == 1


def test_oob13_failures_are_counted_for_each_principal_alone(gate: Gate) -> None:
    for _ in range(11):
        with pytest.raises(LoopProblem):
            verify(gate, str(uuid.uuid4()), new_code(), OTHER)
    challenge = blocked(gate)
    verify(gate, challenge, shown(gate, challenge))


def test_oob13_every_failure_is_on_record_and_no_code_is(gate: Gate) -> None:
    challenge = blocked(gate)
    code, wrong = shown(gate, challenge), new_code()
    refused(gate, challenge, wrong)
    refused(gate, challenge, code, OTHER)
    told = [json.loads(row.body) for row in gate.records("verify_failed")]
    assert [(one["by"], one["challenge"]) for one in told] == [("uid:1000", challenge.id), ("uid:2000", challenge.id)]
    everything = "".join(row.body for row in gate.records())
    for secret in (code, wrong, normal_code(code), fingerprint(code), code_hash(challenge.id, code)):
        assert secret not in everything


def test_the_right_code_forgives_the_wrong_ones_before_it(gate: Gate) -> None:
    for _ in range(2):
        for _ in range(9):
            assert refused(gate, str(uuid.uuid4()), new_code()).code == "TOKEN_INVALID"
        challenge = blocked(gate)
        verify(gate, challenge, shown(gate, challenge))


# Reissue


def test_c16_a_blocked_agent_always_has_a_live_challenge(gate: Gate) -> None:
    first = blocked(gate)
    assert blocked(gate).id == first.id
    gate.clock.forward(301)
    second = blocked(gate)
    assert second.id != first.id
    verify(gate, second, shown(gate, second))


def test_c16_no_more_than_three_unanswered_challenges_in_five_minutes(tmp_path: Path) -> None:
    gate = Gate(tmp_path, limits={"challenge_seconds": 30})
    gate.enrol()
    ids = []
    for _ in range(6):
        ids.append(blocked(gate).id)
        gate.clock.forward(31)
    assert len(set(ids)) == 3 and len(set(ids[2:])) == 1
    gate.clock.forward(300)
    assert blocked(gate).id not in ids
    gate.close()


def test_c16_showing_codes_does_not_count_to_the_cap(gate: Gate) -> None:
    challenge = blocked(gate)
    for _ in range(8):
        shown(gate, challenge)
    gate.clock.forward(301)
    assert blocked(gate).id != challenge.id


def test_c16_verified_challenges_do_not_count_to_the_cap(gate: Gate) -> None:
    seen = set()
    for _ in range(5):
        challenge, _ = paused(gate)
        seen.add(challenge.id)
        verify(gate, challenge, shown(gate, challenge))
        assert gate.ask(PUSH, execution="e1").allowed
    assert len(seen) == 5


def test_c16_an_operator_can_issue_another_challenge_at_any_time(tmp_path: Path) -> None:
    gate = Gate(tmp_path, limits={"challenge_seconds": 30})
    gate.enrol()
    for _ in range(4):
        last = blocked(gate)
        gate.clock.forward(31)
    for _ in range(4):
        last = challenges.reissue(gate.state, gate.sign_in(), last.id)
        assert blocked(gate).id == last.id
    assert [one.id for one in challenges.list_waiting(gate.state)] == [last.id]
    verify(gate, last, shown(gate, last))
    with pytest.raises(AnswerRefused):
        challenges.reissue(gate.state, gate.sign_in(), last.id)
    gate.close()


# Restarts, overrides, other answers


def test_oob11_after_a_restart_a_block_has_a_challenge_that_can_be_shown(gate: Gate) -> None:
    challenge = blocked(gate)
    before = shown(gate, challenge)
    gate.restart()
    assert gate.state.blocked(AGENT.principal)
    assert [one.id for one in challenges.list_waiting(gate.state)] == [challenge.id]
    assert refused(gate, challenge, before).code == "TOKEN_INVALID"
    verify(gate, challenge, shown(gate, challenge))
    assert not gate.state.blocked(AGENT.principal)


def test_r10_a_pause_ends_with_a_restart(gate: Gate) -> None:
    challenge, ticket = paused(gate)
    gate.restart()
    assert kept(gate, challenge).state == "aborted"
    assert not gate.ask(PUSH, execution="e1").allowed
    assert issued(gate, VERIFY, digest=ticket.digest).id != challenge.id


def test_r10_a_pause_ends_with_an_abort_and_only_for_that_agent(gate: Gate) -> None:
    challenge, _ = paused(gate)
    other, _ = paused(gate, AgentRef(AGENT.principal, "codex", "s2"))
    gate.store.write(lambda tx: challenges.end(tx, gate.state, AGENT.principal, VERIFY, " Claude"))
    assert (kept(gate, challenge).state, kept(gate, other).state) == ("aborted", "open")


@pytest.mark.parametrize("answer", [answers.approve, answers.reject])
def test_a_pause_ends_when_an_operator_answers_its_ticket(gate: Gate, answer: Any) -> None:
    challenge, ticket = paused(gate)
    answer(gate.state, gate.sign_in(), ticket.id)
    assert kept(gate, challenge).state == "answered" and challenges.list_waiting(gate.state) == []
    assert gate.store.read(lambda tx: challenges.live_challenge(tx, AGENT, VERIFY, gate.clock.now())) is None
    with pytest.raises(AnswerRefused):
        shown(gate, challenge)


def test_an_admins_override_lifts_the_block_with_a_reason_and_ends_its_challenge(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    agents.unblock(gate.state, gate.sign_in(), AGENT.principal, "talked to its owner")
    assert json.loads(gate.records("unblock")[-1].body)["reason"] == "talked to its owner"
    assert refused(gate, challenge, code).code == "TOKEN_INVALID"
    again = blocked(gate)
    assert again.id != challenge.id and gate.state.blocked(AGENT.principal)


def test_a_code_for_one_block_lifts_no_later_one(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    gate.clock.forward(1)
    edit(gate, "UPDATE blocks SET lifted_at = ?", gate.clock.now())
    later = Block(AGENT.principal, "again", gate.clock.now(), "interlock")
    gate.store.write(lambda tx: tx.save_block(later))
    assert refused(gate, challenge, code).code == "TOKEN_INVALID"
    assert gate.state.blocked(AGENT.principal)


# Rows that are edited


def test_a_row_with_a_code_of_the_agents_own_frees_nothing(gate: Gate) -> None:
    challenge = blocked(gate)
    own = new_code()
    edit(gate, "UPDATE challenges SET code_hash = ?, minted_at = ?", code_hash(challenge.id, own), gate.clock.now())
    assert refused(gate, challenge, own).code == "TOKEN_INVALID"
    assert gate.state.blocked(AGENT.principal)


def test_a_challenge_that_was_put_back_frees_nothing(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    before = kept(gate, challenge)
    verify(gate, challenge, code)
    again = blocked(gate)
    edit(gate, "DELETE FROM challenges WHERE id = ?", again.id)
    edit(gate, "UPDATE challenges SET state = 'open', code_hash = ?, expires_at = 9e9", before.code_hash)
    assert refused(gate, challenge, code).code == "TOKEN_INVALID"
    assert gate.state.blocked(AGENT.principal)


def test_a_challenge_whose_time_was_edited_is_still_over(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    edit(gate, "UPDATE challenges SET expires_at = 9e9")
    gate.clock.forward(301)
    assert refused(gate, challenge, code).code == "TOKEN_INVALID"


@pytest.mark.parametrize("sql", ["UPDATE challenges SET state = 'verified'", "DELETE FROM challenges"])
def test_a_challenge_that_was_verified_by_an_edit_lifts_nothing(gate: Gate, sql: str) -> None:
    paused(gate)
    blocked(gate)
    edit(gate, sql)
    edit(gate, "UPDATE tickets SET state = ?", TicketState.APPROVED.value)
    assert gate.state.blocked(AGENT.principal)
    agents.unblock(gate.state, gate.sign_in(), AGENT.principal, "x")
    assert not gate.ask(PUSH, execution="e1").allowed


def test_a_block_whose_row_was_deleted_can_still_be_lifted_by_its_code(gate: Gate) -> None:
    challenge = blocked(gate)
    edit(gate, "DELETE FROM blocks")
    verify(gate, challenge, shown(gate, challenge))
    assert not gate.state.blocked(AGENT.principal)


def test_only_a_hash_of_the_code_is_kept(gate: Gate) -> None:
    challenge = blocked(gate)
    code = shown(gate, challenge)
    for path in Path(gate.folder).iterdir():
        if path.is_file():
            data = path.read_bytes()
            assert code.encode() not in data and normal_code(code).encode() not in data, path
    assert code not in repr(releasing.reveal(gate.state, gate.sign_in(), challenge.id))
