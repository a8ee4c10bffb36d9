"""Settings: everybody signed in looks, admins change after a touch, with a reason on record; secrets stay out of the page."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from adapter_files import adapter_file
from authenticator import Authenticator
from browser_window import Window, signed_in_window
from console_visitor import PAYLOADS, ConsoleVisitor, foreign_markup, page_text, visit_console
from daemons import PASSPHRASE
from interlock.identity.operators import change_operator, sign_in
from interlock.identity.sessions import SignInRefused
from interlock.model import Trust
from interlock.records import AuditQuery

SETTINGS = "/console/settings"
OTHER = "another lantern 48 brook"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    file = adapter_file(tmp_path, trust=Trust.VALIDATED)
    with visit_console(tmp_path / "state", adapters={"files": [str(file)]}) as found:
        yield found


def record(here: ConsoleVisitor, event: str) -> list[str]:
    return [row.body for row in here.app.state.store.read(lambda tx: tx.audit(AuditQuery(event=event)))]


def trust(here: ConsoleVisitor) -> str:
    return here.app.state.adapters.standing("things", here.app.clock.now()).trust.word


def bo(here: ConsoleVisitor) -> tuple[Window, Authenticator]:
    return signed_in_window(here.app, "bo")


def test_everything_that_is_set_is_told(here: ConsoleVisitor) -> None:
    said = here.said(SETTINGS)
    assert "Mode: enforcing" in said and "ana you admin roles admin · 1 passkey, 0 authenticators" in said
    assert "bo approver" in said and "things adapter validated" in said
    assert "console ready" in said and "this device only" in said
    assert "requests per minute and caller 6000" in said
    assert 'href="/console/keys"' in here.page(SETTINGS)


def test_the_mode_takes_an_admin_a_touch_and_a_reason(here: ConsoleVisitor) -> None:
    change = {"mode": "monitoring", "reason": "the move"}
    refused = here.window.form(f"{SETTINGS}/mode", change)
    assert refused.status_code == 422 and "enter your passphrase again first" in refused.text
    here.window.touch(here.key)
    assert "say why" in here.window.form(f"{SETTINGS}/mode", {"mode": "monitoring", "reason": " "}).text
    assert "no mode" in here.window.form(f"{SETTINGS}/mode", {"mode": "off", "reason": "x"}).text
    assert here.app.state.mode == "enforcing"
    done = here.window.form(f"{SETTINGS}/mode", change)
    assert done.headers["location"] == f"{SETTINGS}?said=mode" and here.app.state.mode == "monitoring"
    assert '"reason":"the move"' in record(here, "mode_change")[-1]
    assert "nothing is held back" in here.said(SETTINGS) and "What weakens protection now" in here.said(SETTINGS)


def test_roles_and_teams_are_an_admins_to_change_and_somebody_stays_one(here: ConsoleVisitor) -> None:
    here.window.touch(here.key)
    done = here.window.form(f"{SETTINGS}/operators/bo", {"roles": "deployer, oncall", "teams": "db  web"})
    assert done.headers["location"] == f"{SETTINGS}?said=operator"
    assert "roles deployer, oncall · teams db, web" in here.said(SETTINGS)
    for fields in ({"roles": ""}, {"roles": "admin", "disabled": "yes"}):
        answer = here.window.form(f"{SETTINGS}/operators/ana", fields)
        assert answer.status_code == 422 and "somebody has to be an admin" in answer.text
    assert "is no name" in unescape(here.window.form(f"{SETTINGS}/operators/bo", {"roles": "<b>"}).text)
    assert "no operator" in here.window.form(f"{SETTINGS}/operators/nobody", {"roles": ""}).text


def test_whoever_is_disabled_is_signed_out(here: ConsoleVisitor) -> None:
    window, _ = bo(here)
    here.window.touch(here.key)
    here.window.form(f"{SETTINGS}/operators/bo", {"disabled": "yes"})
    assert "disabled" in here.said(SETTINGS) and window.get(SETTINGS).status_code == 303
    here.window.form(f"{SETTINGS}/operators/bo", {})
    sign_in(here.app.state, "bo", PASSPHRASE, "cli")


def test_somebody_is_added_and_the_passphrase_is_nowhere_to_be_read(here: ConsoleVisitor) -> None:
    fields = {"name": "cy", "passphrase": OTHER, "again": OTHER, "roles": "viewer"}
    assert here.window.form(f"{SETTINGS}/operators", fields).status_code == 422  # without a touch
    here.window.touch(here.key)
    assert "not the same" in here.window.form(f"{SETTINGS}/operators", {**fields, "again": "x"}).text
    short = here.window.form(f"{SETTINGS}/operators", {**fields, "passphrase": "x", "again": "x"})
    assert short.status_code == 422 and OTHER not in short.text
    assert here.window.form(f"{SETTINGS}/operators", {**fields, "name": "<script>"}).status_code == 422
    assert here.window.form(f"{SETTINGS}/operators", fields).headers["location"] == f"{SETTINGS}?said=added"
    assert "cy viewer" in here.said(SETTINGS) and OTHER not in here.page(SETTINGS)
    assert OTHER not in "".join(row for event in ("enrol", "operator_change") for row in record(here, event))
    sign_in(here.app.state, "cy", OTHER, "cli")
    with pytest.raises(SignInRefused):
        sign_in(here.app.state, "cy", PASSPHRASE, "cli")


def test_trust_goes_up_by_an_admin_and_down_by_anybody_who_answers(here: ConsoleVisitor) -> None:
    path = f"{SETTINGS}/adapters/things/trust"
    window, key = bo(here)
    window.touch(key)
    assert "bo is no admin" in window.form(path, {"level": "community_reviewed", "reason": "x"}).text
    assert window.form(path, {"level": "untested", "reason": "odd answers"}).headers["location"].endswith("said=trust")
    assert trust(here) == "untested"
    assert "enter your passphrase again" in here.window.form(path, {"level": "generated", "reason": "read it"}).text
    here.window.touch(here.key)
    assert here.window.form(path, {"level": "validated", "reason": "two steps"}).status_code == 422
    here.window.form(path, {"level": "generated", "reason": "read it"})
    assert trust(here) == "generated" and "odd answers" in here.said(SETTINGS)
    assert here.window.form(path, {"level": "holy", "reason": "x"}).status_code == 422
    assert here.window.form(path, {"level": "untested", "reason": ""}).status_code == 422


def test_a_viewer_and_an_approver_look_and_change_no_settings(here: ConsoleVisitor) -> None:
    window, _ = bo(here)
    assert "Another mode" not in window.get(SETTINGS).text and "Change the trust" in window.get(SETTINGS).text
    for path in ("mode", "operators", "operators/ana"):
        assert window.form(f"{SETTINGS}/{path}", {"mode": "disabled", "reason": "x"}).status_code == 403
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    change_operator(here.app.state, session, "bo", roles=("viewer",))
    page = window.get(SETTINGS)
    assert page.status_code == 200 and "<form" not in page.text.partition("<main")[2].partition("<dialog")[0]
    for path in ("channels/x/test", "adapters/things/trust"):
        assert window.form(f"{SETTINGS}/{path}", {"level": "untested", "reason": "x"}).status_code == 403
    assert trust(here) == "validated" and here.app.state.mode == "enforcing"


def test_a_test_of_a_channel_says_what_became_of_it(here: ConsoleVisitor) -> None:
    answer = here.window.form(f"{SETTINGS}/channels/nowhere/test", hx_request="true")
    assert answer.status_code == 200 and "Not sent: there is no channel" in page_text(answer.text)


def test_nothing_that_was_stored_runs(here: ConsoleVisitor) -> None:
    here.window.touch(here.key)
    for payload in PAYLOADS:
        here.window.form(f"{SETTINGS}/mode", {"mode": "enforcing", "reason": payload})
        here.window.form(f"{SETTINGS}/adapters/things/trust", {"level": "untested", "reason": payload})
        for path, fields in (
            ("operators/bo", {"roles": payload, "teams": payload}),
            ("operators", {"name": payload, "passphrase": OTHER, "again": OTHER}),
            ("adapters/things/trust", {"level": payload, "reason": payload}),
        ):
            assert foreign_markup(here.window.form(f"{SETTINGS}/{path}", fields).text) == []
    here.app.state.alerts["x"] = PAYLOADS[0]
    assert foreign_markup(here.page(SETTINGS)) == []
