"""A person at a terminal of their own is asked; an agent's terminal, a pipe and typed-ahead text are not."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.identity.agent_detection import ProcessInfo, agent_in
from terminals import PATIENCE, Screen, python_at, shell_at

GOOD = "correct horse battery"
# Leaves the process that the tests run in, which may well be an agent's, and takes the given terminal for its own.
ENROL = """
import sys
from interlock.identity.keys.passphrases import Kdf, open_row
from interlock.identity.operators import enrol_at_terminal
from interlock.identity.terminal import TerminalError
try:
    row, seal_key = enrol_at_terminal(1_700_000_000.0, name="".join(sys.argv[3:]), seconds=float(sys.argv[1]), kdf=Kdf(1, 8, 1))
    print("MADE", row.name, *row.roles, open_row(row, sys.argv[2]).seal_key == seal_key)
except TerminalError as error:
    print("REFUSED", error)
"""
WHY = "from interlock.identity.agent_detection import is_agents_terminal; print('WHY', is_agents_terminal())"
READ = "from interlock.identity.terminal import read_passphrase; print('READ', repr(read_passphrase()))"


def test_a_terminal_of_ones_own_is_no_agents() -> None:
    with python_at(WHY) as screen:
        assert screen.until(r"WHY (.*)\r") == "None"


MARKS = (
    "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CODEX_SANDBOX GEMINI_CLI CURSOR_TRACE_ID OPENCODE OPENCODE_PID COPILOT_AGENT_ID "
    "AIDER_MODEL AGENT"
)


@pytest.mark.parametrize("mark", MARKS.split())
def test_an_agents_mark_in_the_environment_gives_it_away(mark: str) -> None:
    with python_at(WHY, env={mark: "1"}) as screen:
        assert screen.until(r"WHY (.*)\r") == f"the environment has {mark}, which an agent sets"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('"$0" -c "$1" </dev/null', "stdin is not a terminal"),
        ('true | "$0" -c "$1"', "stdin is not a terminal"),
        ('"$0" -c "$1" | cat', "stdout is not a terminal"),
        ('"$0" -c "$1" <&-', "stdin is not a terminal"),
    ],
)
def test_what_is_no_terminal_is_no_persons(script: str, why: str) -> None:
    with shell_at(script, WHY) as screen:
        assert screen.until(r"WHY (.*)\r") == why


def test_a_terminal_that_was_lent_is_not_the_persons() -> None:
    master, slave = pty.openpty()
    try:
        with shell_at('"$0" -c "$1" <"$2"', WHY, os.ttyname(slave)) as screen:
            assert screen.until(r"WHY (.*)\r") == "stdin is another terminal than the one this process belongs to"
    finally:
        os.close(slave)
        os.close(master)


@pytest.mark.parametrize("name", ["claude", "codex", "cursor-agent", "kiro-cli"])
def test_what_an_agent_started_is_the_agents(name: str, tmp_path: Path) -> None:
    agent = str(shutil.copy("/bin/bash", tmp_path / name))
    script = '/bin/sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true'
    with shell_at(script, WHY, shell=agent) as screen:
        assert re.fullmatch(rf"it was started by {name} \(process \d+\)", screen.until(r"WHY (.*)\r"))


def test_an_agent_that_cleans_the_environment_is_seen_by_its_shell() -> None:
    script = 'env -u CLAUDECODE "$0" -c "$1"; true'
    with shell_at(script, WHY, env={"CLAUDECODE": "1"}) as screen:
        assert re.fullmatch(r"process \d+ above it has CLAUDECODE, which an agent sets", screen.until(r"WHY (.*)\r"))


@pytest.mark.parametrize(
    ("name", "words", "agent"),
    [
        ("claude", "", "claude"),
        ("node", "node /usr/local/bin/gemini --yolo", "gemini"),
        ("node", "/usr/bin/node --max-old-space-size=4096 /opt/n/lib/node_modules/@google/gemini-cli/dist/index.js", "gemini-cli"),
        ("node", "node /x/node_modules/@anthropic-ai/claude-code/cli.js", "claude-code"),
        ("npm exec", "npm exec @openai/codex", "codex"),
        ("python3", "/usr/bin/python3 -m aider", "aider"),
        ("python3.12", "python3.12 /home/u/.local/bin/aider --yes", "aider"),
        ("python", "python /v/lib/python3.12/site-packages/aider/__main__.py", "aider"),
        ("uvx", "uvx openhands@latest", "openhands@latest"),
        ("MainThread", "/home/u/.local/bin/claude", "claude"),
        ("bash", "-bash", None),
        ("node", "node /home/claude/app.js", None),
        ("vim", "vim claude.md", None),
        ("ssh-agent", "ssh-agent", None),
        ("tmux: server", "tmux new -s codex", None),
        ("example", "example", None),
        ("python3", "python3 manage.py amp", None),
    ],
)  # fmt: skip
def test_agents_are_told_by_what_runs(name: str, words: str, agent: str | None) -> None:
    assert agent_in(ProcessInfo(7, 1, 0, name, tuple(words.split()))) == agent


def enrols(screen: Screen, change: str = "") -> None:
    code = screen.until(r"    ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){2})\r")
    screen.until("Code .*: ")
    screen.type(change or code)


def test_the_first_operator_types_the_code_a_name_and_a_passphrase_twice() -> None:
    with python_at(ENROL, "300", GOOD) as screen:
        code = screen.until(r"    ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){2})\r")
        assert screen.until(r"Code \((.*)\): ") == "valid 5 min, once"
        screen.type(code.lower().replace("-", " "))
        screen.until("name: ")
        screen.type("Alice")
        for prompt in ("Passphrase .*: ", "again: "):
            screen.until(prompt)
            assert not screen.echoes()
            screen.type(GOOD)
        shown = screen.until(r"(?s).*MADE (?:.*)\r")
        assert "MADE alice admin True" in shown and GOOD not in shown
        assert screen.echoes()


@pytest.mark.parametrize(
    ("user", "typed", "made"), [("Bea", "", "bea"), ("bea", "ana", "ana"), ("human", "ana", "ana")]
)
def test_the_first_operator_is_offered_the_name_that_later_sign_ins_offer(user: str, typed: str, made: str) -> None:
    with python_at(ENROL, "300", GOOD, env={"USER": user}) as screen:
        enrols(screen)
        screen.until(r"name: " if user == "human" else rf"name \[{user.lower()}\]: ")
        screen.type(typed)
        for prompt in ("Passphrase .*: ", "again: "):
            screen.until(prompt)
            screen.type(GOOD)
        assert screen.until(r"MADE (.*)\r") == f"{made} admin True"


def test_the_first_operator_is_not_asked_for_a_name_that_was_given() -> None:
    with python_at(ENROL, "300", GOOD, "ana") as screen:
        enrols(screen)
        for prompt in ("Passphrase .*: ", "again: "):
            screen.until(prompt)
            screen.type(GOOD)
        assert screen.until(r"MADE (.*)\r") == "ana admin True"


def test_a_bad_name_and_a_weak_or_mistyped_passphrase_are_asked_for_again() -> None:
    with python_at(ENROL, "300", GOOD) as screen:
        enrols(screen)
        for name in ("human", "role:admin", "", "alice"):
            screen.until("name: ")
            screen.type(name)
        for line, why in (("short", "too short"), ("password", "too simple"), ("alice-alice", "too simple")):
            screen.until("Passphrase .*: ")
            screen.type(line)
            screen.until(why)
        for second in (GOOD + "!", GOOD):
            screen.until("Passphrase .*: ")
            screen.type(GOOD)
            screen.until("again: ")
            screen.type(second)
        assert screen.until(r"MADE (.*)\r") == "alice admin True"


def test_nobody_is_asked_for_a_passphrase_for_ever() -> None:
    with python_at(ENROL, "300", GOOD) as screen:
        enrols(screen)
        screen.until("name: ")
        screen.type("alice")
        for _ in range(5):
            screen.until("Passphrase .*: ")
            screen.type("short")
        assert screen.until(r"REFUSED (.*)\r") == "no passphrase was given"


@pytest.mark.parametrize("wrong", ["2222-2222-2222", "\N{LATIN SMALL LETTER E WITH ACUTE}", " "])
def test_a_wrong_code_ends_it(wrong: str) -> None:
    with python_at(ENROL, "300", GOOD) as screen:
        enrols(screen, wrong)
        assert screen.until(r"REFUSED (.*)\r") == "that is not the code; start again for a new one"


def test_a_code_that_comes_too_late_is_no_code() -> None:
    with python_at(ENROL, "0.3", GOOD) as screen:
        screen.until("Code .*: ")
        assert "nobody answered in time" in screen.until(r"REFUSED (.*)\r")


def test_an_ended_input_is_no_code() -> None:
    with python_at(ENROL, "300", GOOD) as screen:
        screen.until("Code .*: ")
        os.write(screen.file, b"\x04")
        assert "the terminal was closed" in screen.until(r"REFUSED (.*)\r")


def test_at_an_agents_terminal_no_code_is_shown() -> None:
    with python_at(ENROL, "300", GOOD, env={"CLAUDECODE": "1"}) as screen:
        shown = screen.until(r"(?s).*REFUSED .*\r")
        assert "agent's terminal: the environment has CLAUDECODE" in shown and "Code" not in shown


def test_without_any_terminal_nobody_is_enrolled() -> None:
    run = subprocess.run(
        [sys.executable, "-c", ENROL, "300", GOOD],
        input="x\n" * 9,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=PATIENCE,
    )
    assert run.stdout.startswith("REFUSED this looks like an agent's terminal: stdin is not a terminal")


def test_a_passphrase_comes_from_the_terminal_whatever_stdin_says() -> None:
    script = 'echo "from the pipe" | "$0" -c "$1" "from an argument"'
    with shell_at(script, READ, env={"PASSPHRASE": "x"}) as screen:
        screen.until("Passphrase: ")
        screen.type("from the person")
        shown = screen.until(r"(?s).*READ .*\r")
        assert shown.count("from the person") == 1 and "READ 'from the person'" in shown


def test_without_a_terminal_there_is_no_passphrase() -> None:
    run = subprocess.run(
        [sys.executable, "-c", READ],
        input="from the pipe\n",
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 1 and "run this in a terminal" in run.stderr and "READ" not in run.stdout


def test_what_was_typed_ahead_answers_nothing() -> None:
    with python_at(f"print('READY', flush=True); import select; select.select([0], [], [], 60)\n{READ}") as screen:
        screen.until("READY")
        screen.type("typed ahead")
        screen.until("Passphrase: ")
        screen.type("typed after")
        assert screen.until(r"READ (.*)\r") == "'typed after'"


def test_the_terminal_echoes_again_after_an_interrupt() -> None:
    with python_at(
        f"try:\n    {READ.replace('; ', chr(10) + '    ')}\nexcept KeyboardInterrupt:\n    print('STOPPED')"
    ) as screen:
        screen.until("Passphrase: ")
        assert not screen.echoes()
        screen.pressed(b"\x03", "STOPPED")
        assert screen.echoes()


def test_words_shown_cannot_steer_the_terminal() -> None:
    code = (
        r"from interlock.identity.terminal import controlling_terminal"
        + "\nwith controlling_terminal() as t: t.say('a\\x1b[2Jb\\rc\\u202ed\\n')"
    )
    with python_at(code) as screen:
        assert screen.until(r"a.*d") == "a\ufffd[2Jb\ufffdc\ufffdd"
