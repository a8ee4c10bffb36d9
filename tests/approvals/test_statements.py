"""An approval counts only as a statement that the right person signed about exactly this ticket."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cases import each
from interlock.approvals.statements import (
    MAX_APPROVALS,
    Agreement,
    RosterEntry,
    StatementError,
    check_agreement,
    may_answer,
    parse_statement,
    requirement_hash,
    statement_text,
)
from interlock.identity.keys.signing import SigningKey, verify_signature
from interlock.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.records import Approval, Ticket

NOW = 1_700_000_000.0
KEYS = {name: SigningKey.of(name.encode().ljust(32, b".")) for name in "alice bob carol dora robot mallory".split()}


def person(name: str, **more: Any) -> RosterEntry:
    return RosterEntry(name, frozenset({KEYS[name].key_id}), **more)


ROSTER = {
    "alice": person("alice", roles=frozenset({"admin"})),
    "bob": person("bob", teams=frozenset({"dba"})),
    "carol": person("carol"),
    "dora": person("dora", roles=frozenset({"admin"}), disabled=True),
    "robot": person("robot", roles=frozenset({"admin"}), service=True),
}
PUBLIC = {KEYS[name].key_id: KEYS[name].public_key for name in ROSTER}


def verify(key: str, data: bytes, signature: str) -> bool:
    return key in PUBLIC and verify_signature(PUBLIC[key], data, signature)


def ticket(**more: Any) -> Ticket:
    whole: dict[str, Any] = {
        "id": "pdact_1",
        "digest": "v1:aa",
        "agent": AgentRef("uid:1000", "builder"),
        "state": TicketState.WAITING,
        "requirement": Requirement(human=Human.APPROVE),
        "opened_at": NOW - 60,
        "expires_at": NOW + 3600,
        "level": Level.DESTRUCTIVE,
        "shown_hash": "5a",
    }
    return Ticket(**{**whole, **more})


def asks(**more: Any) -> Ticket:
    return ticket(requirement=Requirement(**{"human": Human.APPROVE, **more}))


def said(about: Ticket, operator: str = "alice", **more: Any) -> str:
    whole: dict[str, Any] = {
        "operator": operator,
        "verdict": "approve",
        "channel": "terminal",
        "issued_at": NOW - 1,
        "expires_at": NOW + 300,
        "nonce": "0f" * 16,
    }
    return statement_text(about, **{**whole, **more})


def signed(text: str, by: str = "alice", **columns: Any) -> Approval:
    whole: dict[str, Any] = {
        "ticket": "pdact_1",
        "operator": by,
        "verdict": "approve",
        "signature": KEYS[by].sign(text.encode()),
        "key_id": KEYS[by].key_id,
        "channel": "terminal",
        "at": NOW,
        "expires_at": NOW + 300,
        "reauth": True,
    }
    return Approval(statement=text, **{**whole, **columns})


def voice(about: Ticket, by: str = "alice", **more: Any) -> Approval:
    return signed(said(about, by, **more), by)


def found(about: Ticket, *approvals: Approval, **more: Any) -> Agreement:
    return check_agreement(about, approvals, NOW, ROSTER, verify, **more)


def test_a_signed_approval_by_an_operator_is_enough() -> None:
    one = ticket()
    result = found(one, voice(one))
    assert result.satisfied and result.by == ("alice",)
    assert result.reason == "approved by alice"


def test_the_text_that_is_signed_never_changes_its_form() -> None:
    asked = b'{"approvers":[],"blocked":false,"cooling_seconds":0,"human":2,"quorum":0,"reauth":false}'
    assert said(ticket()) == (
        '{"channel":"terminal","digest":"v1:aa","expires_at":1700000300,"issued_at":1699999999,'
        '"nonce":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","operator":"alice","reauth":false,'
        '"requirement":"' + hashlib.sha256(asked).hexdigest() + '",'
        '"shown":"5a","ticket":"pdact_1","v":1,"verdict":"approve"}'
    )


@pytest.mark.parametrize("state", TicketState)
def test_the_state_column_decides_nothing(state: TicketState) -> None:
    assert not found(ticket(state=state)).satisfied
    assert found(ticket(state=state), voice(ticket())).satisfied


@pytest.mark.parametrize("human", Human)
def test_nothing_is_agreed_to_where_nobody_spoke(human: Human) -> None:
    assert not found(ticket(requirement=Requirement(human=human))).satisfied


FORGED: dict[str, tuple[Callable[[], tuple[Ticket, Approval]], str]] = {
    "swapped digest": (lambda: (ticket(digest="v1:bb"), voice(ticket())), "another action"),
    "other ticket": (lambda: (ticket(id="pdact_2"), voice(ticket())), "about ticket 'pdact_1'"),
    "another ticket's, moved here by its column": (
        lambda: (ticket(), replace(voice(ticket(id="pdact_2")), ticket="pdact_1")),
        "about ticket 'pdact_2'",
    ),
    "something else was shown": (lambda: (ticket(shown_hash="5b"), voice(ticket())), "shown something else"),
    "less is asked for now": (lambda: (asks(), voice(asks(quorum=2))), "asked for something else"),
    "expired": (lambda: (ticket(), voice(ticket(), issued_at=NOW - 301, expires_at=NOW)), "expired"),
    "expired, with another expiry in the column": (
        lambda: (ticket(), replace(voice(ticket(), issued_at=NOW - 9, expires_at=NOW - 5), expires_at=NOW + 9999)),
        "expired 5 s ago",
    ),
    "issued tomorrow": (lambda: (ticket(), voice(ticket(), issued_at=NOW + 9e4, expires_at=NOW + 9e5)), "from now"),
    "changed after it was signed": (
        lambda: (
            ticket(),
            replace(voice(ticket()), statement=said(ticket(), expires_at=NOW + 99_999)),
        ),
        "not signed by alice",
    ),
    "signed with somebody else's key": (
        lambda: (ticket(), signed(said(ticket(), "alice"), "mallory")),
        "not a key of alice",
    ),
    "signed with somebody else's key, under the right key id": (
        lambda: (ticket(), signed(said(ticket(), "alice"), "mallory", key_id=KEYS["alice"].key_id)),
        "not signed by alice",
    ),
    "one operator in another's name": (
        lambda: (ticket(), signed(said(ticket(), "alice"), "bob")),
        "not a key of alice",
    ),
    "by nobody we know": (lambda: (ticket(), voice(ticket(), "mallory")), "no operator 'mallory'"),
    "by a disabled operator": (lambda: (ticket(), voice(ticket(), "dora")), "disabled"),
    "by a service that nobody named": (
        lambda: (asks(approvers=frozenset({"role:admin"})), voice(asks(approvers=frozenset({"role:admin"})), "robot")),
        "not among the approvers",
    ),
    "by the wrong person": (
        lambda: (asks(approvers=frozenset({"role:admin"})), voice(asks(approvers=frozenset({"role:admin"})), "carol")),
        "not among the approvers: role:admin",
    ),
    "without the step-up that is asked for": (lambda: (asks(reauth=True), voice(asks(reauth=True))), "sign in anew"),
    "without the step-up that verify means": (
        lambda: (asks(human=Human.VERIFY), voice(asks(human=Human.VERIFY))),
        "sign in anew",
    ),
    "no statement": (lambda: (ticket(), signed("")), "not the JSON"),
    "no signature": (lambda: (ticket(), replace(voice(ticket()), signature="")), "not signed by alice"),
    "a signature that is no hex": (lambda: (ticket(), replace(voice(ticket()), signature="zz")), "not signed by alice"),
}


@each("case", FORGED)
def test_what_does_not_count(case: str) -> None:
    about, approval = FORGED[case][0]()
    result = found(about, approval)
    assert not result.satisfied and not result.by
    assert FORGED[case][1] in result.reason


def test_step_up_is_what_was_signed_not_what_the_column_says() -> None:
    about = asks(human=Human.VERIFY)
    assert voice(about).reauth and not found(about, voice(about)).satisfied
    assert found(about, replace(voice(about, reauth=True), reauth=False)).satisfied


def test_one_person_twice_is_no_quorum() -> None:
    about = asks(quorum=2)
    twice = found(about, voice(about), voice(about, nonce="1e" * 16), voice(about, channel="console"))
    assert not twice.satisfied and twice.by == ("alice",) and "1 of 2" in twice.reason
    assert found(about, voice(about), voice(about, "bob")).by == ("alice", "bob")
    assert found(about, voice(about), voice(about, "bob")).satisfied


def test_two_names_with_one_key_are_one_person() -> None:
    about = asks(quorum=2)
    roster = ROSTER | {"eve": replace(ROSTER["alice"], name="eve")}
    eve = signed(said(about, "eve"), "alice")
    assert not check_agreement(about, [voice(about), eve], NOW, roster, verify).satisfied


def test_a_quorum_lasts_as_long_as_its_first_statement() -> None:
    about = asks(quorum=2)
    assert not found(about, voice(about, issued_at=NOW - 9, expires_at=NOW - 1), voice(about, "bob")).satisfied


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_a_rejection_by_anybody_who_may_ends_it(order: tuple[int, ...]) -> None:
    about = asks(quorum=1)
    no = voice(about, "carol", verdict="reject", issued_at=NOW - 99, expires_at=NOW - 1)
    all_of_them = (voice(about), voice(about, "bob"), no)
    result = found(about, *(all_of_them[index] for index in order))
    assert not result.satisfied and result.reason == "rejected by carol"


def test_a_rejection_by_somebody_who_may_not_changes_nothing() -> None:
    about = asks(approvers=frozenset({"role:admin"}))
    for name in ("bob", "dora", "robot", "mallory"):
        no = voice(about, name, verdict="reject")
        result = found(about, voice(about), no)
        assert result.satisfied and result.by, name
        assert not found(about, no).satisfied


def test_a_forged_rejection_changes_nothing() -> None:
    about = ticket()
    forged = replace(voice(about, "bob", verdict="reject"), signature="00" * 64)
    assert found(about, forged, voice(about)).satisfied


def test_a_column_that_says_approve_turns_no_rejection() -> None:
    about = ticket()
    assert found(about, replace(voice(about, verdict="reject"), verdict="approve")).reason == "rejected by alice"


def test_what_nobody_may_approve_stays_blocked() -> None:
    about = asks(blocked=True)
    assert found(about, voice(about)).reason == "nobody may approve this"
    assert not found(about, voice(about)).satisfied


LESS = (
    Requirement(human=Human.APPROVE, quorum=2),
    Requirement(human=Human.APPROVE, approvers=frozenset({"role:admin"})),
    Requirement(human=Human.VERIFY),
    Requirement(human=Human.APPROVE, reauth=True),
    Requirement(blocked=True),
)


@pytest.mark.parametrize("real", LESS)
def test_a_requirement_edited_before_it_was_shown_does_not_lower_what_is_asked_now(real: Requirement) -> None:
    edited = ticket(requirement=Requirement(human=Human.CONFIRM, approvers=frozenset({"bob"})))
    assert found(edited, voice(edited, "bob")).satisfied
    assert not found(edited, voice(edited, "bob"), asked=real).satisfied


MAY = [
    ((), "alice bob carol"),
    (("human",), "alice bob carol"),
    (("role:admin",), "alice"),
    (("ROLE:Admin",), "alice"),
    (("team:dba",), "bob"),
    (("team:admin",), ""),
    (("admin",), ""),
    (("carol",), "carol"),
    ((" Carol",), "carol"),
    (("role:admin", "team:dba"), "alice bob"),
    (("human", "role:admin"), "alice"),
    (("human", "carol"), "carol"),
    (("robot",), "robot"),
    (("human", "robot"), "alice bob carol robot"),
    (("human", "robot", "team:dba"), "bob robot"),
    (("dora",), ""),
]


@each(("approvers", "who"), MAY)
def test_who_may_approve(approvers: tuple[str, ...], who: str) -> None:
    assert [name for name, one in ROSTER.items() if may_answer(one, approvers, {"robot"})] == who.split()


def test_joining_requirements_never_lets_more_people_in_than_the_narrower_one() -> None:
    joined = Requirement(approvers=frozenset({"human"})).join(Requirement(approvers=frozenset({"role:admin"})))
    about = ticket(requirement=joined)
    assert found(about, voice(about, "alice")).satisfied
    assert not found(about, voice(about, "carol")).satisfied


def test_a_flood_of_statements_buries_no_rejection() -> None:
    about = ticket()
    flood = [replace(voice(about), signature="00")] * MAX_APPROVALS
    assert not found(about, voice(about), *flood, voice(about, "bob", verdict="reject")).satisfied


GOOD = json.loads(said(ticket()))
BAD: list[tuple[dict[str, Any], str]] = [
    ({"extra": 1}, "unknown field `extra`"),
    ({"v": 2}, "expected 1, got 2"),
    ({"v": True}, "Expected `int`.*v"),
    ({"v": 1.0}, "Expected `int`.*v"),
    ({"reauth": 1}, "Expected `bool`.*reauth"),
    ({"reauth": "true"}, "Expected `bool`.*reauth"),
    ({"expires_at": None}, "Expected `int`.*expires_at"),
    ({"expires_at": 1e300}, "Expected `int`.*expires_at"),
    ({"expires_at": GOOD["issued_at"]}, "not after issued_at"),
    ({"verdict": "APPROVE"}, "statement.verdict"),
    ({"nonce": "ab"}, "statement.nonce"),
    ({"nonce": "x" * 32}, "statement.nonce"),
    ({"ticket": ""}, "statement.ticket: empty"),
    ({"digest": ""}, "statement.digest: empty"),
    ({"shown": ""}, "statement.shown: empty"),
    ({"operator": ["alice"]}, "Expected `str`.*operator"),
    ({"operator": "x" * 5000}, "at most"),
]


@each(("change", "why"), BAD)
def test_a_statement_is_read_strictly(change: dict[str, Any], why: str) -> None:
    text = json.dumps({**GOOD, **change}, sort_keys=True, separators=(",", ":"))
    with pytest.raises(StatementError, match=why):
        parse_statement(text)


@each("key", sorted(GOOD))
def test_a_statement_without_one_of_its_keys_is_refused(key: str) -> None:
    with pytest.raises(StatementError, match=f"missing required field `{key}`"):
        parse_statement(json.dumps({name: value for name, value in GOOD.items() if name != key}))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        said(ticket()) + " ",
        said(ticket()).replace('"v":1', '"v":1,"v":1'),
        said(ticket()).replace("alice", "\\u0061lice"),
        said(ticket()).replace("alice", "\\ud800"),
        said(ticket()).replace("alice", "\ud800"),
        "[" * 4000,
        "null",
        "[]",
        "9" * 4096,
    ],
)
def test_a_statement_has_one_spelling(text: str) -> None:
    with pytest.raises(StatementError):
        parse_statement(text)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(StatementError):
        parse_statement(text)


def test_each_part_of_a_requirement_changes_its_hash() -> None:
    whole = [Requirement(), *LESS, Requirement(cooling_seconds=1), Requirement(human=Human.CONFIRM)]
    assert len({requirement_hash(one) for one in whole}) == len(whole)
