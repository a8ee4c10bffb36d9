"""Try: anything is explained under the policy in force and another one; nothing is run, opened, asked or recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from console_visitor import PAYLOADS, ConsoleVisitor, foreign_markup, page_text, visit_console
from interlock.records import AuditQuery, TicketQuery

TRY = "/console/try"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path_factory.mktemp("try")) as found:
        yield found


def tried(here: ConsoleVisitor, text: str, kind: str = "command", **more: str) -> str:
    """The answer as it is put into the page."""
    here.page(TRY)
    answer = here.window.form(TRY, {"kind": kind, "text": text, **more}, hx_request="true")
    assert answer.status_code == 200, answer.text[-500:]
    return answer.text


def kept(here: ConsoleVisitor) -> Any:
    def count(tx: Any) -> tuple[int, int]:
        return len(tx.tickets(TicketQuery())), len(tx.audit(AuditQuery(limit=5_000)))

    here.app.state.recorder.flush()
    return here.app.state.store.read(count)


def test_a_command_is_explained_with_its_harm_marked_and_its_rule_a_link(here: ConsoleVisitor) -> None:
    page = tried(here, "cd app && git push --force origin main")
    said = page_text(page)
    assert "Held" in said and "an operator has to approve after a fresh sign-in" in said
    assert 'href="/console/rules/git.force_push"' in page
    marked = page.partition("<mark>")[2].partition("</mark>")[0]
    assert page_text(marked) == "git push --force origin main"


@pytest.mark.parametrize(
    ("kind", "text", "params", "expected"),
    [
        ("operation", "drop_table", '{"name": "users"}', "an admin has to approve"),
        ("tool", "Write", '{"file_path": "/home/dev/app/notes.md", "content": "x"}', "Allowed"),
        ("intent", "deleting all customers of production", "", "after a fresh sign-in"),
        ("command", ":(){ :|:& };:", "", "nobody can agree to this"),
        ("command", "ls -la", "", "No rule applies"),
    ],
)
def test_every_kind_of_action_can_be_tried(
    here: ConsoleVisitor, kind: str, text: str, params: str, expected: str
) -> None:
    assert expected in page_text(tried(here, text, kind, params=params))


def test_two_policies_answer_side_by_side(here: ConsoleVisitor) -> None:
    said = page_text(tried(here, "npm install", other="strict"))
    assert "In force: default Allowed" in said and "The other: strict Asks first" in said
    assert "They differ: allow under default, confirm under strict." in said
    assert "Both answer verify." in page_text(tried(here, "git push -f", other="strict"))


def test_an_edited_policy_is_tried_and_changes_nothing_in_force(here: ConsoleVisitor) -> None:
    text = 'name = "mine"\nextends = "default"\n[patterns]\ndeny = ["Bash:npm *"]\n'
    before = here.app.state.policy
    said = page_text(tried(here, "npm install", other="edited", policy=text))
    assert "The other: mine Denied" in said
    assert here.app.state.policy is before
    assert "Allowed" in page_text(tried(here, "npm install"))


def test_what_is_wrong_with_an_edited_policy_is_said_and_the_one_in_force_answers_alone(here: ConsoleVisitor) -> None:
    said = page_text(
        tried(here, "ls", other="edited", policy='extends = "default"\nlevel = 3\n[levels]\nsafe = "allw"\n')
    )
    assert "The edited policy cannot be used" in said and "level" in said and "allw" in said
    assert "In force: default" in said and "The other" not in said


def test_an_edited_policy_opens_no_file(here: ConsoleVisitor, tmp_path: Any) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text('name = "hush-hush"\n')
    said = tried(here, "ls", other="edited", policy=f'extends = "{secret}"\n')
    assert "is not shipped" in said and "hush-hush" not in said


def test_scripts_are_not_opened_and_nothing_is_recorded_or_asked(here: ConsoleVisitor, tmp_path: Any) -> None:
    script = tmp_path / "deploy.sh"
    script.write_text("rm -rf /home/dev/unmistakable\n")
    before = kept(here)
    assert "unmistakable" not in tried(here, f"bash {script}")
    tried(here, "git push --force origin main", other="strict")
    assert kept(here) == before


def test_what_was_filled_in_wrongly_is_said_in_words(here: ConsoleVisitor) -> None:
    assert "there is nothing to try yet" in tried(here, "  ")
    assert "the parameters are no JSON" in tried(here, "drop_table", "operation", params="{name}")
    assert "have to be a JSON object" in tried(here, "drop_table", "operation", params="[1]")
    assert "no kind" in tried(here, "ls", "poem")
    assert "longer than" in tried(here, "x" * 30_000)
    assert "no policy" in tried(here, "ls", other="../../etc/passwd")
    assert here.window.form(TRY, {"text": ""}).status_code == 422  # a page without a script


def test_a_link_fills_the_form_in_and_is_answered_at_once(here: ConsoleVisitor) -> None:
    said = here.said(f"{TRY}?text=rm+-rf+%2F&kind=command")
    assert "rm -rf /" in said and "Denied" in said


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_is_typed_runs_in_the_page(here: ConsoleVisitor, payload: str) -> None:
    for kind in ("command", "operation", "tool", "intent"):
        fields = {"kind": kind, "text": f"rm -rf {payload}", "cwd": f"/{payload}", "other": "edited"}
        fields |= {"policy": f"name = '''{payload}'''\nextends = 'default'\n[[case]]\n'x{payload}' = 1\n"}
        for headers in ({}, {"hx_request": "true"}):
            page = here.window.form(TRY, fields, **headers).text
            assert foreign_markup(page) == []
        assert "\x1b" not in page  # the answer alone; a field shows what was typed into it
    assert foreign_markup(here.page(f"{TRY}?text=x&kind=command")) == []


def test_half_a_character_does_not_break_the_page(here: ConsoleVisitor) -> None:
    headers = {"origin": here.window.origin, "x-csrf-token": here.window.mark, "content-type": "application/json"}
    answer = here.window.raw("POST", TRY, headers, content=b'{"kind": "command", "text": "rm -rf \\ud800x"}')
    assert answer.status_code < 500 and foreign_markup(answer.text) == []
