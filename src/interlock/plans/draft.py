"""Parses a planner's answer into a draft: strict about the command, forgiving about words, never milder than the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.analysis.wire import flags_json
from interlock.model import Flags
from interlock.policy.plan_review import HIGH, RISKS, Draft, PlannerClaims

MOST_COMMAND = 8_000  # characters
MOST_WORDS = 2_000
MOST_ASSUMPTIONS = 12
FLAGS = tuple(flags_json(Flags()))  # by their names on the wire


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# The form of a planner's reply, as JSON Schema.
SCHEMA = _object(
    {
        "command": {"type": "string"},
        "explanation": {"type": "string"},
        "assumptions": {"type": "array", "items": {"type": "string"}},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "expectedEffect": {"type": "string"},
        "risk": {"type": "string", "enum": list(RISKS)},
        "flags": _object({name: {"type": "boolean"} for name in FLAGS}),
    }
)


class DraftError(ValueError):
    """The message is for a person."""


def parse_draft(reply: object) -> Draft:
    """Refuses a reply without one usable command, and notes what else is missing."""
    if not isinstance(reply, Mapping):
        raise DraftError("the planner's answer is no object")
    notes: list[str] = []
    sure = reply.get("confidence")
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:  # nor anything infinite
        sure = None
        notes.append("the planner did not say how sure it is")
    risk = reply.get("risk")
    if risk is None:  # left to Interlock's own analysis; an unknown word is the worst one
        notes.append("the planner gave no risk: it is what Interlock reads")
        risk = RISKS[0]
    word = risk.strip().lower() if isinstance(risk, str) else ""
    given = reply.get("assumptions")
    listed = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    assumed = [item.strip()[:500] for item in listed if isinstance(item, str) and item.strip()]
    if given is None:
        notes.append("the planner named no assumptions")
    return Draft(
        parse_command(reply.get("command")),
        _words(reply, "explanation", notes),
        tuple(assumed)[:MOST_ASSUMPTIONS],
        None if sure is None else round(float(sure), 2),
        _words(reply, "expectedEffect", notes),
        PlannerClaims(word if word in RISKS else HIGH, _flags(reply.get("flags"), notes)),
        tuple(notes),
    )


def parse_command(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DraftError("the plan has no command")
    text = value.strip().replace("\r\n", "\n")
    if len(text) > MOST_COMMAND:
        raise DraftError(f"the command is longer than {MOST_COMMAND} characters")
    if odd := next((char for char in text if not (char.isprintable() or char in "\n\t")), ""):
        raise DraftError(f"the command contains a character that cannot be seen (U+{ord(odd):04X})")
    return text


def _words(reply: Mapping[Any, Any], key: str, notes: list[str]) -> str:
    value = reply.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()[:MOST_WORDS]
    notes.append(f"the planner gave no {key}")
    return ""


def _flags(value: object, notes: list[str]) -> Flags:
    """A claimed value that is neither true nor false counts as true."""
    if not isinstance(value, Mapping):
        notes.append("the planner gave no flags: they are what Interlock reads")
        return Flags()
    if missing := [name for name in FLAGS if name not in value]:
        notes.append(f"the planner left out {', '.join(missing)}: they are what Interlock reads")
    return Flags(*(name in value and value[name] is not False for name in FLAGS))
