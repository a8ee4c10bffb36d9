"""The loop's operations, those that R-15 names included, and the types that they answer with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from interlock.loop.protocol import OperationSpec, table
from interlock.loop.protocol.gatekeeper import AUTO, SINGLE
from interlock.loop.protocol.introspection import (
    DECLARED,
    INTROSPECTION,
    LIFECYCLE,
    ProtocolType,
    load_operation,
    load_types,
)
from interlock.loop.state import CORE_STATES, STATES
from interlock.policy.policy import Policy

LOOP_TYPES = load_types(
    "loop",
    ProtocolType(
        "ExecutionStatus",
        "enum",
        "pending, running, completed, failed and cancelled are the core's. paused and blocked are our own, both a kind of "
        "running: a paused execution waits for a person, a blocked one for a code; cancelled is reachable from each.",
        STATES,
    ),
)


DISABLED = "DISABLED: nothing is judged, and every answer is continue: true, which is nobody's approval."
_AGREES = "A person has to agree to the start; until then the answer is CONFIRMATION_REQUIRED with a token that only a person can arm. "


def operations(policy: Policy, mode: str = "enforcing") -> Mapping[str, OperationSpec]:
    """While the loop is disabled, each operation says so (R-25)."""
    rows = (_execute_agent(_LOADED[0], policy, mode == "enforcing"), *_LOADED[1:])
    if mode == "disabled":
        rows = tuple(replace(row, description=f"{row.description} {DISABLED}") for row in rows)
    return table(INTROSPECTION, *rows)


def _execute_agent(row: OperationSpec, policy: Policy, enforced: bool) -> OperationSpec:
    start = SINGLE if enforced and policy.loop.start != "allow" else AUTO
    ceiling = policy.loop.step_ceiling
    *others, steps = row.params
    steps = replace(steps, default=min(policy.loop.max_autonomous_steps, ceiling), maximum=ceiling)
    said = row.description.replace("Danger level", f"{_AGREES}Danger level") if start == SINGLE else row.description
    danger = replace(row.danger, requires_confirmation=start == SINGLE)
    return replace(row, description=said, params=(*others, steps), danger=danger, permission=start)


_LOADED = tuple(map(load_operation, DECLARED["operation"]))


def protocol(policy: Policy, mode: str, challenge_seconds: float) -> dict[str, Any]:
    """AE-03, AE-08, LC-03: defaults, what can be set, and the states, for `_protocol`."""
    ceiling = policy.loop.step_ceiling
    return {
        "safety_loop": {
            "mode": mode,
            "defaults": {
                "max_autonomous_steps": min(policy.loop.max_autonomous_steps, ceiling),
                "risk_tolerance": policy.tolerance,
                "start": policy.loop.start,
                "deny": [glob.text for glob in policy.patterns.deny],
                "requires_approval": [glob.text for glob in policy.patterns.approve],
                "auto_approve": [glob.text for glob in policy.patterns.allow],
            },
            "step_ceiling": ceiling,
            "options": {"max_autonomous_steps": f"0 to {ceiling}", **DECLARED["safety_loop"]["options"]},
            "tiers": DECLARED["safety_loop"]["tiers"],
            "challenge_seconds": int(challenge_seconds),  # OOB-08
        },
        "lifecycle": {**LIFECYCLE, "extra_states": dict(CORE_STATES), "terminal": ["completed", "failed", "cancelled"]},
    }
