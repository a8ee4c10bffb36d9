"""Figures: what is decided and asked, how fast people answer, which rules ask most, and what was a false alarm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console_visitor import DELETE, LIST, PAYLOADS, PUSH, ConsoleVisitor, foreign_markup, visit_console
from interlock.console.charts import daily_chart
from interlock.engine.statistics import answer_statistics
from interlock.model import Level


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path) as found:
        yield found


def reject(here: ConsoleVisitor, ticket: str) -> None:
    answer = here.app.call("POST", f"/api/v1/tickets/{ticket}/reject", {"reason": "no"}, here.app.sign_in())
    assert answer.status_code == 200, answer.text


def test_before_anything_was_asked_there_is_nothing_to_count(here: ConsoleVisitor) -> None:
    assert "Nothing to count yet" in here.said("/console/figures")


def test_answers_are_told_apart_by_how_fast_they_came_and_whether_they_came_at_all(here: ConsoleVisitor) -> None:
    fast = here.ask(PUSH)
    here.app.clock.forward(1)
    reject(here, fast["pendingId"])
    assert "1 answer by people" in here.said("/console/figures")
    slow = here.ask(DELETE)
    here.app.clock.forward(45)
    reject(here, slow["pendingId"])
    here.ask("rm -rf lib")
    here.later(7_200)
    here.ask("rm -rf docs")
    found = answer_statistics(here.app.state)
    assert (found.tickets, found.answered, found.fast, found.expired, found.open) == (4, 2, 1, 1, 1)
    assert dict(found.by_seconds)["≤ 2 s"] == 1 and dict(found.by_seconds)["≤ 1 min"] == 1
    said = here.said("/console/figures")
    assert "Answered in less than 2 s 50 %" in said and "Expired unanswered 1" in said
    assert found.whole and found.by_day[-1][1] == {3: 4}


def test_the_rules_that_ask_most_come_first_with_a_way_to_a_narrower_grant(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    for folder in ("src", "lib", "docs"):
        here.app.clock.forward(1)
        last = here.ask(f"rm -rf {folder}")
    page, said = here.page("/console/figures"), here.said("/console/figures")
    assert said.index("filesystem.delete_tree 3 0 0 0") < said.index("git.force_push 1 0 0 0")
    assert f'href="/console/grants/new?ticket={last["pendingId"]}"' in page


def test_older_days_are_left_out_until_they_are_asked_for(here: ConsoleVisitor) -> None:
    here.ask(PUSH)
    here.later(10 * 86_400)
    assert "Nobody was asked anything in the last 7 days" in here.said("/console/figures?days=7")
    assert "People were asked 1" in here.said("/console/figures?days=14")
    assert here.window.get("/console/figures?days=a").status_code == 200


def test_a_false_alarm_is_listed_with_the_rule_and_the_near_miss_it_would_have_to_spare(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    for command in (PUSH, 'rm -rf "my \\ src"'):
        here.ask(command)
        record = here.record(level="3", text="force" if command == PUSH else "my")
        fields = dict(part.split("=") for part in record.partition("?")[2].split("&"))
        assert here.window.form("/console/audit/false-alarm", {**fields, "note": "ours"}).status_code == 303
    said = here.said("/console/figures")
    assert "git.force_push marked 1 time" in said and f'examples.spare = [ "{PUSH}", ]' in said
    assert '"rm -rf \\"my \\\\ src\\"",' in said
    assert "main/" in said and "ana: ours" in said


def test_nothing_that_was_stored_runs_in_a_page(here: ConsoleVisitor) -> None:
    """Payloads in commands, names, folders, notes and reasons, on every page that shows them."""
    for number, payload in enumerate(PAYLOADS):
        here.ask(f"rm -rf src{number} # {payload}", name=payload, cwd=f"/home/{payload}")
        here.ask(f"rm -rf '{payload}'", name=f"a{number}")
        here.ask(payload)
    here.app.call("POST", "/api/v1/agents", {"name": PAYLOADS[1]}, here.app.sign_in())
    pages = ["/console/live", "/console/agents", "/console/audit", "/console/figures"]
    pages += here.links("/console/agents", "/console/agents/one")
    records = here.links("/console/audit", "/console/audit/record")
    for record in here.links("/console/audit?level=2", "/console/audit/record")[:4]:
        fields = dict(part.split("=") for part in record.partition("?")[2].split("&"))
        here.window.form("/console/audit/false-alarm", {**fields, "note": PAYLOADS[1]})
    pages += records + [
        f"/console/{name}?agent=%22%3E%3Cscript%3E&text=%3Cimg+src=x+onerror=1%3E" for name in ("live", "audit")
    ]
    assert len(pages) > 40
    for path in pages:
        page = here.page(path)
        assert foreign_markup(page) == [], path
        assert "\u202e" not in page.replace('value="', "") and "\x1b" not in page, path


def test_an_approval_that_no_agent_came_back_for_was_answered(here: ConsoleVisitor) -> None:
    id = here.ask("git branch -D old")["pendingId"]
    assert here.window.form(f"/console/tickets/{id}/approve").status_code == 303
    here.later(3_600)
    found = answer_statistics(here.app.state)
    assert found.expired == 0 and [(one.approved, one.expired) for one in found.rules] == [(1, 0)]
    assert "approved and not used in time: ana had said yes" in here.said(f"/console/tickets/{id}")


@pytest.mark.parametrize(("most", "words"), [(3, ["3"]), (9_999, ["4999", "9999"]), (1_240_000, ["620k", "1240k"])])
def test_a_large_number_fits_beside_the_axis(most: int, words: list[str]) -> None:
    assert [line.words for line in daily_chart([(0.0, {Level.DANGEROUS: most})]).lines] == words
