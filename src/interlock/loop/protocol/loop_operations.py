"""The table of the loop's operations: its seven, its readers, and those that R-15 names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from interlock.loop.protocol import Danger, OperationSpec, ParamSpec, Returns, table
from interlock.loop.protocol.gatekeeper import AUTO, SESSION, SINGLE
from interlock.loop.protocol.introspection import INTROSPECTION
from interlock.loop.state import CORE_STATES, STATES
from interlock.model import Level
from interlock.policy.policy import Policy

LIFECYCLE: Mapping[str, Any] = MappingProxyType(
    {"states": list(STATES), "supports_cancel": True, "supports_retry": False, "progress_reporting": True}
)
STATE_FIELDS = (
    "execution_id", "status", "element_name", "started_at", "finished_at", "steps", "max_autonomous_steps",
    "steps_remaining", "progress", "safety_loop", "goal", "pause", "blocked", "challenge", "outcome", "summary", "reason",
    "notifications",
)  # fmt: skip
DISABLED = "DISABLED: nothing is judged, and every answer is continue: true, which is nobody's approval."
_EXECUTION = Returns("Execution", "object", "The execution after this.")
_AGREES = "A person has to agree to the start; until then the answer is CONFIRMATION_REQUIRED with a token that only a person can arm. "
_SAFE = Danger(Level.SAFE, ("It reads and changes nothing.",))
_STOPS = Danger(Level.REVERSIBLE, ("It only takes power away.",))


def _element(words: str = "Your name as an agent; the same in every call.") -> ParamSpec:
    return ParamSpec("element_name", "string", words, required=True, min_length=1, max_length=200)


def _example(words: str, operation: str, /, **params: Any) -> dict[str, Any]:
    return {"description": words, "request": {"operation": operation, "params": params}}


def operations(policy: Policy, mode: str = "enforcing") -> Mapping[str, OperationSpec]:
    """The table under a policy; while the loop is disabled, each of its operations says so (R-25)."""
    rows: tuple[OperationSpec, ...] = (_execute_agent(policy, mode == "enforcing"), *_LOOP, *_OTHERS)
    if mode == "disabled":
        rows = tuple(replace(row, description=f"{row.description} {DISABLED}") for row in rows)
    return table(INTROSPECTION, *rows)


def _execute_agent(policy: Policy, enforced: bool) -> OperationSpec:
    ceiling = policy.loop.step_ceiling
    steps = min(policy.loop.max_autonomous_steps, ceiling)
    start = SINGLE if enforced and policy.loop.start != "allow" else AUTO
    return OperationSpec(
        "execute_agent",
        "execute",
        "Starts an execution: from now on report every intended action with record_execution_step first. "
        f"{_AGREES if start == SINGLE else ''}Danger level: reversible.",
        (
            _element(),
            ParamSpec("parameters", "object", "What you are about to do, for example a goal."),
            ParamSpec(
                "max_autonomous_steps",
                "integer",
                "Steps before a mandatory pause; it can only lower what the operator set.",
                default=steps,
                fills=False,
                minimum=0,
                maximum=ceiling,
                aliases=("maxAutonomousSteps",),
            ),
        ),
        _EXECUTION,
        Danger(Level.REVERSIBLE, ("It starts monitored work.",), requires_confirmation=start == SINGLE),
        start,
        LIFECYCLE,
        (_example("Start.", "execute_agent", element_name="builder", parameters={"goal": "update the docs"}),),
    )


_LOOP: tuple[OperationSpec, ...] = (
    OperationSpec(
        "record_execution_step",
        "create",
        "Reports the action you are about to take and answers with an AutonomyDirective. Go on only if autonomy.continue is "
        "true; if autonomy.stopped is true, stop everything. Danger level: reversible.",
        (
            _element(),
            ParamSpec(
                "next_action_hint",
                "string",
                "The next action in detail: tool, target, command, purpose.",
                required=True,
                min_length=1,
                max_length=65_536,
                aliases=("nextActionHint",),
            ),
            ParamSpec(
                "step_description",
                "string",
                "What the step before did.",
                max_length=65_536,
                aliases=("stepDescription",),
            ),
            ParamSpec("outcome", "string", "How the step before ended.", enum=("success", "failure", "skipped")),
            ParamSpec("findings", "string", "What it found.", max_length=65_536),
            ParamSpec(
                "risk_score",
                "integer",
                "Your own estimate; it can only raise the risk.",
                minimum=0,
                maximum=100,
                aliases=("riskScore",),
            ),
            ParamSpec("cwd", "string", "The folder that the action runs in.", max_length=4_096),
        ),
        Returns("StepResult", "object", "The execution and its AutonomyDirective."),
        Danger(Level.REVERSIBLE, ("It writes a record.",)),
        SESSION,
        examples=(
            _example(
                "Before a tool call.",
                "record_execution_step",
                element_name="builder",
                next_action_hint="calling write_file on docs/setup.md to add the install steps",
                outcome="success",
            ),
        ),
    ),
    OperationSpec(
        "complete_execution",
        "execute",
        "Ends an execution that has done its work. Danger level: reversible.",
        (
            _element(),
            ParamSpec("summary", "string", "What was done.", max_length=65_536),
            ParamSpec(
                "outcome",
                "string",
                "How it ended.",
                default="success",
                enum=("success", "failure", "partial"),
            ),
        ),
        _EXECUTION,
        _STOPS,
        AUTO,
        LIFECYCLE,
        (_example("Done.", "complete_execution", element_name="builder", summary="docs updated"),),
    ),
    OperationSpec(
        "abort_execution",
        "execute",
        "Ends an execution early; always possible, and it lifts no block. Danger level: reversible.",
        (_element(), ParamSpec("reason", "string", "Why.", max_length=65_536)),
        _EXECUTION,
        _STOPS,
        AUTO,
        LIFECYCLE,
        (_example("Give up.", "abort_execution", element_name="builder", reason="the user changed their mind"),),
    ),
    OperationSpec(
        "confirm_operation",
        "execute",
        "Spends a confirmation token after a person armed it. You cannot arm it yourself: an unarmed token is refused. "
        "Danger level: reversible.",
        (
            ParamSpec(
                "confirmation_token",
                "string",
                "The token that was offered.",
                required=True,
                sensitive=True,
            ),
            ParamSpec(
                "operation",
                "string",
                "The operation it was offered for; inside params only.",
                required=True,
                min_length=1,
                max_length=200,
                nested=True,
            ),
        ),
        Returns("Confirmation", "object", "What was confirmed, and until when."),
        Danger(Level.REVERSIBLE, ("It uses what a person agreed to.",)),
        AUTO,
        LIFECYCLE,
        (
            _example(
                "After a person agreed.", "confirm_operation", confirmation_token="conf_…", operation="delete_user"
            ),
        ),
    ),
    OperationSpec(
        "verify_challenge",
        "create",
        "Submits the code that a person read on a channel of their own, to lift a pause or a block. You never see the code "
        "unless a person gives it to you. Danger level: reversible.",
        (
            ParamSpec(
                "challenge_id", "string", "The verificationId of the notification.", required=True, format="uuid"
            ),
            ParamSpec("code", "string", "The code, as the person gave it.", required=True, sensitive=True),
        ),
        Returns("Verification", "object", "Whether it was right, and whom it freed."),
        Danger(Level.REVERSIBLE, ("A wrong code is used up.",)),
        AUTO,
        examples=(
            _example(
                "With a code that a person typed.",
                "verify_challenge",
                challenge_id="7d5c1a52-4b1c-4a53-9b0c-0f6f3a1c9e21",
                code="ABCD-EFGH-…",
            ),
        ),
    ),
    OperationSpec(
        "get_execution_state",
        "read",
        "Says how your execution stands: its state, steps and pause. Danger level: safe.",
        (
            _element(),
            ParamSpec("fields", "array", f"Only these: {', '.join(STATE_FIELDS)}.", items="string"),
        ),
        _EXECUTION,
        _SAFE,
        lifecycle=LIFECYCLE,
        examples=(
            _example(
                "Only the state.", "get_execution_state", element_name="builder", fields=["execution_id", "status"]
            ),
        ),
        selects=STATE_FIELDS,
    ),
)
#
_OTHERS: tuple[OperationSpec, ...] = (
    OperationSpec(
        "continue_execution",
        "execute",
        "Resumes a paused execution after a person armed its token. Danger level: reversible.",
        (
            _element(),
            ParamSpec("confirmation_token", "string", "The token of the pause.", sensitive=True),
        ),
        _EXECUTION,
        Danger(Level.REVERSIBLE, ("It uses what a person agreed to.",)),
        AUTO,
        LIFECYCLE,
    ),
    OperationSpec(
        "release_deadlock",
        "execute",
        "Asks an operator to free a stuck agent; it frees nothing by itself. Called again after a person agreed, it ends the wait, "
        "and the held step stays unapproved. Danger level: reversible.",
        (_element(), ParamSpec("reason", "string", "What is stuck.", max_length=65_536)),
        Returns("Request", "object", "What was asked for."),
        Danger(Level.REVERSIBLE, ("It tells an operator.",)),
        AUTO,
    ),
    OperationSpec(
        "get_pending_cli_approvals",
        "read",
        "Lists what waits for a person. Danger level: safe.",
        (ParamSpec("element_name", "string", "Only of this agent.", min_length=1, max_length=200),),
        Returns("PendingApprovals", "object", "The held actions."),
        _SAFE,
    ),
    OperationSpec(
        "approve_cli_permission",
        "execute",
        "Spends the approval of a held tool call after an operator gave it. Danger level: reversible.",
        (
            ParamSpec("element_name", "string", "Of this agent.", min_length=1, max_length=200),
            ParamSpec(
                "request_id",
                "string",
                "The held call, as get_pending_cli_approvals lists it.",
                required=True,
                min_length=1,
            ),
        ),
        Returns("Approval", "object", "How it stands."),
        Danger(Level.REVERSIBLE, ("It uses what a person agreed to.",)),
        AUTO,
    ),
    OperationSpec(
        "permission_prompt",
        "execute",
        "Decides one tool call, as a client's permission prompt: behavior is allow or deny. Danger level: reversible.",
        (
            ParamSpec("tool_name", "string", "The tool.", required=True, min_length=1, max_length=200),
            ParamSpec("input", "object", "What it would be called with.", required=True),
            ParamSpec("tool_use_id", "string", "The call, as the client names it.", max_length=200),
            ParamSpec("element_name", "string", "Your name as an agent.", min_length=1, max_length=200),
        ),
        Returns("PermissionDecision", "object", "behavior with updatedInput, or with a message."),
        Danger(Level.REVERSIBLE, ("It decides, and runs nothing.",)),
        AUTO,
    ),
)


def protocol(policy: Policy, mode: str, challenge_seconds: float) -> dict[str, Any]:
    """AE-03, AE-08, LC-03: defaults, what can be set, and the states, for `_protocol`."""
    return {
        "safety_loop": {
            "mode": mode,
            "defaults": {
                "max_autonomous_steps": min(policy.loop.max_autonomous_steps, policy.loop.step_ceiling),
                "risk_tolerance": policy.tolerance,
                "start": policy.loop.start,
                "deny": [glob.text for glob in policy.patterns.deny],
                "requires_approval": [glob.text for glob in policy.patterns.approve],
                "auto_approve": [glob.text for glob in policy.patterns.allow],
            },
            "step_ceiling": policy.loop.step_ceiling,
            "options": {
                "max_autonomous_steps": f"0 to {policy.loop.step_ceiling}",
                "risk_tolerance": ["conservative", "moderate", "aggressive"],
                "start": ["confirm", "allow"],
                "deny": "glob patterns",
                "requires_approval": "glob patterns",
                "auto_approve": "glob patterns",
                "set_by": "the operator, per policy, agent or adapter",
            },
            "tiers": {"advisory": "0-30", "confirm": "31-60", "verify": "61-85", "danger_zone": "86-100"},
            "challenge_seconds": int(challenge_seconds),  # OOB-08
        },
        "lifecycle": {**LIFECYCLE, "extra_states": dict(CORE_STATES), "terminal": ["completed", "failed", "cancelled"]},
    }
