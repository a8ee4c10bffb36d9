"""A planner without a model: everyday requests by pattern, the same answer each time, everything from the request quoted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from interlock.core.plan_rules import PlannerSettings
from interlock.planners.everyday import REQUESTS, Everyday
from interlock.ports import Planned, Planner, UnknownRequest

NOTICE = "Mock planner: Ollama not connected"
_LONGEST = 1_000  # characters of a request that patterns are tried on


class Mock:
    """Knows what is in `everyday.py` and says so where it knows nothing."""

    def plan(self, intent: str, context: Mapping[str, Any]) -> Planned:
        text = " ".join(intent[:_LONGEST].split()).rstrip(".!?")
        for everyday in REQUESTS:
            found = re.fullmatch(everyday.pattern, text, re.IGNORECASE)
            if found:
                words = {name: value for name, value in found.groupdict().items() if value}
                return Planned(_plan(everyday, words), "mock", NOTICE)
        some = "; ".join(everyday.example for everyday in REQUESTS[:6])
        raise UnknownRequest(f"{NOTICE}. It knows everyday requests only, such as: {some}")


def _plan(everyday: Everyday, words: Mapping[str, str]) -> Mapping[str, Any]:
    quoted = {name: _quoted(value) for name, value in words.items()}
    return {
        "command": everyday.command.format(**quoted),
        "explanation": everyday.explanation,
        "assumptions": list(everyday.assumptions),
        "confidence": 0.9 if not words else 0.8,
        "expectedEffect": everyday.effect,
        "risk": everyday.risk,
        "flags": {
            "destructive": "destructive" in everyday.flags,
            "touchesFiles": "files" in everyday.flags,
            "touchesNetwork": "network" in everyday.flags,
            "escalatesPrivileges": "privileges" in everyday.flags,
            "requiresConfirmation": everyday.risk != "low",
        },
    }


def _quoted(value: str) -> str:
    """One word for the shell, and never an option: what begins with a dash is a name in this folder."""
    value = value.strip().strip("\"'`")
    return shlex.quote(f"./{value}" if value.startswith("-") else value)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Mock()
