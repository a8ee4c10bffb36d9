"""Every example in docs/reference/python.md runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from daemons import PASSPHRASE, Daemon, bearer, enrol_operators, start_daemon
from interlock.config import config_of
from interlock.runtime.state import SystemClock
from interlock.startup import open_state, open_store
from repository import ROOT

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "reference" / "python.md").read_text(), re.DOTALL)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """A user's own folders, where ana is an operator."""
    store = tmp_path / "state" / "interlock"
    opened = open_store(f"sqlite://{store}")
    try:
        enrol_operators(
            open_state(config_of({"store": {"url": f"sqlite://{store}"}}, environ={}), opened, SystemClock())
        )
    finally:
        opened.close()
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@contextmanager
def somebody_who_approves(folder: Path, more: str) -> Iterator[Daemon]:
    """A daemon in the user's folder, and ana, who approves whatever waits."""
    config = folder / "config" / "interlock" / "interlock.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[daemon]\nport = 0\n[store]\nurl = "sqlite://{folder}/state/interlock"\n{more}')
    running, ending = start_daemon(folder, config=config), threading.Event()
    client = httpx.Client(
        transport=httpx.HTTPTransport(uds=str(folder / "state" / "interlock" / "interlock.sock")),
        base_url="http://x",
        timeout=60,
    )

    def approve() -> None:
        while not ending.wait(0.2):
            for ticket in client.get("/api/v1/tickets?state=open").json()["tickets"]:
                who = client.post("/api/v1/session", json={"operator": "ana", "passphrase": PASSPHRASE}).json()
                path = f"/api/v1/tickets/{ticket['id']}/approve"
                client.post(path, json={}, headers=bearer(who["token"]))

    thread = threading.Thread(target=approve)
    thread.start()
    try:
        yield running
    finally:
        ending.set()
        thread.join()
        client.close()
        running.stop()
        assert running.process.stdout is not None
        running.process.stdout.close()


def run(code: str, home: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        input=f"{PASSPHRASE}\n",
        env=home,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        start_new_session=True,  # no terminal: the passphrase is read from standard input
    )


@pytest.mark.parametrize("code", EXAMPLES, ids=[" ".join(code.split())[:50] for code in EXAMPLES])
def test_the_example_runs(code: str, home: dict[str, str], tmp_path: Path) -> None:
    if "gate.wait(" in code:
        config = "[gate]\nmaxCoolingOffMs = 1000\n"
        with somebody_who_approves(tmp_path, config):
            ran = run(code, home, tmp_path)
        assert ran.stdout == "terminating\n", ran.stderr
    else:
        ran = run(code, home, tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_the_figures_in_the_text_are_true() -> None:
    from interlock import assess
    from interlock.model import Level, Tier

    seen = assess("kubectl delete ns prod", cwd="/home/me/infra")
    assert (seen.level, seen.irreversible, seen.score, seen.tier) == (Level.DANGEROUS, True, 85, Tier.VERIFY)


def test_every_public_name_is_there_and_loaded_only_when_it_is_used() -> None:
    import interlock

    for name in interlock.__all__:
        assert getattr(interlock, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = interlock.Nonsense
    code = (
        "import sys, interlock; print([m for m in sys.modules if m.startswith(('interlock.sdk', 'interlock.engine'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
