"""Real daemons on one PostgreSQL, with one installation's keys."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import warm_processes
from daemons import PASSPHRASE, Daemon, bearer, enrol_operators
from gate import shipped
from interlock.config import config_of
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store


def enrol_in_database(folder: Path, url: str) -> None:
    """Operators in the database, before any daemon has it; the folder has to be XDG_STATE_HOME."""
    assert os.environ["XDG_STATE_HOME"] == str(folder)
    store = open_store(url)
    try:
        config = config_of({"store": {"url": url}})
        enrol_operators(open_state(config, store, SystemClock(), known=shipped(config)))
    finally:
        store.close()


def start_replica(folder: Path, name: str, url: str, policy: str = "spec") -> Daemon:
    """A daemon that answers, or has ended; its keys are in the folder."""
    config = folder / f"{name}.toml"
    config.write_text(
        f'[store]\nurl = "{url}"\n[policy]\nuse = "{policy}"\n[daemon]\nsocket = "{folder}/{name}.sock"\n'
    )
    with (folder / f"{name}.err").open("wb") as errors:
        process = warm_processes.Popen(
            [*warm_processes.INTERLOCK, "serve", "--config", str(config), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "XDG_STATE_HOME": str(folder)},
        )
    assert process.stdout is not None
    line = next((raw.decode() for raw in process.stdout if b"http://" in raw), "")
    return Daemon(process, folder, int(line.split("http://")[1].split()[0].rpartition(":")[2]) if line else 0, line)


@contextmanager
def replica(folder: Path, name: str, url: str, policy: str = "spec") -> Iterator[Daemon]:
    """A daemon that ends well."""
    running = start_replica(folder, name, url, policy)
    assert running.process.stdout is not None
    try:
        assert running.port, (folder / f"{name}.err").read_text()
        yield running
    finally:
        for client in running.clients:
            client.close()
        assert running.stop() == 0, (folder / f"{name}.err").read_text()
        running.process.stdout.close()


def sign_in(running: Daemon) -> dict[str, str]:
    """The headers of an operator who is signed in over TCP."""
    answer = running.tcp().post("/api/v1/session", json={"operator": "ana", "passphrase": PASSPHRASE})
    return bearer(answer.json()["token"])
