"""Confirmation tokens over HTTP (CT-01 to CT-14): inert until a human arms them, bound to one action, spent once, on record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit_views import token_entry
from daemons import InProcessDaemon, in_process_daemon
from interlock.audit.chain import fingerprint
from interlock.error_codes import codes
from interlock.records import AuditQuery

DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}
VM = {"agent": "agent_123", "action": "terminate_vm", "resource": "web-1"}  # no forbidden attempt: those block
COOLED = {"agent": "agent_123", "action": "ban_user", "resource": "u7"}  # nothing but time is asked for
HOUR = 3_600


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        yield made


def ask(
    app: InProcessDaemon, headers: dict[str, str], body: dict[str, Any], token: str = ""
) -> tuple[int, dict[str, Any]]:
    """One question; a token goes where CT-14 says."""
    given = {**body, "params": {**body.get("params", {}), "_confirmation": token}} if token else body
    answer = app.call("POST", "/api/v1/evaluate", given, headers)
    return answer.status_code, answer.json()


def say(app: InProcessDaemon, ticket: str, deed: str) -> None:
    answer = app.call("POST", f"/api/v1/tickets/{ticket}/{deed}", {"reason": "because"}, app.sign_in())
    assert answer.status_code == 200, answer.text


def refused(
    app: InProcessDaemon, headers: dict[str, str], body: dict[str, Any], token: str, code: str
) -> dict[str, Any]:
    """The details of a refusal, which is in both forms."""
    status, answer = ask(app, headers, body, token)
    error = answer["error"]
    assert (status, answer["allowed"], answer["success"], answer["code"], error["code"]) == (
        403,
        False,
        False,
        code,
        code,
    )
    assert error["message"] == codes()[code].message and set(error.get("details", {})) <= set(codes()[code].details)
    assert token not in json.dumps(answer) or not token.startswith("conf_")
    return dict(error.get("details", {}))


def entries(app: InProcessDaemon) -> list[dict[str, Any]]:
    rows = app.state.store.read(lambda tx: tx.audit(AuditQuery()))
    return [found for row in rows if (found := token_entry(row))]


def test_a_held_action_gets_its_token_and_everything_an_adapter_passes_on(app: InProcessDaemon) -> None:
    agent = app.agent()
    status, held = ask(app, agent, DATABASE)
    token, error = held["confirmation_token"], held["error"]
    assert (status, held["code"], held["success"]) == (202, "CONFIRMATION_REQUIRED", False)
    assert re.fullmatch(r"conf_[A-Za-z0-9_-]{22,64}", token)  # CT-01, CT-02
    assert error["message"] == "This operation requires confirmation"
    details = error["details"]
    assert set(details) == set(codes()["CONFIRMATION_REQUIRED"].details)
    assert (details["operation"], details["danger_level"]) == ("drop_database", "forbidden")
    assert details["confirmation_token"] == token and details["expires_at"] == held["expiresAt"]
    assert details["reasons"] and details["confirmation_message"]
    assert held["confirmation"] == {
        "token": token,
        "expires_at": details["expires_at"],
        "message": details["confirmation_message"],
        "reasons": details["reasons"],
    }
    assert ask(app, agent, DATABASE)[1]["confirmation_token"] == token
    assert ask(app, agent, VM)[1]["confirmation_token"] != token


def test_a_token_is_inert_until_a_human_arms_it_and_good_for_one_use(app: InProcessDaemon) -> None:
    """C-14: the agent that holds it cannot approve by using it, and trying does not use it up."""
    agent = app.agent()
    _, held = ask(app, agent, DATABASE)
    token = held["confirmation_token"]
    for _ in range(3):
        assert refused(app, agent, DATABASE, token, "PERMISSION_DENIED") == {"reason": "self-approval"}
    say(app, held["pendingId"], "approve")
    status, freed = ask(app, agent, DATABASE, token)
    assert (status, freed["allowed"]) == (200, True)
    assert not {"error", "code", "confirmation", "confirmation_token"} & set(freed)
    used = refused(app, agent, DATABASE, token, "TOKEN_ALREADY_USED")
    assert used["token"] == fingerprint(token) and used["consumed_at"].endswith("Z")


@pytest.mark.parametrize(
    "token",
    [
        "conf_nothing",
        "conf_" + "a" * 64,
        "conf_",
        "conf_" + "a" * 65,
        "conf_ä",
        "pdact_x",
        "x",
        "quota_continue_x",
        " ",
    ],
)
def test_a_token_that_nobody_issued_and_one_that_is_malformed_are_the_same_error(
    app: InProcessDaemon, token: str
) -> None:
    """CT-13."""
    agent = app.agent()
    status, answer = ask(app, agent, DATABASE, token)
    assert (status, answer["code"], answer["error"]["message"]) == (
        403,
        "TOKEN_INVALID",
        codes()["TOKEN_INVALID"].message,
    )
    assert answer["reason"] == "there is no such confirmation token"
    assert answer["error"]["details"] == {"token": fingerprint(token)}


def test_a_token_expires_when_nobody_arms_it_and_soon_after_somebody_did(app: InProcessDaemon) -> None:
    """R-4, CT-06: two minutes for the forbidden."""
    agent = app.agent()
    _, held = ask(app, agent, DATABASE)
    app.clock.forward(HOUR)
    late = refused(app, agent, DATABASE, held["confirmation_token"], "TOKEN_EXPIRED")
    assert late["expired_at"] == held["expiresAt"] == late["current_time"]
    _, again = ask(app, agent, DATABASE)
    say(app, again["pendingId"], "approve")
    app.clock.forward(120)
    refused(app, agent, DATABASE, again["confirmation_token"], "TOKEN_EXPIRED")


def test_a_token_is_for_one_action_of_one_agent(app: InProcessDaemon) -> None:
    """CT-03: whatever is changed, nothing is freed, and the token is as good as before."""
    agent, other = app.agent(), app.agent("other")
    _, held = ask(app, agent, VM)
    token = held["confirmation_token"]
    say(app, held["pendingId"], "approve")
    told = {"token_operation": "terminate_vm"}
    changes: list[tuple[dict[str, str], dict[str, Any], str, dict[str, str]]] = [
        (agent, {**VM, "resource": "users"}, "this operation with other parameters", told),
        (agent, {**VM, "params": {"force": True}}, "this operation with other parameters", told),
        (agent, {**VM, "action": "terminate_server"}, "another operation", told),
        (agent, {**VM, "agent": "somebody_else"}, "another agent", {}),  # to whom nothing is told of it
        (other, VM, "another agent", {}),
        (agent, {**VM, "pendingId": "pdact_another"}, "another ticket than the one that is named beside it", told),
    ]
    for headers, body, words, more in changes:
        status, answer = ask(app, headers, body, token)
        assert (status, answer["code"], answer["allowed"]) == (403, "TOKEN_SCOPE_MISMATCH", False)
        asked = {"token": fingerprint(token), "requested_operation": body["action"]}
        assert answer["error"]["details"] == asked | more
        assert answer["error"]["message"] == f"This confirmation token is for {words}"
    assert ask(app, agent, VM, token)[0] == 200


@pytest.mark.parametrize("deed", ["reject", "revoke"])
def test_a_token_that_an_operator_took_away_is_not_valid_any_more(app: InProcessDaemon, deed: str) -> None:
    agent = app.agent()
    _, held = ask(app, agent, DATABASE)
    say(app, held["pendingId"], "approve")
    say(app, held["pendingId"], deed)
    refused(app, agent, DATABASE, held["confirmation_token"], "TOKEN_INVALID")
    assert "because" in ask(app, agent, DATABASE, held["confirmation_token"])[1]["reason"]
    gone = [entry for entry in entries(app) if entry["event"] == "TOKEN_REVOKED"]
    assert [(one["token_id"], one["client_context"]["user_id"]) for one in gone] == [
        (fingerprint(held["confirmation_token"]), "ana")
    ]


def test_where_only_time_is_asked_for_the_token_needs_nobody(app: InProcessDaemon) -> None:
    """R-3."""
    agent = app.agent()
    _, held = ask(app, agent, COOLED)
    status, early = ask(app, agent, COOLED, held["confirmation_token"])
    assert (status, early["decision"], early["code"]) == (202, "cool_off", "CONFIRMATION_REQUIRED")
    app.clock.forward(held["waitMs"] / 1000)
    assert ask(app, agent, COOLED, held["confirmation_token"])[0] == 200


def test_the_record_tells_every_tokens_life_and_no_token(app: InProcessDaemon, tmp_path: Path) -> None:
    """CT-12, C-29."""
    agent = app.agent()
    _, held = ask(app, agent, {**DATABASE, "session": "s1"})
    token = held["confirmation_token"]
    ask(app, agent, {**DATABASE, "session": "s1"}, token)
    ask(app, agent, DATABASE, "conf_nothing")
    say(app, held["pendingId"], "approve")
    ask(app, agent, {**DATABASE, "session": "s1"}, token)
    found = entries(app)
    assert [(one["event"], one["outcome"], one.get("failure_reason")) for one in found] == [
        ("TOKEN_ISSUED", "success", None),
        ("TOKEN_REJECTED", "failure", "self-approval"),
        ("TOKEN_REJECTED", "failure", "TOKEN_INVALID"),
        ("TOKEN_VALIDATED", "success", None),
    ]
    assert {one["token_id"] for one in found} == {fingerprint(token), fingerprint("conf_nothing")}
    assert {(one["operation"], one["adapter_name"]) for one in found} == {("drop_database", "http")}
    assert found[0]["client_context"] == {"session_id": "s1"}
    assert found[-1]["client_context"] == {"session_id": "s1", "user_id": "ana"}
    for file in (tmp_path / "state").glob("state.db*"):
        assert token.encode() not in file.read_bytes(), file


def test_a_principal_that_keeps_failing_has_to_wait_and_nobody_else(app: InProcessDaemon) -> None:
    """C-14, CT-13: also with the right token, until a minute has passed."""
    agent, other = app.agent(), app.agent("other")
    _, held = ask(app, agent, VM)
    for number in range(10):
        refused(app, agent, VM, f"conf_guess{number}", "TOKEN_INVALID")
    say(app, held["pendingId"], "approve")
    details = refused(app, agent, VM, held["confirmation_token"], "RATE_LIMIT_EXCEEDED")
    assert details["limit"] == 10 and 0 < details["retry_after_seconds"] <= 61
    refused(app, other, VM, "conf_guess", "TOKEN_INVALID")
    app.clock.forward(60)
    assert ask(app, agent, VM, held["confirmation_token"])[0] == 200


def test_a_token_comes_in_a_tools_input_and_in_a_batch_too(app: InProcessDaemon) -> None:
    agent = app.agent()
    action: dict[str, Any] = {"tool": "Bash", "input": {"command": "rm -rf /srv/data"}}
    _, held = ask(app, agent, action)
    say(app, held["pendingId"], "approve")
    armed = {**action, "input": {**action["input"], "_confirmation": held["confirmation_token"]}}
    results = app.call("POST", "/api/v1/evaluate/batch", {"actions": [armed, armed]}, agent).json()["results"]
    assert [one["allowed"] for one in results] == [True, False]
    assert results[1]["error"]["code"] == "TOKEN_ALREADY_USED"


def test_what_needs_no_confirmation_takes_no_notice_of_a_token(app: InProcessDaemon) -> None:
    agent = app.agent()
    assert ask(app, agent, {"action": "list_users"}, "conf_nothing")[0] == 200
    assert entries(app) == []
