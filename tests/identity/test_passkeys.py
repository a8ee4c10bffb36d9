"""Passkeys: registered by those who may, good for signing in, and for nothing when anything about an answer is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from msgspec.structs import replace

from authenticator import UP, Authenticator, b64
from browsers import (
    HERE,
    SITE,
    add_authenticator,
    add_passkey,
    enter_with_code,
    enter_with_passkey,
    follow_setup_link,
    register,
    touch_passkey,
)
from gate import Gate
from interlock.approvals import step_up
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, passkeys
from interlock.identity.console_access import enter_by_link, set_up_link, visitor_of
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.operators import change_operator
from interlock.identity.sessions import SignInRefused, WrongSignIn
from interlock.identity.visitors import LINK_SECONDS, Site

DAY = 24 * 3600


def enter(gate: Gate, answer: Callable[[dict[str, Any]], dict[str, Any]], site: Site = SITE) -> str:
    """The words that a sign-in with this answer is refused with."""
    asked = passkeys.sign_in_begin(gate.state, site)
    with pytest.raises(SignInRefused) as found:
        passkeys.sign_in_finish(gate.state, asked["ceremony"], answer(asked["publicKey"]), site, HERE)
    return str(found.value)


def test_a_passkey_that_was_set_up_from_a_terminal_signs_in(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    assert (entered.visitor.operator, entered.visitor.how, entered.visitor.role) == ("ann", "passkey", "admin")
    said = credentials.enrolments(gate.state)[-1]
    assert (said["kind"], said["name"], said["how"], said["source"]) == ("passkey", "laptop", "by a set-up link", HERE)


WRONG: dict[str, tuple[Callable[[Authenticator, dict[str, Any]], dict[str, Any]], str]] = {
    "an unverified user": (lambda key, asked: key.get(asked, flags=UP), "did not check who you are"),
    "nobody there": (lambda key, asked: key.get(asked, flags=4), "nobody touched"),
    "another site": (lambda key, asked: key.get(asked, rp_id="example.com"), "another site"),
    "another origin": (lambda key, asked: key.get(asked, "http://localhost:9999"), "another page"),
    "a number for a name": (lambda key, asked: key.get(asked, "http://127.0.0.1:7310"), "another page"),
    "inside another page": (lambda key, asked: key.get(asked, client={"crossOrigin": True}), "inside another page"),
    "another challenge": (lambda key, asked: key.get(asked, challenge=b64(bytes(32))), "another question"),
    "a registration": (lambda key, asked: key.get(asked, type="webauthn.create"), "cannot be used"),
    "a forged signature": (
        lambda key, asked: key.get(asked, key=ec.generate_private_key(ec.SECP256R1())),
        "the signature is wrong",
    ),
    "a counter that goes back": (lambda key, asked: key.get(asked, step=-1), "counter went back"),
    "a counter that stands still": (lambda key, asked: key.get(asked, step=0), "counter went back"),
    "an unknown passkey": (lambda key, asked: Authenticator().get(asked), "not known here"),
    "no answer": (lambda key, asked: {}, "not known here"),
    "an empty answer": (lambda key, asked: {"id": b64(key.id), "rawId": b64(key.id), "response": {}}, "cannot be"),
    "text for an answer": (lambda key, asked: {**key.get(asked), "response": "x"}, "cannot be"),
    "a long answer": (lambda key, asked: {**key.get(asked), "more": "x" * 100_000}, "too long"),
}


@pytest.mark.parametrize("what", WRONG)
def test_an_answer_with_anything_wrong_signs_nobody_in(gate: Gate, what: str) -> None:
    key = add_passkey(gate)
    enter_with_passkey(gate, key)
    answer, words = WRONG[what]
    assert words in enter(gate, lambda asked: answer(key, asked))


def test_an_answer_is_good_once(gate: Gate) -> None:
    key = add_passkey(gate)
    asked = passkeys.sign_in_begin(gate.state, SITE)
    answer = key.get(asked["publicKey"])
    passkeys.sign_in_finish(gate.state, asked["ceremony"], answer, SITE, HERE)
    for ceremony in (asked["ceremony"], passkeys.sign_in_begin(gate.state, SITE)["ceremony"]):
        with pytest.raises(WrongSignIn):
            passkeys.sign_in_finish(gate.state, ceremony, answer, SITE, HERE)


def test_an_answer_that_comes_too_late_counts_for_nothing(gate: Gate) -> None:
    key = add_passkey(gate)
    asked = passkeys.sign_in_begin(gate.state, SITE)
    gate.clock.forward(181)
    with pytest.raises(WrongSignIn, match="too long"):
        passkeys.sign_in_finish(gate.state, asked["ceremony"], key.get(asked["publicKey"]), SITE, HERE)


@pytest.mark.parametrize(
    "given",
    [{"origin": "http://evil.example"}, {"rp_id": "evil.example"}, {"flags": UP}, {"challenge": b64(bytes(32))}],
    ids=str,
)
def test_a_passkey_that_was_made_for_others_is_not_registered(gate: Gate, given: dict[str, Any]) -> None:
    visitor, key = follow_setup_link(gate), Authenticator(flags=given.pop("flags", 5))
    asked = passkeys.register_begin(gate.state, visitor, SITE)
    options = {**asked["publicKey"], **{name: value for name, value in given.items() if name == "challenge"}}
    answer = key.create(options, **{name: value for name, value in given.items() if name != "challenge"})
    with pytest.raises(PasskeyRefused):
        passkeys.register_finish(gate.state, visitor, asked["ceremony"], answer, "x", SITE)
    assert credentials.all_credentials(gate.state) == ()


def test_a_set_up_link_works_once_and_for_ten_minutes(gate: Gate) -> None:
    link = set_up_link(gate.state, gate.sign_in())
    token, _ = enter_by_link(gate.state, link, HERE)
    for again in (link, "set_guessed", ""):
        with pytest.raises(SignInRefused, match="used already"):
            enter_by_link(gate.state, again, HERE)
    late = set_up_link(gate.state, gate.sign_in())
    gate.clock.forward(LINK_SECONDS + 1)
    with pytest.raises(SignInRefused):
        enter_by_link(gate.state, late, HERE)
    assert visitor_of(gate.state, token, setting_up=True) is None


def test_a_set_up_link_opens_no_page(gate: Gate) -> None:
    token, _ = enter_by_link(gate.state, set_up_link(gate.state, gate.sign_in()), HERE)
    assert visitor_of(gate.state, token) is None
    assert visitor_of(gate.state, token, setting_up=True) is not None


def test_a_second_passkey_by_a_link_waits_a_day_and_everybody_hears_of_it(gate: Gate) -> None:
    heard: list[str] = []

    class Listener:
        name = "listener"

        def tell(self, event: str, about: object, words: str) -> None:
            heard.append(f"{event}: {words}")

    gate.state.channels = (Listener(),)
    add_passkey(gate)
    second = Authenticator()
    made = register(gate, follow_setup_link(gate), second, "stolen?")
    assert made.active_at == gate.clock.now() + DAY
    assert len(heard) == 1 and "'stolen?' for operator ann" in heard[0] and "24 hours" in heard[0]
    assert "counts in 24 h" in enter(gate, second.get)
    gate.clock.forward(DAY)
    assert enter_with_passkey(gate, second).visitor.operator == "ann"


def test_a_passkey_that_waits_is_taken_back_by_whoever_is_signed_in(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    made = register(gate, follow_setup_link(gate), second := Authenticator())
    credentials.remove(gate.state, entered.visitor, made.id)
    gate.clock.forward(DAY)
    assert "not known here" in enter(gate, second.get)


def test_a_second_passkey_counts_at_once_when_the_first_was_touched_for_it(gate: Gate) -> None:
    key, second = add_passkey(gate), Authenticator()
    entered = enter_with_passkey(gate, key)
    with pytest.raises(AnswerRefused, match="older credentials first"):
        passkeys.register_begin(gate.state, entered.visitor, SITE)
    register(gate, touch_passkey(entered, key), second)
    assert enter_with_passkey(gate, second).visitor.operator == "ann"


def test_passphrase_and_code_do_not_stand_in_for_a_passkey(gate: Gate) -> None:
    app = add_authenticator(gate)
    register(gate, follow_setup_link(gate), Authenticator())  # waits: the authenticator did not vouch for it
    gate.clock.forward(DAY)
    entered = enter_with_code(gate, app)
    made = register(gate, entered.visitor, Authenticator())
    assert made.active_at == gate.clock.now() + DAY


def test_the_last_way_in_is_not_removed_unsaid(gate: Gate) -> None:
    key = add_passkey(gate)
    visitor = touch_passkey(enter_with_passkey(gate, key), key)
    with pytest.raises(AnswerRefused, match="last way into the console"):
        credentials.remove(gate.state, visitor, key.id.hex())
    credentials.remove(gate.state, visitor, key.id.hex(), even_last=True)
    assert credentials.credentials_of(gate.state, "ann") == []


def test_removing_a_passkey_takes_a_touch_and_ends_its_sessions(gate: Gate) -> None:
    key, second = add_passkey(gate), Authenticator()
    entered = enter_with_passkey(gate, key)
    register(gate, touch_passkey(entered, key), second)
    other = enter_with_passkey(gate, second)
    with pytest.raises(AnswerRefused, match="confirm"):
        credentials.remove(gate.state, other.visitor, key.id.hex())
    credentials.remove(gate.state, touch_passkey(other, second), key.id.hex())
    assert visitor_of(gate.state, entered.token) is None
    assert visitor_of(gate.state, other.token) is not None
    assert "not known here" in enter(gate, key.get)


def test_nobody_removes_anothers_passkey_but_an_admin(gate: Gate) -> None:
    gate.add("bob", "approver")
    hers, his = add_passkey(gate), add_passkey(gate, "bob")
    with pytest.raises(AnswerRefused, match="no such credential"):
        credentials.remove(gate.state, touch_passkey(enter_with_passkey(gate, his), his), hers.id.hex(), even_last=True)
    credentials.remove(gate.state, touch_passkey(enter_with_passkey(gate, hers), hers), his.id.hex(), even_last=True)


def test_a_disabled_operators_passkey_signs_nobody_in(gate: Gate) -> None:
    gate.add("bob")
    key = add_passkey(gate, "bob")
    entered = enter_with_passkey(gate, key)
    change_operator(gate.state, gate.sign_in(), "bob", disabled=True)
    assert visitor_of(gate.state, entered.token) is None
    assert "not known here" in enter(gate, key.get)


def test_after_a_restart_a_passkey_counts_once_somebody_has_unlocked(gate: Gate) -> None:
    key = add_passkey(gate)
    gate.restart()
    with pytest.raises(SignInRefused, match="unlock"):
        passkeys.sign_in_begin(gate.state, SITE)
    gate.sign_in()
    assert enter_with_passkey(gate, key).visitor.operator == "ann"


def test_a_passkey_written_into_the_database_counts_for_nothing(gate: Gate) -> None:
    add_passkey(gate)
    row = credentials.all_credentials(gate.state)[0]
    forged = replace(row, id="ab" * 32, public={**row.public, "public_key": "00"})
    gate.store.write(lambda tx: tx.save_credential(forged))
    with pytest.raises(SignInRefused, match="behind Interlock's back"):
        gate.sign_in()
    gate.restart()
    with pytest.raises(SignInRefused, match="a 'passkey' was added or altered"):
        gate.sign_in()


def test_a_passkey_that_was_removed_is_not_put_back_in_the_database(gate: Gate) -> None:
    key = add_passkey(gate)
    before = credentials.all_credentials(gate.state)[0]
    credentials.remove(gate.state, touch_passkey(enter_with_passkey(gate, key), key), key.id.hex(), even_last=True)
    gate.store.write(lambda tx: tx.save_credential(before))
    gate.restart()
    with pytest.raises(SignInRefused, match="an older one was put back"):
        gate.sign_in()


def test_a_counter_set_back_in_the_database_helps_no_copy(gate: Gate) -> None:
    key = add_passkey(gate)
    copy = Authenticator(key.key, key.id, key.counter)
    enter_with_passkey(gate, key)
    enter_with_passkey(gate, key)
    gate.store.write(lambda tx: tx.use_credential(key.id.hex(), 2, 0, 0.0))
    assert "counter went back" in enter(gate, copy.get)


def test_a_flood_of_wrong_passkeys_locks_nobody_out_and_fills_no_record(gate: Gate) -> None:
    key = add_passkey(gate)
    for _ in range(20):
        enter(gate, Authenticator().get)
    assert len(gate.records("verify_failed")) == 10
    assert enter_with_passkey(gate, key).visitor.operator == "ann"


def test_a_flood_of_sign_ins_forgets_no_approval_that_is_under_way(gate: Gate) -> None:
    key = add_passkey(gate)
    entered = enter_with_passkey(gate, key)
    asked = step_up.freshen_begin(gate.state, entered.visitor, SITE)
    for _ in range(600):
        gate.state.visitors.begin("sign-in", b"", "", gate.clock.now())
    step_up.freshen(gate.state, entered.visitor, step_up.Touch(asked["ceremony"], key.get(asked["publicKey"]), SITE))
    assert entered.visitor.fresh(gate.clock.now())
