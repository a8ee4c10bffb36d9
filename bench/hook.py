"""What does a hook cost? Each path end to end, beside /bin/true and an empty endpoint of the same daemon, in turns in one run."""

from __future__ import annotations

import json
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.http import Served, served
from interlock.config import load_config
from interlock.doors.hook import wrapper

ROUNDS = 5
CALLS = 60  # of each path in one round
SLOW = 3  # of those that start a Python


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with served(folder, "") as daemon:
            config = load_config(folder / "interlock.toml", {})
            client = wrapper.build(config.folder, config, "claude-code")
            report(daemon, client.path, wrapper.is_compiled(client))
            os.kill(daemon.pid, 9)
            lonely("no daemon: judged by the hook itself", client.path)


def asked(command: str) -> bytes:
    """What Claude Code sends."""
    given = {"session_id": "b", "cwd": "/home/dev/app", "permission_mode": "default", "hook_event_name": "PreToolUse"}
    given |= {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}  # type: ignore[dict-item]
    return json.dumps(given).encode()


def report(daemon: Served, client: str, compiled: bool) -> None:
    hook = [client, "claude-code", "PreToolUse"]
    programs: dict[str, Callable[[], float]] = {
        "/bin/true": lambda: spawned(["/bin/true"], b""),
        f"hook, {'compiled' if compiled else 'Python'} client, allowed": lambda: spawned(hook, asked("ls -la")),
    }
    requests: dict[str, Callable[[], float]] = {
        "empty endpoint (/healthz)": lambda: posted(daemon.port, "GET", "/healthz", b""),
        "HTTP hook, allowed": lambda: posted(
            daemon.port, "POST", "/api/v1/hook/claude-code?event=PreToolUse", asked("ls -la")
        ),
    }
    for title, paths in (("one process for each call", programs), ("one connection for each call", requests)):
        times: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(ROUNDS):
            for name, call in paths.items():
                times[name] += [call() for _ in range(CALLS)]
        first = statistics.median(next(iter(times.values())))
        print(f"\n{title}\n\n{'':<36}{'p50':>12}{'p90':>12}{'x first':>10}")
        for name, taken in times.items():
            middle = statistics.median(taken)
            late = statistics.quantiles(taken, n=10)[-1]
            print(f"{name:<36}{middle * 1e6:>9.0f} µs{late * 1e6:>9.0f} µs{middle / first:>10.2f}")
    print("\naims: compiled client at most 2.5 times /bin/true, HTTP hook at most 1.5 times the empty endpoint")


def lonely(name: str, client: str) -> None:
    taken = [spawned([client, "claude-code", "PreToolUse"], asked("ls -la")) for _ in range(SLOW)]
    print(f"\n{name}: {statistics.median(taken) * 1e3:.0f} ms")


def spawned(argv: list[str], given: bytes) -> float:
    """Seconds from the start of a process until its end is known."""
    handle, void = os.memfd_create("input"), os.open("/dev/null", os.O_WRONLY)
    os.write(handle, given)
    os.lseek(handle, 0, os.SEEK_SET)
    actions = [(os.POSIX_SPAWN_DUP2, handle, 0), (os.POSIX_SPAWN_DUP2, void, 1), (os.POSIX_SPAWN_DUP2, void, 2)]
    begun = time.perf_counter()
    os.waitpid(os.posix_spawn(argv[0], argv, {}, file_actions=actions), 0)
    taken = time.perf_counter() - begun
    os.close(handle)
    os.close(void)
    return taken


def posted(port: int, method: str, path: str, body: bytes) -> float:
    """Seconds from connecting until the whole answer is there, as a hook does it."""
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\ncontent-type: application/json\r\n"
    )
    begun = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        while connection.recv(65536):
            pass
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
