"""ESL-13: when an MCP session ends without saying so: after half an hour without a call, and with the daemon before this one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import Gate
from interlock.hooks.memory import HookMemory
from interlock.loop.protocol.gatekeeper import ANY
from interlock.server.routes.aql import IDLE, AqlApi, ConnectionOptions, McpSession
from interlock.web.context import Context
from loop_agents import permissive_gate

SOON, PATIENCE = 0.01, 20.0
IDLES, BUSY, HELD = (f"mcp_{letter * 16}" for letter in "abc")
WHO = "uid:1000"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = permissive_gate(tmp_path)
    yield made
    made.close()


def api(gate: Gate, resume_seconds: float = SOON) -> AqlApi:
    made = AqlApi(Context(gate.state, gate.config, "0", HookMemory()), resume_seconds)
    made.leases.every = SOON
    return made


async def call(made: AqlApi, session: str, operation: str, **params: Any) -> dict[str, Any]:
    given = {"operation": operation, "params": {"element_name": f"of {session}", **params}}
    reply = await made.answer(McpSession(WHO, session), ANY, given, ConnectionOptions())
    return dict(reply.wire["envelope"])


async def begun(made: AqlApi, session: str) -> None:
    said = await call(made, session, "execute_agent")
    assert said["success"], said


async def until(seen: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not seen():
        assert time.monotonic() < end
        await asyncio.sleep(SOON)


def running(gate: Gate) -> set[str]:
    return {one.agent.session for one in gate.store.read(lambda tx: tx.executions(status="running"))}


def test_ESL_13_a_session_that_nobody_holds_ends_after_half_an_hour_without_a_call(gate: Gate) -> None:
    async def work() -> None:
        made = api(gate)
        for session in (IDLES, BUSY, HELD):
            await begun(made, session)
        made.leases.hold(McpSession(WHO, HELD), 1)
        gate.clock.forward(IDLE - 1)
        await call(made, BUSY, "get_execution_state")
        gate.clock.forward(2)
        await until(lambda: IDLES not in running(gate))
        assert running(gate) == {BUSY, HELD}
        state = (await call(made, IDLES, "get_execution_state"))["data"]
        assert state["status"] == "cancelled" and state["summary"] == "the connection ended"
        made.stop()

    asyncio.run(work())


def test_ESL_13_after_a_restart_sessions_that_nobody_comes_back_for_are_ended(gate: Gate) -> None:
    async def before() -> None:
        made = api(gate)
        for session in (IDLES, HELD):
            await begun(made, session)
        made.stop()

    async def after() -> None:
        made = api(gate, resume_seconds=0.5)
        made.start()
        made.leases.hold(McpSession(WHO, HELD), 1)  # its server is still there, and says so
        assert running(gate) == {IDLES, HELD}  # not at once: whoever is still there has time to say so
        await until(lambda: IDLES not in running(gate))
        assert running(gate) == {HELD}
        made.stop()

    asyncio.run(before())
    gate.restart()
    asyncio.run(after())


def test_ESL_13_a_held_step_of_a_session_that_ended_waits_for_nobody(gate: Gate) -> None:
    async def work() -> None:
        made = api(gate)
        await begun(made, IDLES)
        step = {"next_action_hint": "executing shell command: git reset --hard HEAD~3"}
        said = await call(made, IDLES, "record_execution_step", **step)
        assert said["data"]["confirmation"]["token"]
        gate.clock.forward(IDLE + 1)
        await until(lambda: not gate.store.read(lambda tx: tx.executions(status="paused")))
        token, operation = said["data"]["confirmation"]["token"], said["data"]["confirmation"]["operation"]
        late = await made.answer(
            McpSession(WHO, IDLES),
            ANY,
            {"operation": "confirm_operation", "params": {"confirmation_token": token, "operation": operation}},
            ConnectionOptions(),
        )
        assert late.wire["envelope"]["error"]["code"] == "TOKEN_EXPIRED"
        made.stop()

    asyncio.run(work())
