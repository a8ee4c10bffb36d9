"""The recipe for teams, really started: two replicas on PostgreSQL behind a proxy without sticky sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

import postgres
from authenticator import Authenticator
from browser_window import Window
from daemons import TLS, bearer
from desk import PASSPHRASE, Desk, own_port
from repository import ROOT
from round_robin import balanced

pytestmark = pytest.mark.xdist_group("pg")
PUBLIC, AGENTS = "interlock.example.com", "agents.interlock.example.com"
PUSH = {"command": "git push --force origin main", "cwd": "/srv/app", "agent": "ci"}


class PublicPasskey(Authenticator):
    """A passkey for the public name."""

    def create(self, options: dict[str, Any], origin: str = f"https://{PUBLIC}", **more: Any) -> dict[str, Any]:
        return super().create(options, origin, **more)

    def get(self, options: dict[str, Any], origin: str = f"https://{PUBLIC}", **more: Any) -> dict[str, Any]:
        return super().get(options, origin, **more)


class PublicWindow(Window):
    """A browser that reaches the console by the proxy."""

    def __init__(self, proxy: str) -> None:
        self.proxy, self.origin = proxy, f"https://{PUBLIC}"
        self.cookies, self.mark, self.set_cookies = {}, "", []

    async def _ask(self, method: str, path: str, headers: dict[str, str], more: dict[str, Any]) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.proxy, trust_env=False, verify=TLS) as client:
            return await client.request(method, path, headers={**headers, "host": PUBLIC}, **more)


def replica(folder: Path, url: str) -> tuple[Desk, int]:
    """A desk at a daemon that has the recipe's configuration, but for what two on one machine cannot share."""
    folder.mkdir()
    desk, port = Desk(folder), own_port()
    recipe = (ROOT / "deploy" / "interlock.toml").read_text()
    for shipped, here in (
        ("port = 7310", f"port = {port}"),
        ("/run/interlock/interlock.sock", str(desk.socket)),
        ("postgresql://interlock@postgres/interlock", url),
    ):
        assert recipe.count(shipped) == 1
        recipe = recipe.replace(shipped, here)
    desk.config.write_text(recipe)
    return desk, port


@pytest.mark.slow(why="a PostgreSQL and two daemons are really started")
def test_a_team_signs_in_at_one_replica_and_acts_at_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: postgres.Server
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    url = server.new_database()
    (one, first), (two, second) = replica(tmp_path / "one", url), replica(tmp_path / "two", url)
    try:
        one.start()
        two.start()
        one.enrol()  # which unlocks its replica
        assert "unlocked" in one.program("status").stdout
        assert two.signed("unlock")[1] == 0
        with balanced([first, second]) as (proxy, used):
            check_console(one, proxy, used)
    finally:
        two.stop()
        one.stop()


def check_console(one: Desk, proxy: str, used: list[int]) -> None:
    """A passkey is registered, a browser signs in, and an agent's force push is approved by a touch, all across replicas."""
    operator = one.daemon.on_behalf(one.daemon.post("/session", {"operator": "ana", "passphrase": PASSPHRASE})["token"])
    link = operator.post("/session/link")["url"]
    agent = operator.post("/agents", {"name": "ci"})["token"]
    key, window = PublicPasskey(), PublicWindow(proxy)
    assert link.startswith(f"https://{PUBLIC}/console/set-up#")
    window.mark = window.json("/console/set-up", {"token": link.partition("#")[2]}).json()["csrf"]
    assert window.register(key).status_code == 200
    window = PublicWindow(proxy)
    assert window.enter(key).status_code == 200
    with httpx.Client(base_url=proxy, trust_env=False, verify=TLS, headers={"host": AGENTS}) as remote:
        assert remote.post("/api/v1/evaluate", json=PUSH).status_code == 401
        assert remote.get("/console", headers=bearer(agent)).status_code != 200
        held = remote.post("/api/v1/evaluate", json=PUSH, headers=bearer(agent)).json()
        assert held["allowed"] is False
        pages = [window.get(f"/console/tickets/{held['pendingId']}") for _ in range(2)]
        assert [(page.status_code, "git push --force" in page.text) for page in pages] == [(200, True)] * 2
        asked = window.json(f"/console/step-up/{held['pendingId']}/begin").json()
        body = {"ceremony": asked["ceremony"], "response": key.get(asked["publicKey"])}
        approved = window.json(f"/console/step-up/{held['pendingId']}/approve", body)
        assert approved.json()["state"] == "approved", approved.text
        answers = [remote.post("/api/v1/evaluate", json=PUSH, headers=bearer(agent)).json() for _ in range(2)]
    assert [answer["allowed"] for answer in answers] == [True, False]
    assert len(set(used)) == 2
