"""Step-up: what is dangerous is approved by a touch for exactly this action, checked again when the ticket is used."""

from __future__ import annotations

import json
from typing import Any

import pyotp
import pytest
from msgspec.structs import replace

from authenticator import ORIGIN, UP, Authenticator, b64
from browsers import (
    SITE,
    SignedInBrowser,
    add_authenticator,
    add_passkey,
    enter_with_code,
    enter_with_passkey,
    follow_setup_link,
    register,
    touch_passkey,
)
from gate import PASSPHRASE, Gate
from interlock.approvals import answers, grants, step_up
from interlock.approvals.tickets import seal_of
from interlock.audit.proof import verify_chains
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, operators, totp
from interlock.identity.keys import webauthn
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.passkey_proofs import Head, approval_challenge, from_hex, key_id, to_hex
from interlock.identity.sessions import OperatorSession, SignInRefused, WrongSignIn
from interlock.model import Level, TicketState, command
from interlock.policy.load import load_policy
from interlock.records import Ticket

PUSH = command("git push --force origin main", "/home/dev/app")
OTHER = command("git push --force origin release", "/home/dev/app")
RESET = command("git reset --hard HEAD~3", "/home/dev/app")


def begin(entered: SignedInBrowser, ticket: Ticket) -> dict[str, Any]:
    return step_up.approve_begin(entered.gate.state, entered.visitor, ticket.id, SITE)


def approve(entered: SignedInBrowser, ticket: Ticket, key: Authenticator, **more: Any) -> Ticket:
    asked = begin(entered, ticket)
    answer = key.get(asked["publicKey"], **more)
    return step_up.approve(
        entered.gate.state, entered.visitor, ticket.id, step_up.Touch(asked["ceremony"], answer, SITE)
    )


def test_a_touch_approves_exactly_one_action_once(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    assert approve(entered, ticket, key).state is TicketState.APPROVED
    assert gate.ask(PUSH).allowed and not gate.ask(PUSH).allowed and not gate.ask(OTHER).allowed


def test_what_is_signed_is_the_action_the_record_and_the_statement(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    head = gate.store.read(lambda tx: tx.audit_head("main"))
    approve(entered, ticket, key)
    (kept,) = gate.store.read(lambda tx: tx.approvals(ticket.id))
    proof = from_hex(kept.signature)
    assert head is not None and proof.head == Head("main", head.seq, head.hash)
    challenge = approval_challenge(ticket.digest, proof.head, kept.statement)
    assert json.loads(bytes.fromhex(proof.client_data))["challenge"] == b64(challenge)
    assert kept.reauth and json.loads(kept.statement)["channel"] == "console"


def test_a_cookie_alone_approves_nothing_dangerous_and_everything_below(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    for visitor in (entered.visitor, touch_passkey(entered, key)):
        with pytest.raises(AnswerRefused, match="fresh sign-in"):
            answers.approve(gate.state, visitor.session, ticket.id)
    below = gate.held(RESET)
    answers.approve(gate.state, entered.visitor.session, below.id)
    assert gate.ask(RESET).allowed and not gate.ask(PUSH).allowed


@pytest.mark.parametrize("policy", ["headless", "spec", "strict", "default"])
def test_no_policy_lets_a_cookie_alone_approve_what_is_dangerous(gate: Gate, policy: str) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    gate.state.enforce(policy=load_policy(policy))
    ticket = gate.held(PUSH)
    with pytest.raises(AnswerRefused):
        answers.approve(gate.state, entered.visitor.session, ticket.id)


def test_a_touch_for_one_ticket_approves_no_other(gate: Gate) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    one, other = gate.held(PUSH), gate.held(OTHER)
    asked = begin(entered, one)
    answer = key.get(asked["publicKey"])
    with pytest.raises(AnswerRefused, match="something else"):
        step_up.approve(gate.state, entered.visitor, other.id, step_up.Touch(asked["ceremony"], answer, SITE))
    asked = begin(entered, other)  # and the answer to one question is none to the next
    with pytest.raises(PasskeyRefused):
        step_up.approve(gate.state, entered.visitor, other.id, step_up.Touch(asked["ceremony"], answer, SITE))
    assert not gate.ask(OTHER).allowed


@pytest.mark.parametrize(
    "more", [{"flags": UP}, {"rp_id": "evil.example"}, {"origin": "http://evil.example"}, {"step": 0}], ids=str
)
def test_a_touch_with_anything_wrong_approves_nothing(gate: Gate, more: dict[str, Any]) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    with pytest.raises(PasskeyRefused):
        approve(entered, ticket, key, **more)
    assert not gate.ask(PUSH).allowed


def test_a_touch_counts_once_for_its_own_browser_and_not_for_long(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    other = enter_with_passkey(gate, key)
    asked = begin(entered, ticket)
    answer = key.get(asked["publicKey"])
    with pytest.raises(PasskeyRefused, match="was not requested"):
        step_up.armed(gate.state, other.visitor, ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    step_up.armed(gate.state, entered.visitor, ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    with pytest.raises(PasskeyRefused, match="answered already"):
        step_up.armed(gate.state, entered.visitor, ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    asked = begin(entered, ticket)
    gate.clock.forward(181)
    with pytest.raises(PasskeyRefused, match="too long"):
        step_up.armed(
            gate.state, entered.visitor, ticket.id, step_up.Touch(asked["ceremony"], key.get(asked["publicKey"]), SITE)
        )


def test_nobody_approves_with_the_passkey_of_somebody_else(gate: Gate) -> None:
    gate.add("bob", "admin")
    hers, his = add_passkey(gate), add_passkey(gate, "bob")
    entered, ticket = enter_with_passkey(gate, hers), gate.held(PUSH)
    with pytest.raises(PasskeyRefused, match="not known"):
        approve(entered, ticket, his)


def test_a_quorum_counts_people_and_not_their_passkeys(gate: Gate) -> None:
    gate.add("bob", "admin")
    key, second, his = add_passkey(gate), Authenticator(), add_passkey(gate, "bob")
    entered = enter_with_passkey(gate, key)
    register(gate, touch_passkey(entered, key), second)
    held = gate.held(PUSH)
    two = replace(held, requirement=replace(held.requirement, quorum=2))
    two = replace(two, seal=seal_of(gate.state, two))
    gate.store.write(lambda tx: tx.change_ticket(two, held))
    assert approve(entered, two, key).state is TicketState.WAITING
    assert approve(enter_with_passkey(gate, second), two, second).state is TicketState.WAITING
    assert approve(enter_with_passkey(gate, his), two, his).state is TicketState.APPROVED


def test_a_proof_that_was_edited_in_the_database_frees_nothing(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    other = gate.held(OTHER)
    approve(entered, ticket, key)
    (kept,) = gate.store.read(lambda tx: tx.approvals(ticket.id))
    proof = from_hex(kept.signature)
    assert proof.head is not None
    edits = {
        "another head": replace(kept, signature=to_hex(replace(proof, head=replace(proof.head, hash="0" * 64)))),
        "another ticket": replace(kept, ticket=other.id, statement=kept.statement.replace(ticket.id, other.id)),
        "another action": replace(kept, statement=kept.statement.replace(ticket.digest, other.digest)),
        "another time": replace(kept, statement=kept.statement.replace('"expires_at":1', '"expires_at":2')),
        "garbage": replace(kept, signature="7b7d"),
        "no hex": replace(kept, signature="{}"),
        "no head": replace(kept, signature=to_hex(replace(proof, head=None, delegate="00" * 32, nonce="00"))),
    }
    roster = gate.state.sessions.roster
    assert roster is not None and roster.verify(kept.key_id, kept.statement.encode(), kept.signature)
    for what, edited in edits.items():
        counted = roster.verify(edited.key_id, edited.statement.encode(), edited.signature)
        assert not counted, what


def test_a_passkey_that_waits_frees_nothing_however_its_statement_gets_into_the_database(gate: Gate) -> None:
    add_passkey(gate)
    second = Authenticator()
    made = register(gate, follow_setup_link(gate), second)
    gate.held(PUSH)
    head, text = Head("main", 0, "a" * 64), json.dumps({"digest": "v1:x", "reauth": True})
    signed = webauthn.verify_assertion(
        second.get({"rpId": "localhost", "challenge": b64(approval_challenge("v1:x", head, text))}),
        approval_challenge("v1:x", head, text), ORIGIN, made,
    )[0]  # fmt: skip
    roster = gate.state.sessions.roster
    assert roster is not None
    proof = to_hex(replace(signed, head=head))
    assert not roster.verify(key_id(made.id), text.encode(), proof)
    gate.clock.forward(24 * 3600)
    assert roster.verify(key_id(made.id), text.encode(), proof)


def test_the_key_of_a_session_cannot_say_that_a_passkey_was_touched(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    armed = replace(entered.visitor.session, armed=ticket.id, fresh_at=gate.clock.now())
    with pytest.raises(AnswerRefused, match="does not count"):
        answers.approve(gate.state, armed, ticket.id)
    assert not gate.ask(PUSH).allowed


def test_an_approval_dies_with_its_passkey(gate: Gate) -> None:
    key, second = add_passkey(gate), Authenticator()
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    register(gate, touch_passkey(entered, key), second)
    approve(entered, ticket, key)
    other = enter_with_passkey(gate, second)
    credentials.remove(gate.state, touch_passkey(other, second), key.id.hex())
    assert not gate.ask(PUSH).allowed


def test_an_approval_survives_a_restart_once_somebody_unlocked(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    approve(entered, ticket, key)
    gate.restart()
    assert not gate.ask(PUSH).allowed
    gate.sign_in()
    assert gate.ask(PUSH).allowed


def test_at_the_terminal_the_passphrase_is_enough_as_ever(gate: Gate) -> None:
    add_passkey(gate)
    gate.approve(gate.held(PUSH))
    assert gate.ask(PUSH).allowed


def test_without_a_passkey_passphrase_and_code_are_asked_anew(gate: Gate) -> None:
    app = add_authenticator(gate)
    entered, ticket = enter_with_code(gate, app), gate.held(PUSH)
    with pytest.raises(AnswerRefused, match="no passkey here"):
        begin(entered, ticket)
    used = app.at(int(gate.clock.now()))
    for passphrase, code in ((PASSPHRASE, used), (PASSPHRASE, "000000"), ("wrong passphrase", used)):
        with pytest.raises(WrongSignIn):
            step_up.approve(gate.state, entered.visitor, ticket.id, step_up.Reentry(passphrase, code))
    gate.clock.forward(30)
    code = app.at(int(gate.clock.now()))
    step_up.approve(gate.state, entered.visitor, ticket.id, step_up.Reentry(PASSPHRASE, code))
    assert gate.ask(PUSH).allowed


def test_whoever_has_a_passkey_touches_it(gate: Gate) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    visitor = touch_passkey(entered, key)
    asked = totp.begin(gate.state, visitor)
    app = pyotp.TOTP(asked["secret"])
    totp.finish(gate.state, visitor, asked["ceremony"], app.at(int(gate.clock.now())))
    gate.clock.forward(60)
    other, ticket = enter_with_code(gate, app), gate.held(PUSH)
    gate.clock.forward(30)
    with pytest.raises(AnswerRefused, match="touch your passkey"):
        code = app.at(int(gate.clock.now()))
        step_up.approve(gate.state, other.visitor, ticket.id, step_up.Reentry(PASSPHRASE, code))
    assert approve(other, ticket, key).state is TicketState.APPROVED


def test_a_viewer_answers_nothing(gate: Gate) -> None:
    gate.add("vic", "viewer")
    key = add_passkey(gate, "vic")
    entered, ticket = enter_with_passkey(gate, key), gate.held(RESET)
    assert entered.visitor.role == "viewer"
    with pytest.raises(AnswerRefused, match="may not answer"):
        answers.approve(gate.state, entered.visitor.session, ticket.id)
    with pytest.raises(AnswerRefused, match="may not answer"):
        answers.reject(gate.state, entered.visitor.session, ticket.id, "no")


def test_a_browser_signed_in_with_a_passkey_rejects_grants_and_changes_people(gate: Gate) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    answers.reject(gate.state, entered.visitor.session, gate.held(RESET).id, "no")
    terms = {"effect": "delete", "targets": ["/srv/x/*"], "why": "tests"}
    grant = grants.add_grant(gate.state, entered.visitor.session, terms)
    assert grants.is_signed(gate.state, grant)
    with pytest.raises(AnswerRefused):
        operators.add_operator(gate.state, entered.visitor.session, "eve", PASSPHRASE)
    operators.add_operator(gate.state, touch_passkey(entered, key).session, "eve", PASSPHRASE)
    with pytest.raises(AnswerRefused, match="exactly these terms"):  # a touch for nothing in particular
        grants.add_grant(gate.state, entered.visitor.session, {**terms, "ceiling": "dangerous"})


DANGEROUS = {"effect": "delete", "targets": ["/srv/x/*"], "why": "tests", "ceiling": "dangerous", "count": 2}


def granted(entered: SignedInBrowser, key: Authenticator, terms: dict[str, Any]) -> OperatorSession:
    """Somebody touches their passkey for these terms."""
    asked = step_up.grant_begin(entered.gate.state, entered.visitor, terms, SITE)
    answer = key.get(asked["publicKey"])
    return step_up.granted(entered.gate.state, entered.visitor, terms, step_up.Touch(asked["ceremony"], answer, SITE))


def test_a_dangerous_grant_is_signed_by_a_touch_over_exactly_its_terms(gate: Gate) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    session = granted(entered, key, DANGEROUS)
    for other in ({"targets": ["/srv/*"]}, {"count": 3}, {"why": "more"}, {"name": "claude"}, {"ceiling": "forbidden"}):
        with pytest.raises(AnswerRefused, match="other terms"):
            grants.add_grant(gate.state, session, {**DANGEROUS, **other})
    gate.clock.forward(30)  # somebody reads before they touch
    grant = grants.add_grant(gate.state, session, DANGEROUS)
    assert (
        grants.is_signed(gate.state, grant) and verify_chains(gate.state).touches == 1 and verify_chains(gate.state).ok
    )
    for edit in ({"targets": ("/srv/**",)}, {"ceiling": Level.FORBIDDEN}, {"expires_at": grant.expires_at + 9}):
        assert not grants.is_signed(gate.state, replace(grant, **edit)), edit  # type: ignore[arg-type]


def test_what_only_the_sessions_key_signed_is_no_dangerous_grant(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    session = entered.visitor.session
    grant = grants.parse_grant(gate.state, session, DANGEROUS)
    for touch in (None, grants.touch_of(grant, "00" * 16)):  # a thief of the daemon's memory
        text = grants.statement_of(grant, touch)
        forged = replace(grant, statement=text, signature=session.unlocked.sign(text), key_id=session.unlocked.key_id)
        assert not grants.is_signed(gate.state, forged)


def test_a_touch_for_a_grant_is_none_for_another_purpose_or_visitor(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, second = enter_with_passkey(gate, key), enter_with_passkey(gate, key)
    asked = step_up.grant_begin(gate.state, entered.visitor, DANGEROUS, SITE)
    answer = key.get(asked["publicKey"])
    with pytest.raises(PasskeyRefused):
        step_up.armed(gate.state, entered.visitor, "", step_up.Touch(asked["ceremony"], answer, SITE))
    with pytest.raises(PasskeyRefused):
        step_up.granted(gate.state, second.visitor, DANGEROUS, step_up.Touch(asked["ceremony"], answer, SITE))
    fresh = step_up.freshen_begin(gate.state, entered.visitor, SITE)
    with pytest.raises(PasskeyRefused):
        step_up.granted(
            gate.state, entered.visitor, DANGEROUS, step_up.Touch(fresh["ceremony"], key.get(fresh["publicKey"]), SITE)
        )


def test_without_a_passkey_a_dangerous_grant_takes_passphrase_and_code_once_more(gate: Gate) -> None:
    codes = add_authenticator(gate)
    entered = enter_with_code(gate, codes)
    gate.clock.forward(30)
    code = codes.at(int(gate.clock.now()))
    session = step_up.granted(gate.state, entered.visitor, DANGEROUS, step_up.Reentry(PASSPHRASE, code))
    with pytest.raises(AnswerRefused, match="other terms"):
        grants.add_grant(gate.state, session, {**DANGEROUS, "count": 9})
    assert grants.is_signed(gate.state, grants.add_grant(gate.state, session, DANGEROUS))
    with pytest.raises(SignInRefused):
        step_up.granted(gate.state, entered.visitor, DANGEROUS, step_up.Reentry(PASSPHRASE, code))


def test_a_ticket_that_was_altered_is_not_shown_to_a_passkey(gate: Gate) -> None:
    key = add_passkey(gate)
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    gate.store.write(lambda tx: tx.change_ticket(replace(ticket, title="ls"), ticket))
    with pytest.raises(AnswerRefused, match="altered outside"):
        begin(entered, ticket)
