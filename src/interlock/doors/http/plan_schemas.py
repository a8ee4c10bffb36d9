"""What answers about plans and workflows look like, for the OpenAPI document."""

from __future__ import annotations

from interlock.core.plan import RISKS
from interlock.core.plan_records import STATUSES
from interlock.core.plan_rules import PLANNERS
from interlock.doors.http.shapes import (
    ANY,
    COUNT,
    FLAG,
    FLAGS,
    LEVEL,
    LEVEL_NAME,
    REQUIREMENT,
    TEXT,
    TEXTS,
    TIME,
    Schema,
    ref,
    table,
)

_RISK: Schema = {"type": "string", "enum": list(RISKS)}
_STATUS: Schema = {"type": "string", "enum": [*STATUSES, "starting"]}
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
            "use": {"type": "string", "enum": ["", *PLANNERS]}, "chosenBy": TEXT, "open": FLAG, "choices": TEXTS, "host": TEXT,
            "model": TEXT, "listens": FLAG,
        },
        {"listener": TEXT},
    ),
    "plan_history": table({"plans": {"type": "array", "items": table(_ROW, _TIMES)}}),
    "plan_kept": table({**_ROW, "output": TEXT, "cut": FLAG, "details": ANY}, _TIMES),
    "plan_run": table(
        {"status": {"type": "string", "enum": ["running", "held"]}, "reason": TEXT},
        {"command": TEXT, "cwd": TEXT, "ticket": ref("ticket"), "kept": TEXT},
    ),
    "plan_output": table({"text": TEXT, "next": COUNT, "status": _STATUS, "seconds": COUNT, "exitCode": _EXIT, "cut": FLAG}),
    "workflow": table({
        "id": TEXT, "name": TEXT, "stopOnFailure": FLAG, "madeBy": TEXT, "madeAt": TIME, "frozen": FLAG,
        "steps": {"type": "array", "items": table({"command": TEXT, "cwd": TEXT, "intent": TEXT})},
    }),
    "workflows": table({"workflows": {"type": "array", "items": ref("workflow")}}),
    "workflow_open": table({
        "workflow": ref("workflow"), "steps": {"type": "array", "items": ref("plan")}, "mark": TEXT, "frozen": FLAG, "drifted": FLAG,
    }),
    "workflow_run": table(
        {"status": {"type": "string", "enum": [*STATUSES, "held"]}, "reason": TEXT},
        {
            "step": COUNT,
            "steps": {"type": "array", "items": table({"plan": TEXT, "status": _STATUS})},
            "held": {"type": "array", "items": table({"step": COUNT, "reason": TEXT}, {"ticket": ref("ticket")})},
        },
    ),
}  # fmt: skip
