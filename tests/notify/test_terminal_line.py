"""A daemon in a terminal says there whom it stopped, and how to see the code; never the code."""

from __future__ import annotations

import io
import os
import pty
import secrets
import sys
import termios
import threading
import time
from pathlib import Path

from interlock.client import DaemonClient, NoDaemon
from interlock.model import AgentRef
from interlock.notify.channels import TerminalLine
from interlock.records import Challenge
from stopped_agent import stop_agent
from stored_records import ticket
from terminals import person_at

PASSPHRASE = "correct horse battery"
PATIENCE = 30.0
POLICY = 'name = "looped"\nextends = "default"\n[loop]\nstart = "allow"\n'


def test_a_held_action_a_block_and_an_alert_are_a_line_with_what_to_do() -> None:
    out = io.StringIO()
    line = TerminalLine(out)
    held = ticket("pdact_1", agent=AgentRef("uid:1", "claude"), title="rm -rf src\n" + "x" * 900)
    line.tell("held", held, held.title)
    line.tell("block", None, "claude is blocked")
    line.tell("alert", None, "a call ran that was denied")
    line.tell("approve", held, held.title)
    first, *others = out.getvalue().splitlines()
    assert first.startswith("interlock: claude (uid:1) waits for an answer: rm -rf src x")
    assert first.endswith("…: interlock show pdact_1") and len(first) < 320
    assert others == ["interlock: claude is blocked", "interlock: a call ran that was denied"]


def test_a_terminal_that_was_stopped_is_not_waited_for() -> None:
    screen, terminal = pty.openpty()
    with os.fdopen(screen), os.fdopen(terminal, "w") as out:
        termios.tcflow(out, termios.TCOOFF)  # as Ctrl-S does
        line = TerminalLine(out)
        telling = threading.Thread(
            target=lambda: [line.tell("alert", None, "a" * 500) for _ in range(500)], daemon=True
        )
        telling.start()
        telling.join(PATIENCE)
        waits = telling.is_alive()
        termios.tcflow(out, termios.TCOON)
        assert not waits


def test_a_line_moves_no_cursor_and_other_events_say_nothing() -> None:
    out = io.StringIO()
    line = TerminalLine(out)
    challenge = Challenge("c1", AgentRef("uid:1", "claude"), "block", "why", 0.0, 300.0)
    line.tell("challenge", challenge, "claude\x1b[2J is blocked\r\nby nobody")
    line.tell("held", None, "something else")
    [said] = out.getvalue().splitlines()
    assert said.startswith("interlock: claude") and said.isprintable()


def test_the_daemons_terminal_names_who_was_stopped_and_interlock_codes(tmp_path: Path) -> None:
    config, socket = tmp_path / "interlock.toml", tmp_path / "i.sock"
    (tmp_path / "policy.toml").write_text(POLICY)
    config.write_text(
        f'[daemon]\nport = 0\nsocket = "{socket}"\n[store]\nurl = "sqlite://{tmp_path}/state"\n'
        f'[policy]\nuse = "{tmp_path}/policy.toml"\n'
    )
    stop_agent(config, "ana", PASSPHRASE, "verify")  # a pause, which does not outlive a start
    with person_at(sys.executable, "-m", "interlock", "serve", "--config", str(config)) as screen:
        screen.until("Ctrl-C stops it")
        agent = Agent(DaemonClient(socket))
        agent.call("execute", "execute_agent", element_name="claude", parameters={"goal": "x"})
        hint = "delete the production database"
        agent.call("create", "record_execution_step", element_name="claude", next_action_hint=hint)
        held = screen.until(r"interlock: ([^\r\n]* waits for an answer[^\r\n]*)\r")
        assert hint in held and "interlock show pdact_" in held
        said = screen.until(r"interlock: ([^\r\n]* is blocked[^\r\n]*)\r")
        assert "claude" in said and "is blocked" in said and said.endswith("interlock codes")
        os.write(screen.file, b"\x03")
        _ended(socket)


class Agent:
    """An agent of this user."""

    def __init__(self, daemon: DaemonClient) -> None:
        self.daemon, self.session = daemon, f"mcp_{secrets.token_urlsafe(18)}"

    def call(self, endpoint: str, operation: str, **params: object) -> None:
        asked = {"operation": operation, "params": params}
        said = self.daemon.post("/aql", {"endpoint": endpoint, "session": self.session, "arguments": asked})
        assert said["envelope"]["success"] is True, said


def _ended(socket: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            DaemonClient(socket).get("/status")
        except NoDaemon:
            return
        time.sleep(0.05)
    raise AssertionError("the daemon did not stop")
