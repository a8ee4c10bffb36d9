"""The gate on an event loop: the same answers, awaited, and hundreds who wait without a thread each."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from clock import TestClock
from daemons import PASSPHRASE, Daemon
from interlock import AsyncGate, Gate, GateError, Held
from interlock.sdk.gate import GateRegistry

DATABASE: dict[str, Any] = {"operation": "drop_database", "resource": "main"}
CACHE = {"id": "wipe", "pattern": "wipe_cache", "category": "config_destruction", "severity": "high"}


def test_it_has_every_method_of_the_gate_with_the_same_arguments() -> None:
    for here, there in ((Gate, AsyncGate), (GateRegistry, type(AsyncGate().registry))):
        for name, method in vars(here).items():
            if name.startswith("_") or isinstance(method, property | classmethod):
                continue
            assert hasattr(there, name), name
    assert list(inspect.signature(AsyncGate).parameters) == list(inspect.signature(Gate).parameters)


async def whole_story(gate: AsyncGate) -> None:
    assert (await gate.evaluate(command="git status")).allowed
    with pytest.raises(Held):
        await gate.check(**DATABASE)
    held = await gate.evaluate(**DATABASE)
    assert held.ticket is not None
    session = await gate.sign_in("ana", PASSPHRASE)
    waiting = asyncio.create_task(gate.wait(held, timeout=60))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await gate.approve(held.ticket.id, session)
    assert (await waiting).state == "approved"
    freed = await gate.evaluate(**DATABASE, pending_id=held.ticket.id)
    assert freed.allowed
    done = await gate.executed(freed, "dropped")
    assert done is not None and done.outcome == "dropped"
    other = await (await gate.for_agent("codex")).evaluate(operation="terminate_vm", resource="v")
    assert other.ticket is not None and other.ticket.agent.name == "codex"
    await gate.reject(other.ticket.id, session, "no")
    assert (await gate.wait(other, timeout=5)).decision_reason == "no"
    assert (await gate.metrics())["executed"] == 1
    assert (await gate.registry.match("drop_table")).patterns
    assert len(await gate.registry.list()) > 20
    await gate.sign_out(session)


def test_the_whole_story_in_this_process(gate: Gate) -> None:
    asyncio.run(whole_story(AsyncGate.over(gate)))


def test_the_whole_story_at_a_daemon(running: Daemon) -> None:
    async def story() -> None:
        async with AsyncGate(running.folder / "interlock.toml", agent="claude") as gate:
            await whole_story(gate)
        with pytest.raises(GateError, match="closed"):
            await gate.evaluate(command="ls")

    asyncio.run(story())


def test_it_opens_with_the_first_question_and_once(tmp_path: Path) -> None:
    async def story() -> list[bool]:
        gate = AsyncGate(store=tmp_path / "state")
        try:
            return [one.allowed for one in await asyncio.gather(*(gate.evaluate(command="ls") for _ in range(5)))]
        finally:
            await gate.close()

    AsyncGate(store=tmp_path / "state")
    assert not (tmp_path / "state").exists()
    assert asyncio.run(story()) == [True] * 5
    assert asyncio.run(story()) == [True] * 5, "the folder was given back"


def test_a_gate_that_cannot_open_says_so_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def story() -> None:
        gate = AsyncGate(store=tmp_path / "file")
        for _ in range(2):
            with pytest.raises(GateError, match="nothing can be decided"):
                await gate.evaluate(command="ls")

    asyncio.run(story())


async def many_wait(gate: AsyncGate, count: int) -> tuple[int, set[str]]:
    """How many threads there were more while so many waited, and how it ended."""
    held = await gate.evaluate(**DATABASE)
    assert held.ticket is not None
    session = await gate.sign_in("ana", PASSPHRASE)
    await asyncio.gather(*(gate.evaluate(command="ls") for _ in range(40)))  # the loop's own threads are there by now
    before = threading.active_count()
    waiting = [asyncio.create_task(gate.wait(held, timeout=60)) for _ in range(count)]
    await asyncio.sleep(2)
    meanwhile = threading.active_count()
    assert not any(task.done() for task in waiting)
    await gate.reject(held.ticket.id, session, "no")
    return meanwhile - before, {ticket.state for ticket in await asyncio.gather(*waiting)}


def test_hundreds_wait_in_this_process_without_a_thread_each(gate: Gate) -> None:
    more, ended = asyncio.run(many_wait(AsyncGate.over(gate), 300))
    assert more <= 8 and ended == {"rejected"}


def test_hundreds_wait_at_a_daemon_without_a_thread_each(running: Daemon) -> None:
    async def story() -> tuple[int, set[str]]:
        async with AsyncGate(running.folder / "interlock.toml") as gate:
            return await many_wait(gate, 200)

    more, ended = asyncio.run(story())
    assert more <= 8 and ended == {"rejected"}


def test_a_wait_over_the_network_goes_by_the_token(running: Daemon) -> None:
    answer = running.here().post("/api/v1/agents", json={"name": "bot"}, headers=running.sign_in())

    async def story() -> str:
        url = f"http://127.0.0.1:{running.port}"
        async with AsyncGate(url=url, token=answer.json()["token"]) as gate:
            held = await gate.evaluate(**DATABASE)
            assert (await gate.wait(held, timeout=0.2)).state == "pending_approval"
        async with AsyncGate(url=url, token="agt_made_up") as nobody:
            with pytest.raises(GateError, match="not valid"):
                await nobody.wait(held, timeout=5)
        return "done"

    assert asyncio.run(story()) == "done"


def test_a_wait_that_is_cancelled_leaves_nobody_behind(gate: Gate) -> None:
    async def story() -> None:
        over = AsyncGate.over(gate)
        waiting = asyncio.create_task(over.wait(await over.evaluate(**DATABASE)))
        await asyncio.sleep(0.2)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(story())
    assert gate._shared.backend()._waiting == []  # type: ignore[attr-defined]


def test_a_wait_ends_when_it_has_cooled(gate: Gate, clock: TestClock) -> None:
    async def story() -> str:
        over = AsyncGate.over(gate)
        held = await over.evaluate(operation="drop_table", resource="users")
        asyncio.get_running_loop().call_later(0.2, clock.forward, 120)
        return (await over.wait(held, timeout=30)).state

    assert asyncio.run(story()) == "approved"


def test_a_daemon_that_is_gone_ends_the_wait_with_its_time(running: Daemon) -> None:
    async def story() -> None:
        async with AsyncGate(running.folder / "interlock.toml") as gate:
            held = await gate.evaluate(**DATABASE)
            running.stop()
            with pytest.raises(GateError, match="no daemon answers"):
                await gate.wait(held, timeout=1)

    asyncio.run(story())


def test_patterns_are_registered_and_taken_back(gate: Gate) -> None:
    async def story() -> None:
        over = AsyncGate.over(gate)
        await over.registry.register(CACHE, requires_human_approval=True)
        assert not (await over.evaluate(operation="wipe_cache")).allowed
        assert (await over.registry.unregister("wipe")).id == "wipe"
        assert (await over.evaluate(operation="wipe_cache")).allowed

    asyncio.run(story())
