"""One call, one closed envelope; the same checks through every endpoint; introspection says what is accepted (GK, EP, INT, ERR)."""

from __future__ import annotations

import json

import pytest
from toy import NOTES, SHELF, ask, data, error

from interlock.error_codes import LoopProblem
from interlock.loop.protocol import OperationSpec, ParamSpec, TableError, table
from interlock.loop.protocol.envelope import encode, leaks, refusal
from interlock.loop.protocol.surface import Surface
from interlock.loop.protocol.tools import SurfaceSettingError, ToolNaming, list_tools


def test_a_success_holds_data_warnings_and_meta() -> None:
    reply = ask({"operation": "create_note", "params": {"title": "a"}})
    assert set(reply.envelope) == {"success", "data", "warnings", "_meta"} and not reply.is_error
    assert reply.envelope["_meta"]["session_id"] == "mcp_s1"
    assert json.loads(encode(reply.envelope)) == reply.envelope


def test_a_failure_names_the_session_and_has_no_meta() -> None:
    reply = ask({"operation": "create_note"})
    assert set(reply.envelope) == {"success", "error"} and not reply.is_error
    assert reply.envelope["error"]["details"]["session_id"] == "mcp_s1"


@pytest.mark.parametrize("endpoint", ["create", "update", "delete", "execute"])
def test_the_wrong_endpoint_is_refused_and_the_right_one_is_named(endpoint: str) -> None:
    found = error({"operation": "get_note", "params": {"title": "a"}}, endpoint)
    assert found["code"] == "VALIDATION_ENDPOINT_MISMATCH" and "mcp_aql_read" in found["message"]
    assert found["details"]["expected_endpoint"] == "read" and found["details"]["actual_endpoint"] == endpoint


@pytest.mark.parametrize("endpoint", ["delete", "any"])
def test_what_is_denied_is_denied_in_every_mode(endpoint: str) -> None:
    assert error({"operation": "burn_shelf"}, endpoint)["code"] == "PERMISSION_DENIED"


def test_words_that_look_like_a_leak_stay_out_of_the_message() -> None:
    found = error({"operation": "fail"})
    assert found["message"] == "This is not allowed" and found["details"]["reason"] == "Held until tomorrow at noon"
    assert leaks("see app.js:12") and not leaks("Use pattern: ^[a-z]+$")


def test_a_confirmation_stands_beside_its_error() -> None:
    held = LoopProblem("CONFIRMATION_REQUIRED", "Held", {"operation": "x"}, {"token": "conf_x", "expires_at": "2026"})
    assert refusal(held).envelope["confirmation"] == {"token": "conf_x", "expires_at": "2026"}


def test_fields_select_what_is_answered() -> None:
    assert data({"operation": "get_note", "params": {"title": "a", "fields": ["stars"]}}) == {"stars": 3}
    for fields in ([], ["color"]):
        assert (
            error({"operation": "get_note", "params": {"title": "a", "fields": fields}})["code"]
            == "VALIDATION_INVALID_VALUE"
        )


def batch(*names: str) -> dict[str, object]:
    return {"operations": [{"operation": name, "params": {"title": "a"}} for name in names]}


def test_a_batch_reads_in_order_and_counts() -> None:
    found = ask(batch("get_note", "get_note", "introspect"), "read").envelope
    assert found["data"] is None and found["summary"] == {"total": 3, "succeeded": 2, "failed": 1}
    assert [one["index"] for one in found["results"]] == [0, 1, 2]
    assert found["results"][2]["result"]["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"


@pytest.mark.parametrize("endpoint", ["read", "any"])
def test_a_batch_that_would_change_something_is_refused_whole(endpoint: str) -> None:
    found = error(batch("get_note", "create_note"), endpoint)
    assert found["code"] == "VALIDATION_ENDPOINT_MISMATCH" and "create" in found["message"]
    assert error(batch("get_note"), "execute")["code"] == "VALIDATION_INVALID_VALUE"
    assert error({"operations": []}, endpoint)["code"] == "VALIDATION_INVALID_VALUE"
    assert error({"operations": [1]}, endpoint)["code"] == "VALIDATION_INVALID_TYPE"
    assert error({**batch("get_note"), "params": {}}, endpoint)["code"] == "VALIDATION_INVALID_VALUE"


def introspect(**params: object) -> dict[str, object]:
    return {"operation": "introspect", "params": params}


def test_introspection_lists_operations_with_protocol_danger_and_limits() -> None:
    found = data(introspect(query="operations"), "read", strict=True)
    assert set(found) == {"_protocol", "operations"}
    assert all(set(one) == {"name", "semantic_category", "endpoint", "description"} for one in found["operations"])
    assert found["_protocol"]["version"] == "1.0.0-draft" and found["_protocol"]["mode"] == "all"
    assert found["_protocol"]["danger_levels"]["burn_shelf"]["level"] == "forbidden"
    assert found["_protocol"]["limits"]["max_nesting_depth"] == 32


def test_introspection_is_generous_unless_it_is_told_to_be_strict() -> None:
    generous, strict = (data(introspect(query="operations", name="burn_shelf"), strict=one) for one in (False, True))
    assert set(strict) == {"operation"}
    assert set(generous) == {"operation", "name", "endpoint", "danger", "capabilities"}
    assert generous["operation"] == strict["operation"] and generous["endpoint"] == "DELETE"
    assert generous["danger"] == {"level": "forbidden", "reasons": ["All notes are gone."]}
    assert set(data(introspect(query="operations"))) - set(data(introspect(query="operations"), strict=True)) == {
        "capabilities"
    }


def test_documented_parameters_are_the_accepted_ones() -> None:
    for name, operation in NOTES.items():
        found = data(introspect(query="operations", name=name), strict=True)["operation"]
        assert [one["name"] for one in found["parameters"]] == operation.names
        assert found["permissions"] == {
            "readOnly": operation.endpoint == "read",
            "destructive": operation.endpoint in ("update", "delete", "execute"),
        }


def test_an_unknown_name_is_null_and_no_error() -> None:
    assert data(introspect(query="operations", name="nothing"), strict=True) == {"operation": None}
    assert data(introspect(query="types", name="nothing")) == {"type": None}


def test_introspection_errors_hold_a_code_and_a_message_alone() -> None:
    for params in ({}, {"query": "revoke_token"}, {"query": "operations", "x": 1}):
        assert set(error(introspect(**params))) == {"code", "message"}


def test_types_are_listed_and_described_by_kind() -> None:
    list_tools = {one["name"]: one["kind"] for one in data(introspect(query="types"))["types"]}
    for name in (
        "SemanticCategory",
        "OperationInput",
        "OperationResult",
        "OperationSuccess",
        "OperationFailure",
        "EndpointPermissions",
    ):
        assert name in list_tools
        found = data(introspect(query="types", name=name))["type"]
        assert {"enum": "values", "object": "fields", "union": "members"}[found["kind"]] in found


def test_the_other_queries_only_read() -> None:
    assert data(introspect(query="danger", name="get_note"))["danger"]["level"] == "safe"
    assert data(introspect(query="adapter_info"))["name"] == "shelf"
    assert data(introspect(query="quota_status")) == {"quotas": []}
    assert data(introspect(query="capabilities"))["capabilities"]["batch"] is True


ANNOTATIONS = {
    "mcp_aql_create": (False, False),
    "mcp_aql_read": (True, False),
    "mcp_aql_delete": (False, True),
    "mcp_aql_execute": (False, True),
    "mcp_aql": (False, True),
}
NAMES = {"semantic": list(ANNOTATIONS)[:4], "single": ["mcp_aql"], "all": list(ANNOTATIONS)}


@pytest.mark.parametrize("mode", NAMES)
def test_tools_by_mode_with_exact_annotations_and_schema(mode: str) -> None:
    tools = list_tools(NOTES, ToolNaming(mode, "acme_"))
    assert [tool["name"] for tool in tools] == [f"acme_{name}" for name in NAMES[mode]]
    for tool in tools:
        hints = tool["annotations"]
        assert (hints["readOnlyHint"], hints["destructiveHint"]) == ANNOTATIONS[tool["name"].removeprefix("acme_")]
        schema = tool["inputSchema"]
        assert schema["required"] == ["operation"] and schema["properties"]["params"]["additionalProperties"] is True
        assert "introspect" in tool["description"] and "Discover parameters" in tool["description"]


@pytest.mark.parametrize("given", [("crude", ""), ("all", "Acme_"), ("all", "acme"), ("all", "a" * 19 + "_")])
def test_a_mode_or_prefix_nobody_can_use_is_refused(given: tuple[str, str]) -> None:
    with pytest.raises(SurfaceSettingError):
        ToolNaming(*given)


def test_a_profile_nobody_knows_is_refused() -> None:
    assert ToolNaming.of({}) == ToolNaming("all", "")
    with pytest.raises(SurfaceSettingError):
        ToolNaming.of({"MCP_AQL_ENDPOINT_PROFILE": "soap"})


def test_the_tool_of_an_operation_follows_mode_and_prefix() -> None:
    for mode, tool in (("single", "x_mcp_aql"), ("semantic", "x_mcp_aql_read"), ("all", "x_mcp_aql_read")):
        asked = introspect(query="operations", name="get_note")
        assert data(asked, mode=mode, prefix="x_")["operation"]["mcpTool"] == tool


def test_a_table_that_contradicts_itself_is_refused() -> None:
    for wrong in (
        lambda: ParamSpec("camelCase", "string"),
        lambda: ParamSpec("x", "text"),
        lambda: ParamSpec("x", "string", required=True, default=1),
        lambda: OperationSpec("Drop", "read", "x"),
        lambda: OperationSpec("x", "write", "x"),
        lambda: OperationSpec("x", "read", "x", (ParamSpec("operation", "string"),)),
        lambda: table(OperationSpec("x", "read", "x"), OperationSpec("x", "read", "y")),
        lambda: OperationSpec("x", "read", "x", (ParamSpec("a", "string", aliases=("b",)), ParamSpec("b", "string"))),
    ):
        with pytest.raises(TableError):
            wrong()
    with pytest.raises(ValueError):
        Surface(NOTES, {}, SHELF.about)
