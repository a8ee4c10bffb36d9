"""`interlock config` and `interlock policy`: what is in force, what weakens it, what is wrong with a file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from interlock.cli.main import main
from interlock.config import load_config
from interlock.policy.load import SHIPPED, names

Capture = pytest.CaptureFixture[str]
WEAK = """
[gate]
requireApprovalForCritical = false
blockOnMatchFailure = false
bypassForTrustTiers = ["internal"]
defaultCoolingOffMs = 5000
"""


def test_what_is_shown_is_a_configuration_that_says_the_same(tmp_path: Path, capsys: Capture) -> None:
    first = tmp_path / "interlock.toml"
    first.write_text(
        '[daemon]\nport = 7400\n[registry]\n[[registry.pattern]]\nid = "x"\npattern = "x"\ncategory = "financial_action"\nseverity = "high"\n'
    )
    assert main(["config", "show", "--config", str(first)]) == 0
    shown = capsys.readouterr().out
    second = tmp_path / "again.toml"
    second.write_text(shown)
    assert main(["config", "show", "--config", str(second)]) == 0
    assert tomllib.loads(capsys.readouterr().out) == tomllib.loads(shown)
    assert load_config(second).daemon.port == 7400 and load_config(second).patterns == load_config(first).patterns


def test_what_weakens_it_is_warned_of(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text(WEAK)
    assert main(["config", "show", "--config", str(path)]) == 0
    warned = capsys.readouterr().err
    for words in ("requireApprovalForCritical", "blockOnMatchFailure", "bypassForTrustTiers", "under 30 s"):
        assert warned.count(words) == 1
    assert main(["config", "check", str(path), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 4


def test_what_a_policy_weakens_is_warned_of_too(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "lax.toml").write_text((SHIPPED / "default.toml").read_text() + WEAK)
    path = tmp_path / "interlock.toml"
    path.write_text('[policy]\nuse = "lax.toml"\n')
    assert main(["config", "check", str(path)]) == 0
    assert "requireApprovalForCritical = false" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[safetyLoop]\nmode = "monitoring"\n', 'safetyLoop.mode = "monitoring": everything passes'),
        ('[safetyLoop]\nmode = "logging"\n', 'safetyLoop.mode = "logging": everything passes'),
        ('[safetyLoop]\nmode = "disabled"\n', 'safetyLoop.mode = "disabled": everything passes'),
        ('[policy]\nuse = "spec"\n', "policy 'spec': the levels destructive, dangerous, forbidden ask for nothing"),
        (
            '[danger_patterns]\nforbidden = ["x_*"]\nreplace = true\n',
            "danger_patterns.replace = true: forbidden lacks the built-in drop_*",
        ),
    ],
)
def test_what_lets_everything_pass_is_warned_of(text: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text(text)
    assert main(["config", "check", str(path)]) == 0
    assert f"warning: {said}" in capsys.readouterr().out
    assert main(["config", "show", "--config", str(path)]) == 0
    assert said in capsys.readouterr().err


def test_what_is_shown_of_the_defaults_warns_of_nothing(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text("")
    assert main(["config", "show", "--config", str(path)]) == 0
    path.write_text(capsys.readouterr().out)
    assert main(["config", "check", str(path)]) == 0
    assert "can be used, 0 warnings" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "mine.toml: No such file or directory"), ("[[rule]]\n", "rule"), ("nonsense", "mine.toml: ")],
)
def test_rules_that_cannot_be_read_are_named_before_the_daemon_is_started(
    text: str | None, said: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text(f'[rules]\nfiles = ["mine.toml"]\n[store]\nurl = "sqlite://{tmp_path}/state"\n[daemon]\nport = 0\n')
    if text is not None:
        (tmp_path / "mine.toml").write_text(text)
    for words, code in ((["config", "check", str(path)], 1), (["serve", "--config", str(path)], 2)):
        assert main(words) == code
        found = capsys.readouterr().err
        assert "rules.files: " in found and said in found and "Errno" not in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[daemon]\nprot = 1\n", "prot"),
        ("nonsense", "interlock.toml"),
        ('[policy]\nuse = "none"\n', "interlock.toml: policy.use: none: no policy 'none'"),
        ('[store]\nurl = "mysql://x"\n', "expected sqlite"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_words(
    text: str, said: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text(text)
    assert main(["config", "check", str(path)]) == 1
    assert said in capsys.readouterr().err
    assert main(["config", "check", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["usable"] is False


def test_each_problem_of_a_file_has_a_line(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text("[daemon]\nprot = 1\n[hooks]\nwait_seconds = -1\n")
    assert main(["config", "check", str(path)]) == 1
    found = capsys.readouterr().err.splitlines()
    assert len(found) == 2 and all(line.startswith(f"{path}: ") for line in found)


def test_the_password_of_a_database_is_not_shown(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "interlock.toml"
    path.write_text('[store]\nurl = "postgresql://me:hunter2@db/x"\n')
    main(["config", "show", "--config", str(path)])
    assert "hunter2" not in capsys.readouterr().out


def test_the_path_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["config", "path"]) == 0
    assert f"{tmp_path}/interlock/interlock.toml (not there" in capsys.readouterr().out


@pytest.mark.parametrize("name", names())
def test_shipped_policies_are_shown_and_keep_their_promises(name: str, capsys: Capture) -> None:
    assert main(["policy", "show", name]) == 0
    assert "4 forbidden" in capsys.readouterr().out
    assert main(["policy", "show", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == name
    assert main(["policy", "test", name]) == 0
    assert "0 problems" in capsys.readouterr().out


def test_a_policy_file_is_checked_and_its_cases_are_run(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "team.toml"
    text = (SHIPPED / "default.toml").read_text()
    path.write_text(text)
    assert main(["policy", "check", str(path)]) == 0 and "can be used" in capsys.readouterr().out
    path.write_text(
        text + '\n[[case]]\ncommand = "git status"\nexpect = "block"\n[[case]]\ncomand = "ls"\nexpect = "allow"\n'
    )
    assert main(["policy", "test", str(path)]) == 1
    said = capsys.readouterr().out
    assert "'git status': expected block, got allow" in said and "unknown key 'comand'" in said and "2 problems" in said
    path.write_text(text.replace('safe        = "allow"', 'safe = "perhaps"'))
    assert main(["policy", "check", str(path)]) == 1
    assert "levels.safe" in capsys.readouterr().err
    assert main(["policy", "test", str(path)]) == 1


def test_the_policy_that_is_shown_is_the_effective_one(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "team.toml"
    path.write_text(
        'extends = "strict"\n[patterns]\ndeny = ["psql*"]\n[[case]]\ncommand = "psql -l"\nexpect = "block"\n'
    )
    assert main(["policy", "show", str(path)]) == 0
    said = capsys.readouterr().out
    levels = ("1 reversible   Somebody has to confirm.", "4 forbidden    Nobody can agree to this.")
    for words in ("extends strict", *levels, "psql*", "runs its 1 case."):
        assert words in said
    assert main(["policy", "show", str(path), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["extends"], shown["patterns"]["deny"]) == ("strict", ["psql*"])
    assert main(["policy", "check", str(path)]) == 0 and "can be used, 1 case\n" in capsys.readouterr().out
    assert main(["policy", "test", str(path)]) == 0 and "team: 1 case, 0 problems\n" in capsys.readouterr().out


def test_a_policy_that_promises_nothing_is_told_so(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "none.toml"
    path.write_text((SHIPPED / "default.toml").read_text().split("[[case]]")[0])
    assert main(["policy", "test", str(path)]) == 1
    assert "no [[case]]" in capsys.readouterr().out


def test_an_export_that_is_none_is_refused(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "export.jsonl"
    for text in ("{}\n", "nonsense\n", "[1]\n"):
        path.write_text(text)
        assert main(["replay", "all", "--from", str(path)]) == 1
        assert "line 1" in capsys.readouterr().err
    path.write_text("")
    assert main(["replay", "all", "--from", str(path)]) == 1
    assert "no decision" in capsys.readouterr().err
    assert main(["replay", "all", "--from", str(tmp_path / "none")]) == 1
