"""What answers about snapshots look like, for the OpenAPI document."""

from __future__ import annotations

from interlock.core.snapshots import STATES
from interlock.core.undo import WHATS
from interlock.doors.http.shapes import COUNT, FLAG, TEXT, TEXTS, TIME, Schema, many, ref, table

_CHANGE = table(
    {
        "path": {**TEXT, "description": "or the name of a ref"},
        "what": {"type": "string", "enum": sorted(WHATS)},
        "later": {**FLAG, "description": "somebody worked on it since"},
    },
    {"diff": TEXT},
)
_CHANGES: Schema = {"type": "array", "items": _CHANGE}
_SAID: Schema = {
    "snapshot": ref("snapshot"),
    "changes": _CHANGES,
    "total": {**COUNT, "description": "of which the changes are the first"},
    "say": {
        **TEXTS,
        "description": "for people: a command to run, such as the push of a branch, or something to know",
    },
    "problem": {**TEXT, "description": "why it cannot be brought back; empty where it can"},
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
            "state": {"type": "string", "enum": list(STATES)},
            "machine": TEXT,
        },
        {"undoes": TEXT, "endedAt": TIME, "endedBy": TEXT},
    ),
    "snapshots": many("snapshots", "snapshot"),
    "undo_plan": table({**_SAID, "later": COUNT}),
    "undone": table({**_SAID, "undone": FLAG, "refused": FLAG}, {"undoableAs": TEXT}),
}
