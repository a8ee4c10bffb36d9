"""A planner without a model: everyday requests by pattern, always the same answer, everything from the request quoted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, toml
from msgspec.structs import replace

from interlock.config.plans import PlannerSettings
from interlock.plans.draft import FLAGS
from interlock.ports import Planner, PlannerReply, UnknownRequest


class EverydayRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """`{names}` of the command are filled with quoted words of the request."""

    example: str
    pattern: str
    command: str
    explanation: str
    effect: str = "Nothing changes."
    risk: str = "low"
    flags: frozenset[str] = frozenset()
    assumptions: tuple[str, ...] = ()


class _Requests(Struct, frozen=True, forbid_unknown_fields=True):
    words: dict[str, str]
    request: tuple[EverydayRequest, ...]

    def pattern(self, text: str) -> str:
        return re.sub(r"\{([a-z]+)\}", lambda found: self.words[found[1]], text)


_LOADED = toml.decode(Path(__file__).with_name("mock.toml").read_bytes(), type=_Requests)
REQUESTS = tuple(replace(one, pattern=_LOADED.pattern(one.pattern)) for one in _LOADED.request)
NOTICE = "Mock planner: Ollama not connected"
_LONGEST = 1_000  # characters of a request that patterns are tried on


class Mock:
    """Raises UnknownRequest with examples for a request beyond `REQUESTS`."""

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        text = " ".join(intent[:_LONGEST].split()).rstrip(".!?")
        for everyday in REQUESTS:
            if found := re.fullmatch(everyday.pattern, text, re.IGNORECASE):
                words = {name: value for name, value in found.groupdict().items() if value}
                return PlannerReply(_plan(everyday, words), "mock", NOTICE)
        some = "; ".join(everyday.example for everyday in REQUESTS[:6])
        raise UnknownRequest(f"{NOTICE}. It knows everyday requests only, such as: {some}")


def _plan(everyday: EverydayRequest, words: Mapping[str, str]) -> Mapping[str, Any]:
    plain = {name: value.strip().strip("\"'`") for name, value in words.items()}
    # A leading dash becomes a name in this folder, never an option.
    quoted = {name: shlex.quote(f"./{one}" if one.startswith("-") else one) for name, one in plain.items()}
    return {
        "command": everyday.command.format(**quoted),
        "explanation": everyday.explanation,
        "assumptions": list(everyday.assumptions),
        "confidence": 0.9 if not words else 0.8,
        "expectedEffect": everyday.effect,
        "risk": everyday.risk,
        "flags": {name: name in everyday.flags for name in FLAGS} | {"requiresConfirmation": everyday.risk != "low"},
    }


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Mock()
