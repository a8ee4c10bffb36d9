"""`interlock explain` and the entry point: what is printed, and the exit code that stands for the verdict."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.cli.main import main
from repositories import repository

INTERLOCK = [sys.executable, "-m", "interlock"]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nobody_configured_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("MCPAQL_SAFETY_LOOP", raising=False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("ls -l", 0),
        ("echo 'rm -rf /'", 0),
        ("git reset --hard", 10),
        ("git push --force origin main", 10),
        ("rm -rf /", 20),
        ("bash -c 'rm -rf ~'", 20),
        (":(){ :|:& };:", 20),
    ],
)
def test_the_exit_code_is_the_verdict(command: str, code: int) -> None:
    assert main(["explain", command, "--cwd", "/home/dev/app"]) == code


@pytest.mark.parametrize("command", ["ls -l", "git reset --hard", "rm -rf /"])
def test_json_says_the_same(command: str, capsys: Capture) -> None:
    code = main(["explain", "--json", command, "--cwd", "/home/dev/app"])
    said = json.loads(capsys.readouterr().out)
    assert {"allow": 0, "ask": 10, "deny": 20}[said["verdict"]] == code
    assert said["command"] == command and said["cwd"] == "/home/dev/app" and said["steps"]


@pytest.mark.parametrize(
    ("policy", "command", "code", "decision"),
    [
        ("strict", "npm install", 10, "confirm"),
        ("strict", "rm -rf /", 20, "block"),
        ("headless", "git push --force", 20, "deny"),
        ("spec", "git push --force", 10, "verify"),  # seed 002's globs as they stand
        ("default", "npm install", 0, "allow"),
    ],
)
def test_another_policy_can_be_asked(policy: str, command: str, code: int, decision: str, capsys: Capture) -> None:
    assert main(["explain", "--policy", policy, "--json", command, "--cwd", "/home/dev/app"]) == code
    said = json.loads(capsys.readouterr().out)
    assert (said["decision"], said["policy"]) == (decision, policy)


def test_the_policy_in_force_decides_with_its_patterns_rules_and_mode(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "config" / "interlock"
    folder.mkdir(parents=True)
    (folder / "team.toml").write_text('extends = "default"\n[patterns]\ndeny = ["terraform plan*"]\n')
    (folder / "mine.toml").write_text(
        '[[rule]]\nid = "mine.frob"\nlevel = "dangerous"\nirreversible = false\ncategory = "config_destruction"\nreason = "Frobs."\ninstead = "Look first."\n'
        'when = [{ program = ["frobnicate"] }]\nexamples.match = ["frobnicate x"]\nexamples.spare = ["echo frobnicate"]\n'
    )
    config = folder / "interlock.toml"
    config.write_text('[policy]\nuse = "team.toml"\n[rules]\nfiles = ["mine.toml"]\n')
    assert main(["explain", "terraform plan"]) == 20
    assert "Policy    team: block (asked for by deny)" in capsys.readouterr().out
    assert main(["explain", "frobnicate x"]) == 10
    assert "mine.frob" in capsys.readouterr().out
    assert main(["explain", "--policy", "default", "terraform plan"]) == 0
    config.write_text('[safetyLoop]\nmode = "monitoring"\n')
    assert main(["explain", "git push --force"]) == 0
    assert "mode monitoring" in capsys.readouterr().out


def test_what_must_not_be_used_is_wrong_usage_and_never_a_pass(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "bad.toml").write_text("[daemon]\nprot = 1\n")
    for words, said in ((["--policy", "lax"], "no policy 'lax'"), (["--config", str(tmp_path / "bad.toml")], "prot")):
        assert main(["explain", *words, "ls"]) == 2
        assert said in capsys.readouterr().err


def test_it_starts_without_a_daemon_s_libraries() -> None:
    heavy = "fastapi starlette uvicorn sqlite3 asyncio cryptography argon2 rich psycopg cel sqlglot yaml"
    code = f"import sys; from interlock.cli.main import main; main(['explain', 'git push -f']); print(*set({heavy!r}.split()) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == ""


def test_it_shows_what_was_unwrapped_and_where(capsys: Capture) -> None:
    main(["explain", "sudo bash -c 'rm -rf /'", "--cwd", "/home/dev/app"])
    said = capsys.readouterr().out
    for part in (
        "Denied: ",
        "rm -rf /   inside sudo > bash -c",
        "^^^^",
        "cannot be undone",
        "Instead: ",
        "Score ",
        "\x1b",
    ):
        assert (part in said) == (part != "\x1b"), part


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--", "-rf"], "-rf"),
        (["--", "rm", "-rf", "a b"], "rm -rf 'a b'"),
        (["ls -l"], "ls -l"),
        (["--json", "--", "--json"], "--json"),
    ],
)
def test_the_command_is_what_was_typed(words: list[str], text: str, capsys: Capture) -> None:
    main(["explain", "--json", *words])
    assert json.loads(capsys.readouterr().out)["command"] == text


@pytest.mark.parametrize("words", [["-"], []])
def test_the_command_may_come_from_standard_input(
    words: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"cd /\nrm -rf *\n")))
    assert main(["explain", *words]) == 20
    assert "2 | rm -rf *" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["explain", "rm", "-rf", "/"], "Quote the command"),
        (["explain", "--colour", "ls"], "--help"),
        (["xplain", "ls"], "did you mean 'explain'?"),
        (["rm -rf /"], "interlock explain"),
        (["explain", "--cwd"], "expected one argument"),
        (["explain", ""], "no command given"),
        (["explain", " \n\t"], "no command given"),
        (["explain", "--operation", ""], "--operation is empty"),
        (["explain", "--intent", " "], "--intent is empty"),
    ],
)
def test_a_mistake_in_the_words_is_exit_code_two(words: list[str], said: str, capsys: Capture) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_a_script_is_read_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "x.sh").write_text("git push --force\n")
    assert main(["explain", "bash x.sh", "--cwd", str(tmp_path)]) == 10
    assert main(["explain", "bash x.sh", "--cwd", str(tmp_path), "--no-files"]) == 0


def test_an_unexpected_error_denies(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("interlock.engine.preview.judge", broken)
    assert (main(["explain", "ls"]), main(["explain", "--json", "ls"])) == (20, 20)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["help"],
        ["--version"],
        *[[w, "--help"] for w in ("explain", "classify", "rules", "scan", "prompt")],
    ],
)
def test_help_is_everywhere(words: list[str], capsys: Capture) -> None:
    assert main(words) == 0
    assert "interlock" in capsys.readouterr().out


def test_bytes_that_are_no_text_are_explained_too() -> None:
    done = subprocess.run([*INTERLOCK, "explain", b"rm -rf / \xff"], capture_output=True)
    assert done.returncode == 20 and done.stderr == b""


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colour_unless_it_wants_none(more: dict[str, str], coloured: bool) -> None:
    ours, theirs = pty.openpty()
    env = {**{key: value for key, value in os.environ.items() if key != "NO_COLOR"}, "TERM": "xterm", **more}
    with subprocess.Popen([*INTERLOCK, "explain", "rm -rf /"], stdout=theirs, env=env) as process:
        process.wait(30)
    os.close(theirs)
    said = os.read(ours, 65536)
    os.close(ours)
    assert (b"\x1b[" in said) == coloured and process.returncode == 20


def test_a_command_cannot_write_to_the_terminal(capsys: Capture) -> None:
    main(["explain", "rm -rf / \x1b]0;pwned\x07 \u202e"])
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\u202e" not in said and "\\x1b" in said


def test_a_look_says_what_exists_nowhere_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = repository(tmp_path / "app")
    assert main(["explain", "--look", "--cwd", str(folder), "git reset --hard"]) == 0
    said = capsys.readouterr().out
    assert "Impact    there are no uncommitted changes" in said and "Snapshot  " not in said
    (folder / "src/a.py").write_text("new\n")
    assert main(["explain", "--look", "--cwd", str(folder), "git reset --hard"]) == 10
    said = capsys.readouterr().out
    assert "exists nowhere else: src/a.py" in said and "Snapshot  from an agent on this machine it passes" in said
