"""Ollama on this machine or another one: `/api/chat`, held to the plan's JSON schema."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.config.plans import PlannerSettings
from interlock.plans.draft import SCHEMA
from interlock.plans.planners import ChatPlanner
from interlock.ports import Planner


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    more = {"format": dict(SCHEMA), "stream": False, "options": {"temperature": 0}}
    name, url = f"Ollama ({settings.model})", f"{settings.host}/api/chat"
    return ChatPlanner(name, url, settings.model, settings.seconds, more, ("message", "content"))
