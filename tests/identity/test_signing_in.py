"""Signing in fails slowly for whoever guesses, and for nobody else; a new passphrase ends what the old one opened."""

from __future__ import annotations

import json

import pytest

from gate import CHEAP, PASSPHRASE, Gate
from interlock.error_codes import AnswerRefused
from interlock.identity import operators
from interlock.identity.attempts import MOST_KEYS, Attempts
from interlock.identity.operators import SIGN_INS
from interlock.identity.sessions import SignInRefused, TooManySignIns, WrongSignIn
from interlock.model import command

PUSH = command("git push --force origin main", "/home/dev/app")
OTHER = "quite another passphrase"


def guess(gate: Gate, name: str, times: int = 1, source: str = "") -> None:
    for _ in range(times):
        with pytest.raises(WrongSignIn):
            operators.sign_in(gate.state, name, "a wrong guess", "cli", source)


def limited(gate: Gate, name: str, passphrase: str = PASSPHRASE, source: str = "") -> int:
    with pytest.raises(TooManySignIns) as found:
        operators.sign_in(gate.state, name, passphrase, "cli", source)
    return found.value.seconds


def test_ten_wrong_guesses_a_minute_are_enough(gate: Gate) -> None:
    guess(gate, "ann", 10)
    assert limited(gate, "ann") == 61  # also with the right passphrase
    gate.clock.forward(30)
    assert limited(gate, "ann") == 31
    gate.clock.forward(30)
    assert gate.sign_in().operator == "ann"


def test_guessing_one_name_locks_no_other_out(gate: Gate) -> None:
    gate.add("bob")
    guess(gate, "ann", 10)
    guess(gate, "nobody", 10)
    assert gate.sign_in("bob").operator == "bob"
    limited(gate, "ann")


def test_guessing_from_elsewhere_locks_nobody_out_here(gate: Gate) -> None:
    guess(gate, "ann", 10, source="agent of uid:1000")
    limited(gate, "ann", source="agent of uid:1000")
    assert operators.sign_in(gate.state, "ann", PASSPHRASE, "cli", "uid:1000")[1].operator == "ann"


def test_another_spelling_of_a_name_gets_no_more_guesses(gate: Gate) -> None:
    for name in ("ann", "Ann", " ANN ", "ａｎｎ", "ann"):
        guess(gate, name, 2)
    limited(gate, "ann")


def test_a_restart_forgets_no_failure(gate: Gate) -> None:
    guess(gate, "ann", 10)
    gate.restart()
    assert limited(gate, "ann") == 61


def test_names_that_do_not_exist_are_answered_in_the_same_words(gate: Gate) -> None:
    said = []
    for name in ("ann", "nobody"):
        words = []
        for _ in range(12):
            with pytest.raises(SignInRefused) as found:
                operators.sign_in(gate.state, name, "a wrong guess", "cli")
            words.append(str(found.value))
        said.append(words)
    assert said[0] == said[1] and said[0][0] == "the name or the passphrase is wrong"


def test_every_wrong_guess_is_on_record_and_what_was_typed_is_kept_nowhere_else(gate: Gate) -> None:
    guess(gate, "ann", 2)
    guess(gate, "my secret by mistake")
    assert len(gate.records("verify_failed")) == 3
    kept = gate.store.read(lambda tx: tx.setting(SIGN_INS.setting)) or ""
    assert len(json.loads(kept)) == 2 and "secret" not in kept and "ann" not in kept


@pytest.mark.parametrize("row", ["", "x", "[]", "7", '{"a":1}', '{"a":["x"]}', '{"a":[]}', "null"])
def test_a_row_that_was_garbled_neither_locks_out_nor_fails(gate: Gate, row: str) -> None:
    gate.store.write(lambda tx: tx.save_setting(SIGN_INS.setting, row))
    assert gate.sign_in().operator == "ann"
    guess(gate, "ann", 10)
    limited(gate, "ann")


def test_what_is_remembered_stays_small(gate: Gate) -> None:
    few = Attempts("test.failures", most=2)
    for number in range(MOST_KEYS + 50):
        gate.store.write(lambda tx, number=number: few.failed(tx, f"name {number}", gate.clock.now() + number / 1000))
    kept = json.loads(gate.store.read(lambda tx: tx.setting("test.failures")) or "")
    assert len(kept) == MOST_KEYS
    for _ in range(5):
        gate.store.write(lambda tx: few.failed(tx, "last", gate.clock.now() + 1))
    assert gate.store.read(lambda tx: few.wait(tx, "last", gate.clock.now() + 1)) == 61


def test_a_new_passphrase_ends_every_session_of_the_old_one(gate: Gate) -> None:
    token, session = operators.sign_in(gate.state, "ann", PASSPHRASE, "cli")
    operators.change_passphrase(gate.state, session, OTHER, CHEAP)
    assert gate.state.sessions.session(token, gate.clock.now()) is None
    with pytest.raises(WrongSignIn):
        gate.sign_in()
    again, _ = operators.sign_in(gate.state, "ann", OTHER, "cli")
    assert gate.state.sessions.session(again, gate.clock.now()) is not None
    gate.restart()
    assert operators.sign_in(gate.state, "ann", OTHER, "cli")[1].operator == "ann"


def test_what_was_signed_under_the_old_passphrase_frees_nothing(gate: Gate) -> None:
    ticket = gate.held(PUSH)
    gate.approve(ticket)
    operators.change_passphrase(gate.state, gate.sign_in(), OTHER, CHEAP)
    assert not gate.ask(PUSH, pending=ticket.id).allowed


def test_a_new_passphrase_takes_a_fresh_sign_in(gate: Gate) -> None:
    session = gate.sign_in()
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="sign in again"):
        operators.change_passphrase(gate.state, session, OTHER, CHEAP)


def test_whoever_signs_in_too_often_ends_their_own_oldest_session_and_nobody_elses(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.identity.sessions.MOST_SESSIONS", 3)
    gate.add("bob")  # ann signs in for that
    bob = operators.sign_in(gate.state, "bob", PASSPHRASE, "cli")[0]
    tokens = [operators.sign_in(gate.state, "ann", PASSPHRASE, "cli")[0] for _ in range(3)]
    alive = [gate.state.sessions.session(token, gate.clock.now()) is not None for token in (bob, *tokens)]
    assert alive == [True, False, True, True]
    gate.state.sessions.sign_out(bob)
    operators.sign_in(gate.state, "ann", PASSPHRASE, "cli")
    with pytest.raises(SignInRefused, match="too many operators are signed in"):
        operators.sign_in(gate.state, "bob", PASSPHRASE, "cli")
