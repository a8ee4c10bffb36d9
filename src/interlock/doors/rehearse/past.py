"""What is a past call? The nouns that every kind of log is read into, and how its lines are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from interlock.agents import agent as agent_of
from interlock.core.model import Action

LONGEST = 16 << 20  # bytes of a line; a longer one is no record of a call
RAN, FAILED, UNKNOWN = "ran", "failed", "unknown"


@dataclass(frozen=True, slots=True)
class Past:
    """One call that an agent or a person made."""

    source: str  # claude-code | codex | shell
    id: str  # the same call can stand in several logs; empty where the log has no ids
    action: Action
    at: float  # seconds; of the file where its line has no time
    session: str = ""
    outcome: str = UNKNOWN


@dataclass(slots=True)
class Tally:
    """What could not be used, and how much was read."""

    files: int = 0
    malformed: int = 0  # lines
    unjudged: int = 0  # calls whose input makes no sense
    unread: list[str] = field(default_factory=list)  # files that could not be opened


@dataclass(frozen=True, slots=True)
class Raw:
    """A call as a log has it."""

    id: str
    tool: str
    input: Mapping[str, Any]
    cwd: str
    at: float
    session: str


def records(path: Path, tally: Tally) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line; what is none is counted and passed over."""
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                yield found
            else:
                tally.malformed += 1


def moment(value: object, otherwise: float) -> float:
    """The seconds of an ISO time; the file's own time where there is none."""
    if not isinstance(value, str):
        return otherwise
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return otherwise


def calls_of(word: str, raw: Raw, outcome: str, tally: Tally) -> Iterator[Past]:
    """The call in the shape in which that agent's hook would have judged it."""
    body = {
        "session_id": raw.session or "past", "transcript_path": "", "cwd": raw.cwd or "/", "permission_mode": "default",
        "model": "", "turn_id": "", "hook_event_name": "PreToolUse", "tool_name": raw.tool, "tool_input": raw.input,
        "tool_use_id": raw.id or "past",
    }  # fmt: skip
    event = agent_of(word).decode(json.dumps(body).encode(), "PreToolUse")
    if event.problem:
        tally.unjudged += 1
        return
    for call in event.calls:
        yield Past(word, raw.id, call.action, raw.at, raw.session, outcome)


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def table_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
