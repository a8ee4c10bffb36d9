"""`interlock proxy` in front of a server, spoken to byte by byte: what a client library would never send, and all that came back."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import warm_processes
from daemons import Daemon
from repository import TESTS

PATIENCE = 20.0
ODD = (sys.executable, str(TESTS / "proxy" / "odd_server.py"))
Json = dict[str, Any]


class Proxy:
    """One `interlock proxy` process and the client's end of it."""

    def __init__(self, words: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        self.errors, self.log, self._rest = folder / "proxy.errors", folder / "server.log", b""
        self.seen: list[Any] = []
        self._unclaimed: list[Any] = []
        with self.errors.open("ab") as errors:
            self.process = warm_processes.Popen(
                [*warm_processes.INTERLOCK, "proxy", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "ODD_LOG": str(self.log), **env},
            )
        self._ids = 0

    def greet(self, **capabilities: Any) -> Json:
        about = {"name": "wire", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about}
        found = self.request("initialize", params)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def request(self, method: str, params: Json) -> Json:
        return self.answer(self.ask(method, params))

    def ask(self, method: str, params: Json) -> int:
        self._ids += 1
        self.say({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        return self._ids

    def call(self, tool: str, arguments: Any = None, **more: Any) -> Json:
        """The result of one call."""
        found = self.request("tools/call", {"name": tool, "arguments": arguments or {}, **more})
        assert "result" in found, found
        return dict(found["result"])

    def say(self, message: Any) -> None:
        self.send(json.dumps(message).encode())

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, id: Any) -> Json:
        """The response with this id."""
        return self.until(
            lambda one: isinstance(one, dict) and "method" not in one and "id" in one and one["id"] == id, f"{id!r}"
        )

    def until(self, wanted: Callable[[Any], bool], what: str) -> Any:
        """The first message that is wanted and that nobody has asked for before."""
        for message in self._unclaimed:
            if wanted(message):
                self._unclaimed.remove(message)
                return message
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            while b"\n" in self._rest:
                line, _, self._rest = self._rest.partition(b"\n")
                message = json.loads(line)
                self.seen.append(message)
                if wanted(message):
                    return message
                self._unclaimed.append(message)
            assert self.process.stdout is not None
            waiting = select.poll()
            waiting.register(self.process.stdout, select.POLLIN)
            ready = waiting.poll(500)
            if ready:
                chunk = os.read(self.process.stdout.fileno(), 1 << 16)
                assert chunk, f"it ended: {self.said}"
                self._rest += chunk
        raise AssertionError(f"no answer to {what}: {self.said}")

    def ends(self) -> int:
        """Waits until the process has ended by itself."""
        return self.process.wait(PATIENCE)

    @property
    def said(self) -> str:
        return self.errors.read_text()

    @property
    def got(self) -> list[bytes]:
        """Every line that reached the server."""
        return self.log.read_bytes().splitlines() if self.log.exists() else []

    def calls(self) -> list[Json]:
        """The calls that reached the server."""
        found = [json.loads(line) for line in self.got]
        return [one["params"] for one in found if isinstance(one, dict) and one.get("method") == "tools/call"]

    def close(self) -> None:
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()


@dataclass
class Bench:
    """One daemon, an operator, and proxies in front of servers."""

    daemon: Daemon
    folder: Path
    number: int = 0
    opened: list[Proxy] = field(default_factory=list)
    _signed: dict[str, str] = field(default_factory=dict)

    def config(self, wait: int = 0, more: str = "") -> Path:
        """A configuration of the same daemon, with other settings for the proxy."""
        self.number += 1
        path = self.folder / f"interlock{self.number}.toml"
        path.write_text(f'[store]\nurl = "sqlite://{self.folder}/state"\n[proxy]\nwait_seconds = {wait}\n{more}\n')
        return path

    def proxy(
        self,
        command: Sequence[str],
        *words: str,
        name: str = "odd",
        trust: str = "validated",
        wait: int = 0,
        more: str = "",
        config: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> Proxy:
        """A proxy that was not greeted yet."""
        path = self.config(wait, more)
        path = config or path
        folder = self.folder / f"proxy{self.number}"
        folder.mkdir()
        options = ["--config", str(path), "--name", name, *(["--trust", trust] if trust else []), *words]
        made = Proxy([*options, "--", *command], folder, env or {})
        self.opened.append(made)
        return made

    @property
    def operator(self) -> dict[str, str]:
        if not self._signed:
            self._signed = self.daemon.sign_in()
        return self._signed

    def waiting(self) -> list[Json]:
        answer = self.daemon.here().get("/api/v1/tickets?state=open", headers=self.operator).json()
        return list(answer["tickets"])

    def approve(self) -> list[str]:
        """Approves every open ticket; returns their titles."""
        end = time.monotonic() + PATIENCE
        while not (found := self.waiting()):
            assert time.monotonic() < end, "nothing waits"
            time.sleep(0.05)
        for one in found:
            answer = self.daemon.here().post(f"/api/v1/tickets/{one['id']}/approve", json={}, headers=self.operator)
            assert answer.status_code == 200, answer.text
        return [one["title"] for one in found]

    def reject_all(self) -> None:
        for one in self.waiting():
            body = {"reason": "the test is over"}
            self.daemon.here().post(f"/api/v1/tickets/{one['id']}/reject", json=body, headers=self.operator)

    def trust(self, name: str, level: str) -> None:
        body = {"level": level, "reason": "read by a test"}
        answer = self.daemon.here().put(f"/api/v1/adapters/{name}/trust", json=body, headers=self.operator)
        assert answer.status_code == 200, answer.text

    def close(self) -> None:
        for proxy in self.opened:
            proxy.close()
        self.opened.clear()


@contextmanager
def greet_proxy(proxy: Proxy, **capabilities: Any) -> Iterator[Proxy]:
    try:
        proxy.greet(**capabilities)
        yield proxy
    finally:
        proxy.close()


def words_of(result: Json) -> str:
    return str(result["content"][0]["text"])
