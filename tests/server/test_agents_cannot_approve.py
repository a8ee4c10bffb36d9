"""An interface that is open to agents can never approve, whatever they send."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import asdict

from daemons import PASSPHRASE, InProcessDaemon, bearer, daemon, first_row, in_process_daemon

DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}
OPERATORS_ONLY = [
    ("GET", "/api/v1/operators", None),
    ("POST", "/api/v1/operators", {"name": "eve", "passphrase": PASSPHRASE, "roles": ["admin"]}),
    ("PATCH", "/api/v1/operators/bo", {"roles": ["admin"]}),
    ("GET", "/api/v1/agents", None),
    ("POST", "/api/v1/agents", {"name": "eve", "trust_tier": "privileged"}),
    ("PATCH", "/api/v1/agents", {"principal": "uid:0", "name": "x", "trust_tier": "privileged"}),
    ("GET", "/api/v1/blocks", None),
    ("POST", "/api/v1/blocks", {"principal": "uid:1", "reason": "x"}),
    ("DELETE", "/api/v1/blocks/uid:0", None),
    ("GET", "/api/v1/challenges", None),
    ("POST", "/api/v1/challenges/5f0c0000-0000-4000-8000-000000000000/reveal", {}),
    ("POST", "/api/v1/challenges/5f0c0000-0000-4000-8000-000000000000/reissue", {}),
    ("GET", "/api/v1/grants", None),
    ("POST", "/api/v1/grants", {"effect": "destroy", "targets": ["/x"], "why": "x"}),
    ("DELETE", "/api/v1/grants/grant_x", None),
    ("POST", "/api/v1/patterns", {"id": "x", "pattern": "x", "category": "data_deletion", "severity": "low"}),
    ("DELETE", "/api/v1/patterns/drop_table", None),
    ("PUT", "/api/v1/mode", {"mode": "disabled"}),
    ("POST", "/api/v1/pause", {"seconds": 60, "reason": "x"}),
    ("DELETE", "/api/v1/pause", None),
    ("GET", "/api/v1/channels", None),
    ("POST", "/api/v1/channels/oncall/test", None),
    ("GET", "/api/v1/session", None),
    ("DELETE", "/api/v1/session", None),
    ("PUT", "/api/v1/session/passphrase", {"passphrase": PASSPHRASE}),
    ("POST", "/api/v1/session/link", None),
    ("GET", "/api/v1/audit", None),
    ("GET", "/api/v1/audit/verify", None),
    ("GET", "/api/v1/audit/export", None),
]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        yield made


def held(app: InProcessDaemon, headers: dict[str, str] | None, peer: str = "") -> str:
    answer = app.call("POST", "/api/v1/evaluate", DATABASE, headers, peer)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["pendingId"])


@pytest.mark.parametrize(("method", "path", "body"), OPERATORS_ONLY, ids=lambda value: str(value)[:40])
def test_operator_endpoints_refuse_agents_and_nobody(
    app: InProcessDaemon, method: str, path: str, body: object
) -> None:
    for headers, peer, status in ((app.agent(), "", 403), (None, "uid:0", 403), (None, "", 401)):
        answer = app.call(method, path, body, headers, peer)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "PERMISSION_DENIED")


@pytest.mark.parametrize("deed", ["approve", "reject", "revoke"])
def test_neither_a_token_nor_a_socket_peer_answers_a_ticket(app: InProcessDaemon, deed: str) -> None:
    agent = app.agent()
    for headers, peer in ((agent, ""), (None, "uid:0"), (None, f"uid:{os.getuid()}")):
        ticket = held(app, headers, peer)
        for body in (
            {"reason": "x"},
            {"reason": "x", "operator": "ana"},
            {"reason": "x", "approver": "admin@company.com"},
        ):
            answer = app.call("POST", f"/api/v1/tickets/{ticket}/{deed}", body, headers, peer)
            assert answer.status_code in (400, 403)
        again = app.call("POST", "/api/v1/evaluate", {**DATABASE, "pendingId": ticket}, headers, peer)
        assert again.status_code == 202 and again.json()["allowed"] is False


def test_made_up_sessions_and_forged_names_are_nobody(app: InProcessDaemon) -> None:
    ticket, operator = held(app, app.agent()), app.sign_in()
    forged = [
        bearer("ses_" + "a" * 43),
        bearer("ses_"),
        bearer("ses_ana"),
        bearer(operator["authorization"].removeprefix("Bearer ")[:-1]),
        {"authorization": "Basic YW5hOnB3"},
        {"authorization": "Bearer"},
        {"authorization": ""},
    ]
    for headers in forged:
        for peer in ("", "uid:0"):
            answer = app.call("POST", f"/api/v1/tickets/{ticket}/approve", {}, headers, peer)
            assert answer.status_code == 401, headers
    for name in ("x-operator", "x-forwarded-user", "x-remote-user", "x-forwarded-for", "cookie"):
        answer = app.call("POST", f"/api/v1/tickets/{ticket}/approve", {}, {name: "ana"})
        assert answer.status_code == 401, name
    assert app.call("GET", f"/api/v1/tickets/{ticket}", headers=operator).json()["approvals"] == []


def test_an_operator_does_not_act(app: InProcessDaemon) -> None:
    answer = app.call("POST", "/api/v1/evaluate", {"command": "ls"}, app.sign_in())
    assert (answer.status_code, answer.json()["allowed"]) == (403, False)


def test_an_agent_sees_its_own_tickets_only(app: InProcessDaemon) -> None:
    one, other = app.agent("one"), app.agent("other")
    ticket = held(app, one)
    assert [t["id"] for t in app.call("GET", "/api/v1/tickets", headers=one).json()["tickets"]] == [ticket]
    assert app.call("GET", "/api/v1/tickets", headers=other).json()["tickets"] == []
    for path in ("", "/wait?seconds=0"):
        assert app.call("GET", f"/api/v1/tickets/{ticket}{path}", headers=other).status_code == 404
        assert app.call("GET", f"/api/v1/tickets/{ticket}{path}", headers=one).status_code == 200
    assert app.call("POST", f"/api/v1/tickets/{ticket}/executed", {"outcome": "x"}, other).status_code == 404


def test_a_revoked_token_is_nobody_at_once(app: InProcessDaemon) -> None:
    made = app.call("POST", "/api/v1/agents", {"name": "a"}, app.sign_in()).json()
    agent = bearer(made["token"])
    assert app.call("POST", "/api/v1/evaluate", {"command": "ls"}, agent).status_code == 200
    change = {"principal": made["principal"], "name": "a", "revoked": True}
    assert app.call("PATCH", "/api/v1/agents", change, app.sign_in()).status_code == 200
    answer = app.call("POST", "/api/v1/evaluate", {"command": "ls"}, agent)
    assert (answer.status_code, answer.json()["allowed"]) == (401, False)


def test_a_blocked_principal_is_blocked_under_every_name(app: InProcessDaemon) -> None:
    assert app.call("POST", "/api/v1/blocks", {"principal": "uid:7", "reason": "x"}, app.sign_in()).status_code == 200
    for name in ("a", "A", "a ", "b"):
        body = {"agent": name, "command": "git push"}
        assert app.call("POST", "/api/v1/evaluate", body, peer="uid:7").status_code == 403
    assert app.call("DELETE", "/api/v1/blocks/uid:7?reason=ok", headers=app.sign_in()).status_code == 200
    assert app.call("POST", "/api/v1/evaluate", {"command": "git push"}, peer="uid:7").status_code == 200


def test_the_first_operator_is_not_made_over_tcp_nor_twice_nor_by_an_agent(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        row, key = first_row(app.clock.now())
        body = {"row": {**asdict(row), "roles": list(row.roles), "teams": []}, "seal_key": key.hex()}
        me = f"uid:{os.getuid()}"
        assert app.call("POST", "/api/v1/operators/first", body, app.agent()).status_code == 404
        assert app.call("POST", "/api/v1/operators/first", body, peer="uid:4242").status_code == 403
        app.daemon.context.agent_above = lambda pid: "it was started by claude"
        assert "claude" in app.call("POST", "/api/v1/operators/first", body, peer=me).json()["error"]["message"]
        app.daemon.context.agent_above = lambda pid: None
        assert "already" in app.call("POST", "/api/v1/operators/first", body, peer=me).json()["error"]["message"]
        forged = {**body, "row": {**body["row"], "name": "eve"}}
        assert app.call("POST", "/api/v1/operators/first", forged, peer=me).status_code == 400


def test_a_row_edited_in_the_database_spends_nothing(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        client = running.here()
        ticket = client.post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        database = sqlite3.connect(tmp_path / "state" / "state.db", timeout=10)
        with database:
            database.execute("UPDATE tickets SET state = 'approved', decided_by = 'ana', version = version + 1")
        database.close()
        answer = client.post("/api/v1/evaluate", json={**DATABASE, "pendingId": ticket})
        assert answer.status_code == 403 and answer.json()["allowed"] is False


def test_the_kernel_says_who_is_on_the_socket(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        client = running.here()
        client.post("/api/v1/evaluate", json={"agent": {"name": "uid:4242"}, "action": "drop_database"})
        tickets = client.get("/api/v1/tickets").json()["tickets"]
        assert [ticket["agent"]["principal"] for ticket in tickets] == [f"uid:{os.getuid()}"]
        assert (running.socket.stat().st_mode & 0o777, running.socket.parent.stat().st_mode & 0o777) == (0o700, 0o700)
        spoofed = running.tcp(headers={"x-forwarded-for": "uid:0", "forwarded": "for=uid:0"})
        assert spoofed.get("/api/v1/tickets").status_code == 401
