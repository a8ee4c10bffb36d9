"""The audit explorer finds records, tells one record's whole story, proves it, and gives files to keep."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser_window import signed_in_window
from console_visitor import DELETE, LIST, PUSH, ConsoleVisitor, page_text, visit_console
from daemons import PASSPHRASE, QUICK
from interlock.audit.export import from_jsonl
from interlock.audit.search import PAGE
from interlock.identity.operators import add_operator, sign_in
from interlock.maintenance import sign_record
from interlock.records import AuditQuery


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path) as found:
        yield found


def test_records_are_found_by_text_event_agent_level_and_time(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    here.ask(PUSH)
    here.later(3_600)
    here.ask(DELETE, name="codex")
    at = "/console/audit"
    assert PUSH in here.said(f"{at}?text=GIT+PUSH") and DELETE not in here.said(f"{at}?text=GIT+PUSH")
    assert DELETE in here.said(f"{at}?agent=codex") and PUSH not in here.said(f"{at}?agent=codex")
    assert LIST not in here.said(f"{at}?level=3") and PUSH in here.said(f"{at}?level=3")
    assert PUSH not in here.said(f"{at}?event=OPERATION_ALLOWED") and LIST in here.said(f"{at}?event=OPERATION_ALLOWED")
    assert DELETE in here.said(f"{at}?since=2027-01-15T08:30") and PUSH not in here.said(f"{at}?since=2027-01-15T08:30")
    assert DELETE not in here.said(f"{at}?until=2027-01-15T08:30")
    assert "No record matches." in here.said(f"{at}?text=no+such+words")


def test_a_time_that_is_none_is_said_to_be(here: ConsoleVisitor) -> None:
    answer = here.window.get("/console/audit?since=yesterday")
    assert answer.status_code == 400 and "expected a time" in page_text(answer.text)


def test_pages_reach_every_record_once_also_where_all_are_of_one_moment(here: ConsoleVisitor) -> None:
    for number in range(PAGE * 2):
        here.ask(f"cat file{number}")
    seen: list[str] = []
    path = "/console/audit?routine=shown"
    for _ in range(10):
        seen += here.links(path, "/console/audit/record")
        older = here.links(path, "/console/audit?routine=shown&amp;before=")
        if not older:
            break
        path = older[0]
    kept = here.app.state.store.read(lambda tx: tx.audit(AuditQuery()))
    assert len(seen) == len(set(seen)) == len(kept) > PAGE * 2


def test_a_record_tells_what_was_asked_what_weighed_who_answered_and_through_what(here: ConsoleVisitor) -> None:
    held = here.ask(PUSH)
    here.app.call("POST", f"/api/v1/tickets/{held['pendingId']}/reject", {"reason": "ask me first"}, here.app.sign_in())
    said = here.said(here.record(text="force", level="3"))
    for words_of_it in (
        PUSH,
        "verify: CONFIRMATION_REQUIRED",
        "85, tier verify",
        "cannot be undone",
        "an operator has to approve after a fresh sign-in",
        "calls itself claude",
        "/home/dev/app",
        "git.force_push",
        "network (+10)",
        held["pendingId"],
        "ana reject",
        "ask me first",
        "v1:",
    ):
        assert words_of_it in said


def test_a_record_is_proved_by_its_neighbours_and_by_the_next_checkpoint(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    record = here.record(text="force", level="3")
    assert "not signed yet" in here.said(record)
    sign_record(here.app.state)
    said = here.said(record)
    assert "whole Its hash matches its content" in said and "signed A checkpoint of 2027-01-15" in said


def test_a_record_that_somebody_altered_shows_it_and_verify_names_it(here: ConsoleVisitor, tmp_path: Path) -> None:
    here.ask(PUSH)
    record = here.record(text="force", level="3")
    assert "Whole:" in page_text(here.window.form("/console/audit/verify").text)
    with sqlite3.connect(tmp_path / "state" / "state.db") as other:
        other.execute("UPDATE audit SET body = replace(body, 'origin main', 'origin mine') WHERE event LIKE 'CONFIRM%'")
    assert "altered Its hash does not match its content" in here.said(record)
    answer = here.window.form("/console/audit/verify", hx_request="true")
    assert "The record was altered." in answer.text and "<html" not in answer.text
    assert "altered: main/" in page_text(answer.text)


def test_the_whole_record_is_verified_by_one_at_a_time(here: ConsoleVisitor) -> None:
    context = here.app.daemon.context
    with context.proving:  # somebody's verification goes on
        answer = here.window.form("/console/audit/verify")
        assert answer.status_code == 429 and "being verified already" in page_text(answer.text)
        over_http = here.app.call("GET", "/api/v1/audit/verify", headers=here.app.sign_in())
        assert over_http.status_code == 429 and over_http.headers["retry-after"] == "5"
    assert "Whole:" in page_text(here.window.form("/console/audit/verify").text)
    assert here.app.call("GET", "/api/v1/audit/verify", headers=here.app.sign_in()).json()["ok"]


def test_what_the_filters_find_is_a_file_that_gives_the_records_back(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    here.ask("=cmd|calc && rm -rf src")
    answer = here.window.get("/console/audit/export?level=2&format=jsonl")
    assert answer.headers["content-disposition"] == 'attachment; filename="interlock-audit.jsonl"'
    (row,) = (from_jsonl(line) for line in answer.text.splitlines())
    assert "rm -rf src" in row.body
    csv = here.window.get("/console/audit/export?format=csv").text
    assert csv.startswith('"writer","seq"') and LIST in csv
    assert here.window.get("/console/audit/export?format=exe").status_code == 422


@pytest.mark.parametrize("query", ["", "writer=main", "writer=main&seq=999", "writer=x&seq=1", "writer=main&seq=-1"])
def test_a_record_that_is_not_there_is_not_found(here: ConsoleVisitor, query: str) -> None:
    assert here.window.get(f"/console/audit/record?{query}").status_code == 404


def test_a_false_alarm_is_marked_once_on_the_record_and_taken_back_there(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    record = here.record(text="force", level="3")
    fields = dict(part.split("=") for part in record.partition("?")[2].split("&"))
    answer = here.window.form("/console/audit/false-alarm", {**fields, "note": "our own branch"})
    assert answer.headers["location"] == record
    assert "ana marked it: our own branch" in here.said(record)
    assert "marked already" in page_text(here.window.form("/console/audit/false-alarm", fields).text)
    (row,) = here.app.state.store.read(lambda tx: tx.audit(AuditQuery(event="false_alarm")))
    assert json.loads(row.body)["rules"] == ["git.force_push"]
    here.window.form("/console/audit/false-alarm", {**fields, "withdraw": "1"})
    assert "This was a false alarm" in here.page(record)
    assert here.ask(PUSH)["decision"] == "verify"  # a mark allows nothing


def test_what_stopped_nobody_is_no_false_alarm(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    record = here.record(text="ls -la")
    assert "This was a false alarm" not in here.page(record)
    fields = dict(part.split("=") for part in record.partition("?")[2].split("&"))
    assert here.window.form("/console/audit/false-alarm", fields).status_code == 403


def test_a_viewer_reads_and_verifies_but_marks_nothing(here: ConsoleVisitor) -> None:
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    add_operator(here.app.state, session, "vic", PASSPHRASE, ("viewer",), kdf=QUICK)
    window, _ = signed_in_window(here.app, "vic")
    here.ask(PUSH)
    record = here.record(text="force", level="3")
    assert window.get(record).status_code == 200
    assert window.form("/console/audit/verify").status_code == 200
    fields = dict(part.split("=") for part in record.partition("?")[2].split("&"))
    assert window.form("/console/audit/false-alarm", fields).status_code == 403


def test_tokens_and_sign_ins_are_folded_away_and_can_be_unfolded(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    page = here.page("/console/audit")
    assert "token issued" not in page and ">unlock</span>" not in page and "hidden: tokens" in page
    (unfold,) = [path for path in here.links("/console/audit", "/console/audit?routine") if "shown" in path]
    assert "token issued" in here.page(unfold) and "Hide them" in here.page(unfold)
    assert "token issued" in here.page("/console/audit?event=TOKEN_ISSUED")
