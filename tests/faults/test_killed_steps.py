"""kill -9 in the middle of reported steps: what was acknowledged is there afterwards, and a block that was answered holds."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from daemons import Daemon, bearer, daemon, start_daemon
from killed_daemons import Caller, DaemonGone

pytestmark = pytest.mark.xdist_group("faults")
POLICY = """
name = "free"
extends = "default"
[loop]
start = "allow"
max_autonomous_steps = 100
[escalation]
repetition = "off"
cumulative = "off"
"""
AGENTS, PATIENCE = 4, 30.0
WIPE = "executing shell command: rm -rf / --no-preserve-root"


class Agent(threading.Thread):
    """One principal that reports steps until nobody answers, and remembers what it was told."""

    def __init__(self, token: str, number: int) -> None:
        super().__init__(daemon=True)
        self.token, self.name_, self.session = token, f"builder{number}", f"mcp_{number:032d}"
        self.went = 0  # steps that were acknowledged
        self.stopped = False
        self.attacks = number == 0  # one of them is stopped after a few

    def at(self, port: int) -> Agent:
        self.caller = Caller(port, bearer(self.token))
        return self

    def ask(self, endpoint: str, operation: str, **params: Any) -> Any:
        given = {"operation": operation, "params": {"element_name": self.name_, **params}}
        body = {"session": self.session, "endpoint": endpoint, "arguments": given}
        status, answer = self.caller.ask("POST", "/aql", body)
        assert status == 200, answer
        return answer["envelope"]

    def run(self) -> None:
        try:
            while not self.stopped and self.went < 90:
                wipes = self.attacks and self.went >= 3
                hint = WIPE if wipes else f"reading docs/page{self.went}.md"
                told = self.ask("create", "record_execution_step", next_action_hint=hint)["data"]["autonomy"]
                self.went += told["continue"] is True
                self.stopped = told.get("stopped") is True
        except DaemonGone:
            return


def tokens(running: Daemon) -> list[str]:
    here, headers = running.here(), running.sign_in()
    found = [here.post("/api/v1/agents", json={"name": f"a{at}"}, headers=headers).json() for at in range(AGENTS)]
    return [str(one["token"]) for one in found]


@pytest.mark.slow("kills a daemon and starts the next one")
def test_c_21_oob_11_what_a_killed_daemon_acknowledged_of_steps_is_there_and_its_block_holds(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    with daemon(tmp_path, policy=str(tmp_path / "policy.toml")) as first:
        agents = [Agent(token, number).at(first.port) for number, token in enumerate(tokens(first))]
        for agent in agents:
            assert agent.ask("execute", "execute_agent", max_autonomous_steps=100)["success"]
        for agent in agents:
            agent.start()
        end = time.monotonic() + PATIENCE
        while not (agents[0].stopped and min(agent.went for agent in agents) >= 3) and time.monotonic() < end:
            time.sleep(0.005)
        first.stop(signal.SIGKILL)  # whoever was in the middle of a step never hears of it
        for agent in agents:
            agent.join(PATIENCE)
        second = start_daemon(tmp_path, config=tmp_path / "interlock.toml")
        try:
            for agent in agents:
                agent.at(second.port)
                state = agent.ask("read", "get_execution_state")["data"]
                assert agent.went <= state["steps"] <= agent.went + 1, (agent.name_, state)
            assert agents[0].stopped
            again = agents[0].ask("create", "record_execution_step", next_action_hint="reading docs/a.md")["data"]
            assert again["autonomy"]["stopped"] is True and again["status"] == "blocked"
            assert agents[0].ask("execute", "execute_agent")["error"]["code"] == "PERMISSION_DENIED"
            for agent in agents[1:]:
                assert agent.ask("create", "record_execution_step", next_action_hint="reading docs/a.md")["success"]
        finally:
            second.stop()
