"""Ollama on this machine or another one: `/api/chat`, held to the plan's JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.config.plans import PlannerSettings
from interlock.plans.draft import SCHEMA
from interlock.plans.planners import messages, parse_reply, post
from interlock.ports import Planner, PlannerError, PlannerReply


class Ollama(Struct, frozen=True):
    """One model."""

    host: str
    model: str
    seconds: float

    @property
    def name(self) -> str:
        return f"Ollama ({self.model})"

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        request = {
            "model": self.model,
            "messages": messages(intent, context),
            "format": dict(SCHEMA),
            "stream": False,
            "options": {"temperature": 0},
        }
        answer = post(self.name, f"{self.host}/api/chat", request, self.seconds)
        message = answer.get("message") if isinstance(answer, dict) else None
        if not isinstance(message, dict):
            raise PlannerError(f"{self.name} gave no plan: there is no message in its answer")
        reply = parse_reply(self.name, message.get("content"))  # tool calls are ignored: a planner calls nothing
        return PlannerReply(reply, self.name)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Ollama(settings.host, settings.model, settings.seconds)
