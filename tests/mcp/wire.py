"""MCP over stdio, byte by byte: what a client library would never send, and everything that the server ever wrote."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import warm_processes

PATIENCE = 30.0


class Wire:
    """One `interlock mcp` process."""

    def __init__(self, words: list[str], errors: Path, env: dict[str, str] | None = None, anew: bool = False) -> None:
        self.errors, self.seen, self._rest = errors, b"", b""
        with errors.open("wb") as log:
            self.process = (subprocess.Popen if anew else warm_processes.Popen)(
                [*warm_processes.INTERLOCK, "mcp", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **(env or {})},
            )
        self._ids = 0

    def initialize(self, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
        client = {"capabilities": capabilities or {}, "clientInfo": {"name": "wire", "version": "1"}}
        params = {"protocolVersion": "2025-11-25", **client}
        found = self.request("initialize", params)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        return found

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._ids += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}).encode())
        return self.answer(self._ids)

    def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        """The envelope of one call."""
        found = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in found, found
        envelope: dict[str, Any] = json.loads(found["result"]["content"][0]["text"])
        return {**envelope, "isError": found["result"].get("isError", False)}

    def raw_call(self, arguments: bytes) -> dict[str, Any]:
        """The same, with arguments that are bytes."""
        self._ids += 1
        self.send(
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"mcp_aql","arguments":%s}}'
            % (self._ids, arguments)
        )
        found = self.answer(self._ids)
        envelope: dict[str, Any] = json.loads(found["result"]["content"][0]["text"])
        return {**envelope, "isError": found["result"].get("isError", False)}

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, id: int | str) -> dict[str, Any]:
        """The message with this id; whatever comes on stdout has to be one of the protocol's."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while b"\n" in self._rest:
                line, _, self._rest = self._rest.partition(b"\n")
                message: dict[str, Any] = json.loads(line)
                assert message["jsonrpc"] == "2.0", line
                if message.get("id") == id:
                    return message
            self.look()
        raise AssertionError(f"no answer to {id}: {self.errors.read_text()}")

    def look(self) -> None:
        """Reads what has come, and waits a moment where nothing has."""
        assert self.process.stdout is not None
        waiting = select.poll()
        waiting.register(self.process.stdout, select.POLLIN)
        ready = waiting.poll(500)
        if ready:
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            assert chunk, f"it ended: {self.errors.read_text()}"
            self.seen += chunk
            self._rest += chunk

    def close(self) -> None:
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()


@contextmanager
def wired(
    words: list[str],
    errors: Path,
    env: dict[str, str] | None = None,
    capabilities: dict[str, Any] | None = None,
    anew: bool = False,
) -> Iterator[Wire]:
    """A server that was greeted; `anew` is one that has loaded nothing yet, with a command line of its own."""
    wire = Wire(words, errors, env, anew)
    try:
        wire.initialize(capabilities)
        yield wire
    finally:
        wire.close()


def until(check: Any, what: str, patience: float = PATIENCE) -> None:
    """Waits for a condition."""
    end = time.monotonic() + patience
    while not check():
        assert time.monotonic() < end, what
        time.sleep(0.05)
