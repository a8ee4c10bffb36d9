"""R-9: whoever attacks the guard itself is blocked until an operator lifts it; whoever reads or writes about it is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gate import Gate
from interlock.identity.agents import unblock
from interlock.model import Action, AgentRef, command, intent, tool
from loop_agents import Agent, notes, permissive_gate

HOOK = '{"hooks":{"PreToolUse":[{"hooks":[{"command":"/home/u/.local/state/interlock/interlock-hook claude-code"}]}]}}'
CWD = "/home/u/app"
ATTACKS = [
    "rm -rf ~/.local/state/interlock",
    "echo 'mode = \"disabled\"' > ~/.config/interlock/interlock.toml",
    "chmod 000 /home/u/.local/state/interlock/interlock-hook",
    "python3 -c \"import os; os.remove('/home/u/.local/state/interlock/state.db')\"",
    "pkill -f interlockd",
    "kill -9 $(pgrep -f 'interlock serve')",
    "systemctl --user stop interlock",
    "pip uninstall -y interlock",
    "interlock uninstall claude-code",
    "git status; interlock pause --for 1h",
]
HARMLESS = [
    "cat docs/interlock.md",
    "cat ~/.config/interlock/interlock.toml",
    "grep -rn 'pkill -f interlockd' docs",
    "echo 'to stop it: pkill -f interlockd' > notes.md",
    "git commit -m 'say how interlock uninstall works'",
    "interlock status",
    "interlock explain 'pkill -f interlockd'",
    "pytest tests/interlock",
]
HELD = [  # asked about, and no reason to stop everything
    "interlock approve pdact_1",  # our own answers name this command
    "interlock codes",
    "echo x >> interlock.toml",  # of whatever project
    "docker stop door-interlock",
    "rm .git/hooks/pre-commit",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_R_9_an_attack_on_the_guard_blocks_whoever_tries_until_an_operator_lifts_it(gate: Gate, text: str) -> None:
    agent = AgentRef("uid:1000", "claude", "s1")
    found = gate.ask(command(text, CWD), agent)
    assert not found.allowed and "blocked from now on" in found.reason
    assert "blocked" in gate.ask(command("touch x", CWD), AgentRef("uid:1000", "another", "s2")).reason
    assert gate.ask(command("git status", CWD), agent).allowed  # reading stays possible
    gate.restart()
    assert not gate.ask(command("touch x", CWD), agent).allowed
    unblock(gate.state, gate.sign_in(), "uid:1000", "it was asked to")
    assert gate.ask(command("touch x", CWD), agent).allowed


@pytest.mark.parametrize("text", HARMLESS)
def test_R_9_whoever_reads_or_writes_about_the_guard_goes_on(gate: Gate, text: str) -> None:
    assert gate.ask(command(text, CWD)).allowed
    assert not gate.state.blocked("uid:1000")


@pytest.mark.parametrize("text", HELD)
def test_R_9_what_only_touches_its_surroundings_is_held_and_blocks_nobody(gate: Gate, text: str) -> None:
    assert not gate.ask(command(text, CWD)).allowed
    assert not gate.state.blocked("uid:1000")


def edit(path: Path, **given: Any) -> Action:
    return tool(
        "Edit" if "old_string" in given else "Write", {"file_path": str(path), **given}, str(path.parent.parent)
    )


def test_R_9_settings_that_call_the_guard_are_its_own_as_long_as_its_hook_is_in_them(gate: Gate) -> None:
    path, cwd = Path(CWD) / ".claude" / "settings.json", CWD
    rows = [
        (edit(path, content="{}"), True),
        (edit(path, content=HOOK), False),
        (edit(path, old_string='"PreToolUse"', new_string='"PreToolUs"'), True),
        (edit(path, old_string='"hooks"', new_string='"nothing"'), True),
        (edit(path, old_string='"theme": "dark"', new_string='"theme": "light"'), False),
        (command("sed -i s/PreToolUse/X/ .claude/settings.json", cwd), True),
        (command("rm .claude/settings.json", cwd), True),
        (command("cat .claude/settings.json", cwd), False),
    ]
    for content, counts in ((HOOK, True), ("{}", False)):
        disk = {str(path): content}
        for number, (action, attacks) in enumerate(rows):
            who = AgentRef(f"token:{content[:9]}{number}", "claude", "s1")
            gate.ask(action, who, files=disk.get)
            blocked = bool(gate.state.blocked(who.principal))
            assert blocked is (attacks and counts), (action.fields, content)


def test_R_9_home_is_the_home_of_whoever_the_kernel_says_it_is(gate: Gate) -> None:
    looked: list[str] = []

    def files(path: str) -> str | None:
        looked.append(path)
        return HOOK

    gate.ask(command("rm ~/.claude/settings.json", CWD), AgentRef(f"uid:{os.getuid()}", "claude"), files=files)
    assert str(Path("~/.claude/settings.json").expanduser()) in looked
    assert gate.state.blocked(f"uid:{os.getuid()}")


def test_R_9_an_approved_attack_is_an_order_and_blocks_nobody(gate: Gate) -> None:
    ticket = gate.held(command("systemctl --user stop interlock", CWD))
    session = gate.sign_in()
    unblock(gate.state, session, "uid:1000", "it was asked to")
    gate.approve(ticket)
    assert gate.ask(command("systemctl --user stop interlock", CWD)).allowed
    assert not gate.state.blocked("uid:1000")


@pytest.mark.parametrize("mode", ["monitoring", "logging"])
def test_R_12_other_modes_block_nobody(tmp_path: Path, mode: str) -> None:
    gate = Gate(tmp_path / "state", safetyLoop={"mode": mode})
    gate.enrol()
    assert gate.ask(command("pkill -f interlockd", CWD)).allowed
    assert not gate.state.blocked("uid:1000")
    gate.close()


def test_R_9_the_loop_stops_an_agent_that_attacks_the_guard_and_a_code_frees_it(tmp_path: Path) -> None:
    gate = permissive_gate(tmp_path)
    agent = Agent(gate).started()
    assert agent.told("reading docs/interlock.md on how to stop the daemon")["continue"] is True
    said = agent.told("executing shell command: pkill -f interlockd")
    assert said["stopped"] is True and "stops the guard" in said["reason"]
    challenge = notes(said, "danger_zone")[0]["metadata"]["verificationId"]
    assert agent.told()["stopped"] is True
    assert agent.verify(challenge, agent.code(challenge))["verified"] is True
    assert agent.told()["continue"] is True
    gate.close()


def test_R_9_an_announcement_in_prose_is_held_and_blocks_nobody(gate: Gate) -> None:
    found = gate.ask(intent("killing the interlock daemon, it is in the way"))
    assert found.outcome == "verify" and not gate.state.blocked("uid:1000")
