"""`interlock rules`: list, show, test, docs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.analysis.rules.load import SHIPPED
from interlock.cli.main import main

Capture = pytest.CaptureFixture[str]
PACK = """
[[rule]]
id           = "mine.frob"
level        = "dangerous"
irreversible = true
category     = "data_deletion"
reason       = "Frobs."
instead      = "Do not frob."
when         = [{ program = ["frob"], any_flag = ["--all"] }]
examples.match = ["frob --all"]
examples.spare = [SPARE]
"""


def test_all_rules_are_listed(capsys: Capture) -> None:
    assert main(["rules", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {rule["pack"] for rule in listed} == {path.stem for path in SHIPPED.glob("*.toml")}
    assert all(rule["examples"]["match"] and rule["when"] for rule in listed)


def test_one_pack_is_a_table(capsys: Capture) -> None:
    assert main(["rules", "list", "--pack", "git"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["RULE", "LEVEL", "UNDO", "REASON"]
    assert any(row.startswith("git.force_push ") for row in rows) and all(row.startswith("git.") for row in rows)


def test_a_rule_is_shown_with_its_clauses_and_examples(capsys: Capture) -> None:
    assert main(["rules", "show", "git.force_push"]) == 0
    said = capsys.readouterr().out
    for part in ("git.force_push", "dangerous", "Fires on", "with push, any of -f", "Catches", "Spares"):
        assert part in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "git.forcepush"], "did you mean git.force_push"),
        (["show", "zzz"], "interlock rules list"),
        (["list", "--pack", "gti"], "did you mean git"),
        (["shwo"], "invalid choice"),
    ],
)
def test_an_unknown_word_is_answered_with_the_nearest(words: list[str], said: str, capsys: Capture) -> None:
    assert main(["rules", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pack", "code", "said"),
    [
        (PACK.replace("SPARE", '"frob"'), 0, "1 rules, 2 examples, 0 problems"),
        (PACK.replace("SPARE", '"sudo frob --all"'), 1, "matches 'sudo frob --all', which it should spare"),
        (
            PACK.replace("SPARE", '"frob"').replace('match = ["frob --all"]', 'match = ["frob"]'),
            1,
            "does not match 'frob'",
        ),
        (PACK.replace("SPARE", '"frob"').replace("irreversible", "irreversibel"), 1, "unknown key 'irreversibel'"),
        ("x = ", 1, "mine.toml"),
    ],
)
def test_packs_of_your_own_are_tested(tmp_path: Path, pack: str, code: int, said: str, capsys: Capture) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(pack)
    assert main(["rules", "test", str(path)]) == code
    captured = capsys.readouterr()
    assert said in captured.out + captured.err


def test_a_missing_pack_is_said(capsys: Capture) -> None:
    assert main(["rules", "test", "/no/such.toml"]) == 1
    assert "No such file" in capsys.readouterr().err


def test_docs_are_markdown_with_every_rule(capsys: Capture) -> None:
    main(["rules", "list", "--json"])
    ids = [rule["id"] for rule in json.loads(capsys.readouterr().out)]
    assert main(["rules", "docs"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# Rules\n") and all(f"\n### {id}\n" in text for id in ids)
