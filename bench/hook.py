"""Measures hooks end to end, beside /bin/true and an empty endpoint of the same daemon, in turns in one run."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.http import PASSPHRASE, Served, served
from interlock.config import load_config
from interlock.install import client_build

ROUNDS = 5
CALLS = 60  # of each path in one round
HELD = 20  # calls that a person approves
SLOW = 3  # of those that start a Python
PATIENCE = 30.0  # seconds
_numbers = itertools.count(1)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with served(folder, "") as daemon:
            config = load_config(folder / "interlock.toml", {})
            client = client_build.build(config)
            report(daemon, client.path, client_build.is_compiled(client))
            held(daemon)
            beside(daemon)
            os.kill(daemon.pid, 9)
            lonely("no daemon: judged by the hook itself", client.path)


def asked(command: str, mode: str = "default", cwd: str = "/home/dev/app") -> bytes:
    """Claude Code's hook input, with a new id for each call."""
    given: dict[str, Any] = {"session_id": "b", "cwd": cwd, "permission_mode": mode, "hook_event_name": "PreToolUse"}
    given |= {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{next(_numbers)}"}
    return json.dumps(given, separators=(",", ":")).encode()  # as JSON.stringify writes it


def report(daemon: Served, client: str, compiled: bool) -> None:
    hook = [client, "claude-code", "PreToolUse"]
    programs: dict[str, Callable[[], float]] = {
        "/bin/true": lambda: spawned(["/bin/true"], b""),
        f"hook, {'compiled' if compiled else 'Python'} client, allowed": lambda: spawned(hook, asked("ls -la")),
    }
    requests: dict[str, Callable[[], float]] = {
        "empty endpoint (/healthz)": lambda: posted(daemon.port, "GET", "/healthz", b""),
        "HTTP hook, allowed": lambda: posted(daemon.port, "POST", HOOK, asked("ls -la")),
    }
    with socket.create_connection(("127.0.0.1", daemon.port)) as one:
        kept: dict[str, Callable[[], float]] = {
            "empty endpoint (/healthz)": lambda: exchanged(one, request("GET", "/healthz", daemon.port, b"")),
            "HTTP hook, allowed": lambda: exchanged(one, request("POST", HOOK, daemon.port, asked("ls -la"))),
        }
        in_turns({
            "one process for each call": programs, "one connection for each call": requests, "one connection for all calls": kept,
        })  # fmt: skip
    print("\naims: compiled client at most 2.5 times /bin/true, HTTP hook at most 1.6 times the empty endpoint")


def in_turns(kinds: dict[str, dict[str, Callable[[], float]]]) -> None:
    """A table of each kind; its first row is what the others are compared with."""
    for title, paths in kinds.items():
        times: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(ROUNDS):
            for name, call in paths.items():
                times[name] += [call() for _ in range(CALLS)]
        first = statistics.median(next(iter(times.values())))
        print(f"\n{title}\n\n{'':<36}{'p50':>12}{'p90':>12}{'x first':>10}")
        for name, taken in times.items():
            print(
                f"{name:<36}{at(taken, 0.5):>9.0f} µs{at(taken, 0.9):>9.0f} µs{statistics.median(taken) / first:>10.2f}"
            )


IMPATIENT = "interlock-limit: 1\r\n"  # milliseconds: nobody waits for an answer of people
HOOK = "/api/v1/hook/claude-code?event=PreToolUse"


def held(daemon: Served) -> None:
    """A call that waits for a person: from the moment when the approval is sent until the agent has its answer."""
    talk = Operator(daemon.port)
    taken = [_approved(daemon, talk, number) for number in range(HELD)]
    approved, answered = [one for one, _ in taken], [other for _, other in taken]
    print(f"\na held call, of which {HELD} were approved one after the other\n\n{'':<36}{'p50':>12}{'p90':>12}")
    for name, taken in (("approval sent to agent answered", answered), ("approval sent to approved", approved)):
        print(f"{name:<36}{at(taken, 0.5):>9.0f} µs{at(taken, 0.9):>9.0f} µs")


def _approved(daemon: Served, talk: Operator, number: int) -> tuple[float, float]:
    """Seconds from sending an approval until it is signed, and until the agent goes on."""
    body = asked("git reset --hard HEAD~3", "bypassPermissions", f"/srv/app{number}")
    ended: list[float] = []

    def agent() -> None:
        posted(daemon.port, "POST", HOOK, body)
        ended.append(clock())

    waits = threading.Thread(target=agent)
    waits.start()
    id = talk.waiting()
    begun = clock()
    talk.said("POST", f"/api/v1/tickets/{id}/approve", {})
    signed = clock()
    waits.join(PATIENCE)
    assert ended, "the agent was not answered"
    return signed - begun, ended[0] - begun


def beside(daemon: Served) -> None:
    """Everyday calls of one agent, while another one sends what takes as long to judge as anything may."""
    alone = [posted(daemon.port, "POST", HOOK, asked("ls -la")) for _ in range(CALLS)]
    over = threading.Event()

    def other() -> None:
        while not over.is_set():
            posted(daemon.port, "POST", HOOK, asked("mv a b; " * 12_000), IMPATIENT)

    sends = threading.Thread(target=other)
    sends.start()
    time.sleep(0.2)
    meanwhile = [posted(daemon.port, "POST", HOOK, asked("ls -la")) for _ in range(CALLS)]
    over.set()
    sends.join()
    print(f"\nan allowed call, beside an agent whose calls are hard to judge\n\n{'':<36}{'p50':>12}{'p90':>12}")
    for name, taken in (("nobody else", alone), ("beside that agent", meanwhile)):
        print(f"{name:<36}{at(taken, 0.5):>9.0f} µs{at(taken, 0.9):>9.0f} µs")


class Operator:
    """Somebody who is signed in, over a connection that stays."""

    def __init__(self, port: int) -> None:
        self._talk = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._token = ""
        self._token = self.said("POST", "/api/v1/session", {"operator": "ana", "passphrase": PASSPHRASE})["token"]

    def said(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"content-type": "application/json"}
        headers |= {"authorization": f"Bearer {self._token}"} if self._token else {}
        self._talk.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._talk.getresponse()
        data = json.loads(answer.read())
        assert answer.status < 300, data
        return data

    def waiting(self) -> str:
        """The ticket of the one call that is held."""
        until = clock() + PATIENCE
        while clock() < until:
            found = self.said("GET", "/api/v1/tickets?state=pending_approval")
            if found["tickets"]:
                return str(found["tickets"][0]["id"])
            time.sleep(0.005)
        raise TimeoutError("nothing was held")


def lonely(name: str, client: str) -> None:
    taken = [spawned([client, "claude-code", "PreToolUse"], asked("ls -la")) for _ in range(SLOW)]
    print(f"\n{name}: {statistics.median(taken) * 1e3:.0f} ms")


def at(taken: list[float], share: float) -> float:
    """That share of them took no longer, in microseconds."""
    return sorted(taken)[min(len(taken) - 1, int(len(taken) * share))] * 1e6


def spawned(argv: list[str], given: bytes, environ: dict[str, str] | None = None) -> float:
    """Seconds from the start of a process until its end is known."""
    handle, void = os.memfd_create("input"), os.open("/dev/null", os.O_WRONLY)
    os.write(handle, given)
    os.lseek(handle, 0, os.SEEK_SET)
    actions = [(os.POSIX_SPAWN_DUP2, handle, 0), (os.POSIX_SPAWN_DUP2, void, 1), (os.POSIX_SPAWN_DUP2, void, 2)]
    begun = clock()
    os.waitpid(os.posix_spawn(argv[0], argv, environ or {}, file_actions=actions), 0)
    taken = clock() - begun
    os.close(handle)
    os.close(void)
    return taken


def posted(port: int, method: str, path: str, body: bytes, more: str = "") -> float:
    """Seconds from connecting until the whole answer is there, as a hook does it."""
    data = request(method, path, port, body, f"connection: close\r\n{more}")
    begun = clock()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(data)
        while connection.recv(65536):
            pass
    return clock() - begun


def request(method: str, path: str, port: int, body: bytes, more: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n{more}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def exchanged(connection: socket.socket, data: bytes) -> float:
    """Seconds until the answer is there, which is a single packet."""
    begun = clock()
    connection.sendall(data)
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    return clock() - begun


clock = time.perf_counter


if __name__ == "__main__":
    main()
