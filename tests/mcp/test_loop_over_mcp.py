"""The loop through real MCP clients: stdio and HTTP, both eras, the same answers (sections 1.1, 1.4, 1.9 to 1.11)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from servers import Servers, Talk, fresh

pytestmark = pytest.mark.xdist_group("mcp")

ENDPOINTS = {  # ESL-04
    "introspect": "read",
    "get_execution_state": "read",
    "record_execution_step": "create",
    "verify_challenge": "create",
    "execute_agent": "execute",
    "complete_execution": "execute",
    "abort_execution": "execute",
    "confirm_operation": "execute",
}


def test_ep_02_ep_05_ep_08_tools_have_exact_names_annotations_and_schema(talk: Talk) -> None:
    tools = {tool.name: tool for tool in talk.tools()}
    assert list(tools) == ["mcp_aql_create", "mcp_aql_read", "mcp_aql_execute", "mcp_aql"]
    hints = {
        name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
        for name, tool in tools.items()
        if tool.annotations
    }
    assert hints == {
        "mcp_aql_create": (False, False),
        "mcp_aql_read": (True, False),
        "mcp_aql_execute": (False, True),
        "mcp_aql": (False, True),
    }
    for tool in tools.values():
        assert (
            tool.input_schema["required"] == ["operation"]
            and tool.input_schema["properties"]["operation"]["type"] == "string"
        )
        assert tool.input_schema["properties"]["params"]["additionalProperties"] is True
        assert "introspect" in (tool.description or "")  # EP-07


def test_the_instructions_teach_the_loop_with_good_and_poor_hints(talk: Talk) -> None:
    said = talk.client.instructions or ""
    for words in ("record_execution_step", "continue: true", "npm install express", "doing something"):
        assert words in said


def test_esl_04_operations_stand_where_the_reserved_names_say(talk: Talk) -> None:
    listed = talk.read("introspect", query="operations")["data"]["operations"]
    found = {one["name"]: one["endpoint"] for one in listed}
    assert ENDPOINTS.items() <= found.items()


@pytest.mark.parametrize("operation", ENDPOINTS)
def test_ep_03_the_wrong_tool_is_refused_naming_the_right_one(talk: Talk, operation: str) -> None:
    for endpoint in {"create", "read", "execute"} - {ENDPOINTS[operation]}:
        error = talk.call(f"mcp_aql_{endpoint}", operation)["error"]
        assert error["code"] == "VALIDATION_ENDPOINT_MISMATCH" and f"mcp_aql_{ENDPOINTS[operation]}" in error["message"]


def test_esl_01_esl_02_introspection_says_how_the_loop_is_enforced(talk: Talk) -> None:
    data = talk.read("introspect", query="operations")["data"]
    assert data["_protocol"]["capabilities"]["execution_safety_loop"] == "enforcing"
    assert data["capabilities"]["execution_safety_loop"] == "enforcing"  # generous by default
    loop = data["_protocol"]["safety_loop"]
    assert loop["defaults"]["max_autonomous_steps"] == 10 and loop["step_ceiling"] == 100  # AE-03, R-13
    assert "conservative" in loop["options"]["risk_tolerance"]  # AE-08


def test_lc_03_lc_04_states_of_our_own_are_documented(talk: Talk) -> None:
    detail = talk.read("introspect", query="operations", name="execute_agent")["data"]
    assert {"paused", "blocked", "cancelled"} <= set(detail["operation"]["lifecycle"]["states"])
    assert detail["danger"]["level"] == "reversible"  # DL-08
    kept = talk.read("introspect", query="operations")["data"]["_protocol"]["lifecycle"]
    assert kept["extra_states"] == {"paused": "running", "blocked": "running"}
    assert "paused" in talk.read("introspect", query="types", name="ExecutionStatus")["data"]["type"]["description"]


def test_gk_08_r_11_permission_levels_are_those_of_the_rulings(talk: Talk) -> None:
    levels = talk.read("introspect", query="operations")["data"]["_protocol"]["permission_levels"]
    assert levels["execute_agent"] == "CONFIRM_SINGLE_USE" and levels["record_execution_step"] == "CONFIRM_SESSION"
    for name in ("introspect", "confirm_operation", "verify_challenge", "abort_execution", "complete_execution"):
        assert levels[name] == "AUTO_APPROVE"


def test_esl_05_an_execution_starts_when_a_person_agreed_and_not_before(servers: Servers, talk: Talk) -> None:
    name = fresh()
    held = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"})
    assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert held["confirmation"]["token"] == held["error"]["details"]["confirmation_token"]  # 2.9
    token = held["confirmation"]["token"]
    for _ in range(2):  # C-14: an agent cannot arm its own token
        refused = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"}, _confirmation=token)
        assert refused["error"]["code"] == "PERMISSION_DENIED"
    assert (
        talk.create("record_execution_step", element_name=name, next_action_hint="reading README.md")["error"]["code"]
        == "NOT_FOUND_RESOURCE"
    )
    servers.approve(name)
    begun = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"}, _confirmation=token)["data"]
    assert begun["status"] == "running" and begun["safety_loop"] == "enforcing" and begun["max_autonomous_steps"] == 10
    again = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"}, _confirmation=token)
    assert again["error"]["code"] == "TOKEN_ALREADY_USED"  # CT-07


def test_ae_01_every_step_is_answered_with_a_directive(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    for spelled in ("next_action_hint", "nextActionHint"):
        data = talk.create(
            "record_execution_step", element_name=name, **{spelled: "reading docs/setup.md to check the install steps"}
        )["data"]
        assert data["autonomy"]["continue"] is True and isinstance(data["autonomy"]["factors"], list)
    state = talk.read("get_execution_state", element_name=name)["data"]
    assert state["steps"] == 2 and state["status"] == "running"
    only = talk.read("get_execution_state", element_name=name, fields=["status", "steps"])["data"]
    assert only == {"status": "running", "steps": 2}
    done = talk.execute("complete_execution", element_name=name, summary="read")["data"]
    assert done["status"] == "completed" and done["execution_id"] == state["execution_id"]


def test_ae_04_a_reported_failure_pauses(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    data = talk.create(
        "record_execution_step", element_name=name, next_action_hint="reading docs/setup.md", outcome="failure"
    )["data"]
    assert data["autonomy"]["continue"] is False and data["autonomy"].get("stopped") is not True
    assert talk.execute("abort_execution", element_name=name, reason="failed")["data"]["status"] == "cancelled"


def test_esl_13_a_session_does_not_see_another_ones_execution(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    other = servers.shared["http-2025" if talk.kind != "http-2025" else "stdio-2025"]
    missing = other.create("record_execution_step", element_name=name, next_action_hint="reading README.md")
    assert missing["error"]["code"] == "NOT_FOUND_RESOURCE"


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "an empty hint": ("record_execution_step", {"element_name": "a", "next_action_hint": " "}, "VALIDATION_INVALID_VALUE"),
    "no hint": ("record_execution_step", {"element_name": "a"}, "VALIDATION_MISSING_PARAM"),
    "two hints": ("record_execution_step", {"element_name": "a", "next_action_hint": "ls", "nextActionHint": "rm -rf /"}, "VALIDATION_INVALID_VALUE"),
    "an unknown parameter": ("record_execution_step", {"element_name": "a", "next_action_hint": "ls", "confidence": 1}, "VALIDATION_UNKNOWN_PARAM"),
    "an outcome nobody knows": ("record_execution_step", {"element_name": "a", "next_action_hint": "ls", "outcome": "partial"}, "VALIDATION_INVALID_VALUE"),
    "a code without an id": ("verify_challenge", {"code": "x"}, "VALIDATION_MISSING_PARAM"),
    "a NUL": ("record_execution_step", {"element_name": "a", "next_action_hint": "ls\0"}, "VALIDATION_INVALID_ENCODING"),
}  # fmt: skip


@pytest.mark.parametrize("why", WRONG)
def test_ep_06_ep_11_what_is_not_documented_is_refused(talk: Talk, why: str) -> None:
    operation, params, code = WRONG[why]
    error = talk.create(operation, **params)["error"]
    assert error["code"] == code and error["details"]["session_id"].startswith("mcp_")  # C-47


def test_ep_09_an_error_of_the_domain_is_never_one_of_json_rpc(talk: Talk) -> None:
    for arguments in ({}, {"operation": 1}, {"operation": "nothing"}, {"operation": "introspect", "params": 3}):
        result = talk.raw("mcp_aql", arguments)
        assert json.loads(result.content[0].text)["success"] is False and not result.is_error  # type: ignore[union-attr]


def test_a_batch_reads_and_nothing_else(talk: Talk) -> None:
    asked = [
        {"operation": "introspect", "params": {"query": "types"}},
        {"operation": "get_execution_state", "params": {"element_name": fresh()}},
    ]
    found = json.loads(talk.raw("mcp_aql_read", {"operations": asked}).content[0].text)  # type: ignore[union-attr]
    assert found["summary"] == {"total": 2, "succeeded": 1, "failed": 1}
    refused = json.loads(
        talk.raw("mcp_aql", {"operations": [{"operation": "abort_execution", "params": {"element_name": "a"}}]})
        .content[0]
        .text
    )  # type: ignore[union-attr]
    assert refused["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH"


def test_gk_10_the_single_tool_enforces_the_same(servers: Servers, talk: Talk) -> None:
    name = fresh()
    held = talk.call("mcp_aql", "execute_agent", element_name=name)
    assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert (
        talk.call("mcp_aql", "record_execution_step", element_name=name, next_action_hint="ls")["error"]["code"]
        == "NOT_FOUND_RESOURCE"
    )


def test_ae_14_a_token_that_nobody_armed_confirms_nothing(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    data = talk.create(
        "record_execution_step", element_name=name, next_action_hint="executing shell command: git reset --hard HEAD~3"
    )["data"]
    assert data["autonomy"]["continue"] is False
    offered = data["confirmation"]
    for _ in range(2):
        refused = talk.execute("confirm_operation", confirmation_token=offered["token"], operation=offered["operation"])
        assert refused["error"]["code"] == "PERMISSION_DENIED"
    servers.approve(name)
    confirmed = talk.execute("confirm_operation", confirmation_token=offered["token"], operation=offered["operation"])
    assert confirmed["success"] and confirmed["data"]["confirmed"] is True


def test_quota_and_adapter_info_can_be_asked_for(talk: Talk) -> None:
    assert talk.read("introspect", query="adapter_info")["data"]["name"] == "interlock"
    quotas = talk.read("introspect", query="quota_status")["data"]["quotas"]
    assert {one["metric"] for one in quotas} == {"verification_failures", "confirmation_failures"}
