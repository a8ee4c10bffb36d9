"""Grants: narrow, filled in from what waits, tested on the record and on near misses before anybody signs, and taken back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from re import findall

import pytest
from httpx import Response
from msgspec.structs import replace

from authenticator import Authenticator
from browser_window import Window, signed_in_window
from console_visitor import PAYLOADS, ConsoleVisitor, foreign_markup, page_text, visit_console
from daemons import PASSPHRASE
from interlock.engine.trials import near_misses
from interlock.identity.operators import change_operator, sign_in
from interlock.model import Level, TicketState
from interlock.records import Grant

GRANTS = "/console/grants"
NARROW = Grant(
    "g",
    "destroy",
    ("/home/dev/app/src",),
    Level.DANGEROUS,
    "ana",
    "why",
    1.0,
    9.0,
    principal="uid:1",
    name="claude",
    session="s",
)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path) as found:
        yield found


def form_of(page: str) -> dict[str, str]:
    """The fields of the form as a browser would send them."""
    page = page.partition('data-sign="')[2].partition("</form>")[0]
    found = {
        name: unescape(value) for name, value in findall(r'<input[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"', page)
    }
    found |= {name: unescape(text) for name, text in findall(r'<textarea[^>]*? name="([^"]+)"[^>]*>([^<]*)<', page)}
    for name, inner in findall(r'<select[^>]*? name="([^"]+)">(.*?)</select>', page):
        chosen = findall(r'<option(?: value="([^"]*)")? selected>([^<]*)<', inner)
        found[name] = (chosen[0][0] or chosen[0][1]) if chosen else ""
    return found


def suggested(here: ConsoleVisitor, ticket: str) -> dict[str, str]:
    fields = form_of(here.page(f"{GRANTS}/new?ticket={ticket}"))
    return {name: value for name, value in fields.items() if name != "too"}


def trial(here: ConsoleVisitor, fields: dict[str, str]) -> str:
    answer = here.window.form(f"{GRANTS}/test", fields, hx_request="true")
    assert answer.status_code == 200
    return page_text(answer.text)


def sign(
    here: ConsoleVisitor, fields: dict[str, str], window: Window | None = None, key: Authenticator | None = None
) -> Response:
    """Signs and saves it, as the page's script does."""
    window, key = window or here.window, key or here.key
    asked = window.json(f"{GRANTS}/begin", fields).json()
    proof = {"ceremony": asked["ceremony"], "response": json.dumps(key.get(asked["publicKey"]))}
    return window.form(GRANTS, {**fields, **proof})


def grants(here: ConsoleVisitor) -> list[Grant]:
    return here.app.state.store.read(lambda tx: tx.grants(here.app.clock.now()))


def test_a_card_of_the_queue_leads_to_a_grant_for_exactly_that(here: ConsoleVisitor) -> None:
    ticket = here.ask("rm -rf src")["pendingId"]
    assert f'href="{GRANTS}/new?ticket={ticket}"' in here.page("/console/queue")
    fields = suggested(here, ticket)
    assert (fields["effect"], fields["targets"], fields["ceiling"]) == ("remove", "/home/dev/app/src", "dangerous")
    assert (fields["count"], fields["name"], fields["session"]) == ("1", "claude", "s1")
    assert {fields[f"only-{name}"] for name in ("principal", "name", "session")} == {"yes"}


def test_before_it_is_signed_it_says_what_it_would_have_covered_and_what_not(here: ConsoleVisitor) -> None:
    here.ask("ls")
    here.ask("rm -rf lib")
    ticket = here.ask("rm -rf src")["pendingId"]
    said = trial(here, suggested(here, ticket))
    assert "1 of 2 that could destroy something would have been covered" in said
    assert "covered dangerous" in said and "asks dangerous" in said
    assert "It covers none of these." in said and "asks the folder above /home/dev/app" in said
    assert grants(here) == []


def test_a_wide_grant_is_told_to_be_wide(here: ConsoleVisitor) -> None:
    here.ask("rm -rf lib")
    ticket = here.ask("rm -rf src")["pendingId"]
    fields = {**suggested(here, ticket), "targets": "/home/dev/app/*"}
    for name in ("principal", "name", "session"):
        del fields[f"only-{name}"]
    said = trial(here, fields)
    assert "2 of 2 that could destroy something" in said and "It is wider than necessary" in said
    assert "covered another session" in said and "covered an agent of another name" in said


def test_a_signed_grant_lets_the_agent_through_once_and_no_further(here: ConsoleVisitor) -> None:
    ticket = here.ask("rm -rf src")["pendingId"]
    fields = {**suggested(here, ticket), "why": "the move"}
    refused = here.window.form(GRANTS, fields)
    assert refused.status_code == 422 and "for exactly these terms" in refused.text and "the move" in refused.text
    here.window.touch(here.key)
    assert here.window.form(GRANTS, fields).status_code == 422  # a touch for nothing in particular is none for this
    asked = here.window.json(f"{GRANTS}/begin", fields).json()
    proof = {"ceremony": asked["ceremony"], "response": json.dumps(here.key.get(asked["publicKey"]))}
    other = here.window.form(GRANTS, {**fields, **proof, "targets": "/home/dev/app/**"})
    assert other.status_code == 422 and "other terms" in other.text and grants(here) == []
    assert sign(here, fields).headers["location"] == f"{GRANTS}?said=saved"
    assert here.ask("rm -rf lib")["decision"] != "allow"
    assert here.ask("rm -rf src", name="other")["decision"] != "allow"
    assert here.ask("rm -rf src")["decision"] == "allow"
    assert here.ask("rm -rf src")["decision"] != "allow"
    assert "No grants" in here.said(GRANTS)


def test_what_waits_and_takes_no_touch_is_approved_with_it(here: ConsoleVisitor) -> None:
    ticket = here.ask("git reset --hard")["pendingId"]
    page = here.page(f"{GRANTS}/new?ticket={ticket}")
    assert 'name="too"' in page
    fields = {**form_of(page), "why": "often", "too": "yes", "count": "3"}
    answer = here.window.form(GRANTS, fields)
    assert answer.headers["location"] == f"{GRANTS}?said=saved-too", answer.text
    found = here.app.state.store.read(lambda tx: tx.ticket(ticket))
    assert found is not None and found.state is TicketState.APPROVED
    dangerous = here.ask("rm -rf src")["pendingId"]
    fields = {**suggested(here, dangerous), "why": "x", "too": "yes"}  # the box is not there: sent all the same
    assert sign(here, fields).headers["location"] == f"{GRANTS}?said=saved"
    found = here.app.state.store.read(lambda tx: tx.ticket(dangerous))
    assert found is not None and found.state is TicketState.WAITING


def test_what_cannot_be_told_by_names_is_granted_as_that_very_action(here: ConsoleVisitor) -> None:
    ticket = here.ask("git push --force origin main")["pendingId"]
    fields = suggested(here, ticket)
    assert fields["digests"].startswith("v1:")
    said = trial(here, fields)
    assert "It covers none of these." in said and "any other action than the one that was held" in said
    assert "1 of 1 that could destroy something" in said


def test_grants_are_listed_and_revoked(here: ConsoleVisitor) -> None:
    ticket = here.ask("git reset --hard")["pendingId"]
    here.window.form(GRANTS, {**suggested(here, ticket), "why": "often", "count": "5"})
    (grant,) = grants(here)
    said = here.said(GRANTS)
    assert "5 uses" in said and "often" in said and "Revoke" in said
    part = here.window.form(f"{GRANTS}/{grant.id}/revoke", hx_request="true")
    assert part.status_code == 200 and "No grants" in part.text and "<html" not in part.text
    assert grants(here) == [] and here.ask("git reset --hard")["decision"] != "allow"
    assert here.window.form(f"{GRANTS}/grant_none/revoke").status_code == 404


def test_a_row_that_was_altered_is_said_not_to_count(here: ConsoleVisitor) -> None:
    ticket = here.ask("git reset --hard")["pendingId"]
    here.window.form(GRANTS, {**suggested(here, ticket), "why": "x"})
    (grant,) = grants(here)
    here.app.state.store.write(lambda tx: tx.save_grant(replace(grant, id="grant_forged", targets=("/home/dev/**",))))
    assert "does not count: its row was altered" in here.said(GRANTS)


NO_GRANTS: list[tuple[dict[str, str], str]] = [
    ({"targets": "/**"}, "a target for everything is none"),
    ({"targets": ""}, "effect and targets are needed"),
    ({"count": "many"}, "count: expected a whole number"),
    ({"count": "5000"}, "count: expected a whole number"),
    ({"seconds": "99999999"}, "seconds"),
    ({"why": " "}, "say why"),
    ({"ceiling": "boundless"}, "no level"),
]


def test_what_is_no_grant_is_refused_and_the_form_is_kept(here: ConsoleVisitor) -> None:
    fields = {
        "effect": "destroy",
        "targets": "/home/dev/app/src",
        "ceiling": "destructive",
        "count": "1",
        "seconds": "3600",
        "why": "unmistakable",
    }
    for change, expected in NO_GRANTS:
        answer = here.window.form(GRANTS, {**fields, **change})
        assert answer.status_code == 422 and expected in unescape(answer.text) and grants(here) == []
        assert "unmistakable" in answer.text or "why" in change
        if "why" not in change:
            assert expected in unescape(here.window.form(f"{GRANTS}/test", {**fields, **change}).text)


def test_only_those_who_answer_grant_and_only_admins_what_is_forbidden(here: ConsoleVisitor) -> None:
    ticket = here.ask("rm -rf /")["pendingId"]
    bo, key = signed_in_window(here.app, "bo")
    fields = form_of(bo.get(f"{GRANTS}/new?ticket={ticket}").text)
    assert fields["ceiling"] != "forbidden"
    wanted = {**fields, "targets": "/etc/hosts", "ceiling": "forbidden", "why": "x"}
    refused = sign(here, wanted, bo, key)
    assert refused.status_code == 422 and "you cannot approve this alone" in refused.text
    refused = sign(here, {**wanted, "ticket": ""}, bo, key)
    assert refused.status_code == 422 and "bo is no admin" in refused.text
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    change_operator(here.app.state, session, "bo", roles=("viewer",))
    assert "Revoke" not in bo.get(GRANTS).text and bo.get(GRANTS).status_code == 200
    for path in (GRANTS, f"{GRANTS}/test", f"{GRANTS}/x/revoke"):
        assert bo.form(path, fields).status_code == 403
    assert bo.get(f"{GRANTS}/new").status_code == 403
    assert Window(here.app).get(GRANTS).headers["location"].startswith("/console/sign-in")


def test_whoever_approved_many_in_a_row_is_not_offered_one_more_by_the_way(here: ConsoleVisitor) -> None:
    for number in range(5):
        ticket = here.ask(f"git -C r{number} reset --hard")["pendingId"]
        here.window.form(f"/console/tickets/{ticket}/approve")
    ticket = here.ask("git -C last reset --hard")["pendingId"]
    assert 'name="too"' not in here.page(f"{GRANTS}/new?ticket={ticket}")
    answer = here.window.form(GRANTS, {**suggested(here, ticket), "why": "x", "too": "yes"})
    assert answer.status_code == 422 and "you approved many in a row" in unescape(answer.text) and grants(here) == []


def test_a_narrow_grant_covers_no_near_miss_and_a_wide_one_is_caught() -> None:
    assert not any(one.covered for one in near_misses(NARROW))
    wide = near_misses(replace(NARROW, targets=("/home/dev/app/*",), session=""))
    assert {one.words for one in wide if one.covered} >= {"another session"}
    inside = {one.words: one.covered for one in near_misses(replace(NARROW, targets=("/home/dev/app/src/**",)))}
    assert not inside["the folder above"] and not inside["a neighbour"]
    frozen = near_misses(replace(NARROW, digests=("v1:a",), targets=(), effect="run"))
    assert not any(one.covered for one in frozen)
    assert any(one.covered for one in near_misses(replace(NARROW, principal="", name="", session="")))


def test_nothing_that_was_asked_for_or_written_runs(here: ConsoleVisitor) -> None:
    for payload in PAYLOADS:
        _stored(here, payload)
        here.app.clock.forward(200)


def _stored(here: ConsoleVisitor, payload: str) -> None:
    ticket = here.ask(f"rm -rf {payload}", name=payload[:100], cwd=f"/{payload}")["pendingId"]
    page = here.page(f"{GRANTS}/new?ticket={ticket}")
    assert foreign_markup(page) == []
    fields = {**form_of(page), "why": payload, "environment": payload}
    assert foreign_markup(here.window.form(f"{GRANTS}/test", fields).text) == []
    assert foreign_markup(here.window.form(GRANTS, {**fields, "count": payload}).text) == []
    sign(here, {**fields, "effect": payload, "targets": f"/{payload}"})
    assert foreign_markup(here.page(GRANTS)) == []
    assert here.window.get(f"{GRANTS}/new?ticket={payload[:5]}").status_code in (200, 404)
