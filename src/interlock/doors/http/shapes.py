"""The small words that schemas are made of."""

from __future__ import annotations

from typing import Any

from interlock.core.codes import CODES
from interlock.core.trust import TRUSTS

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TIME: Schema = {"type": "string", "format": "date-time"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
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
    return table({name: {"type": "array", "items": ref(item)}})


ERROR = table({"code": {"type": "string", "enum": sorted(CODES)}, "message": TEXT}, {"details": ANY})
REQUIREMENT = table(
    {
        "word": TEXT, "cooling_seconds": {"type": "number", "minimum": 0}, "human": {"type": "string", "enum": ["none", "confirm", "approve", "verify"]},
        "approvers": TEXTS, "quorum": COUNT, "reauth": FLAG, "blocked": FLAG,
    }
)  # fmt: skip
FLAGS = table({
    "destructive": FLAG, "touchesFiles": FLAG, "touchesNetwork": FLAG, "escalatesPrivileges": FLAG, "requiresConfirmation": FLAG,
})  # fmt: skip
