"""Interlock's own files and processes are known by where they really are: configured anywhere, reached through links, under /tmp too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gate import Gate
from interlock.impact.files import read_text, real_paths
from interlock.model import Action, AgentRef, command, tool
from interlock.policy.real_paths import OwnAssets, Process
from interlock.records import Block

ME = f"uid:{os.getuid()}"
HOOK = '{"hooks":{"PreToolUse":[{"hooks":[{"command":"/opt/x/bin/interlock-hook"}]}]}}'


@pytest.fixture
def world(tmp_path: Path) -> Iterator[tuple[Gate, Path]]:
    """A state folder, a policy and a configuration in places of their own, and a project beside them."""
    own = tmp_path / "own"
    own.mkdir()
    policy = own / "house.toml"
    policy.write_text('extends = "default"\n')
    gate = Gate(tmp_path / "state-of-it", policy={"use": str(policy)})
    gate.enrol()
    project = tmp_path / "project"
    (project / "notes").mkdir(parents=True)
    (project / "src").mkdir()
    (project / "src" / "x").write_text("x\n")
    (project / "notes" / "link").symlink_to(project / "src")
    (project / "way").symlink_to(gate.folder)
    (project / "rules").symlink_to(policy)
    process = Process(4242, 4200, "interlock", "/opt/x/bin/python3 /opt/x/bin/interlock serve")
    own = OwnAssets(gate.state.in_force.own_assets.paths, (process,), frozenset({7310}))
    gate.state.enforce(own_assets=own)
    yield gate, project
    gate.close()


def ask(gate: Gate, action: Action, who: str = ME) -> tuple[int, bool]:
    found = gate.ask(action, AgentRef(who, "claude", "s1"), files=read_text, resolve=real_paths)
    assert found.assessment is not None
    blocked = bool(gate.state.blocks.pop(who, ""))
    gate.state.store.write(lambda tx: [tx.save_block(_lifted(one)) for one in tx.blocks()])
    return int(found.assessment.level), blocked


def _lifted(block: Block) -> Block:
    return replace(block, lifted_at=1.0, lifted_by="test")


def test_R_9_its_own_files_are_its_own_wherever_they_are_configured_and_through_links(world: tuple[Gate, Path]) -> None:
    gate, project = world
    cwd, state, policy = str(project), str(gate.folder), str(project.parent / "own" / "house.toml")
    attacks = [
        f"rm -rf {state}",
        f"rm {state}/interlock.db",
        f"echo x > {policy}",
        f"cp x {policy}",
        f"mv {policy} /tmp/y",
        f"chmod 000 {policy}",
        f"ln -sf /dev/null {policy}",
        f"cat x | tee {policy}",
        f"python3 -c \"open('{policy}','w').write('')\"",
        f"node -e \"require('fs').rmSync('{state}', {{recursive: true}})\"",
        "rm way/interlock.db",
        "echo x > rules",
        "truncate -s 0 way/interlock.db",
        "rm notes/../way/interlock.db",
        f"cd {state} && rm interlock.db",
        "echo x > /proc/4242/../" + f"..{policy}",
    ]
    for text in attacks:
        assert ask(gate, command(text, cwd)) == (3, True), text
    for action in (
        tool("Write", {"file_path": policy, "content": "x"}, cwd),
        tool("Write", {"file_path": f"{cwd}/rules", "content": "x"}, cwd),
        tool("Edit", {"file_path": f"{cwd}/rules", "old_string": "a", "new_string": "b"}, cwd),
        tool("apply_patch", {"input": "*** Begin Patch\n*** Update File: rules\n@@\n-a\n+b\n*** End Patch"}, cwd),
    ):
        assert ask(gate, action) == (3, True), action.fields


def test_R_9_a_folder_that_holds_its_files_is_held_and_blocks_nobody(world: tuple[Gate, Path]) -> None:
    gate, project = world
    for text in (f"rm -rf {project.parent}/own", f"mv {project.parent}/own /tmp/z", f"chmod -R 000 {project.parent}"):
        level, blocked = ask(gate, command(text, str(project)))
        assert level >= 3 and not blocked, text


@pytest.mark.parametrize(
    "text",
    [
        "kill 4242",
        "kill -HUP 4242",
        "kill -s STOP 4242",
        "kill -- -4200",
        "PID=4242; kill $PID",
        "echo 4242 | xargs kill -9",
        "fuser -k 7310/tcp",
        "kill $(lsof -t -i :7310)",
        "npx kill-port 7310",
        "pkill interlock",
        "pkill -f 'interlock serve'",
        "killall interlock",
        "systemctl --user stop interlock",
        "kill $(cat it.pid)",
        "python3 -c 'import os; os.kill(4242, 15)'",
        "node -e 'process.kill(4242)'",
    ],
)
def test_R_9_its_process_is_known_by_number_name_and_port(world: tuple[Gate, Path], text: str) -> None:
    gate, project = world
    (project / "it.pid").write_text("4242\n")
    assert ask(gate, command(text, str(project))) == (3, True)


def test_R_9_a_signal_that_also_reaches_it_is_held_and_blocks_nobody(world: tuple[Gate, Path]) -> None:
    gate, project = world
    for text in ("pkill -f serve", "kill $(pgrep -f serve)", "pkill -f '/opt/x'", r"pkill -f '(e)rv\1'"):
        assert ask(gate, command(text, str(project))) == (3, False), text


@pytest.mark.parametrize(
    "text",
    [
        "kill 12345",
        "kill -0 4242",
        "pkill node",
        "pkill -f '(a+)+$'",
        "fuser -k 3000/tcp",
        "kill $(cat other.pid)",
        "cat .claude/settings.json",
        "git status",
        "cat rules",
        "ls way",
        "echo x > notes/a.txt",
        "echo '{}' > app/settings.json",
        "rm notes/link",  # the link alone
    ],
)
def test_everything_else_goes_on(world: tuple[Gate, Path], text: str) -> None:
    gate, project = world
    (project / "other.pid").write_text("777\n")
    level, blocked = ask(gate, command(text, str(project)))
    assert level <= 2 and not blocked
    assert level <= 1 or text.startswith("rm ")


def test_R_9_another_machines_agent_has_nothing_of_this_machines(world: tuple[Gate, Path]) -> None:
    gate, project = world
    assert ask(gate, command("kill 4242", str(project)), "token:ci") == (1, False)
    found = gate.ask(
        command("kill 4242", str(project)), AgentRef("agent:ci", "ci"), local=True
    )  # by its token, on the socket
    assert not found.allowed


def test_R_9_settings_that_call_the_hook_are_protected_under_tmp_and_behind_links(world: tuple[Gate, Path]) -> None:
    gate, project = world
    settings, kept = project / ".claude" / "settings.json", project / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    settings.parent.mkdir()
    kept.write_text(HOOK)
    settings.symlink_to(kept)
    for text in ("echo '{}' > .claude/settings.json", "rm .claude/settings.json", "rm -rf .claude/settings.json"):
        assert ask(gate, command(text, str(project))) == (3, True), text
    who = AgentRef(ME, "claude", "s1")
    for text, level in (("echo '{}' > dotfiles/claude.json", 3), ("chmod 000 dotfiles/claude.json", 3)):
        found = gate.ask(
            command(text, str(project)), who, files=read_text, resolve=real_paths, hook_files=(str(settings), str(kept))
        )
        assert found.assessment is not None and int(found.assessment.level) == level, text
