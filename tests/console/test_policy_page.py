"""Policy: what is in force in words, its history, and an edited text that is checked, tested and compared with the record, never written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console_visitor import DELETE, LIST, PAYLOADS, PUSH, ConsoleVisitor, foreign_markup, page_text, visit_console
from daemons import PASSPHRASE
from interlock.identity.agents import set_mode
from interlock.identity.operators import sign_in
from interlock.policy.load import load_policy, own_text, text_policy
from interlock.policy.policy import PolicyError
from interlock.startup import record_start

POLICY = "/console/policy"
EDIT = f"{POLICY}/edit"
MINE = 'name = "mine"\ndescription = "Ours."\nextends = "default"\n[patterns]\nallow = ["Bash:make *"]\n'


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "mine.toml"
    path.write_text(MINE)
    return path


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, file: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path_factory.mktemp("state"), policy={"use": str(file)}) as found:
        record_start(found.app.state, "1.2.3")
        yield found


def tried(here: ConsoleVisitor, text: str, records: str = "500") -> str:
    here.page(EDIT)
    answer = here.window.form(EDIT, {"policy": text, "records": records}, hx_request="true")
    assert answer.status_code == 200
    return answer.text


def test_the_policy_in_force_is_told_level_by_level(here: ConsoleVisitor) -> None:
    said = here.said(POLICY)
    assert "In force: mine" in said and "It extends default" in said
    assert (
        "destructive Somebody has to confirm. If nothing would be lost or a copy can be taken first: nobody needs to agree."
        in said
    )
    assert "needs no confirmation Bash:make *" in said and "An operator, unless a level names others." in said


def test_its_own_text_is_shown_and_not_what_it_extends(here: ConsoleVisitor) -> None:
    page = here.page(POLICY)
    assert "Ours." in page and "[[case]]" not in page


def test_shipped_policies_are_told_too(here: ConsoleVisitor) -> None:
    assert "forbidden Nobody can agree to this." in here.said(f"{POLICY}/shipped/strict")
    assert here.window.get(f"{POLICY}/shipped/none").status_code == 404
    assert here.window.get(f"{POLICY}/shipped/..%2F..%2Fx").status_code == 404


def test_the_history_says_what_changed_and_who_changed_it(here: ConsoleVisitor) -> None:
    said = here.said(POLICY)
    assert "policy mine," in said and "rules version 1.2.3," in said
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    set_mode(here.app.state, session, "monitoring", "the <b>move</b>")
    set_mode(here.app.state, session, "enforcing", "back")
    record_start(here.app.state, "1.2.3")  # the same again is no change
    page = here.page(POLICY)
    assert "mode enforcing to monitoring: the <b>move</b> ana" in page_text(page) and "<b>move" not in page
    assert page_text(page).count("rules version 1.2.3,") == 1


def test_an_edited_policy_is_compared_with_what_agents_did(here: ConsoleVisitor) -> None:
    for command in (LIST, DELETE, PUSH, "npm install"):
        here.ask(command)
    said = page_text(tried(here, own_text(load_policy("strict"))))
    assert "It can be used, as policy strict." in said
    assert (
        "If nothing would be lost or a copy can be taken first: nobody needs to agree. An operator has to approve"
        in said
    )
    assert "cases pass." in said
    assert "4 recorded: 3 answered alike, 1 differently" in said
    assert "allow confirm" in said and "npm install" in said


def test_the_text_in_force_changes_nothing(here: ConsoleVisitor) -> None:
    said = page_text(tried(here, MINE))
    assert "It asks for the same as the policy in force." in said and "0 differently" in said
    assert "It has no [[case]]" in said


def test_the_comparison_is_left_out_where_nobody_asks_for_it(here: ConsoleVisitor) -> None:
    assert "recorded actions" not in page_text(tried(here, MINE, "0"))


def test_cases_that_come_out_otherwise_are_named(here: ConsoleVisitor) -> None:
    said = page_text(tried(here, MINE + '[[case]]\ncommand = "rm -rf src"\nexpect = "allow"\n'))
    assert "1 of 1 cases fail." in said and "expected allow, got verify" in said


def test_every_problem_is_named_with_its_place(here: ConsoleVisitor) -> None:
    said = page_text(tried(here, 'extends = "default"\nlevls = 1\n[levels]\nsafe = "alow"\n'))
    assert "It cannot be used" in said and "levls" in said and "levels.safe" in said and "Use it" not in said
    assert "It cannot be used" in page_text(tried(here, "name = "))
    assert here.window.form(EDIT, {"policy": "name = "}).status_code == 422


def test_what_takes_protection_away_is_said(here: ConsoleVisitor) -> None:
    text = 'extends = "default"\n[levels]\ndestructive = "allow"\ndangerous = "allow"\n'
    assert "the levels destructive, dangerous ask for nothing" in page_text(tried(here, text))


def test_nothing_is_written_or_put_in_force(here: ConsoleVisitor, file: Path) -> None:
    before, policy = sorted(file.parent.iterdir()), here.app.state.policy
    tried(here, own_text(load_policy("strict")))
    assert file.read_text() == MINE and sorted(file.parent.iterdir()) == before
    assert here.app.state.policy is policy


def test_an_edited_text_extends_what_is_shipped_or_loaded_and_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('name = "base"\nextends = "strict"\nopen_tickets = 7\n')
    (tmp_path / "team.toml").write_text('name = "team"\nextends = "base.toml"\n')
    known = load_policy("team.toml", tmp_path)
    (tmp_path / "base.toml").unlink()
    assert text_policy('extends = "base.toml"\n', "x", known).open_tickets == 7
    assert text_policy('{"deny": ["drop_*"]}', "x").patterns.deny
    for elsewhere in ("base.toml", str(tmp_path / "team.toml"), "../team.toml"):
        with pytest.raises(PolicyError, match="is not shipped"):
            text_policy(f'extends = "{elsewhere}"\n', "x")
    with pytest.raises(PolicyError):
        text_policy('{"deny": [' * 5_000, "x")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_is_written_in_a_policy_runs(here: ConsoleVisitor, payload: str) -> None:
    here.ask(f"rm -rf {payload}", name=payload[:100])
    text = f"name = '''{payload}'''\nextends = 'strict'\n[patterns]\ndeny = ['''{payload}''']\n[[case]]\ncommand = '''{payload}'''\nexpect = 'allow'\n"
    for given in (text, payload, text.replace("\x1b", "").replace("\x07", "")):
        for headers in ({}, {"hx_request": "true"}):
            assert foreign_markup(here.window.form(EDIT, {"policy": given, "records": "100"}, **headers).text) == []
    assert foreign_markup(here.page(POLICY)) == [] and foreign_markup(here.page(f"{EDIT}?start=<script>")) == []
