"""The evidence for the public runner: made by a real server, and true to every rule that the runner is known to have."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from aql_lint import lint

pytestmark = [
    pytest.mark.xdist_group("mcp"),
    pytest.mark.slow("starts a daemon and an MCP server of its own, and asks them a hundred questions"),
]
SNAKE = re.compile(r"[a-z][a-z0-9_]*")
DETAILS = {
    "name", "semantic_category", "endpoint", "mcpTool", "description", "permissions", "parameters", "returns", "examples", "lifecycle",
}  # fmt: skip
PARAMETER = {
    "name", "type", "required", "description", "default", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format",
    "items", "sensitive",
}  # fmt: skip


@pytest.fixture(scope="module")
def evidence() -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-m", "interlock", "conformance", "evidence"], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def responses(value: Any) -> Iterator[dict[str, Any]]:
    """Every envelope in the bundle."""
    if isinstance(value, dict):
        if isinstance(value.get("success"), bool):
            yield value
        else:
            for inner in value.values():
                yield from responses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from responses(inner)


def value_at(envelope: Any, path: str) -> Any:
    for part in path.split("."):
        envelope = envelope[int(part)] if isinstance(envelope, list) else envelope[part]
    return envelope


def test_every_envelope_is_closed_and_every_message_clean(evidence: dict[str, Any]) -> None:
    found = list(responses(evidence))
    assert len(found) > 40
    for envelope in found:
        lint(envelope)


def test_introspection_is_closed_and_in_snake_case(evidence: dict[str, Any]) -> None:
    listed = evidence["introspection"]["operations_list"]
    assert set(listed) == {"success", "data"} and set(listed["data"]) == {"_protocol", "operations"}
    protocol = listed["data"]["_protocol"]
    assert (
        protocol["version"] == "1.0.0-draft"
        and protocol["conformance"] in ("level-1", "level-2")
        and protocol["mode"] == "all"
    )
    details = {one["name"]: one for one in evidence["introspection"]["operation_details"]}
    assert [one["name"] for one in listed["data"]["operations"]] == list(details)
    for one in listed["data"]["operations"]:
        assert set(one) == {"name", "semantic_category", "endpoint", "description"}
        assert one["endpoint"] == one["semantic_category"].lower() == details[one["name"]]["endpoint"]
    for one in details.values():
        assert set(one) <= DETAILS and "danger" not in one
        assert one["mcpTool"] == f"mcp_aql_{one['endpoint']}"
        for parameter in one["parameters"]:
            assert SNAKE.fullmatch(parameter["name"]) and set(parameter) <= PARAMETER
    assert set(evidence["introspection"]["types_list"]["data"]) == {"types"}


def test_documented_parameters_are_the_accepted_ones(evidence: dict[str, Any]) -> None:
    for one in evidence["introspection"]["operation_details"]:
        assert evidence["accepted_parameters"][one["name"]] == [parameter["name"] for parameter in one["parameters"]]


def test_every_required_parameter_has_its_missing_case_and_is_named(evidence: dict[str, Any]) -> None:
    required = {
        (one["name"], parameter["name"])
        for one in evidence["introspection"]["operation_details"]
        for parameter in one["parameters"]
        if parameter["required"]
    }
    cases = evidence["parameter_tests"]["missing_required"]
    assert {(case["operation"], case["parameter"]) for case in cases} == required
    for case in cases:
        assert case["response"]["error"]["code"] == "VALIDATION_MISSING_PARAM"
        assert case["parameter"] in case["response"]["error"]["message"]


def test_every_operation_refuses_an_unknown_parameter_by_name(evidence: dict[str, Any]) -> None:
    cases = evidence["parameter_tests"]["unknown_parameter"]
    assert {case["operation"] for case in cases} == set(evidence["accepted_parameters"])
    for case in cases:
        assert case["response"]["success"] is False and case["parameter"] in case["response"]["error"]["message"]


def test_defaults_are_echoed(evidence: dict[str, Any]) -> None:
    (case,) = evidence["parameter_tests"]["optional_defaults"]
    assert value_at(case["response"], case["expected_value_path"]) == case["expected_value"]


def test_errors_mention_what_they_are_about(evidence: dict[str, Any]) -> None:
    assert len(evidence["error_tests"]) >= 5
    for case in evidence["error_tests"]:
        said = json.dumps(case["response"]["error"])
        assert case["response"]["success"] is False and all(word in said for word in case["must_mention"]), case
        assert all(word in case["response"]["error"]["message"] for word in case["must_mention"]), case


def test_what_was_created_is_read_back(evidence: dict[str, Any]) -> None:
    assert len(evidence["round_trip_tests"]) == 2 and evidence["update_preservation_tests"]
    for case in (*evidence["round_trip_tests"], *evidence["update_preservation_tests"]):
        expected = case.get("expected_fields") or case["preserved_fields"]
        assert expected and all(value_at(case["read_response"], path) == value for path, value in expected.items())
    assert set(evidence["round_trip_tests"][1]["read_response"]["data"]) == {"execution_id", "status"}


def test_level_2_is_shown_and_not_claimed(evidence: dict[str, Any]) -> None:
    assert evidence["expected_level"] == 2 and evidence["endpoint_modes"] == ["crude", "semantic", "single"]
    assert evidence["capabilities"] == {"field_selection": True, "batch_operations": True}
    assert evidence["batch_example"]["summary"] == {"total": 2, "succeeded": 2, "failed": 0}
    for case in evidence["constraint_tests"]:
        assert case["documented"] is True and case["response"]["success"] is False
    (case,) = evidence["semantic_tests"]
    text = case["response_text"].lower()
    assert all(re.search(pattern, case["response_text"]) for pattern in case["structural"]["required_patterns"])
    assert all(any(phrase in text for phrase in group) for group in case["semantic"]["phrase_groups"])
    assert {call["operation"] for call in case["tool_calls"]} == set(case["semantic"]["expected_operations"])
