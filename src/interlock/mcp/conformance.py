"""Drives the real server over stdio and gathers the evidence that the public MCP-AQL conformance runner reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp import Client
from msgspec import Struct, field

Json = dict[str, Any]
AGENT = "evidence"
GOAL = {"goal": "read the documentation"}
UNKNOWN = "no_such_parameter"
_VALUES: Mapping[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True, "object": {}, "array": []}


class ConformanceDriver(Struct):
    """One conversation with a server, and every envelope it returned."""

    client: Client
    details: dict[str, Json] = field(default_factory=dict)  # of operations, by name
    envelopes: list[Json] = field(default_factory=list)

    async def tool(self, tool: str, arguments: Any) -> Json:
        """The envelope of one call."""
        result = await self.client.call_tool(tool, arguments)
        envelope: Json = json.loads(result.content[0].text)  # type: ignore[union-attr]
        self.envelopes.append(envelope)
        return envelope

    async def call(self, operation: str, /, **params: Any) -> Json:
        """The same, through the operation's own tool."""
        tool = self.details.get(operation, {}).get("mcpTool", "mcp_aql_read")
        return await self.tool(tool, {"operation": operation, "params": params})

    def required(self, operation: str) -> Json:
        """A value for each required parameter."""
        found = {}
        for param in self.details[operation]["parameters"]:
            if param["required"]:
                found[param["name"]] = param["enum"][0] if "enum" in param else _VALUES[param["type"]]
        return found


async def gather_evidence(client: Client, approve: Callable[[], None], version: str) -> Json:
    """The whole bundle; `approve` answers waiting tickets as a person would."""
    driver = ConformanceDriver(client)
    introspection = await _introspection(driver)
    started = await _start_execution(driver, approve)
    found: Json = {
        "implementation": "interlock",
        "version": version,
        "spec_version": "1.0.0-draft",
        "expected_level": 2,
        "expected_exit_code": 0,
        "endpoint_modes": ["crude", *_modes([tool.name for tool in (await client.list_tools()).tools])],  # C-40
        "capabilities": _capabilities(introspection["operations_list"]),
        "introspection": introspection,
        "accepted_parameters": {name: await _accepted_params(driver, name) for name in driver.details},
        "parameter_aliases": {
            "next_action_hint": "nextActionHint",
            "step_description": "stepDescription",
        },  # C-03, stated openly
        "parameter_tests": await _parameter_tests(driver, started),
        "error_tests": await _error_tests(driver),
        **await _round_trips(driver, started),
        "batch_example": await _batch(driver),
        "constraint_tests": await _constraints(driver),
        "semantic_tests": await _semantic(driver),
    }
    await driver.call("complete_execution", element_name=AGENT)
    return found


async def _introspection(driver: ConformanceDriver) -> Json:
    operations = await driver.call("introspect", query="operations")
    for one in operations["data"]["operations"]:
        found = await driver.call("introspect", query="operations", name=one["name"])
        driver.details[one["name"]] = found["data"]["operation"]
    return {
        "operations_list": operations,
        "types_list": await driver.call("introspect", query="types"),
        "operation_details": list(driver.details.values()),
    }


async def _start_execution(driver: ConformanceDriver, approve: Callable[[], None]) -> Json:
    """Starts an execution, with a person's approval."""
    held = await driver.call("execute_agent", element_name=AGENT, parameters=GOAL)
    approve()
    token = held["confirmation"]["token"]
    return await driver.call("execute_agent", element_name=AGENT, parameters=GOAL, _confirmation=token)


def _modes(tools: list[str]) -> list[str]:
    return (["semantic"] if "mcp_aql_read" in tools else []) + (["single"] if "mcp_aql" in tools else [])


def _capabilities(listed: Json) -> Json:
    capabilities = listed["data"]["_protocol"]["capabilities"]
    return {"field_selection": capabilities["field_selection"], "batch_operations": capabilities["batch"]}


async def _accepted_params(driver: ConformanceDriver, name: str) -> list[str]:
    """The parameters that the server accepts: those its refusals name, each tried by itself."""
    refused = await driver.call(name, **{**driver.required(name), UNKNOWN: 1})
    documented = [param["name"] for param in driver.details[name]["parameters"]]
    named = (
        refused["error"].get("details", {}).get("valid_params", documented)
    )  # an introspection's error has no details
    tried = {one: await driver.call(name, **{one: None}) for one in named}
    return [one for one, answer in tried.items() if answer.get("error", {}).get("code") != "VALIDATION_UNKNOWN_PARAM"]


async def _parameter_tests(driver: ConformanceDriver, started: Json) -> Json:
    missing, unknown = [], []
    for name, detail in driver.details.items():
        given = driver.required(name)
        for param in (one["name"] for one in detail["parameters"] if one["required"]):
            rest = {key: value for key, value in given.items() if key != param}
            missing.append({"operation": name, "parameter": param, "response": await driver.call(name, **rest)})
        response = await driver.call(name, **{**given, UNKNOWN: 1})
        unknown.append({"operation": name, "parameter": UNKNOWN, "response": response})
    steps = next(one for one in driver.details["execute_agent"]["parameters"] if one["name"] == "max_autonomous_steps")
    default = {
        "operation": "execute_agent",
        "parameter": "max_autonomous_steps",
        "expected_value_path": "data.applied.max_autonomous_steps",
        "expected_value": steps["default"],
        "response": started,
    }
    return {"missing_required": missing, "unknown_parameter": unknown, "optional_defaults": [default]}


async def _error_tests(driver: ConformanceDriver) -> list[Json]:
    requests: list[tuple[str, list[str], str, Json]] = [
        ("unknown-operation", ["drop_everything"], "mcp_aql", {"operation": "drop_everything"}),
        ("wrong-endpoint", ["execute_agent", "mcp_aql_execute"], "mcp_aql_read", {"operation": "execute_agent"}),
        ("wrong-type", ["element_name", "string"], "mcp_aql_read", {"operation": "get_execution_state", "params": {"element_name": 7}}),
        ("wrong-value", ["query", "operations"], "mcp_aql_read", {"operation": "introspect", "params": {"query": "everything"}}),
        ("unknown-parameter", [UNKNOWN, "element_name"], "mcp_aql_read", {"operation": "get_execution_state", "params": {"element_name": "a", UNKNOWN: 1}}),
        ("nothing-runs", ["execution"], "mcp_aql_read", {"operation": "get_execution_state", "params": {"element_name": "nobody"}}),
        ("confirmation-required", ["confirmation"], "mcp_aql_execute", {"operation": "execute_agent", "params": {"element_name": "another"}}),
        ("invalid-token", ["token"], "mcp_aql_execute", {"operation": "confirm_operation", "params": {"confirmation_token": "conf_x", "operation": "x"}}),
    ]  # fmt: skip
    return [
        {"name": name, "must_mention": words, "response": await driver.tool(tool, given)}
        for name, words, tool, given in requests
    ]


async def _round_trips(driver: ConformanceDriver, started: Json) -> Json:
    expected = {
        "data.execution_id": started["data"]["execution_id"],
        "data.status": "running",
        "data.goal.goal": GOAL["goal"],
    }
    read = await driver.call("get_execution_state", element_name=AGENT)
    hint = "reading docs/setup.md to check the install steps"
    await driver.call("record_execution_step", element_name=AGENT, next_action_hint=hint)
    after = await driver.call("get_execution_state", element_name=AGENT)
    kept = {"data.started_at": started["data"]["started_at"], "data.goal.goal": GOAL["goal"]}
    some = await driver.call("get_execution_state", element_name=AGENT, fields=["execution_id", "status"])
    chosen = {"data.execution_id": started["data"]["execution_id"], "data.status": "running"}
    return {
        "round_trip_tests": [
            {"name": "start-then-read", "expected_fields": expected, "read_response": read},
            {"name": "selected-fields", "expected_fields": chosen, "read_response": some},
        ],
        "update_preservation_tests": [
            {"name": "a-step-keeps-the-goal", "preserved_fields": kept, "read_response": after},
        ],
    }


async def _batch(driver: ConformanceDriver) -> Json:
    items = [
        {"operation": "introspect", "params": {"query": "types"}},
        {"operation": "get_execution_state", "params": {"element_name": AGENT}},
    ]
    return await driver.tool("mcp_aql_read", {"operations": items})


async def _constraints(driver: ConformanceDriver) -> list[Json]:
    """Breaks each limit that introspection names once."""
    broken: list[tuple[str, str, str, Any]] = [
        ("execute_agent", "max_autonomous_steps", "maximum", 1_000_000),
        ("execute_agent", "max_autonomous_steps", "minimum", -1),
        ("record_execution_step", "outcome", "enum", "maybe"),
        ("record_execution_step", "next_action_hint", "minLength", ""),
        ("record_execution_step", "risk_score", "maximum", 101),
    ]
    found = []
    for operation, param, limit, value in broken:
        info = next(one for one in driver.details[operation]["parameters"] if one["name"] == param)
        response = await driver.call(operation, **{**driver.required(operation), param: value})
        found.append(
            {"name": f"{operation}-{param}-{limit}".lower(), "documented": limit in info, "response": response}
        )
    return found


async def _semantic(driver: ConformanceDriver) -> list[Json]:
    """Evidence from the server's own texts; no model answered, and the bundle says so."""
    query = {"query": "operations", "name": "get_execution_state"}
    found = await driver.call("introspect", **query)
    params = found["data"]["operation"]["parameters"]
    text = " ".join(
        [f"get_execution_state: {found['data']['operation']['description']}"]
        + [f"The {one['name']} parameter: {one['description']}" for one in params]
    )
    return [
        {
            "name": "field-selection-discovery",
            "source": "the server's introspection; no model",
            "response_text": f"{text} Field selection chooses fields of the answer.",
            "tool_calls": [{"operation": "introspect", "params": query}],
            "structural": {"required_patterns": ["get_execution_state", "fields parameter"]},
            "semantic": {
                "phrase_groups": [["field selection", "select fields"], ["fields parameter", "fields"]],
                "expected_operations": ["introspect"],
                "expected_parameters": ["fields"],
            },
        }
    ]  # fmt: skip
