"""For each agent: its real settings written by install, its hook run as the agent runs it, against a real daemon."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from desk import PASSPHRASE, WRONG_AGAIN, Desk
from interlock.agents import agent, words
from interlock.cli.main import main
from interlock.config import Config, load_config
from interlock.install.canary import canary
from interlock.install.checks import canary_calls
from interlock.install.discovery import HookedFile, hooked_files
from journals import built

HARMLESS, HELD, ASKED = "echo interlock-canary", "git push --force origin main", "git reset --hard HEAD~3"
Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.xdist_group("install")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


class Bench:
    """A daemon, a home and a project; every agent is installed in both."""

    def __init__(self, folder: Path, desk: Desk) -> None:
        self.desk = desk
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()

    @property
    def config(self) -> Config:
        return load_config(self.desk.config)

    def run(self, *argv: str, config: Path | None = None) -> int:
        """A command without a terminal, in the project's folder."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(self.home))
            patch.chdir(self.project)
            return main([*argv, "--config", str(config or self.desk.config)])

    def files(self) -> list[HookedFile]:
        return hooked_files(self.config, self.home, self.project)

    def at_a_terminal(self, *argv: str, **more: Any) -> tuple[str, int]:
        """A command by a person in the project's folder."""
        script = f'export HOME="{self.home}"; cd "{self.project}"; "$@"'
        return self.desk.person(*argv, script=script, **more)


@pytest.fixture(scope="module", autouse=True)
def _supervisor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The journal's supervisor, compiled once for all these homes."""
    program = built(tmp_path_factory.mktemp("supervisor"))

    def copied(to: Path, mode: int = 0o700) -> None:
        for name in (to, to.with_suffix(".sources")):
            shutil.copy(program.with_suffix(name.suffix), name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("interlock.journal.build.build", copied)
        yield


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with started(tmp_path_factory.mktemp("bench")) as desk:
        bench = Bench(desk.folder, desk)
        for scope in ("user", "project"):
            able = [word for word in words() if agent(word).places(scope, bench.home, bench.project)]
            assert bench.run("install", *able, f"--{scope}", "--yes") == 0
        yield bench


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A daemon that nothing is installed for when a test begins, and that has no operators."""
    with started(tmp_path_factory.mktemp("spare")) as desk:
        yield desk


@pytest.fixture
def other(spare: Desk, tmp_path: Path) -> Iterator[Bench]:
    """A home and a project of one's own, to break things in."""
    yield Bench(tmp_path, spare)
    for name in ("hooks.json", "bin"):
        path = spare.folder / "state" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.fixture
def staffed(tmp_path: Path) -> Iterator[Bench]:
    """The same with an operator."""
    with started(tmp_path, Desk.open) as desk:
        yield Bench(tmp_path, desk)


@contextmanager
def started(folder: Path, how: Callable[[Desk], None] = Desk.start) -> Iterator[Desk]:
    desk = Desk(folder, "[hooks]\nwait_seconds = 0\n")
    how(desk)
    try:
        yield desk
    finally:
        desk.stop()


def of(bench: Bench, word: str) -> list[HookedFile]:
    return [one for one in bench.files() if one.agent.word == word]


@pytest.mark.parametrize("word", words())
def test_each_verdict_reaches_the_agent_in_its_own_words(bench: Bench, word: str) -> None:
    if word in ("opencode", "amp", "pi") and shutil.which("node") is None:
        pytest.skip("node is not installed")
    files, asked = of(bench, word), 0
    scopes = {scope for scope in ("user", "project") if agent(word).places(scope, bench.home, bench.project)}
    assert {one.scope for one in files} == scopes
    for one in files:
        for event, call in canary_calls(one):
            asked += 1
            assert call(HARMLESS)[0] == "allow"
            assert call(None)[0] == "deny"
            assert call(HELD)[0] == "deny"
            given = agent(word).decode(canary(word, event, ASKED, str(bench.project)) or b"", event)
            # A prompt of the client's own user is enough at level 2, where it reaches anybody; else the call is denied with its ticket.
            wanted = {"ask"} if given.asks and word not in ("devin",) else {"deny"}
            assert call(ASKED)[0] in wanted, event
    assert asked >= len(scopes)


def test_a_held_call_names_its_ticket_and_no_way_round(bench: Bench) -> None:
    one = of(bench, "claude-code")[0]
    _, call = next(canary_calls(one))
    said = json.loads(call(HELD)[1].reply.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny" and re.search(r"pdact_|interlock", said["permissionDecisionReason"])


@needs_node
@pytest.mark.slow("every hook of twelve agents in two scopes, six times each")
def test_doctor_finds_all_well(bench: Bench, capsys: Capture) -> None:
    code = bench.run("doctor", "--json")
    found = json.loads(capsys.readouterr().out)
    problems = [f for one in found["agents"] for f in one["findings"] if f["state"] == "problem"]
    assert (code, found["well"], problems) == (0, True, [])
    (nobody,) = [one for one in found["findings"] if one["what"] == "operators"]
    assert nobody["state"] == "note" and "interlock operator add" in nobody["words"]
    assert [one["state"] for one in found["findings"] if one["what"] == "journal"] == ["ok"]
    assert {one["agent"] for one in found["agents"]} == set(words())
    timed = [f["milliseconds"] for one in found["agents"] for f in one["findings"] if f["what"] == "allows"]
    assert all(isinstance(took, float) for took in timed) and len(timed) >= 2 * len(words())
    assert any("Codex skips hooks" in f["words"] for one in found["agents"] for f in one["findings"])


def test_hooks_and_status_name_the_guarded_agents(bench: Bench, capsys: Capture) -> None:
    assert bench.run("hooks", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["hooks"]
    assert {row["agent"] for row in rows} == set(words()) and {row["state"] for row in rows} == {"installed"}
    assert bench.run("status") == 0
    assert "Claude Code (user)" in capsys.readouterr().out
    assert bench.run("status", "--json") == 0
    assert {row["agent"] for row in json.loads(capsys.readouterr().out)["hooks"]} == set(words())


def test_coverage_tells_what_was_asked(bench: Bench, capsys: Capture) -> None:
    one = of(bench, "gemini")[0]
    _, call = next(canary_calls(one))
    assert call(HARMLESS)[0] == "allow"
    assert bench.run("coverage", "--json") == 0
    found = {row["agent"]: row for row in json.loads(capsys.readouterr().out)["agents"]}
    assert found["gemini"]["asked"] >= 1 and found["gemini"]["missed"] == 0
    assert bench.run("coverage") == 0
    assert "gemini" in capsys.readouterr().out


def test_a_second_install_says_that_it_is_there(bench: Bench, capsys: Capture) -> None:
    before = {one.place.path: one.place.path.read_bytes() for one in bench.files()}
    assert bench.run("install", "claude-code", "gemini") == 0  # without --yes: there is nothing to ask
    assert capsys.readouterr().out.count("already installed") == 2
    assert {path: path.read_bytes() for path in before} == before


def test_a_dry_run_writes_nothing(other: Bench, capsys: Capture) -> None:
    assert other.run("install", "claude-code", "codex", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "+++ " in shown and "Nothing was written" in shown and "run /hooks in Codex" in shown
    assert list(other.home.iterdir()) == [] and not (other.config.folder / "bin").exists()


def test_without_a_terminal_and_a_yes_nothing_is_written(other: Bench, capsys: Capture) -> None:
    assert other.run("install", "claude-code") == 2
    assert "--yes" in capsys.readouterr().err and list(other.home.iterdir()) == []


def test_a_person_is_asked_and_no_is_no(other: Bench) -> None:
    shown, code = other.at_a_terminal("install", "claude-code", answers=[(r"Write 1 file\? \[y/N\] ", "")])
    assert code == 2 and '"PreToolUse"' in shown and list(other.home.iterdir()) == []
    shown, code = other.at_a_terminal("install", "claude-code", answers=[(r"Write 1 file\? \[y/N\] ", "y")])
    assert code == 0 and "Installed:" in shown and of(other, "claude-code")


def test_a_broken_file_is_refused_and_the_others_are_written(other: Bench, capsys: Capture) -> None:
    path = other.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "model": opus\n}')
    assert other.run("install", "claude-code", "cursor", "--yes") == 1
    assert f"{path}: line 2" in capsys.readouterr().err
    assert path.read_text() == '{\n  "model": opus\n}' and [one.agent.word for one in other.files()] == ["cursor"]


def test_what_disarms_the_guard_is_found(other: Bench, capsys: Capture) -> None:
    assert other.run("install", "claude-code", "--yes") == 0
    path = other.home / ".claude" / "settings.json"
    whole, client = path.read_text(), other.config.folder / "bin" / "interlock-hook"
    kept = client.read_bytes()
    capsys.readouterr()

    def problems() -> str:
        assert other.run("doctor", "claude-code", "--json") == 1
        found = json.loads(capsys.readouterr().out)
        return "\n".join(f["words"] for one in found["agents"] for f in one["findings"] if f["state"] == "problem")

    path.write_text(whole.replace('"hooks"', '"disableAllHooks": true,\n  "hooks"', 1))
    assert "disableAllHooks is true" in problems()
    path.write_text(whole.replace('"PreToolUse"', '"preToolUse"'))  # a wrong event name: never called
    assert "hooks are missing or changed" in problems()
    path.write_text("{}")
    assert "are gone" in problems()
    path.write_text(whole)
    for body, words_ in (
        ("exit 0", "was not denied"),  # lets everything through
        ("echo hello", "none that this agent knows"),
        ("exit 1", "none that this agent knows"),
        ("cat", "none that this agent knows"),
    ):
        client.write_text(f"#!/bin/sh\n{body}\n")
        assert words_ in problems(), body
    client.chmod(0o722)
    assert "can be written by others" in problems()
    client.unlink()
    assert "cannot be run" in problems()
    client.write_bytes(kept)
    client.chmod(0o700)
    assert other.run("doctor", "claude-code") == 0
    assert "All is well" in capsys.readouterr().out


def test_doctor_runs_nothing_but_our_own_client(other: Bench, tmp_path: Path, capsys: Capture) -> None:
    assert other.run("install", "claude-code", "cursor", "opencode", "--yes") == 0
    planted = tmp_path / "planted" / "interlock-hook"
    planted.parent.mkdir()
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    planted.chmod(0o755)
    client = str(other.config.folder / "bin" / "interlock-hook")
    for one in other.files():
        text = one.text.replace(client, str(planted))
        if one.place.form == "plugin":
            text = one.text + f'\nimport {{ writeFileSync }} from "node:fs"; writeFileSync("{tmp_path}/ran", "")\n'
        one.place.path.write_text(text)
    path = other.home / ".cursor" / "hooks.json"
    path.write_text(path.read_text().replace("|| exit 2", f"; touch {tmp_path}/ran"))
    assert other.run("doctor") == 1
    assert capsys.readouterr().out.count("not tried") == 3 and not (tmp_path / "ran").exists()


def test_what_else_changed_in_the_file_is_only_noted(other: Bench, capsys: Capture) -> None:
    assert other.run("install", "claude-code", "--yes") == 0
    path = other.home / ".claude" / "settings.json"
    path.write_text(path.read_text().replace("{", '{\n  "model": "opus",', 1))
    capsys.readouterr()
    assert other.run("doctor") == 0
    assert "something else in the file changed since" in capsys.readouterr().out
    assert other.run("hooks", "--json") == 0
    assert json.loads(capsys.readouterr().out)["hooks"][0]["state"] == "edited"
    path.write_text(path.read_text().replace("PreToolUse", "PreToolUsed"))
    assert other.run("hooks") == 1
    assert "hooks are missing or changed; run `interlock install` again" in capsys.readouterr().out


@pytest.mark.slow("without a daemon every call starts Python and reads the rules")
def test_without_a_daemon_the_guard_is_closed_and_doctor_says_so(tmp_path: Path, capsys: Capture) -> None:
    other = Bench(tmp_path, Desk(tmp_path))
    assert other.run("install", "claude-code", "--yes") == 0
    assert "not on the record" in capsys.readouterr().err
    one = of(other, "claude-code")[0]
    _, call = next(canary_calls(one))
    assert call(HELD)[0] == "deny"
    capsys.readouterr()
    assert other.run("doctor") == 1
    assert "no daemon answers" in capsys.readouterr().out


def test_doctor_tries_for_real_what_happens_without_a_daemon(other: Bench) -> None:
    assert other.run("install", "claude-code", "--yes") == 0
    shown, code = other.at_a_terminal("doctor", "--deep")
    assert code == 0 and "fails closed" in shown, shown
    assert other.desk.daemon.get("/status")["mode"] == "enforcing"  # the socket is back


def test_nobody_guarded_is_a_problem(other: Bench, capsys: Capture) -> None:
    assert other.run("doctor") == 1
    assert "no agent is guarded" in capsys.readouterr().out
    assert other.run("doctor", "codex") == 1
    assert "interlock install codex" in capsys.readouterr().err


def test_an_agent_may_install_but_not_turn_hooks_to_another_daemon(other: Bench, tmp_path: Path) -> None:
    agents = {"CLAUDECODE": "1"}
    shown, code = other.at_a_terminal("install", "claude-code", "--yes", env=agents)
    assert code == 0 and of(other, "claude-code"), shown
    before = (other.home / ".claude" / "settings.json").read_bytes()
    elsewhere = tmp_path / "mine.toml"
    elsewhere.write_text(f'[store]\nurl = "sqlite://{tmp_path}/mine"\n')
    script = f'export HOME="{other.home}"; "$1" -m interlock install claude-code --yes --config "{elsewhere}"'
    shown, code = other.desk.person("status", script=script, env=agents)
    assert code == 1 and "an agent's terminal" in shown, shown
    assert (other.home / ".claude" / "settings.json").read_bytes() == before
    client = other.config.folder / "bin" / "interlock-hook"
    built = client.stat().st_ino
    assert other.at_a_terminal("install", "claude-code", env=agents)[1] == 0
    assert client.stat().st_ino == built  # nor is the client replaced


def test_taking_out_is_for_a_person_at_a_terminal(other: Bench, capsys: Capture) -> None:
    assert other.run("install", "claude-code", "cursor", "--yes") == 0
    before = {one.place.path: one.text for one in other.files()}
    assert other.run("uninstall", "--yes") == 1
    assert "terminal" in capsys.readouterr().err
    shown, code = other.at_a_terminal("uninstall", "--yes", env={"CLAUDECODE": "1"})
    assert code == 1 and "an agent's terminal" in shown
    assert {one.place.path: one.text for one in other.files()} == before
    shown, code = other.at_a_terminal("uninstall", answers=[(r"Change 2 files\? \[y/N\] ", "y")])
    assert code == 0 and list(other.home.iterdir()) == [], shown


def test_where_there_are_operators_one_signs_in_and_it_is_recorded(staffed: Bench) -> None:
    path = staffed.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{ "model" : "opus" }')
    assert staffed.run("install", "claude-code", "--yes") == 0
    phrase = r"Passphrase of [^\n]*: "
    shown, code = staffed.at_a_terminal("uninstall", answers=[(phrase, "a wrong passphrase"), *WRONG_AGAIN])
    assert code == 1 and of(staffed, "claude-code"), shown
    answers = [(phrase, PASSPHRASE), (r"Change 1 file\? \[y/N\] ", "y")]
    shown, code = staffed.at_a_terminal("uninstall", answers=answers)
    assert code == 0 and path.read_text() == '{ "model" : "opus" }', shown
    assert [entry.name for entry in path.parent.iterdir()] == ["settings.json"]
    shown, code = staffed.desk.signed("audit", "tail")
    rows = [line for line in shown.splitlines() if "hook_change" in line]
    assert code == 0 and len(rows) == 2 and "installed" in rows[0] and "removed" in rows[1] and "by ana" in rows[1], (
        shown
    )
    # An agent cannot report a removal in an operator's place.
    body = {"change": "removed", "agent": "claude-code", "scope": "user", "files": ["/x"]}
    assert staffed.desk.daemon.ask("POST", "/hooks", body).status == 403
    assert staffed.desk.daemon.ask("POST", "/hooks", {**body, "change": "installed"}).status == 200


def test_http_hooks_say_what_they_cost_and_work(other: Bench, tmp_path: Path, capsys: Capture) -> None:
    port = re.findall(r"http://127\.0\.0\.1:(\d+)", (other.desk.folder / "log").read_text())[-1]
    config = tmp_path / "http.toml"
    config.write_text(other.desk.config.read_text().replace("port = 0", f"port = {port}"))
    assert other.run("install", "codex", "--http", "--yes", config=config) == 1
    assert "Codex CLI cannot post" in capsys.readouterr().err
    assert other.run("install", "claude-code", "--http", "--yes") == 1
    assert "daemon.port is 0" in capsys.readouterr().err
    assert other.run("install", "claude-code", "--http", "--yes", config=config) == 0
    shown = capsys.readouterr().out
    assert "stopped daemon blocks" in shown and "the port is free" in shown
    one = of(other, "claude-code")[0]
    _, call = next(canary_calls(one))
    assert {handler.how for handler in one.handlers} == {"url"}
    for command, verdict in ((HARMLESS, "allow"), (None, "deny"), (HELD, "deny")):
        assert call(command)[0] == verdict, command
    assert other.run("doctor", config=config) == 0
    assert "squatted" in capsys.readouterr().out


def test_install_alone_offers_what_is_here(other: Bench, capsys: Capture) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/usr/bin:/bin" if not shutil.which("codex", path="/usr/bin:/bin") else "/nonexistent")
        assert other.run("install", "--yes") == 1
        assert "no agent was found" in capsys.readouterr().err
        (other.home / ".gemini").mkdir()
        assert other.run("install", "--yes") == 0
    shown = capsys.readouterr().out
    assert "Found on this machine:" in shown and [one.agent.word for one in other.files()] == ["gemini"]
    assert os.access(other.config.folder / "bin" / "interlock-hook", os.X_OK)


def test_an_unknown_agent_is_named_with_those_that_are_known(other: Bench, capsys: Capture) -> None:
    for word in ("install", "uninstall", "doctor"):
        assert other.run(word, "clyde") == 2
        assert "no agent 'clyde'; known: amp" in capsys.readouterr().err
