"""Drives the real server over stdio and gathers the evidence that the public MCP-AQL conformance runner reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client
from msgspec import Struct, field, toml

Json = dict[str, Any]
AGENT = "evidence"
_ROWS: Json = toml.decode(Path(__file__).with_name("conformance.toml").read_bytes())
GOAL, UNKNOWN = _ROWS["goal"], _ROWS["unknown"]


class ConformanceDriver(Struct):
    client: Client
    details: dict[str, Json] = field(default_factory=dict)  # of operations, by name

    async def tool(self, tool: str, arguments: Any) -> Json:
        result = await self.client.call_tool(tool, arguments)
        return dict(json.loads(result.content[0].text))  # type: ignore[union-attr]

    async def call(self, operation: str, /, **params: Any) -> Json:
        tool = self.details.get(operation, {}).get("mcpTool", "mcp_aql_read")
        return await self.tool(tool, {"operation": operation, "params": params})

    def param(self, operation: str, name: str) -> Json:
        return dict(next(one for one in self.details[operation]["parameters"] if one["name"] == name))

    def required(self, operation: str) -> Json:
        return {
            param["name"]: param["enum"][0] if "enum" in param else _ROWS["values"][param["type"]]
            for param in self.details[operation]["parameters"]
            if param["required"]
        }


async def gather_evidence(client: Client, approve: Callable[[], None], version: str) -> Json:
    """The whole bundle; `approve` answers waiting tickets as a person would."""
    driver = ConformanceDriver(client)
    introspection = await _introspection(driver)
    held = await driver.call("execute_agent", element_name=AGENT, parameters=GOAL)
    approve()
    token = held["confirmation"]["token"]
    started = await driver.call("execute_agent", element_name=AGENT, parameters=GOAL, _confirmation=token)
    tools = [tool.name for tool in (await client.list_tools()).tools]
    modes = [mode for mode, tool in (("semantic", "mcp_aql_read"), ("single", "mcp_aql")) if tool in tools]
    capabilities = introspection["operations_list"]["data"]["_protocol"]["capabilities"]
    found = {
        **_ROWS["bundle"],
        "version": version,
        "endpoint_modes": ["crude", *modes],  # C-40
        "capabilities": {"field_selection": capabilities["field_selection"], "batch_operations": capabilities["batch"]},
        "introspection": introspection,
        "accepted_parameters": {name: await _accepted_params(driver, name) for name in driver.details},
        "parameter_aliases": _ROWS["parameter_aliases"],
        "parameter_tests": await _parameter_tests(driver, started),
        "error_tests": [
            {"name": row["name"], "must_mention": row["words"], "response": await driver.tool(**row["request"])}
            for row in _ROWS["error"]
        ],
        **await _round_trips(driver, started),
        "batch_example": await driver.tool("mcp_aql_read", {"operations": _ROWS["batch"]}),
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


async def _accepted_params(driver: ConformanceDriver, name: str) -> list[str]:
    refused = await driver.call(name, **{**driver.required(name), UNKNOWN: 1})
    documented = [param["name"] for param in driver.details[name]["parameters"]]
    named = refused["error"].get("details", {}).get("valid_params", documented)  # an introspection's has no details
    tried = {one: await driver.call(name, **{one: None}) for one in named}
    return [one for one, answer in tried.items() if answer.get("error", {}).get("code") != "VALIDATION_UNKNOWN_PARAM"]


async def _parameter_tests(driver: ConformanceDriver, started: Json) -> Json:
    missing, unknown = [], []
    for name in driver.details:
        given = driver.required(name)
        for param in given:
            rest = {key: value for key, value in given.items() if key != param}
            missing.append({"operation": name, "parameter": param, "response": await driver.call(name, **rest)})
        response = await driver.call(name, **{**given, UNKNOWN: 1})
        unknown.append({"operation": name, "parameter": UNKNOWN, "response": response})
    row = _ROWS["default"]
    default = {
        **row,
        "expected_value": driver.param(row["operation"], row["parameter"])["default"],
        "response": started,
    }
    return {"missing_required": missing, "unknown_parameter": unknown, "optional_defaults": [default]}


async def _round_trips(driver: ConformanceDriver, started: Json) -> Json:
    goal = {"data.goal.goal": GOAL["goal"]}
    chosen = {"data.execution_id": started["data"]["execution_id"], "data.status": "running"}
    kept = {"data.started_at": started["data"]["started_at"], **goal}
    read = await driver.call("get_execution_state", element_name=AGENT)
    await driver.call("record_execution_step", element_name=AGENT, next_action_hint=_ROWS["hint"])
    after = await driver.call("get_execution_state", element_name=AGENT)
    some = await driver.call("get_execution_state", element_name=AGENT, fields=["execution_id", "status"])
    return {
        "round_trip_tests": [
            {"name": "start-then-read", "expected_fields": {**chosen, **goal}, "read_response": read},
            {"name": "selected-fields", "expected_fields": chosen, "read_response": some},
        ],
        "update_preservation_tests": [
            {"name": "a-step-keeps-the-goal", "preserved_fields": kept, "read_response": after}
        ],
    }


async def _constraints(driver: ConformanceDriver) -> list[Json]:
    """Breaks each limit that introspection names once."""
    found = []
    for row in _ROWS["broken"]:
        operation, param, limit = row["operation"], row["param"], row["limit"]
        test = {"name": f"{operation}-{param}-{limit}".lower(), "documented": limit in driver.param(operation, param)}
        response = await driver.call(operation, **{**driver.required(operation), param: row["value"]})
        found.append({**test, "response": response})
    return found


async def _semantic(driver: ConformanceDriver) -> list[Json]:
    """Evidence from the server's own texts; no model answered, and the bundle says so."""
    query = _ROWS["semantic"]["tool_calls"][0]["params"]
    found = (await driver.call("introspect", **query))["data"]["operation"]
    params = [f"The {one['name']} parameter: {one['description']}" for one in found["parameters"]]
    text = " ".join([f"{query['name']}: {found['description']}", *params])
    return [{**_ROWS["semantic"], "response_text": f"{text} Field selection chooses fields of the answer."}]
