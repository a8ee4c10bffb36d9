"""Browsers that are signed in: with passphrase and code, for a while, until they or their operator are signed out."""

from __future__ import annotations

import pytest

from browsers import HERE, add_authenticator, add_passkey, enter_with_code, enter_with_passkey, follow_setup_link
from gate import PASSPHRASE, Gate
from interlock.config.settings import ConsoleSettings
from interlock.error_codes import AnswerRefused
from interlock.identity import operators, totp
from interlock.identity.console_access import may_visit, set_up_link, visitor_of
from interlock.identity.keys.passphrases import EnrolError
from interlock.identity.sessions import SignInRefused, TooManySignIns, WrongSignIn
from interlock.identity.visitors import MOST_BROWSERS


def enter(gate: Gate, code: str, passphrase: str = PASSPHRASE, name: str = "ann", source: str = HERE) -> str:
    return totp.sign_in(gate.state, name, passphrase, code, source)[0]


def test_passphrase_and_code_sign_in(gate: Gate) -> None:
    visitor = enter_with_code(gate, add_authenticator(gate)).visitor
    assert (visitor.operator, visitor.how, visitor.session.channel) == ("ann", "passphrase", "console")


def test_a_code_works_once_and_no_older_one_after_it(gate: Gate) -> None:
    app = add_authenticator(gate)
    now = int(gate.clock.now())
    older, code, next = app.at(now - 30), app.at(now), app.at(now + 30)
    enter(gate, code)
    for used in (code, older):
        with pytest.raises(WrongSignIn):
            enter(gate, used)
    enter(gate, next)  # a clock that is half a minute ahead
    with pytest.raises(WrongSignIn):
        enter(gate, app.at(now + 60))


def test_a_code_that_was_used_is_not_revived_in_the_database(gate: Gate) -> None:
    app = add_authenticator(gate)
    code = app.at(int(gate.clock.now()))
    enter(gate, code)
    row = gate.store.read(lambda tx: tx.credentials("ann"))[0]
    gate.store.write(lambda tx: tx.use_credential(row.id, row.counter, 0, 0.0))
    with pytest.raises(WrongSignIn):
        enter(gate, code)


def test_a_restart_forgets_no_code_that_was_used(gate: Gate) -> None:
    app = add_authenticator(gate)
    code = app.at(int(gate.clock.now()))
    enter(gate, code)
    gate.restart()
    with pytest.raises(WrongSignIn):
        enter(gate, code)


def test_what_was_wrong_is_not_said(gate: Gate) -> None:
    app = add_authenticator(gate)
    right = app.at(int(gate.clock.now()))
    said = set()
    for name, passphrase, code in (
        ("ann", PASSPHRASE, "000000"),
        ("ann", "a wrong guess", right),
        ("nobody", PASSPHRASE, right),
        ("ann", PASSPHRASE, ""),
        ("ann", PASSPHRASE, "١٢٣٤٥٦"),
    ):
        with pytest.raises(WrongSignIn) as found:
            enter(gate, code, passphrase, name)
        said.add(str(found.value))
    assert said == {"the name, the passphrase or the code is wrong"}
    assert len(gate.records("verify_failed")) == 5


def test_guessing_codes_is_slowed_down(gate: Gate) -> None:
    app = add_authenticator(gate)
    for guess in range(10):
        with pytest.raises(WrongSignIn):
            enter(gate, f"{guess:06}")
    with pytest.raises(TooManySignIns):
        enter(gate, app.at(int(gate.clock.now())))
    gate.clock.forward(61)
    enter(gate, app.at(int(gate.clock.now())))


def test_a_passphrase_alone_opens_no_browser(gate: Gate) -> None:
    with pytest.raises(SignInRefused, match="operator link"):
        enter(gate, "123456")


def test_the_secret_of_an_authenticator_is_nowhere_in_the_store_or_the_record(gate: Gate) -> None:
    visitor = follow_setup_link(gate)
    secret = totp.begin(gate.state, visitor)["secret"]
    app = add_authenticator(gate)
    enter_with_code(gate, app)
    gate.state.recorder.flush()
    kept = b"".join(path.read_bytes() for path in gate.folder.rglob("*") if path.is_file())
    for text in (secret, app.secret):
        assert text.encode() not in kept


def test_only_a_hash_of_the_cookie_is_kept_and_only_in_memory(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    assert entered.token not in repr(vars(gate.state.visitors))
    gate.state.recorder.flush()
    kept = b"".join(path.read_bytes() for path in gate.folder.rglob("*") if path.is_file())
    assert entered.token.encode() not in kept and entered.visitor.csrf.encode() not in kept
    assert entered.visitor.csrf not in repr(entered.visitor)


def test_a_browser_is_signed_out_by_idleness_and_by_age(gate: Gate) -> None:
    gate.state.visitors.settings = ConsoleSettings(idle_minutes=10, session_hours=1)
    entered = enter_with_passkey(gate, add_passkey(gate))
    for _ in range(6):
        gate.clock.forward(599)
        assert visitor_of(gate.state, entered.token) is not None
    gate.clock.forward(10)  # an hour by now, and never idle
    assert visitor_of(gate.state, entered.token) is None
    other = enter_with_passkey(gate, with_passkey_of(gate))
    gate.clock.forward(600)
    assert visitor_of(gate.state, other.token) is None


def with_passkey_of(gate: Gate) -> object:
    gate.add("bob")
    return add_passkey(gate, "bob")


def test_signing_out_everywhere_ends_every_browser_of_an_operator_and_no_other(gate: Gate) -> None:
    gate.add("bob")
    hers, his = add_passkey(gate), add_passkey(gate, "bob")
    one, two, other = enter_with_passkey(gate, hers), enter_with_passkey(gate, hers), enter_with_passkey(gate, his)
    link = set_up_link(gate.state, gate.sign_in())
    gate.state.visitors.shelf.drop_owned("ann")
    assert visitor_of(gate.state, one.token) is None and visitor_of(gate.state, two.token) is None
    assert gate.state.visitors.take_link(link, gate.clock.now()) is None
    assert visitor_of(gate.state, other.token) is not None


def test_a_restart_signs_every_browser_out(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    gate.restart()
    gate.sign_in()
    assert visitor_of(gate.state, entered.token) is None


def test_whoever_signs_in_very_often_ends_only_their_own_sessions(gate: Gate) -> None:
    gate.add("bob")
    hers = enter_with_passkey(gate, add_passkey(gate))
    session = gate.sign_in("bob")
    tokens = [
        gate.state.visitors.enter(session, "passphrase", HERE, gate.clock.now())[0] for _ in range(MOST_BROWSERS + 5)
    ]
    assert visitor_of(gate.state, hers.token) is not None
    assert visitor_of(gate.state, tokens[0]) is None
    assert visitor_of(gate.state, tokens[-1]) is not None


def test_roles_rank(gate: Gate) -> None:
    gate.add("app", "approver")
    gate.add("vic", "viewer")
    by = {name: enter_with_passkey(gate, add_passkey(gate, name)).visitor for name in ("ann", "app", "vic")}
    ranks = ("viewer", "approver", "admin", "unknown")
    found = {name: [may_visit(one, role) for role in ranks] for name, one in by.items()}
    assert found == {
        "ann": [True, True, True, False],
        "app": [True, True, False, False],
        "vic": [True, False, False, False],
    }


def test_a_role_that_was_taken_away_is_gone_at_once(gate: Gate) -> None:
    gate.add("bob", "admin")
    entered = enter_with_passkey(gate, add_passkey(gate, "bob"))
    assert entered.visitor.role == "admin"
    operators.change_operator(gate.state, gate.sign_in(), "bob", roles=["viewer"])
    assert entered.visitor.role == "viewer"


def test_a_changed_role_is_kept_as_it_is_compared(gate: Gate) -> None:
    gate.add("bob", "viewer")
    changed = operators.change_operator(gate.state, gate.sign_in(), "bob", roles=[" Admin ", "admin"], teams=["DBA"])
    assert (changed.roles, changed.teams) == (("admin",), ("dba",))
    with pytest.raises(EnrolError, match="role 'x y'"):
        operators.change_operator(gate.state, gate.sign_in(), "bob", roles=["x y"])


def test_a_set_up_link_is_for_somebody_at_a_terminal(gate: Gate) -> None:
    entered = enter_with_passkey(gate, add_passkey(gate))
    with pytest.raises(AnswerRefused, match="command line"):
        set_up_link(gate.state, entered.visitor.session)
    session = gate.sign_in()
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="fresh sign-in"):
        set_up_link(gate.state, session)


def test_a_new_passphrase_ends_the_browsers_that_the_old_one_signed_in(gate: Gate) -> None:
    app = add_authenticator(gate)
    entered = enter_with_code(gate, app)
    operators.change_passphrase(gate.state, gate.sign_in(), "quite another passphrase")
    assert visitor_of(gate.state, entered.token) is None
