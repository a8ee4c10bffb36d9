"""Measures the daemon over HTTP: real processes, keep-alive, one core, beside an empty endpoint of the same server in the same run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import postgres
from interlock.config import config_of
from interlock.identity.agents import add_agent
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.operators import enrol_first, sign_in
from interlock.startup import open_state, open_store

SECONDS = 2.0  # of each measurement
ROUNDS = 3  # in turns, so that what else the machine does meets all of them alike
AT_ONCE = 8  # connections of the throughput figures
PASSPHRASE = "orchid lantern 47 river"


@dataclass(frozen=True)
class Served:
    """A daemon that answers, and a token for it."""

    port: int
    token: str
    pid: int


@dataclass
class Measured:
    """Of one kind of request: times alone, and how many a second together."""

    times: list[float]
    rates: list[float]
    cpu: list[float]  # seconds of the daemon for one request

    @property
    def p50(self) -> float:
        return statistics.median(self.times) * 1e6

    @property
    def rate(self) -> float:
        return max(self.rates)

    @property
    def cost(self) -> float:
        return min(self.cpu) * 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), "") as daemon:
        report("SQLite", daemon)
    if postgres.find_binaries() is None:
        print("\nPostgreSQL is not installed: nothing to measure")
        return
    with (
        postgres.running(tempfile.gettempdir(), fsync="on") as server,  # on a disk, as where it counts
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), server.new_database()) as daemon,
    ):
        report("PostgreSQL", daemon)


def report(name: str, daemon: Served) -> None:
    """One table; the ratios are what counts, as both sides of each were measured in the same minute."""
    kinds: dict[str, Callable[[int], bytes]] = {
        "empty endpoint (/healthz)": lambda number: (
            f"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:{daemon.port}\r\n\r\n".encode()
        ),
        "safe action, allowed": lambda number: asked(daemon, {"command": "git status"}),
        "safe action, never seen": lambda number: asked(daemon, {"command": f"git log -n {number} --oneline"}),
        "destructive action, held": lambda number: asked(daemon, {"agent": f"a{number}", "action": "drop_database"}),
    }
    found = {kind: Measured([], [], []) for kind in kinds}
    for turn in range(ROUNDS):
        for kind, make in kinds.items():
            asyncio.run(measure(daemon, make, found[kind], turn * 1_000_000))
    empty = found["empty endpoint (/healthz)"]
    print(f"\nthe daemon on {name}, one process, keep-alive; the client has the other core\n")
    print(f"{'':<28}{'p50':>12}{'requests/s':>14}{'CPU each':>12}{'x empty: time':>16}{'CPU':>8}")
    for kind, seen in found.items():
        print(
            f"{kind:<28}{seen.p50:>9.0f} µs{seen.rate:>14,.0f}{seen.cost:>9.0f} µs"
            f"{seen.p50 / empty.p50:>16.2f}{seen.cost / empty.cost:>8.2f}"
        )
    print("\naims: safe action at most 2 times the empty endpoint, at least 2,000 a second on one core")


def asked(daemon: Served, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    head = (
        f"POST /api/v1/evaluate HTTP/1.1\r\nhost: 127.0.0.1:{daemon.port}\r\nauthorization: Bearer {daemon.token}\r\n"
    )
    return f"{head}content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data


async def measure(daemon: Served, make: Callable[[int], bytes], into: Measured, first: int) -> None:
    """One connection by itself for the times, then several together for the rate."""
    alone = await one(daemon, make, first, SECONDS / 2)
    into.times.append(statistics.median(alone))
    before, start = cpu(daemon.pid), time.perf_counter()
    many = await asyncio.gather(
        *(one(daemon, make, first + 10_000 * (number + 1), SECONDS) for number in range(AT_ONCE))
    )
    count = sum(len(times) for times in many)
    into.rates.append(count / (time.perf_counter() - start))
    into.cpu.append((cpu(daemon.pid) - before) / count)


async def one(daemon: Served, make: Callable[[int], bytes], first: int, seconds: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", daemon.port)
    times: list[float] = []
    end, number = time.perf_counter() + seconds, first
    while (start := time.perf_counter()) < end:
        writer.write(make(number))
        await answered(reader)
        times.append(time.perf_counter() - start)
        number += 1
    writer.close()
    return times


async def answered(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(folder: Path, url: str) -> Iterator[Served]:
    """A real daemon with an agent that has a token; on the last core, where there are several."""
    config = folder / "interlock.toml"
    store = url or f"sqlite://{folder}/state"
    config.write_text(
        f'[store]\nurl = "{store}"\n[daemon]\nsocket = "{folder}/interlock.sock"\n'
        "[limits]\nrequests_per_minute = 10000000\n"
    )
    token = prepared(store, folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "serve", "--config", str(config), "--port", "0"],
        stdout=subprocess.PIPE,
        env={**os.environ, "XDG_STATE_HOME": str(folder)},
    )
    try:
        assert process.stdout is not None
        line = next(line.decode() for line in process.stdout if b"http://" in line)
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:
            pin(process.pid, cores[-1])
            os.sched_setaffinity(0, set(cores[:-1]))
        yield Served(int(line.split("http://")[1].split()[0].rpartition(":")[2]), token, process.pid)
        os.sched_setaffinity(0, set(cores))
    finally:
        process.terminate()
        process.wait(20)


def pin(pid: int, core: int) -> None:
    """All threads of a process to one core."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


def prepared(url: str, folder: Path) -> str:
    """An operator and an agent in the store, before the daemon has it."""
    os.environ["XDG_STATE_HOME"] = str(folder)
    config = config_of({"store": {"url": url}}, environ=os.environ)
    store = open_store(url)
    try:
        state = open_state(config, store, Wall())
        row, key = enrol("ana", PASSPHRASE, None, now=time.time(), by="bench", roles=("admin",), kdf=Kdf(1, 64, 1))
        enrol_first(state, row, key)
        _, session = sign_in(state, "ana", PASSPHRASE, "bench")
        return add_agent(state, session, "bench")[0]
    finally:
        store.close()


class Wall:
    def now(self) -> float:
        return time.time()


if __name__ == "__main__":
    main()
