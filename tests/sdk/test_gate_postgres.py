"""Gates that share a PostgreSQL: each decides by itself, and all of them agree."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import postgres
from daemons import PASSPHRASE, enrol_operators
from forked_child import in_child
from interlock import Gate
from interlock.config import config_of
from interlock.sdk.in_process import open_in_process

pytestmark = pytest.mark.xdist_group("pg")
DATABASE: dict[str, Any] = {"operation": "drop_database", "resource": "main"}


@pytest.mark.slow(why="a PostgreSQL is really started")
def test_what_one_gate_holds_another_frees_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: postgres.Server
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = server.new_database()
    first = open_in_process(config_of({"store": {"url": url}, "policy": {"use": "spec"}}))
    enrol_operators(first.state)
    with Gate._over(first).for_agent("claude") as one, Gate(store=url, policy="spec", agent="claude") as two:
        held = one.evaluate(**DATABASE)
        assert held.ticket is not None
        id, session = held.ticket.id, two.sign_in("ana", PASSPHRASE)
        threading.Timer(0.5, lambda: two.approve(id, session)).start()
        assert one.wait(held, timeout=30).state == "approved"
        assert sorted(gate.evaluate(**DATABASE, pending_id=id).allowed for gate in (one, two)) == [False, True]
        assert in_child(lambda: one.evaluate(command="ls").outcome) == "allow", "a child opens it for itself"
        assert one.evaluate(command="ls").allowed
