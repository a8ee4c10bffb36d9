"""2.11: an allowed operation whose level came from its name carries a warning, through every interface."""

from __future__ import annotations

from typing import Any

import pytest

from gate import Gate
from interlock.model import Action, command, operation, tool
from interlock.policy.wire import decision_json


def allowed(gate: Gate, action: Action) -> dict[str, Any]:
    """The answer once a person has agreed."""
    gate.approve(gate.held(action))
    gate.clock.forward(120)  # some names ask for time as well
    found = gate.ask(action)
    assert found.allowed
    return decision_json(found)


@pytest.mark.parametrize(
    "action", [operation("purge_cache", {"name": "build"}), tool("purge_cache", {"name": "build"})]
)
def test_2_11_a_level_that_a_name_alone_says_is_warned_of(gate: Gate, action: Action) -> None:
    (warning,) = allowed(gate, action)["warnings"]
    assert (warning["code"], warning["severity"]) == ("DANGER_LEVEL_INFERRED", "high")
    assert (
        warning["details"] == {"pattern": "purge_*", "danger_level": "dangerous"}
        and "purge_cache" in warning["message"]
    )


@pytest.mark.parametrize(
    "action", [command("git push --force origin main", "/srv/app"), operation("delete_user", {"id": "42"})]
)
def test_2_11_what_was_read_otherwise_is_not(gate: Gate, action: Action) -> None:
    assert "warnings" not in allowed(gate, action)


def test_2_11_a_held_operation_says_why_itself(gate: Gate) -> None:
    assert "warnings" not in decision_json(gate.ask(operation("purge_cache", {"name": "build"})))
