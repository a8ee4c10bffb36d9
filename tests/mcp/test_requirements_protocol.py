"""Sections 1.6, 1.7 and 1.9 to 1.12 through real clients, stdio and HTTP, both eras: each test names the ids that it shows."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from deeds import READ, record, step, told
from foes import Foe
from servers import KINDS, Servers, Talk, fresh

from interlock.error_codes import codes

pytestmark = pytest.mark.xdist_group("mcp")
TOKEN = re.compile(r"conf_[A-Za-z0-9_-]{1,64}")  # CT-01
OPERATION = {"name", "semantic_category", "endpoint", "mcpTool", "description", "permissions", "parameters", "returns"}
PARAM = {
    "name", "type", "required", "description", "default", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "format", "items", "sensitive",
}  # fmt: skip
LIMITS = {"max_request_size", "max_response_size", "max_string_length", "max_array_elements", "max_nesting_depth"}
TYPES = {
    "SemanticCategory",
    "OperationInput",
    "OperationResult",
    "OperationSuccess",
    "OperationFailure",
    "EndpointPermissions",
}


@pytest.fixture(scope="module")
def own(servers: Servers) -> dict[str, Talk]:
    """Principals of this file alone: tokens that fail lock theirs for a while."""
    return {kind: servers.talk(kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def talk(own: dict[str, Talk], request: pytest.FixtureRequest) -> Talk:
    return own[str(request.param)]


def raw(talk: Talk, tool: str, arguments: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(talk.raw(tool, arguments).content[0].text)  # type: ignore[union-attr]
    return found


def reset(name: str) -> str:
    return f"executing shell command: git -C /srv/{name} reset --hard HEAD~3"


def test_gk_01_gk_02_ep_06_operation_endpoint_and_parameters_are_checked_in_this_order(talk: Talk) -> None:
    unknown = {"nothing_known": 1}
    codes = [
        talk.call("mcp_aql_read", "no_such_operation", **unknown)["error"]["code"],
        talk.call("mcp_aql_read", "execute_agent", **unknown)["error"]["code"],
        talk.call("mcp_aql_execute", "execute_agent", element_name="a", **unknown)["error"]["code"],
        talk.call("mcp_aql_execute", "execute_agent")["error"]["code"],
        talk.call("mcp_aql_execute", "execute_agent", element_name=7)["error"]["code"],
    ]
    assert codes == [
        "NOT_FOUND_OPERATION", "VALIDATION_ENDPOINT_MISMATCH", "VALIDATION_UNKNOWN_PARAM", "VALIDATION_MISSING_PARAM",
        "VALIDATION_INVALID_TYPE",
    ]  # fmt: skip
    beside = raw(talk, "mcp_aql_read", {"operation": "introspect", "query": "types", "nothing_known": 1})
    assert beside["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert raw(talk, "mcp_aql_read", {"operation": "introspect", "query": "types", "_x": 1})["success"]
    inner = {"operation": "get_execution_state", "element_name": "beside", "params": {"element_name": "inside"}}
    assert raw(talk, "mcp_aql_read", inner)["error"]["details"]["resource_id"] == "inside"


def test_gk_03_gk_08_endpoint_flags_and_permission_levels(talk: Talk) -> None:
    flags = {"create": (False, False), "read": (True, False), "execute": (False, True)}
    data = talk.read("introspect", query="operations")["data"]
    for one in data["operations"]:
        detail = talk.read("introspect", query="operations", name=one["name"])["data"]["operation"]
        found = detail["permissions"]
        assert (found["readOnly"], found["destructive"]) == flags[one["endpoint"]]
        assert detail["mcpTool"] == f"mcp_aql_{one['endpoint']}"
    assert set(data["_protocol"]["permission_levels"].values()) == {
        "AUTO_APPROVE",
        "CONFIRM_SESSION",
        "CONFIRM_SINGLE_USE",
    }


def test_gk_05_gk_06_r_18_held_and_confirmed_are_on_record(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    events = {
        event: [one["body"] for one in record(servers, event)]
        for event in ("CONFIRMATION_REQUIRED", "CONFIRMATION_GRANTED")
    }
    for event, result in (("CONFIRMATION_REQUIRED", "denied"), ("CONFIRMATION_GRANTED", "confirmed")):
        mine = [one for one in events[event] if name in json.dumps(one)]
        assert mine and mine[-1]["outcome"] == result and mine[-1]["operation"] == "execute_agent", event
    talk.execute("abort_execution", element_name=name)


def test_gk_09_ct_09_what_a_person_agreed_to_is_this_sessions(servers: Servers, talk: Talk) -> None:
    name = fresh()
    held = talk.execute("execute_agent", element_name=name)
    servers.approve(name)
    other = servers.talk("http-2026")  # another principal and session
    stolen = other.execute("execute_agent", element_name=name, _confirmation=held["confirmation"]["token"])
    assert stolen["error"]["code"] == "TOKEN_SCOPE_MISMATCH"


def test_ct_01_ct_02_ct_14_tokens_have_the_grammar_and_never_repeat(servers: Servers, talk: Talk) -> None:
    found = [talk.execute("execute_agent", element_name=fresh())["confirmation"] for _ in range(3)]
    assert len({one["token"] for one in found}) == 3
    for one in found:
        assert TOKEN.fullmatch(one["token"]) and 8 <= len(one["token"]) <= 80
        assert len(one["token"]) - len("conf_") >= 43 or re.fullmatch(r"conf_[0-9a-f]{64}", one["token"])  # 256 bits
        assert datetime.fromisoformat(one["expires_at"]).utcoffset() == timedelta(0)  # EP-12


def test_ct_03_ct_05_ct_07_a_token_is_for_one_call_once(servers: Servers, talk: Talk) -> None:
    name = fresh()
    held = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"})
    token = held["confirmation"]["token"]
    servers.approve(name)
    tampered = talk.execute("execute_agent", element_name=name, parameters={"goal": "prod"}, _confirmation=token)
    assert tampered["error"]["code"] == "TOKEN_SCOPE_MISMATCH" and "prod" not in tampered["error"]["message"]  # CT-13
    assert talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"}, _confirmation=token)["success"]
    again = talk.execute("execute_agent", element_name=name, parameters={"goal": "docs"}, _confirmation=token)
    assert again["error"]["code"] == "TOKEN_ALREADY_USED"
    talk.execute("abort_execution", element_name=name)


def test_ct_05_ct_13_malformed_and_unknown_tokens_are_one_error(servers: Servers, talk: Talk) -> None:
    said = [
        talk.execute("execute_agent", element_name=fresh(), _confirmation=token)["error"]
        for token in ("conf_" + "0" * 64, "nonsense")
    ]
    assert [one["code"] for one in said] == ["TOKEN_INVALID"] * 2 and said[0]["message"] == said[1]["message"]


def test_ct_06_ct_08_an_armed_token_lives_five_minutes(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    offered = step(talk, name, reset(name))["confirmation"]
    servers.approve(name)
    given = {"confirmation_token": offered["token"], "operation": offered["operation"]}
    done = talk.execute("confirm_operation", **given)["data"]
    left = datetime.fromisoformat(done["expires_at"]) - datetime.now().astimezone()
    assert timedelta(minutes=3) < left <= timedelta(minutes=5, seconds=1)
    assert done["level"] == "CONFIRM_SINGLE_USE" and done["element_name"] == name  # 2.7
    talk.execute("abort_execution", element_name=name)


def test_ct_04_ct_10_ct_12_tokens_are_on_record_as_fingerprints(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    token = step(talk, name, reset(name))["confirmation"]["token"]
    talk.execute("abort_execution", element_name=name)
    text = json.dumps(
        [record(servers, event) for event in ("TOKEN_ISSUED", "TOKEN_VALIDATED", "TOKEN_REJECTED", "allow", "deny")]
    )
    assert token not in text and "TOKEN_ISSUED" in text  # C-29
    for one in record(servers, "TOKEN_ISSUED")[-3:]:
        assert {"timestamp", "token_id", "operation", "adapter_name", "outcome"} <= set(one["body"])
    for path in (servers.daemon.folder / "state").rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes(), path


def test_ct_08_ct_10_a_token_that_differs_in_one_place_is_none_and_its_times_are_the_servers(
    servers: Servers, rogue: Foe
) -> None:
    talk, name = rogue.talk, rogue.name
    held = talk.execute("execute_agent", element_name=name)
    token, given = held["confirmation"]["token"], {"element_name": name}
    servers.approve(name)
    for forged in (token[:-1] + ("a" if token[-1] != "a" else "b"), token.swapcase(), f"{token}=2099-01-01"):
        assert talk.execute("execute_agent", **given, _confirmation=forged)["error"]["code"] == "TOKEN_INVALID"
    own = talk.execute("execute_agent", **given, _confirmation=token, expires_at="2099-01-01T00:00:00Z")
    assert own["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"  # nobody brings times of their own
    assert talk.execute("execute_agent", **given, _confirmation=token)["success"]


def test_ct_11_many_tokens_live_beside_each_other(servers: Servers, talk: Talk) -> None:
    names = [fresh() for _ in range(12)]
    tokens = {name: talk.execute("execute_agent", element_name=name)["confirmation"]["token"] for name in names}
    for name in (names[0], names[-1]):  # the oldest is not pushed out by the newest
        servers.approve(name)
        assert talk.execute("execute_agent", element_name=name, _confirmation=tokens[name])["success"]
        talk.execute("abort_execution", element_name=name)


FAILING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no_such_operation", {}), ("execute_agent", {}), ("execute_agent", {"element_name": 1}),
    ("execute_agent", {"element_name": "a", "more": 1}), ("get_execution_state", {"element_name": "nobody"}),
    ("record_execution_step", {"element_name": "a", "next_action_hint": "x" * 66_000}),
    ("record_execution_step", {"element_name": "a", "next_action_hint": READ, "outcome": "great"}),
    ("confirm_operation", {"confirmation_token": "conf_x", "operation": "x"}),
)  # fmt: skip


@pytest.mark.parametrize(("operation", "params"), FAILING, ids=range(len(FAILING)))
def test_err_01_err_02_err_03_a_failure_is_closed_registered_and_in_words(
    talk: Talk, operation: str, params: dict[str, Any]
) -> None:
    said = talk.call("mcp_aql", operation, **params)  # linted: closed, registered, no stack, path or class
    assert set(said) == {"success", "error"} and said["error"]["code"] in codes()
    quoted = re.findall(r"'([^']*)'", said["error"]["message"])
    if operation == "no_such_operation" or "more" in params:
        assert quoted  # ERR-03: what was given stands in quotes


def test_ep_12_ep_13_a_success_is_closed_with_times_in_utc(talk: Talk) -> None:
    said = talk.read("get_pending_cli_approvals", element_name=fresh())
    assert set(said) <= {"success", "data", "warnings", "_meta"} and said["data"] == {"pending": []}
    assert {"request_id", "duration_ms"} <= set(said["_meta"])
    protocol = talk.read("introspect", query="operations")["data"]["_protocol"]
    assert protocol["concurrency"] in ("serialized", "read-concurrent", "fully-concurrent", "resource-locked")
    assert set(protocol["limits"]) == LIMITS  # EP-11


def test_ep_14_no_operation_of_the_loop_updates(talk: Talk) -> None:
    listed = talk.read("introspect", query="operations")["data"]["operations"]
    assert "update" not in {one["endpoint"] for one in listed}


def test_int_01_int_02_int_03_operations_are_listed_with_their_protocol(talk: Talk) -> None:
    assert talk.read("introspect")["error"]["code"] == "VALIDATION_MISSING_PARAM"
    data = talk.read("introspect", query="operations")["data"]
    for one in data["operations"]:
        assert set(one) == {"name", "semantic_category", "endpoint", "description"}
        assert one["endpoint"] == one["endpoint"].lower() and one["semantic_category"] in (
            "CREATE",
            "READ",
            "UPDATE",
            "DELETE",
            "EXECUTE",
        )
    protocol = data["_protocol"]
    assert re.fullmatch(r"\d+\.\d+\.\d+(-.+)?", protocol["version"]) and protocol["mode"] in (
        "semantic",
        "single",
        "all",
    )
    assert protocol["conformance"] in ("level-1", "level-2")


def test_int_04_int_05_int_07_details_are_closed_and_say_what_is_taken(talk: Talk) -> None:
    for one in talk.read("introspect", query="operations")["data"]["operations"]:
        detail = talk.read("introspect", query="operations", name=one["name"])["data"]["operation"]
        assert OPERATION <= set(detail) <= OPERATION | {"examples", "lifecycle"}
        for param in detail["parameters"]:
            assert {"name", "type", "required"} <= set(param) <= PARAM
        said = talk.call("mcp_aql", one["name"], no_such_parameter=1)["error"]
        if "details" in said and said["code"] == "VALIDATION_UNKNOWN_PARAM":
            assert sorted(said["details"]["valid_params"]) == sorted(param["name"] for param in detail["parameters"])
    for query, key in (("operations", "operation"), ("types", "type")):
        assert talk.read("introspect", query=query, name="nothing")["data"][key] is None


def test_int_06_int_08_int_09_types_are_listed_by_kind_and_nothing_else_is_said(talk: Talk) -> None:
    said = talk.read("introspect", query="types")
    assert set(said) == {"success", "data"}
    found = {one["name"]: one for one in said["data"]["types"]}
    assert set(found) >= TYPES and {one["kind"] for one in found.values()} <= {"enum", "object", "scalar", "union"}
    more = {"enum": "values", "object": "fields", "union": "members"}
    for name, one in found.items():
        detail = talk.read("introspect", query="types", name=name)["data"]["type"]
        assert one["kind"] == "scalar" or more[one["kind"]] in detail
    refused = talk.read("introspect", query="everything")
    assert set(refused) == {"success", "error"} and set(refused["error"]) == {"code", "message"}


def test_rl_01_rl_02_rl_03_what_is_limited_can_be_asked_for_and_says_when_to_come_back(servers: Servers) -> None:
    talk = servers.talk("http-2026")  # a principal that may be locked
    for _ in range(10):
        talk.execute("confirm_operation", confirmation_token="conf_x", operation="x")
    said = talk.execute("confirm_operation", confirmation_token="conf_x", operation="x")["error"]
    assert said["code"] == "RATE_LIMIT_EXCEEDED" and said["details"]["retry_after_seconds"] > 0
    assert {"limit", "remaining", "window", "resets_at"} <= set(said["details"])
    quotas = {one["metric"]: one for one in talk.read("introspect", query="quota_status")["data"]["quotas"]}
    assert (
        quotas["confirmation_failures"]["status"] == "exhausted" and quotas["verification_failures"]["status"] == "ok"
    )


def test_dl_01_dl_03_dl_08_the_danger_of_every_operation_is_shown(talk: Talk) -> None:
    levels = talk.read("introspect", query="operations")["data"]["_protocol"]["danger_levels"]
    for one in levels.values():
        assert one["level"] in ("safe", "reversible", "destructive", "dangerous", "forbidden")
        assert set(one) <= {"level", "reason", "requires_confirmation", "hook_blockable"}
    assert levels["introspect"]["level"] == "safe" and levels["execute_agent"]["requires_confirmation"] is True
    assert talk.read("introspect", query="danger", name="execute_agent")["data"]["danger"]["level"] == "reversible"


def test_dl_06_dl_07_dl_13_what_destroys_is_held_and_every_attempt_is_on_record(servers: Servers, talk: Talk) -> None:
    name = fresh()
    servers.start(talk, name)
    said = told(talk, name, reset(name))
    assert said["continue"] is False and "score 60" in " ".join(said["factors"])  # destructive: 41 to 60
    mine = [one["body"] for one in record(servers, "CONFIRMATION_REQUIRED") if f"/srv/{name}" in json.dumps(one)]
    assert mine and mine[-1]["danger_level"] == 2 and mine[-1]["outcome"] == "denied"
    assert {"timestamp", "adapter_name", "operation", "adapter_trust"} <= set(mine[-1])
    talk.execute("abort_execution", element_name=name)
