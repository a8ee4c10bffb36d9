"""Which types do the loop's operations answer with? Each that their table names, for introspection."""

from __future__ import annotations

from interlock.core.loop import STATES
from interlock.doors.aql.operations import Param
from interlock.doors.aql.vocabulary import Type, types

TYPES = types(
    Type(
        "ExecutionStatus",
        "enum",
        "pending, running, completed, failed and cancelled are the core's. paused and blocked are our own, both a kind of "
        "running: a paused execution waits for a person, a blocked one for a code; cancelled is reachable from each.",
        STATES,
    ),
    Type(
        "AutonomyDirective",
        "object",
        "Whether the reported action may be done.",
        (
            Param("continue", "boolean", "Go on only if true.", required=True),
            Param("factors", "array", "Why, in words.", required=True, items="string"),
            Param("stopped", "boolean", "True: stop everything until a person has verified."),
            Param("reason", "string", "Why it is paused or stopped."),
            Param("steps_remaining", "integer", "On the wire: stepsRemaining."),
            Param("next_step_risk", "string", "On the wire: nextStepRisk.", enum=("advisory", "confirm", "verify", "danger_zone")),
            Param("notifications", "array", "What happened meanwhile.", items="object"),
        ),
    ),
    Type(
        "AgentNotification",
        "object",
        "Something to know, pulled with the next directive.",
        (
            Param(
                "type", "string", "What happened.", required=True,
                enum=("permission_pending", "autonomy_pause", "danger_zone", "status", "error"),
            ),
            Param("message", "string", "In words.", required=True),
            Param("metadata", "object", "operation, reason, level, verificationId."),
            Param("timestamp", "string", "When.", required=True, format="date-time"),
        ),
    ),
    Type(
        "Execution",
        "object",
        "One run of the loop.",
        (
            Param("execution_id", "string", "Its id.", required=True),
            Param("status", "string", "Its state.", required=True, enum=STATES),
            Param("started_at", "string", "When it began.", format="date-time"),
            Param("finished_at", "string", "When it ended.", format="date-time"),
        ),
    ),
    Type(
        "StepResult",
        "object",
        "The answer to a reported step.",
        (
            Param("execution_id", "string", "The execution; missing where none runs."),
            Param("status", "string", "Its state.", enum=STATES),
            Param("step", "integer", "The number of this step."),
            Param("autonomy", "object", "The AutonomyDirective.", required=True),
            Param("confirmation", "object", "token, operation and expires_at, where a person has to agree."),
        ),
    ),
    Type(
        "Confirmation",
        "object",
        "A token that was used.",
        (
            Param("confirmed", "boolean", "Always true.", required=True),
            Param("operation", "string", "What it was for.", required=True),
            Param("element_name", "string", "Whose it is.", required=True),
            Param("level", "string", "A PermissionLevel.", required=True),
            Param("expires_at", "string", "Until when it counts.", required=True, format="date-time"),
            Param("message", "string", "What to do next."),
        ),
    ),
    Type(
        "Verification",
        "object",
        "A code that was right.",
        (
            Param("verified", "boolean", "Always true.", required=True),
            Param("challenge_id", "string", "Its challenge.", required=True, format="uuid"),
            Param("unblocked_agent", "string", "Whom it freed."),
            Param("message", "string", "What to do next."),
        ),
    ),
    Type(
        "Request",
        "object",
        "What an operator was asked for.",
        (
            Param("requested", "boolean", "Always true.", required=True),
            Param("released", "boolean", "Whether a person agreed, and the wait is over.", required=True),
            Param("message", "string", "What to do next.", required=True),
        ),
    ),
    Type(
        "PendingApprovals",
        "object",
        "What waits for a person.",
        (Param("pending", "array", "Each a PendingApproval.", required=True, items="object"),),
    ),
    Type(
        "PendingApproval",
        "object",
        "One held action.",
        (
            Param("request_id", "string", "Its ticket.", required=True),
            Param("operation", "string", "The operation.", required=True),
            Param("title", "string", "The action, short.", required=True),
            Param("danger_level", "string", "A DangerLevel.", required=True),
            Param("requires", "string", "What is asked for.", required=True),
            Param("reason", "string", "Why.", required=True),
            Param("armed", "boolean", "Whether a person agreed.", required=True),
            Param("opened_at", "string", "When it was held.", required=True, format="date-time"),
            Param("expires_at", "string", "Until when it waits.", required=True, format="date-time"),
        ),
    ),
    Type(
        "Approval",
        "object",
        "A held call that a person agreed to.",
        (
            Param("approved", "boolean", "Always true.", required=True),
            Param("request_id", "string", "Its ticket.", required=True),
            Param("operation", "string", "The operation.", required=True),
            Param("expires_at", "string", "Until when it counts.", required=True, format="date-time"),
            Param("message", "string", "What to do next."),
        ),
    ),
    Type(
        "PermissionDecision",
        "object",
        "The answer to a permission prompt.",
        (
            Param("behavior", "string", "The decision.", required=True, enum=("allow", "deny")),
            Param("updated_input", "object", "On the wire: updatedInput, of an allow."),
            Param("message", "string", "Why it was denied."),
        ),
    ),
    Type("SafetyTier", "enum", "What a score asks for.", ("advisory", "confirm", "verify", "danger_zone")),
)  # fmt: skip
