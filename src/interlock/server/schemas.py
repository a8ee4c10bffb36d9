"""JSON schemas of every response, for the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interlock.config.plans import PLANNERS
from interlock.error_codes import CODES
from interlock.model import TRUSTS
from interlock.policy.plan_review import RISKS
from interlock.policy.policy import MODES
from interlock.records import STATES
from interlock.records.plans import STATUSES
from interlock.snapshots import WHATS
from interlock.web.evaluate_body import KEYS, LEVELS

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TIME: Schema = {"type": "string", "format": "date-time"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
FALSE: Schema = {"type": "boolean", "enum": [False]}
ANY: Schema = {"type": "object", "additionalProperties": True}
TEXTS: Schema = {"type": "array", "items": TEXT}
ANYS: Schema = {"type": "array", "items": ANY}
LEVEL: Schema = {"type": "integer", "minimum": 0, "maximum": 4}
LEVEL_NAME: Schema = {"type": "string", "enum": ["safe", "reversible", "destructive", "dangerous", "forbidden"]}
STATE: Schema = {
    "type": "string",
    "enum": ["pending_cooling", "pending_approval", "approved", "rejected", "expired", "executed"],
}
TRUST: Schema = {"type": "string", "enum": list(TRUSTS)}
DECISION: Schema = {"type": "string", "enum": ["allow", "cool_off", "confirm", "approve", "verify", "block", "deny"]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def table(required: dict[str, Schema], optional: dict[str, Schema] | None = None, open: bool = False) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": sorted(required),
        "additionalProperties": open,
    }


def many(name: str, item: str) -> Schema:
    return table({name: array(ref(item))})


def array(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def one_of(words: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def table_of(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


ERROR = table({"code": one_of(sorted(CODES)), "message": TEXT}, {"details": ANY})
REQUIREMENT = table(
    {
        "word": TEXT, "cooling_seconds": {"type": "number", "minimum": 0}, "human": one_of(["none", "confirm", "approve", "verify"]),
        "approvers": TEXTS, "quorum": COUNT, "reauth": FLAG, "blocked": FLAG,
    }
)  # fmt: skip
FLAGS = table({
    "destructive": FLAG, "touchesFiles": FLAG, "touchesNetwork": FLAG, "escalatesPrivileges": FLAG, "requiresConfirmation": FLAG,
})  # fmt: skip


_RISK: Schema = one_of(RISKS)
_STATUS: Schema = one_of([*STATUSES, "starting"])
_EXIT: Schema = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
_ROW = {
    "id": TEXT, "operator": TEXT, "madeAt": TIME, "status": _STATUS, "intent": TEXT, "generated": TEXT, "command": TEXT, "cwd": TEXT,
    "risk": _RISK, "level": LEVEL, "level_name": LEVEL_NAME, "planner": TEXT, "place": TEXT, "ticket": TEXT, "workflow": TEXT,
    "step": COUNT, "seconds": COUNT, "exitCode": _EXIT,
}  # fmt: skip
_TIMES = {"startedAt": TIME, "endedAt": TIME}

PLAN_SCHEMAS: dict[str, Schema] = {
    "plan": table({
        "intent": TEXT, "command": TEXT, "risk": _RISK, "flags": FLAGS, "safetyFlags": TEXTS, "explanation": TEXT, "assumptions": TEXTS,
        "confidence": {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]}, "expectedEffect": TEXT,
        "id": TEXT, "status": _STATUS, "generated": TEXT, "edited": FLAG, "cwd": TEXT, "planner": TEXT, "notice": TEXT, "notes": TEXTS,
        "contextUsed": TEXTS, "level": LEVEL, "level_name": LEVEL_NAME, "irreversible": FLAG, "approvable": FLAG, "reasons": TEXTS,
        "blast": TEXT, "copied": FLAG, "instead": TEXTS, "requirement": REQUIREMENT, "confirmation": TEXT, "mark": TEXT, "ticket": TEXT, "kept": TEXT, "workflow": TEXT, "step": COUNT,
    }),
    "planner": table(
        {
            "use": one_of(["", *PLANNERS]), "chosenBy": TEXT, "open": FLAG, "choices": TEXTS, "host": TEXT,
            "model": TEXT, "listens": FLAG,
        },
        {"listener": TEXT},
    ),
    "plan_history": table({"plans": array(table(_ROW, _TIMES))}),
    "plan_kept": table({**_ROW, "output": TEXT, "cut": FLAG, "details": ANY}, _TIMES),
    "plan_run": table(
        {"status": one_of(["running", "held"]), "reason": TEXT},
        {"command": TEXT, "cwd": TEXT, "ticket": ref("ticket"), "kept": TEXT},
    ),
    "plan_output": table({"text": TEXT, "next": COUNT, "status": _STATUS, "seconds": COUNT, "exitCode": _EXIT, "cut": FLAG}),
    "workflow": table({
        "id": TEXT, "name": TEXT, "stopOnFailure": FLAG, "madeBy": TEXT, "madeAt": TIME, "frozen": FLAG,
        "steps": array(table({"command": TEXT, "cwd": TEXT, "intent": TEXT})),
    }),
    "workflows": many("workflows", "workflow"),
    "workflow_open": table({
        "workflow": ref("workflow"), "steps": array(ref("plan")), "mark": TEXT, "frozen": FLAG, "drifted": FLAG,
    }),
    "workflow_run": table(
        {"status": one_of([*STATUSES, "held"]), "reason": TEXT},
        {
            "step": COUNT,
            "steps": array(table({"plan": TEXT, "status": _STATUS})),
            "held": array(table({"step": COUNT, "reason": TEXT}, {"ticket": ref("ticket")})),
        },
    ),
}  # fmt: skip


_CHANGE = table(
    {
        "path": {**TEXT, "description": "or the name of a ref"},
        "what": one_of(sorted(WHATS)),
        "later": {**FLAG, "description": "whether it was changed since"},
    },
    {"diff": TEXT},
)
_CHANGES: Schema = array(_CHANGE)
_SAID: Schema = {
    "snapshot": ref("snapshot"),
    "changes": _CHANGES,
    "total": {**COUNT, "description": "of which the changes are the first"},
    "say": {
        **TEXTS,
        "description": "for people: a command to run, such as the push of a branch, or something to know",
    },
    "problem": {**TEXT, "description": "why it cannot be restored; empty where it can"},
}
UNDO_SCHEMAS: dict[str, Schema] = {
    "snapshot": table(
        {
            "id": TEXT,
            "at": TIME,
            "principal": TEXT,
            "agent": TEXT,
            "session": TEXT,
            "cwd": TEXT,
            "command": TEXT,
            "files": COUNT,
            "bytes": COUNT,
            "state": one_of(STATES),
            "machine": TEXT,
        },
        {"undoes": TEXT, "endedAt": TIME, "endedBy": TEXT},
    ),
    "snapshots": many("snapshots", "snapshot"),
    "undo_plan": table({**_SAID, "later": COUNT}),
    "undone": table({**_SAID, "undone": FLAG, "refused": FLAG}, {"undoableAs": TEXT}),
}


_COVERED = dict.fromkeys(("calls", "seen", "missed", "unsure"), COUNT)
CONFIRMATION = table({"token": TEXT, "expires_at": TIME, "message": TEXT, "reasons": TEXTS})
_ANSWER: Schema = {
    "reason": TEXT, "decision": DECISION, "strength": TEXT, "factors": TEXTS, "deniedPatterns": ANYS, "pendingId": TEXT,
    "confirmation_token": {**TEXT, "description": "for params._confirmation; inert until a human has answered"},
    "success": FALSE, "error": ERROR, "confirmation": CONFIRMATION,
    "expiresAt": TIME, "waitMs": COUNT, "coolingEndsAt": TIME, "requiresApproval": FLAG, "approvers": TEXTS, "code": TEXT,
    "level": LEVEL, "level_name": LEVEL_NAME, "irreversible": FLAG, "canRollback": FLAG,
    "score": {"type": "integer", "minimum": 0, "maximum": 100},
    "tier": one_of(["advisory", "confirm", "verify", "danger_zone"]), "flags": FLAGS, "findings": ANYS,
    "instead": TEXTS, "requirement": REQUIREMENT, "warnings": ANYS,
    "kept": {**TEXT, "description": "the snapshot taken of what it changes; `interlock undo` restores it"},
}  # fmt: skip
_NAME = {"type": "string", "maxLength": 200}
_TITLE = {"type": "string", "minLength": 1}
ASK: Schema = {
    "type": "object",
    "description": "Exactly one of action (or operation), command, tool and hint; adapter, params, resource and crude go with an action, "
    "input goes with a tool, and so does server: the MCP server whose tool it is, as a proxy knows it.",
    "properties": {
        "agent": {
            "description": "a claimed name; the credential is what counts",
            "oneOf": [_NAME, table({}, {"name": _NAME, "session": _NAME, "parent": _NAME})],
        },
        "action": {**_TITLE, "description": "an operation's name, in the specification's field"},
        "operation": {**_TITLE, "description": "the same in other words"},
        "adapter": {**_NAME, "description": "the adapter whose operation it is; what the daemon knows of it counts"},
        "command": {**_TITLE, "description": "shell text"},
        "tool": _TITLE,
        "input": ANY,
        "server": table(
            {
                "name": _NAME,
                "mark": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "a hash of how it is started"},
            },
            {
                "words": {"type": "string", "maxLength": 4096},
                "trust": {"type": "string"},
                "why": {"type": "string", "maxLength": 4096},
                "level": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 3,
                    "description": "of a tool that it does not list, or that changed; can only raise",
                },
                "hints": {
                    **array(one_of(["destructive", "read_only"])),
                    "description": "what the tool's annotations say",
                },
            },
        ),
        "hint": {**_TITLE, "description": "what is meant to be done, in plain words"},
        "resource": {"type": "string", "maxLength": 4096},
        "params": ANY,
        "crude": one_of(["CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"]),
        "cwd": {"type": "string", "maxLength": 4096},
        "pendingId": {"type": "string", "maxLength": 200, "description": "the ticket of a retry"},
        "session": _NAME,
        "risk": {"type": "integer", "minimum": 0, "maximum": 100, "description": "can only raise"},
        "danger": {
            "type": "string",
            "enum": list(LEVELS),
            "description": "the level that its caller claims; can only raise",
        },
    },
    "additionalProperties": False,
    "oneOf": [{"required": [kind]} for kind in ("action", "operation", "command", "tool", "hint")],
}
assert set(ASK["properties"]) == KEYS

PAUSE = table(
    {"paused": FLAG, "maxMinutes": COUNT},
    {"by": TEXT, "reason": TEXT, "since": TIME, "until": TIME, "ceiling": LEVEL_NAME},
)

CHANNEL = table({
    "name": TEXT, "kind": TEXT, "address": TEXT, "ready": FLAG, "problem": TEXT, "private": FLAG, "builtIn": FLAG,
    "events": TEXTS, "level": LEVEL_NAME, "afterSeconds": COUNT, "perMinute": COUNT, "waiting": COUNT,
    "recent": array(table(
            {"event": TEXT, "state": TEXT, "tries": COUNT, "madeAt": TIME},
            {"about": TEXT, "reason": TEXT, "doneAt": TIME, "nextAt": TIME},
        )),
})  # fmt: skip
_TRIED = table({"title": TEXT, "agent": TEXT, "level": LEVEL_NAME, "before": TEXT, "after": TEXT, "why": TEXT})
SCHEMAS: dict[str, Schema] = {
    "Ask": ASK,
    "Asks": table({"actions": {"type": "array", "items": ref("Ask"), "minItems": 1, "maxItems": 100}}),
    "Decision": table({"allowed": FLAG, "reason": TEXT, "decision": DECISION}, _ANSWER),
    "Denial": table(
        {"allowed": FALSE, "reason": TEXT, "decision": DECISION},
        _ANSWER,
    ),
    "Decisions": table({"results": array({"anyOf": [ref("Decision"), ref("Denial")]})}),
    "Error": table({"success": FALSE, "error": ERROR}),
    "ticket": table(
        {
            "id": TEXT, "state": STATE, "level": LEVEL, "level_name": LEVEL_NAME, "irreversible": FLAG, "title": TEXT,
            "reason": TEXT, "action": ANY, "findings": ANYS, "factors": TEXTS,
            "agent": table({"principal": TEXT, "name": TEXT, "session": TEXT}), "door": TEXT, "requirement": REQUIREMENT,
            "approvals": {
                "type": "array",
                "items": table({
                    "operator": TEXT, "channel": TEXT, "at": TIME, "verdict": one_of(["approve", "reject"]),
                }),
            },
            "severity": TEXT, "categories": TEXTS, "openedAt": TIME, "expiresAt": TIME, "strength": TEXT,
        },
        {
            "coolingEndsAt": TIME, "decidedAt": TIME, "decidedBy": TEXT, "decisionReason": TEXT, "spentAt": TIME,
            "executedAt": TIME, "outcome": TEXT, "blast": TEXT, "patterns": ANYS,
        },
    ),
    "tickets": table({
        "tickets": array(ref("ticket")), "next": nullable(TEXT),
    }),
    "grant_offer": table(
        {
            "effect": TEXT, "targets": TEXTS, "ceiling": LEVEL_NAME, "count": COUNT, "principal": TEXT, "name": TEXT, "session": TEXT,
            "digests": TEXTS,
        },
        {"approvals": WHOLE, "command": TEXT},
    ),
    "grant": table(
        {
            "id": TEXT, "effect": TEXT, "targets": TEXTS, "ceiling": LEVEL_NAME, "environment": TEXT, "remaining": WHOLE,
            "principal": TEXT, "name": TEXT, "session": TEXT, "digests": TEXTS, "by": TEXT, "why": TEXT, "createdAt": TIME,
            "expiresAt": TIME,
        },
        {"revokedAt": TIME, "revokedBy": TEXT},
    ),
    "grants": many("grants", "grant"),
    "standing": table({
        "id": TEXT, "verdict": one_of(["allow", "deny"]), "pattern": TEXT, "by": TEXT, "why": TEXT,
        "createdAt": TIME, "counts": {**FLAG, "description": "false: its signature is missing or its signer may not"},
    }, {"expiresAt": TIME}),
    "standings": many("standing", "standing"),
    "standing_trial": table({
        "records": COUNT, "changed": COUNT, "unchanged": COUNT,
        "examples": array(_TRIED), "others": array(_TRIED),
    }),
    "pattern": table({
        "id": TEXT, "pattern": TEXT, "category": TEXT, "severity": one_of(["low", "medium", "high", "critical"]),
        "description": TEXT, "requiresConfirmation": FLAG, "coolingOffMs": COUNT, "requiresHumanApproval": FLAG,
        "canRollback": {"type": ["boolean", "null"]}, "undo": TEXT,
    }),
    "patterns": many("patterns", "pattern"),
    "agent": table(
        {"principal": TEXT, "name": TEXT, "trust_tier": TEXT, "token": FLAG},
        {"firstSeen": TIME, "lastSeen": TIME, "revokedAt": TIME},
    ),
    "agents": many("agents", "agent"),
    "agent_token": table({"token": {"type": "string", "description": "shown once"}, "principal": TEXT, "name": TEXT}),
    "block": table(
        {"principal": TEXT, "name": TEXT, "reason": TEXT, "since": TIME, "by": TEXT}, {"liftedAt": TIME, "liftedBy": TEXT}
    ),
    "blocks": many("blocks", "block"),
    "challenge": table(
        {
            "id": {"type": "string", "format": "uuid"}, "kind": one_of(["block", "verify"]),
            "state": one_of(["open", "verified", "answered", "expired", "aborted"]),
            "agent": table({"principal": TEXT, "name": TEXT, "session": TEXT}), "reason": TEXT, "openedAt": TIME, "expiresAt": TIME,
            "shown": FLAG, "attempts": COUNT,
        },
        {"ticket": TEXT, "title": TEXT, "level_name": LEVEL_NAME},
    ),
    "challenges": many("challenges", "challenge"),
    "code": table({"code": {"type": "string", "description": "for an operator only"}, "expiresAt": TIME}),
    "operator": table(
        {
            "name": TEXT, "roles": TEXTS, "teams": TEXTS, "service": FLAG, "keyId": TEXT, "createdAt": TIME, "createdBy": TEXT,
            "disabled": FLAG,
        },
        {"disabledAt": TIME},
    ),
    "operators": many("operators", "operator"),
    "set_up_link": table({"url": TEXT, "operator": TEXT, "expiresAt": TIME}),
    "session_token": table({"token": TEXT, "operator": TEXT, "expiresAt": TIME}, {"unlockedUntil": TIME}),
    "session": table({
        "operator": TEXT, "expiresAt": TIME, "channel": TEXT, "roles": TEXTS, "teams": TEXTS, "steppedUp": FLAG,
    }),
    "adapter": table(
        {
            "name": TEXT, "kind": one_of(["adapter", "server"]), "version": TEXT, "trust": TRUST, "claimed": TRUST, "why": TEXT, "operations": COUNT,
            "history": array(table({"from": TRUST, "to": TRUST, "at": TIME, "by": TEXT, "reason": TEXT})),
        },
        {"file": TEXT, "starts": TEXT, "mark": TEXT, "certification": ANY, "revalidate_by": TIME, "overdue": FLAG},
    ),
    "server": table({"trust": TRUST, "note": TEXT, "changed": TEXTS}),
    "accepted": table({"name": TEXT, "accepted": FLAG}),
    "adapters": many("adapters", "adapter"),
    "done": table({"success": {"type": "boolean", "enum": [True]}}),
    "mode": table({"mode": one_of(MODES), "known": TEXTS}),
    "pause": PAUSE,
    "policy": table({
        "name": TEXT, "description": TEXT,
        "levels": {
            "type": "object",
            "additionalProperties": table({"requirement": REQUIREMENT, "denies": FLAG}, {"relief": REQUIREMENT, "kept": REQUIREMENT, "irreversible": REQUIREMENT}),
        },
        "irreversible": TEXT, "matrix": TEXT, "patterns": table({"deny": TEXTS, "approve": TEXTS, "allow": TEXTS}),
        "restrictions": table({"deny": TEXTS, "approve": TEXTS, "allow": TEXTS}), "openTickets": COUNT,
    }),
    "status": table({
        "version": TEXT, "strength": TEXT, "mode": TEXT, "policy": TEXT, "store": TEXT, "unlocked": FLAG,
        "operators": nullable(COUNT),
        "operator": {**TEXT, "description": "the name of the only one, to who is on this machine; else empty"}, "openTickets": nullable(COUNT),
        "openChallenges": nullable(COUNT), "problems": TEXTS,
        "blocked": array(table({"principal": TEXT, "reason": TEXT})),
        "raised": array(table({"principal": TEXT, "name": TEXT, "points": COUNT, "words": TEXT})),
        "warnings": TEXTS, "started": TIME, "pause": PAUSE,
        "jails": array(table({"program": TEXT, "grants": TEXTS, "since": TIME})),
    }),
    "metrics": table({
        "totalChecked": COUNT, "destructiveDetected": COUNT, "blockedByCooling": COUNT, "blockedByApproval": COUNT,
        "approved": COUNT, "rejected": COUNT, "expired": COUNT, "executed": COUNT,
        "bySeverity": table_of(COUNT), "byCategory": table_of(COUNT),
    }),
    "audit": table({
        "records": {
            "type": "array",
            "items": table({
                "writer": TEXT, "seq": COUNT, "at": TIME, "event": TEXT, "body": {}, "prev": TEXT, "hash": TEXT, "rulebook": TEXT,
                "policy": TEXT,
            }),
        },
    }),
    "verdict": table({
        "ok": FLAG, "records": COUNT, "faults": ANYS, "notes": TEXTS, "proved": table_of(COUNT),
        "unproved": COUNT, "provedUntil": nullable(TIME), "touches": COUNT,
        "touchedUntil": nullable(TIME),
    }),
    "preview": table({
        "verdict": TEXT, "outcome": TEXT, "level": COUNT, "levelName": TEXT, "irreversible": FLAG, "reason": TEXT, "rule": TEXT,
        "instead": TEXT, "impact": TEXT,
    }),
    "coverage": table({
        **_COVERED,
        "agents": array(table({"agent": TEXT, "asked": COUNT, **_COVERED})),
        "sessions": array(table({"agent": TEXT, "session": TEXT, "asked": COUNT, **_COVERED})),
    }),
    "quota": table(
        {"adapter": TEXT, "trust": TEXT, "file": TEXT, "api_limits": ANY, "quotas": ANYS},
        {"next_reset": TIME, "revalidate_by": TIME, "overdue": FLAG},
    ),
    "room": table({"allowed": {"type": "boolean", "enum": [True]}, "warnings": ANYS}),
    "health": table({"ok": FLAG}),
    "channels": table({"channels": array(CHANNEL)}),
    "channel_test": table({"name": TEXT, "sent": FLAG, "reason": TEXT}),
    **PLAN_SCHEMAS,
    **UNDO_SCHEMAS,
    "text": TEXT,
}  # fmt: skip
