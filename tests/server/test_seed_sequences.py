"""Every sequence of seed 003, over HTTP, under policy `spec`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemons import InProcessDaemon, in_process_daemon

DROP = {"agent": "agent_123", "action": "drop_table", "resource": "users"}
DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}
CACHE = {
    "id": "custom_wipe_cache",
    "pattern": "wipe_cache|flush_cdn|purge_edge",
    "category": "config_destruction",
    "severity": "high",
    "description": "Wipe CDN cache (causes cold-start storm)",
    "requiresConfirmation": True,
    "coolingOffMs": 120_000,
    "requiresHumanApproval": True,
    "canRollback": False,
}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        yield made


def ask(app: InProcessDaemon, headers: dict[str, str], body: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
    answer = app.call("POST", "/api/v1/evaluate", {**body, **more}, headers)
    return answer.status_code, answer.json()


def test_what_is_not_destructive_is_allowed_immediately(app: InProcessDaemon) -> None:
    status, body = ask(app, app.agent(), {"action": "list_users"})
    assert (status, body["allowed"], body["decision"], body["deniedPatterns"]) == (200, True, "allow", [])


def test_cooling_off_then_a_retry_with_the_pending_id(app: InProcessDaemon) -> None:
    agent = app.agent()
    status, held = ask(app, agent, DROP)
    assert status == 202 and held["allowed"] is False
    assert held["waitMs"] == 120_000 and held["pendingId"].startswith("pdact_")
    assert "120s cooling-off" in held["reason"]
    assert [pattern["id"] for pattern in held["deniedPatterns"]] == ["drop_table"]
    app.clock.forward(60)
    status, early = ask(app, agent, DROP, pendingId=held["pendingId"])
    assert (status, early["decision"], early["waitMs"]) == (202, "cool_off", 60_000)
    app.clock.forward(60)
    status, freed = ask(app, agent, DROP, pendingId=held["pendingId"])
    assert (status, freed["allowed"]) == (200, True)
    ticket = app.call("GET", f"/api/v1/tickets/{held['pendingId']}", headers=agent).json()
    assert ticket["state"] == "approved" and ticket["spentAt"] and "executedAt" not in ticket


def test_a_retry_without_the_pending_id_finds_its_ticket(app: InProcessDaemon) -> None:
    agent = app.agent()
    _, held = ask(app, agent, DROP)
    _, again = ask(app, agent, DROP)
    assert again["pendingId"] == held["pendingId"]


def test_an_approved_action_runs_once_and_is_reported(app: InProcessDaemon) -> None:
    agent = app.agent()
    status, held = ask(app, agent, DATABASE)
    assert (status, held["requiresApproval"], held["approvers"]) == (202, True, ["human"])
    path = f"/api/v1/tickets/{held['pendingId']}"
    assert app.call("GET", path, headers=agent).json()["state"] == "pending_approval"
    answer = app.call("POST", f"{path}/approve", {"reason": "looked at it"}, app.sign_in())
    assert answer.status_code == 200, answer.text
    approved = answer.json()
    assert [one["operator"] for one in approved["approvals"]] == ["ana"]
    status, freed = ask(app, agent, DATABASE, pendingId=held["pendingId"])
    assert (status, freed["allowed"]) == (200, True)
    status, second = ask(app, agent, DATABASE, pendingId=held["pendingId"])
    assert (status, second["code"]) == (403, "TOKEN_ALREADY_USED")
    done = app.call("POST", f"{path}/executed", {"outcome": "dropped"}, agent).json()
    assert (done["state"], done["outcome"]) == ("executed", "dropped")
    assert app.call("GET", "/api/v1/metrics", headers=agent).json()["executed"] == 1


def test_a_rejection_carries_its_reason_to_the_agent(app: InProcessDaemon) -> None:
    agent = app.agent()
    _, held = ask(app, agent, DATABASE)
    path = f"/api/v1/tickets/{held['pendingId']}/reject"
    answer = app.call("POST", path, {"reason": "Too risky for production"}, app.sign_in("bo"))
    assert answer.json()["state"] == "rejected" and answer.json()["decidedBy"] == "bo"
    status, denied = ask(app, agent, DATABASE, pendingId=held["pendingId"])
    assert (status, denied["allowed"]) == (403, False)
    assert "Too risky for production" in denied["reason"]
    assert app.call("POST", path, {}, app.sign_in()).status_code == 400


def test_a_pending_action_expires_after_an_hour(app: InProcessDaemon) -> None:
    agent = app.agent()
    _, held = ask(app, agent, DATABASE)
    app.clock.forward(3_600)
    path = f"/api/v1/tickets/{held['pendingId']}"
    assert app.call("GET", path, headers=agent).json()["state"] == "expired"
    assert app.call("POST", f"{path}/approve", {}, app.sign_in()).json()["error"]["code"] in (
        "TOKEN_EXPIRED",
        "PERMISSION_DENIED",
    )
    status, denied = ask(app, agent, DATABASE, pendingId=held["pendingId"])
    assert (status, denied["code"]) == (403, "TOKEN_EXPIRED")
    status, fresh = ask(app, agent, DATABASE)
    assert status == 202 and fresh["pendingId"] != held["pendingId"]


def test_the_veto_ends_a_cooling_off(app: InProcessDaemon) -> None:
    agent = app.agent()
    _, held = ask(app, agent, DROP)
    app.call("POST", f"/api/v1/tickets/{held['pendingId']}/reject", {"reason": "no"}, app.sign_in())
    app.clock.forward(120)
    assert ask(app, agent, DROP, pendingId=held["pendingId"])[0] == 403


def test_a_pending_id_frees_nothing_else_and_nobody_else(app: InProcessDaemon) -> None:
    agent, other = app.agent(), app.agent("other")
    _, held = ask(app, agent, DROP)
    app.clock.forward(120)
    orders = {**DROP, "resource": "orders"}
    for headers, body in ((agent, orders), (other, DROP), (agent, {**DROP, "agent": "somebody_else"})):
        status, denied = ask(app, headers, body, pendingId=held["pendingId"])
        assert (status, denied["code"]) == (403, "TOKEN_SCOPE_MISMATCH")
    assert ask(app, agent, DROP, pendingId="pdact_nonsense")[1]["code"] == "TOKEN_INVALID"


def test_a_custom_pattern_is_registered_and_unregistered(app: InProcessDaemon) -> None:
    agent, flush = app.agent(), {"action": "flush_cdn"}
    assert ask(app, agent, flush)[0] == 200
    assert app.call("POST", "/api/v1/patterns", CACHE, app.sign_in()).status_code == 200
    assert ask(app, agent, flush)[1]["requiresApproval"] is True
    assert app.call("DELETE", "/api/v1/patterns/custom_wipe_cache", headers=app.sign_in("bo")).status_code == 403
    assert app.call("DELETE", "/api/v1/patterns/custom_wipe_cache", headers=app.sign_in()).status_code == 200
    assert ask(app, agent, flush)[0] == 200
    assert app.call("DELETE", "/api/v1/patterns/custom_wipe_cache", headers=app.sign_in()).status_code == 404


def test_metrics_have_every_key_and_count_what_happened(app: InProcessDaemon) -> None:
    agent = app.agent()
    ask(app, agent, {"action": "list_users"})
    ask(app, agent, DROP)
    ask(app, agent, DATABASE)
    found = app.call("GET", "/api/v1/metrics", headers=agent).json()
    assert (found["totalChecked"], found["destructiveDetected"]) == (3, 2)
    assert found["blockedByCooling"] + found["blockedByApproval"] == 2
    assert found["bySeverity"] == {"low": 0, "medium": 0, "high": 1, "critical": 1}
    eight = "data_deletion access_revocation resource_termination credential_invalidation config_destruction communication_block financial_action account_action"
    assert set(eight.split()) <= set(found["byCategory"]) and found["byCategory"]["data_deletion"] == 2
    text = app.call("GET", "/metrics").text
    assert "interlock_checked_total 3.0" in text and 'interlock_by_severity_total{severity="critical"} 1.0' in text


def test_a_trusted_tier_skips_cooling_off_and_nothing_more(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, gate={"bypassForTrustTiers": ["privileged"]}) as app:
        trusted, plain = app.agent("trusted", "privileged"), app.agent("plain")
        ban = {"action": "ban_user", "resource": "u1"}
        assert ask(app, trusted, ban)[0] == 200
        assert ask(app, plain, ban)[0] == 202
        assert ask(app, plain, {**ban, "agent": "trusted"})[0] == 202
        assert ask(app, trusted, DATABASE)[0] == 202
        assert any("bypassForTrustTiers" in words for words in app.config.warnings)


def test_a_disabled_gate_holds_nothing_by_name(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, gate={"enabled": False}) as app:
        assert ask(app, app.agent(), DROP)[0] == 200


def test_what_cannot_be_matched_is_blocked(app: InProcessDaemon) -> None:
    status, body = ask(app, app.agent(), {"action": "list_" + "a" * 20_000})
    assert (status, body["allowed"]) == (403, False)


def test_cooling_is_capped_by_the_configured_most(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, gate={"maxCoolingOffMs": 45_000}) as app:
        assert ask(app, app.agent(), DROP)[1]["waitMs"] == 45_000
