"""Starts a private daemon in a temporary folder with a demo operator, and removes both afterwards."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock.cli.command import CommandError
from interlock.client import DaemonClient, NoDaemon
from interlock.config import load_config
from interlock.identity.keys import enrol
from interlock.identity.operators import enrol_first
from interlock.startup import open_state
from interlock.storage.opening import open_store

OPERATOR = "demo"
_PATIENCE = 30.0
_CONFIG = """\
[daemon]
port = 0
socket = "{folder}/demo.sock"

[store]
url = "sqlite://{folder}/state"
"""


class _Clock:
    def now(self) -> float:
        return time.time()


@contextmanager
def private_daemon() -> Iterator[tuple[DaemonClient, str]]:
    """A running daemon and the token of its operator, whose passphrase is known to this process alone."""
    with TemporaryDirectory(prefix="interlock-demo-") as name:
        folder = Path(name)
        config = _write_config(folder)
        passphrase = secrets.token_urlsafe(24)
        _enrol(config, passphrase)
        with (folder / "log").open("wb") as log:
            command = [sys.executable, "-m", "interlock", "serve", "--config", str(config)]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            daemon = DaemonClient(folder / "demo.sock")
            _until_it_answers(daemon, process, folder / "log")
            body = {"operator": OPERATOR, "passphrase": passphrase, "channel": "cli"}
            yield daemon, str(daemon.post("/session", body)["token"])
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _write_config(folder: Path) -> Path:
    config = folder / "interlock.toml"
    config.write_text(_CONFIG.format(folder=folder), encoding="utf-8")
    return config


def _enrol(path: Path, passphrase: str) -> None:
    """Enrol the operator before the daemon starts, because no person is at its terminal."""
    config = load_config(path)
    store = open_store(config.store)
    try:
        row, seal_key = enrol(OPERATOR, passphrase, None, now=time.time(), by="demo", roles=("admin",))
        enrol_first(open_state(config, store, _Clock()), row, seal_key)
    finally:
        store.close()


def _until_it_answers(daemon: DaemonClient, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            daemon.get("/status")
            return
        except NoDaemon:
            time.sleep(0.05)
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
    raise CommandError("the demo's own daemon did not start: " + (" / ".join(said) or "it said nothing"))
