"""MCP over HTTP inside the daemon: for agents with a token, each in sessions of its own, in a daemon that stops when it is told to."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers import Servers, fresh, serving

from daemons import bearer

pytestmark = pytest.mark.xdist_group("mcp")
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}  # fmt: skip


def call(operation: str, **params: Any) -> dict[str, Any]:
    given = {"name": "mcp_aql", "arguments": {"operation": operation, "params": params}}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": given}


def opened(client: httpx.Client) -> dict[str, str]:
    """The headers of a session."""
    answer = client.post("/mcp", json=INITIALIZE, headers=HEADERS)
    assert answer.status_code == 200, answer.text
    found = {**HEADERS, "mcp-session-id": answer.headers["mcp-session-id"]}
    client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=found)
    return found


def envelope(answer: httpx.Response) -> dict[str, Any]:
    data = next(line for line in answer.text.splitlines() if line.startswith("data: {"))
    found: dict[str, Any] = json.loads(json.loads(data[6:])["result"]["content"][0]["text"])
    return found


def test_only_agents_are_served(servers: Servers) -> None:
    for headers, status in (({}, 401), (bearer("agt_wrong"), 401), (servers.daemon.sign_in(), 403)):
        assert servers.daemon.tcp().post("/mcp", json=INITIALIZE, headers={**HEADERS, **headers}).status_code == status
    foreign = {**HEADERS, **bearer(servers.token()), "origin": "http://evil.example"}
    assert servers.daemon.tcp().post("/mcp", json=INITIALIZE, headers=foreign).status_code == 403


def test_a_session_is_only_for_the_credential_that_opened_it(servers: Servers) -> None:
    mine, other = (servers.daemon.tcp(headers=bearer(servers.token())) for _ in range(2))
    session = opened(mine)
    assert envelope(mine.post("/mcp", json=call("introspect", query="types"), headers=session))["success"]
    assert other.post("/mcp", json=call("introspect", query="types"), headers=session).status_code == 404


def test_esl_13_a_session_that_is_deleted_takes_its_execution_along(servers: Servers) -> None:
    client, name = servers.daemon.tcp(headers=bearer(servers.token())), fresh()
    session = opened(client)
    held = envelope(client.post("/mcp", json=call("execute_agent", element_name=name), headers=session))
    servers.approve(name)
    token = held["confirmation"]["token"]
    begun = envelope(
        client.post("/mcp", json=call("execute_agent", element_name=name, _confirmation=token), headers=session)
    )
    assert begun["data"]["status"] == "running"
    assert client.delete("/mcp", headers=session).status_code == 200
    found = envelope(client.post("/mcp", json=call("get_execution_state", element_name=name), headers=opened(client)))
    assert found["data"]["status"] == "cancelled"


def test_ep_11_bytes_that_are_no_text_are_an_error_of_the_domain(servers: Servers) -> None:
    client = servers.daemon.tcp(headers=bearer(servers.token()))
    body = json.dumps(call("introspect", query="types")).encode().replace(b"types", b"\xff")
    assert (
        envelope(client.post("/mcp", content=body, headers=opened(client)))["error"]["code"]
        == "VALIDATION_INVALID_ENCODING"
    )


@pytest.mark.slow("starts a daemon and a server, and waits for their end")
def test_a_daemon_with_open_streams_stops_when_it_is_told_to(tmp_path: Path) -> None:
    with serving(tmp_path) as servers:
        for kind in ("http-2025", "stdio-2025"):
            assert servers.talk(kind).read("introspect", query="types")["success"]
        assert servers.daemon.stop(signal.SIGTERM) == 0
        assert "error" not in servers.daemon.errors().lower()


def test_r_25_a_disabled_loop_offers_the_same_and_a_change_of_mode_counts_at_once(
    servers_of_its_own: Servers,
) -> None:
    servers = servers_of_its_own
    talk = servers.talk("http-2026")
    names = [one["name"] for one in talk.read("introspect", query="operations")["data"]["operations"]]
    answer = servers.daemon.here().put(
        "/api/v1/mode", json={"mode": "disabled", "reason": "a test"}, headers=servers.daemon.sign_in()
    )
    assert answer.status_code == 200, answer.text
    listed = talk.read("introspect", query="operations")["data"]
    assert "execute_agent" in names and [one["name"] for one in listed["operations"]] == names
    assert listed["_protocol"]["capabilities"]["execution_safety_loop"] == "disabled"
    assert talk.call("mcp_aql", "execute_agent", element_name=fresh())["success"]


@pytest.fixture
def servers_of_its_own(tmp_path: Path) -> Any:
    with serving(tmp_path) as made:
        yield made


BODIES = {
    "no JSON": b"{",
    "no object": b"[]",
    "an unknown key": b'{"endpoint":"read","session":"mcp_aaaaaaaaaaaaaaaaaaaaaaaa","principal":"uid:0"}',
    "no session": b'{"endpoint":"read","arguments":{}}',
    "a session of another's making": b'{"endpoint":"read","session":"s1","arguments":{}}',
    "an endpoint nobody has": b'{"endpoint":"admin","session":"mcp_aaaaaaaaaaaaaaaaaaaaaaaa","arguments":{}}',
    "a mode nobody has": b'{"endpoint":"read","mode":"crude","session":"mcp_aaaaaaaaaaaaaaaaaaaaaaaa","arguments":{}}',
    "a policy that is none": b'{"endpoint":"read","policy":"{}{","session":"mcp_aaaaaaaaaaaaaaaaaaaaaaaa","arguments":{}}',
    "a policy that is no text": b'{"endpoint":"read","policy":{},"session":"mcp_aaaaaaaaaaaaaaaaaaaaaaaa","arguments":{}}',
}


@pytest.mark.parametrize("why", BODIES)
def test_what_the_daemon_is_asked_badly_is_answered_with_a_failure(servers: Servers, why: str) -> None:
    answer = servers.daemon.here().post("/api/v1/aql", content=BODIES[why])
    assert answer.json()["envelope"]["success"] is False and answer.status_code in (200, 400)


def test_operators_and_nobody_make_no_calls(servers: Servers) -> None:
    body = {
        "endpoint": "read",
        "session": "mcp_" + "a" * 32,
        "arguments": {"operation": "introspect", "params": {"query": "types"}},
    }
    for path in ("", "/tools", "/end", "/hold", "/ask", "/elicited"):
        for headers, status in (({}, 401), (servers.daemon.sign_in(), 403)):
            answer = servers.daemon.tcp().post(f"/api/v1/aql{path}", json=body, headers=headers)
            assert answer.status_code == status and answer.json()["envelope"]["success"] is False
    assert servers.daemon.here().get("/api/v1/aql").status_code == 405
