"""The types that the loop's operations answer with, for introspection."""

from __future__ import annotations

from interlock.loop.protocol import ParamSpec
from interlock.loop.protocol.introspection import ProtocolType, types
from interlock.loop.state import STATES

TYPES = types(
    ProtocolType(
        "ExecutionStatus",
        "enum",
        "pending, running, completed, failed and cancelled are the core's. paused and blocked are our own, both a kind of "
        "running: a paused execution waits for a person, a blocked one for a code; cancelled is reachable from each.",
        STATES,
    ),
    ProtocolType(
        "AutonomyDirective",
        "object",
        "Whether the reported action may be done.",
        (
            ParamSpec("continue", "boolean", "Go on only if true.", required=True),
            ParamSpec("factors", "array", "Why, in words.", required=True, items="string"),
            ParamSpec("stopped", "boolean", "True: stop everything until a person has verified."),
            ParamSpec("reason", "string", "Why it is paused or stopped."),
            ParamSpec("steps_remaining", "integer", "On the wire: stepsRemaining."),
            ParamSpec("next_step_risk", "string", "On the wire: nextStepRisk.", enum=("advisory", "confirm", "verify", "danger_zone")),
            ParamSpec("notifications", "array", "What happened meanwhile.", items="object"),
        ),
    ),
    ProtocolType(
        "AgentNotification",
        "object",
        "Something to know, pulled with the next directive.",
        (
            ParamSpec(
                "type", "string", "What happened.", required=True,
                enum=("permission_pending", "autonomy_pause", "danger_zone", "status", "error"),
            ),
            ParamSpec("message", "string", "In words.", required=True),
            ParamSpec("metadata", "object", "operation, reason, level, verificationId."),
            ParamSpec("timestamp", "string", "When.", required=True, format="date-time"),
        ),
    ),
    ProtocolType(
        "Execution",
        "object",
        "One run of the loop.",
        (
            ParamSpec("execution_id", "string", "Its id.", required=True),
            ParamSpec("status", "string", "Its state.", required=True, enum=STATES),
            ParamSpec("started_at", "string", "When it began.", format="date-time"),
            ParamSpec("finished_at", "string", "When it ended.", format="date-time"),
        ),
    ),
    ProtocolType(
        "StepResult",
        "object",
        "The answer to a reported step.",
        (
            ParamSpec("execution_id", "string", "The execution; missing where none runs."),
            ParamSpec("status", "string", "Its state.", enum=STATES),
            ParamSpec("step", "integer", "The number of this step."),
            ParamSpec("autonomy", "object", "The AutonomyDirective.", required=True),
            ParamSpec("confirmation", "object", "token, operation and expires_at, where a person has to agree."),
        ),
    ),
    ProtocolType(
        "Confirmation",
        "object",
        "A token that was used.",
        (
            ParamSpec("confirmed", "boolean", "Always true.", required=True),
            ParamSpec("operation", "string", "What it was for.", required=True),
            ParamSpec("element_name", "string", "Whose it is.", required=True),
            ParamSpec("level", "string", "A PermissionLevel.", required=True),
            ParamSpec("expires_at", "string", "Until when it counts.", required=True, format="date-time"),
            ParamSpec("message", "string", "What to do next."),
        ),
    ),
    ProtocolType(
        "Verification",
        "object",
        "A code that was right.",
        (
            ParamSpec("verified", "boolean", "Always true.", required=True),
            ParamSpec("challenge_id", "string", "Its challenge.", required=True, format="uuid"),
            ParamSpec("unblocked_agent", "string", "Whom it freed."),
            ParamSpec("message", "string", "What to do next."),
        ),
    ),
    ProtocolType(
        "Request",
        "object",
        "What an operator was asked for.",
        (
            ParamSpec("requested", "boolean", "Always true.", required=True),
            ParamSpec("released", "boolean", "Whether a person agreed, and the wait is over.", required=True),
            ParamSpec("message", "string", "What to do next.", required=True),
        ),
    ),
    ProtocolType(
        "PendingApprovals",
        "object",
        "What waits for a person.",
        (ParamSpec("pending", "array", "Each a PendingApproval.", required=True, items="object"),),
    ),
    ProtocolType(
        "PendingApproval",
        "object",
        "One held action.",
        (
            ParamSpec("request_id", "string", "Its ticket.", required=True),
            ParamSpec("operation", "string", "The operation.", required=True),
            ParamSpec("title", "string", "The action, short.", required=True),
            ParamSpec("danger_level", "string", "A DangerLevel.", required=True),
            ParamSpec("requires", "string", "What is asked for.", required=True),
            ParamSpec("reason", "string", "Why.", required=True),
            ParamSpec("armed", "boolean", "Whether a person agreed.", required=True),
            ParamSpec("opened_at", "string", "When it was held.", required=True, format="date-time"),
            ParamSpec("expires_at", "string", "Until when it waits.", required=True, format="date-time"),
        ),
    ),
    ProtocolType(
        "Approval",
        "object",
        "A held call that a person agreed to.",
        (
            ParamSpec("approved", "boolean", "Always true.", required=True),
            ParamSpec("request_id", "string", "Its ticket.", required=True),
            ParamSpec("operation", "string", "The operation.", required=True),
            ParamSpec("expires_at", "string", "Until when it counts.", required=True, format="date-time"),
            ParamSpec("message", "string", "What to do next."),
        ),
    ),
    ProtocolType(
        "PermissionDecision",
        "object",
        "The answer to a permission prompt.",
        (
            ParamSpec("behavior", "string", "The decision.", required=True, enum=("allow", "deny")),
            ParamSpec("updated_input", "object", "On the wire: updatedInput, of an allow."),
            ParamSpec("message", "string", "Why it was denied."),
        ),
    ),
    ProtocolType("SafetyTier", "enum", "What a score asks for.", ("advisory", "confirm", "verify", "danger_zone")),
)  # fmt: skip
