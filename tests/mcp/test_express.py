"""Calls that are answered without the library: the same answers, each once, and the library's way wherever more is asked for."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import Servers, fresh
from wire import Wire, wired

from daemons import Daemon, daemon
from interlock.client.lines import LineReader, LineSplitter, LineWriter

pytestmark = pytest.mark.xdist_group("mcp")
PATIENCE = 20.0
LIST = {"name": "mcp_aql_read", "arguments": {"operation": "introspect", "params": {"query": "types"}}}
CALLS: dict[str, dict[str, Any]] = {
    "a success": LIST,
    "a failure of the domain": {
        "name": "mcp_aql_read",
        "arguments": {"operation": "get_execution_state", "params": {"element_name": "nobody größe \u2028"}},
    },
    "an operation that nobody knows": {"name": "mcp_aql", "arguments": {"operation": "nothing"}},
}
_VOLATILE = re.compile(r'req_[0-9a-f]+|\\"duration_ms\\":[0-9.e-]+')


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Path]]:
    folder = tmp_path_factory.mktemp("express")
    with daemon(folder, policy="default") as running:
        yield running, folder


@pytest.fixture(scope="module")
def wire(own: tuple[Daemon, Path]) -> Iterator[Wire]:
    with wired(["--config", str(own[1] / "interlock.toml")], own[1] / "errors", anew=True) as made:
        yield made


def line(id: Any, params: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).encode()


@pytest.mark.parametrize("what", CALLS)
def test_the_answer_is_the_librarys_to_the_byte(wire: Wire, what: str) -> None:
    said = []
    for more in ({}, {"_meta": {"of": "nobody"}}):  # what the library alone understands goes its way
        before = len(wire.seen)
        assert "result" in wire.request("tools/call", {**CALLS[what], **more})
        said.append(_VOLATILE.sub("", wire.seen[before:].decode()))
    same = [re.sub(r'"id":\d+', "", text) for text in said]
    assert same[0] == same[1] and '"content":[{"text":' in same[0]


@pytest.mark.parametrize("id", ["text", 0, -1, "7"])
def test_a_request_gets_its_own_id_back(wire: Wire, id: Any) -> None:
    wire.send(line(id, LIST))
    assert type(wire.answer(id)["id"]) is type(id)


def test_each_of_many_calls_is_answered_once(wire: Wire) -> None:
    ids = [f"many{at}" for at in range(200)]
    for id in ids:
        wire.send(line(id, LIST))
    for id in ids:
        until(wire, f'"id":"{id}"'.encode())
    wire.request("ping", {})
    assert all(wire.seen.count(f'"id":"{id}"'.encode()) == 1 for id in ids)


def test_a_late_answer_comes_once_and_with_progress(own: tuple[Daemon, Path], wire: Wire) -> None:
    pid = own[0].process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        wire.send(line("late", {**LIST, "_meta": {"progressToken": "p"}}))
        until(wire, b"notifications/progress")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "result" in wire.answer("late")
    wire.request("ping", {})
    assert wire.seen.count(b'"id":"late"') == 1


def test_a_cancelled_call_is_not_answered(own: tuple[Daemon, Path], wire: Wire) -> None:
    pid = own[0].process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        wire.send(line("gone", LIST))
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}}
        wire.send(json.dumps(note).encode())
        wire.request("ping", {})
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "result" in wire.request("tools/call", LIST)
    assert b'"id":"gone"' not in wire.seen


def test_an_id_that_is_used_again_gets_no_answer_of_the_call_before(own: tuple[Daemon, Path], wire: Wire) -> None:
    pid = own[0].process.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        wire.send(line("twice", LIST))
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "twice"}}
        wire.send(json.dumps(note).encode())
        wire.request("ping", {})
    finally:
        os.kill(pid, signal.SIGCONT)
    wire.send(line("twice", {**CALLS["an operation that nobody knows"], "_meta": {"of": "nobody"}}))
    assert "NOT_FOUND_OPERATION" in wire.answer("twice")["result"]["content"][0]["text"]


def test_nothing_is_answered_before_the_handshake(own: tuple[Daemon, Path]) -> None:
    argv = [sys.executable, "-m", "interlock", "mcp", "--config", str(own[1] / "interlock.toml")]
    run = subprocess.run(argv, input=line(1, LIST) + b"\n", capture_output=True, timeout=60, check=False)
    assert run.stdout.count(b"\n") == 1 and b'"error"' in run.stdout and b"content" not in run.stdout


def test_a_file_can_be_read_like_a_pipe(own: tuple[Daemon, Path], tmp_path: Path) -> None:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "file", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    (tmp_path / "given").write_text(json.dumps(hello) + "\n" + '{"jsonrpc":"2.0","id":1,"method":"ping"}')
    argv = [sys.executable, "-m", "interlock", "mcp", "--config", str(own[1] / "interlock.toml")]
    with (tmp_path / "given").open("rb") as given:
        run = subprocess.run(argv, stdin=given, capture_output=True, timeout=60, check=False)
    assert b'"protocolVersion":"2025-06-18"' in run.stdout and run.returncode == 0


def test_a_held_call_still_asks_the_clients_user(servers: Servers, tmp_path: Path) -> None:
    with wired(
        servers.words(servers.token())[3:], tmp_path / "errors", capabilities={"elicitation": {}}, anew=True
    ) as wire:
        wire.send(
            line(
                "held",
                {"name": "mcp_aql", "arguments": {"operation": "execute_agent", "params": {"element_name": fresh()}}},
            )
        )
        until(wire, b"elicitation/create")


def until(wire: Wire, what: bytes) -> None:
    """Waits until the server has written this."""
    end = time.monotonic() + PATIENCE
    while what not in wire.seen and time.monotonic() < end:
        wire.look()
    assert what in wire.seen


def test_a_client_that_does_not_read_holds_nobody_up() -> None:
    async def run() -> bytes:
        reads, writes = os.pipe()
        out, sent = LineWriter(writes), b"".join(b"%07d\n" % at for at in range(100_000))
        out.put(sent)  # far more than a pipe holds
        waiting = asyncio.ensure_future(out.wait_for_room())
        got = b""
        while len(got) < len(sent):
            got += await asyncio.to_thread(os.read, reads, 65_536)
        await waiting
        os.close(reads)
        out.put(b"x")
        with pytest.raises(BrokenPipeError):
            await out.wait_for_room()
        os.close(writes)
        return got if got == sent else b""

    assert asyncio.run(run())


def test_lines_arrive_whole_however_they_were_sent() -> None:
    async def run() -> list[bytes]:
        reads, writes = os.pipe()
        lines: list[bytes] = []
        ended = asyncio.Event()
        given = LineReader(reads, LineSplitter(lines.append), ended.set)
        given.start()
        for part in (b"a", b"b\nc", b"\n\n", b"x" * 200_000, b"\nlast"):
            await asyncio.to_thread(os.write, writes, part)
            await asyncio.sleep(0)
        os.close(writes)
        await asyncio.wait_for(ended.wait(), PATIENCE)
        return lines

    assert asyncio.run(run()) == [b"ab", b"c", b"x" * 200_000, b"last"]  # an empty line is no message
