"""Ollama on this machine or another one: `/api/chat`, held to the plan's JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.plan_form import SCHEMA
from interlock.core.plan_rules import PlannerSettings
from interlock.planners.asking import messages, post, spoken
from interlock.ports import Planned, Planner, PlannerError


@dataclass(frozen=True)
class Ollama:
    """One model."""

    host: str
    model: str
    seconds: float

    @property
    def name(self) -> str:
        return f"Ollama ({self.model})"

    def plan(self, intent: str, context: Mapping[str, Any]) -> Planned:
        asked = {
            "model": self.model,
            "messages": messages(intent, context),
            "format": dict(SCHEMA),
            "stream": False,
            "options": {"temperature": 0},
        }
        answer = post(self.name, f"{self.host}/api/chat", asked, self.seconds)
        message = answer.get("message") if isinstance(answer, dict) else None
        if not isinstance(message, dict):
            raise PlannerError(f"{self.name} gave no plan: there is no message in its answer")
        said = spoken(self.name, message.get("content"))  # tool calls are not looked at: a planner calls nothing
        return Planned(said, self.name)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Ollama(settings.host, settings.model, settings.seconds)
