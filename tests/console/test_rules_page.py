"""Rules: what is in force is what is shown; examples run, any input meets one rule, and a pack is checked without being used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from console_visitor import PAYLOADS, ConsoleVisitor, foreign_markup, page_text, visit_console

RULES = "/console/rules"
OWN = """\
[[rule]]
id           = "team.deploy"
level        = "dangerous"
irreversible = true
category     = "data_deletion"
reason       = "Deploys over what runs."
instead      = "deploy --plan"
when         = [{ program = ["deployer"], subcommand = ["now"] }]
examples.match = ["deployer now"]
examples.spare = ["deployer plan"]
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pack") / "team.toml"
    path.write_text(OWN)
    return path


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, pack: Path) -> Iterator[ConsoleVisitor]:
    with visit_console(tmp_path_factory.mktemp("rules"), rules={"files": [str(pack)]}) as found:
        yield found


def checked(here: ConsoleVisitor, text: str) -> str:
    here.page(f"{RULES}/check")
    answer = here.window.form(f"{RULES}/check", {"pack": text}, hx_request="true")
    assert answer.status_code == 200
    return answer.text


def tried(here: ConsoleVisitor, rule: str, text: str, kind: str = "command", **more: str) -> str:
    here.page(f"{RULES}/{rule}")
    answer = here.window.form(f"{RULES}/{rule}/try", {"kind": kind, "text": text, **more}, hx_request="true")
    assert answer.status_code == 200
    return page_text(answer.text)


def test_every_pack_is_listed_and_the_operators_own_among_them(here: ConsoleVisitor) -> None:
    said = here.said(RULES)
    assert f"{len(here.app.state.rules.rules)} rules in force" in said
    assert "team 1 rule" in said and "drop_table" in said


def test_packs_rules_and_patterns_lead_with_what_they_are_about(here: ConsoleVisitor) -> None:
    """Expressions are folded away: nobody decides by reading one."""
    page = here.page(RULES)
    assert "Version control: git first" in page_text(
        page
    ) and "Deletes a whole database or schema. critical" in page_text(page)
    before = page[: page.index("(drop|delete|truncate)_(database|db|schema)")]
    assert before.rfind("<details>") > before.rfind("</details>") and before.endswith('</summary><code class="small">')
    rule = here.page(f"{RULES}/git.force_push")
    assert (
        rule.index("Replaces or deletes what others see")
        < rule.index("How it is recognised")
        < rule.index("program git")
    )


def test_rules_are_found_by_words_pack_and_level(here: ConsoleVisitor) -> None:
    assert "git.force_push" in here.said(f"{RULES}?q=commits+remote")
    only = here.said(f"{RULES}?pack=team")
    assert "team.deploy" in only and "1 rule " in only and "git.force_push" not in only
    part = here.part(f"{RULES}?level=forbidden&pack=disks")
    assert "<html" not in part and "forbidden" in part and "dangerous" not in part
    assert "No rule fits" in here.said(f"{RULES}?q=zzqx")


@pytest.mark.parametrize("rule", ["git.force_push", "team.deploy", "filesystem.delete_tree"])
def test_a_rule_says_when_it_fires_and_its_examples_hold(here: ConsoleVisitor, rule: str) -> None:
    said = here.said(f"{RULES}/{rule}")
    assert "behave as expected" in said and "Fires on" in said and "fails" not in said


def test_a_rule_that_calls_something_safe_has_a_page_too(here: ConsoleVisitor) -> None:
    safe = next(id for id, rule in here.app.state.rules.rules.items() if not rule.level)
    assert "behave as expected" in here.said(f"{RULES}/{safe}")


def test_there_is_no_page_for_a_rule_that_is_not_there(here: ConsoleVisitor) -> None:
    assert here.window.get(f"{RULES}/git.nothing").status_code == 404
    assert here.window.form(f"{RULES}/git.nothing/try", {"text": "ls"}).status_code == 404


def test_any_input_meets_one_rule(here: ConsoleVisitor) -> None:
    assert tried(here, "git.force_push", "bash -c 'git push -f'").startswith("It fires.")
    assert tried(here, "git.force_push", "git push").startswith("It does not fire.")
    assert tried(here, "team.deploy", "sudo deployer now").startswith("It fires.")
    assert "nothing to try yet" in tried(here, "team.deploy", "")
    assert "no JSON" in tried(here, "team.deploy", "x", "tool", params="{")
    whole = here.window.form(f"{RULES}/team.deploy/try", {"text": "deployer now"})
    assert "<html" in whole.text and "It fires." in whole.text  # without a script


def test_what_is_in_force_is_shown_when_the_file_changed_since(here: ConsoleVisitor, pack: Path) -> None:
    pack.write_text(OWN.replace("Deploys over what runs.", "Harmless, says somebody who edited it."))
    try:
        said = here.said(f"{RULES}/team.deploy")
        assert "Deploys over what runs." in said and "The file has changed or is gone" in said
        assert "Harmless" not in said
        assert "1 rule is changed or missing on disk" in here.said(RULES)
        pack.unlink()
        assert "Deploys over what runs." in here.said(f"{RULES}/team.deploy")
        pack.write_text("this is [no pack")
        assert "Deploys over what runs." in here.said(f"{RULES}/team.deploy")
    finally:
        pack.write_text(OWN)
    assert "Its file says something else" not in here.said(f"{RULES}/team.deploy")


def test_a_pack_is_checked_beside_the_rules_in_force_and_changes_none(here: ConsoleVisitor) -> None:
    text = OWN.replace("team.deploy", "team.other")
    assert "1 rule, 2 examples, 0 problems" in page_text(checked(here, text))
    assert "team.other" not in here.app.state.rules.rules
    again = OWN.replace("dangerous", "forbidden")  # an edited copy of one that is in force
    assert "0 problems" in page_text(checked(here, again))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OWN.replace('["deployer now"]', '["deployer plan now"]'), "does not match"),
        (OWN.replace('["deployer plan"]', '["deployer now -x"]'), "which it should spare"),
        (OWN.replace("level ", "levl "), "unknown key"),
        ("[[rule", "Expected"),
        ("", "nothing to check yet"),
        ("rule = 3", "this is no pack"),
        ("[program.x]\nvalue_flags = []\n", "no [[rule]] in it"),
        ("x" * 200_000, "longer than"),
    ],
)
def test_what_is_wrong_with_a_pack_is_said(here: ConsoleVisitor, text: str, expected: str) -> None:
    assert expected in page_text(checked(here, text))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_that_is_typed_or_written_in_a_pack_runs(here: ConsoleVisitor, payload: str) -> None:
    quoted = payload.replace("\\", "").replace("'''", "")
    text = OWN.replace('"Deploys over what runs."', f"'''{quoted}'''").replace('"deployer now"', f"'''x {quoted}'''")
    for path, fields in (
        ("check", {"pack": text}),
        ("check", {"pack": payload}),
        ("team.deploy/try", {"text": payload}),
    ):
        assert foreign_markup(here.window.form(f"{RULES}/{path}", fields).text) == []
    query = {"q": payload, "pack": payload, "level": payload}
    assert foreign_markup(here.page(f"{RULES}?{httpx.QueryParams(query)}")) == []
