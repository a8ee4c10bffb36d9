"""No daemon answers a hook: it judges by itself, closed from level 2 on, and the next daemon hears of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemons import enrol_in_folder, start_daemon, write_config
from gate import Gate
from hook_client import HookedDaemon, build_hook_client, claude_input, hooked_daemon, until
from interlock.agents import agent as agent_of
from interlock.agents.rewriting import with_originals
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.audit import journal
from interlock.config import config_of
from interlock.install import client_build
from interlock.journal.wrapping import Wrapper, front_of

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[HookedDaemon]:
    """A daemon that was killed."""
    with hooked_daemon(tmp_path) as found:
        found.daemon.stop(signal.SIGKILL)
        yield found


def test_everyday_work_goes_on_and_destruction_does_not(alone: HookedDaemon) -> None:
    assert alone.claude("git status").stdout == ""
    denied = alone.claude("rm notes.txt")
    assert denied.decision == "deny"
    assert "No Interlock daemon answers" in denied.stdout and "Silence is not consent" in denied.stdout
    assert alone.fire("windsurf", "pre_run_command", b"\xff").exit == 2


def test_a_wrapped_call_is_judged_by_its_inner_text(tmp_path: Path) -> None:
    config = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}, "undo": {"wrap": True}}, environ={})
    wrapper = Wrapper(str(front_of(config)))
    agent = agent_of("claude-code")
    for text, level in (("git status", 0), ("git push --force origin main", 3)):
        event = agent.decode(json.dumps(claude_input(wrapper.wrap(text, "claude-code", "c1"))).encode(), "PreToolUse")
        (call,) = with_originals(event, Wrapper(wrapper.front).original).calls
        assert call.action.text == text
        assert judge(call.action, load()).assessment.level == level


def test_the_next_daemon_records_and_tells_what_was_decided_without_one(alone: HookedDaemon) -> None:
    alone.claude("git status", "j1")
    alone.claude("rm -rf /srv", "j2")
    folder = alone.daemon.folder
    again = start_daemon(folder)
    try:
        back = HookedDaemon(again, alone.client)
        down = until(lambda: back.records("daemon_was_down"), "that the daemon was down")
        assert (down[0]["calls"], down[0]["denied"]) == (2, 1)
        kept = [row["entry"] for row in back.records("journal")]
        assert {(entry["agent"], entry["verdict"]) for entry in kept} == {
            ("claude-code", "allow"),
            ("claude-code", "deny"),
        }
        assert not journal.is_pending(folder / "state")
        back.claude("git status", "j1", "PostToolUse", tool_response={})  # asked about before this daemon began
        back.claude("git status", "j3")
        assert not again.here().get("/api/v1/blocks", headers=again.sign_in()).json()["blocks"]
    finally:
        again.stop(signal.SIGKILL)
        for client in again.clients:
            client.close()
        assert again.process.stdout is not None
        again.process.stdout.close()


@pytest.mark.parametrize("line", [b"[" * 16_000, b'{"a":' * 3_000, b"no JSON", b"[]", b"\xff"], ids=range(5))
def test_a_line_that_no_hook_wrote_keeps_no_other_from_the_record(line: bytes, tmp_path: Path) -> None:
    journal.append(tmp_path, {"agent": "claude-code", "verdict": "deny"})
    with (tmp_path / journal.NAME).open("ab") as file:
        file.write(line + b"\n")
    unreadable = (line + b"\n")[:200].decode("latin-1")
    with contextlib.closing(Gate(tmp_path / "state")) as gate:
        assert len(journal.take(gate.state, tmp_path)) == 2
        kept = [json.loads(row.body)["entry"] for row in gate.records("journal")]
    assert kept == [{"agent": "claude-code", "verdict": "deny"}, {"unreadable": unreadable}]


def test_a_blocked_principal_may_do_nothing_without_a_daemon(tmp_path: Path) -> None:
    with hooked_daemon(tmp_path) as here:
        body = {"principal": f"uid:{os.getuid()}", "reason": "misbehaved"}
        answer = here.daemon.here().post("/api/v1/blocks", json=body, headers=here.daemon.sign_in())
        assert answer.status_code == 200, answer.text
        here.daemon.stop(signal.SIGKILL)
        said = here.claude("git status")
        assert said.decision == "deny" and "misbehaved" in said.stdout


def test_a_client_that_was_built_before_an_update_is_answered(alone: HookedDaemon) -> None:
    state, given = str(alone.daemon.folder / "state"), json.dumps(claude_input("git status")).encode()
    argv = [sys.executable, "-I", "-m", "interlock.engine.fallback", state, "", "claude-code", "PreToolUse"]
    said = subprocess.run(argv, input=given, capture_output=True)
    assert said.stdout.startswith(b"HTTP/1.1 200 OK") and b"deny" not in said.stdout and said.returncode == 0


def test_state_that_cannot_be_read_allows_nothing(alone: HookedDaemon) -> None:
    (alone.daemon.folder / "state" / "state.db").write_bytes(b"not a database at all")
    assert alone.claude("git status").decision == "deny"
    (alone.daemon.folder / "state" / "state.db").unlink()
    assert alone.claude("git status").decision == "deny"


def test_a_fallback_that_cannot_start_or_crashes_is_the_agents_own_no(tmp_path: Path) -> None:
    write_config(tmp_path, policy="default")
    config = config_of({"store": {"url": f"sqlite://{tmp_path}/state"}}, str(tmp_path / "gone.toml"), {})
    path = client_build.build(config).path
    said = subprocess.run(
        [path, "claude-code", "PreToolUse"], input=json.dumps(claude_input("git status")).encode(), capture_output=True
    )
    assert b'"permissionDecision":"deny"' in said.stdout


@pytest.mark.parametrize("setting", ["none", "safe"])
def test_what_passes_without_a_daemon_is_a_setting(tmp_path: Path, setting: str) -> None:
    enrol_in_folder(tmp_path)
    write_config(tmp_path, f'[hooks]\nwithout_daemon = "{setting}"', "default")
    here = HookedDaemon(None, build_hook_client(tmp_path))  # type: ignore[arg-type]
    assert here.claude("git status").decision == ("deny" if setting == "none" else "")
    assert here.claude("touch x").decision == "deny"


def test_a_stopped_daemon_is_given_up_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_build, "BUSY", 1.0)
    with hooked_daemon(tmp_path) as here:
        os.kill(here.daemon.process.pid, signal.SIGSTOP)
        try:
            assert here.claude("rm notes.txt").decision == "deny"
        finally:
            os.kill(here.daemon.process.pid, signal.SIGCONT)


@pytest.mark.skipif(os.getuid() != 0, reason="takes another user")
def test_a_socket_that_somebody_else_serves_is_told_nothing(alone: HookedDaemon) -> None:
    path = alone.daemon.socket
    path.unlink(missing_ok=True)
    yes = "HTTP/1.1 200 OK\\r\\nInterlock-Exit: 0\\r\\nInterlock-Stdout: 0\\r\\nContent-Length: 0\\r\\n\\r\\n"
    code = f"""
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind({str(path)!r})
os.setuid(65534); s.listen(5); print("ready", flush=True)
while True:
    c, _ = s.accept(); c.settimeout(2)
    try: print(len(c.recv(100)), flush=True)
    except OSError: pass
    c.sendall(b"{yes}"); c.close()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as squatter:
        try:
            assert squatter.stdout is not None and squatter.stdout.readline() == b"ready\n"
            assert alone.claude("rm notes.txt").decision == "deny"
        finally:
            squatter.kill()
            assert squatter.stdout is not None
            assert squatter.stdout.read() in (b"", b"0\n"), "not one byte of the input reached it"


def test_an_answer_that_is_no_answer_is_not_taken_for_one(alone: HookedDaemon) -> None:
    path = alone.daemon.socket
    for answer in (
        b"HTTP/1.1 500 X\r\nInterlock-Exit: 0\r\nInterlock-Stdout: 0\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nInterlock-Stdout: 0\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nInterlock-Exit: 0\r\nInterlock-Stdout: 0\r\nContent-Length: 9\r\n\r\n",
        b"",
    ):
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as fake:
            fake.bind(str(path))
            fake.listen(1)
            fake.settimeout(30)
            process = subprocess.Popen(
                [alone.client, "claude-code", "PreToolUse"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert process.stdin is not None
            process.stdin.write(json.dumps(claude_input("rm notes.txt")).encode())
            process.stdin.close()
            process.stdin = None
            one, _ = fake.accept()
            one.recv(65536)
            one.sendall(answer)
            one.close()
            assert b'"permissionDecision":"deny"' in process.communicate(timeout=60)[0]


def test_without_a_compiler_the_python_client_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_build, "_compile", lambda *given: False)
    with hooked_daemon(tmp_path) as here:
        assert Path(here.client).read_text().startswith("#!/bin/sh")
        assert here.claude("git status").stdout == ""
        held = here.claude("rm -rf src")
        assert held.decision == "deny" and "pdact_" in held.stdout
        here.daemon.stop(signal.SIGKILL)
        assert here.claude("git status").stdout == ""
        assert here.claude("rm -rf src").decision == "deny"
        assert subprocess.run([here.client], capture_output=True, stdin=subprocess.DEVNULL).returncode == 2


def test_a_hook_that_finds_no_daemon_starts_one_with_nothing_of_the_agents_environment(tmp_path: Path) -> None:
    with hooked_daemon(tmp_path, more="start_daemon = true\n[daemon]\nport = 0") as found:
        found.daemon.stop(signal.SIGKILL)
        foul = {"HOME": "/nonexistent", "PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "/x", "API_TOKEN": "of-the-agent"}
        done = subprocess.run(
            [found.client, "claude-code", "PreToolUse"],
            input=json.dumps(claude_input("git status")).encode(),
            env=foul,
            timeout=60,
        )
        assert done.returncode == 0
        pid = until(lambda: _serving(found.daemon.socket), "a daemon that answers")
        try:
            assert os.getsid(pid) == pid and b"-I" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            with contextlib.suppress(PermissionError):  # nobody but root looks into it
                kept = Path(f"/proc/{pid}/environ").read_bytes()
                assert b"of-the-agent" not in kept and b"PYTHON" not in kept
            assert found.claude("rm -rf src", permission_mode="bypassPermissions").decision == "deny"
            assert until(lambda: found.records("daemon_was_down"), "that none was there")
        finally:
            os.kill(pid, signal.SIGKILL)


def _serving(path: Path) -> int:
    """The process behind a socket; 0 where nobody answers."""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(str(path))
        except OSError:
            return 0
        return struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
