"""Any endpoint that speaks OpenAI's chat completions; its key comes from the environment and goes nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.config.plans import PlannerSettings
from interlock.plans.draft import SCHEMA
from interlock.plans.planners import ChatPlanner
from interlock.ports import Planner, PlannerError


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    """Refuses to send a key over a line that others can read."""
    key = environ.get(settings.key_env, "") if settings.key_env else ""
    if settings.key_env and not key:
        raise PlannerError(f"planner.key_env: there is no {settings.key_env} in the daemon's environment")
    if key and not settings.here and not settings.host.startswith("https:"):
        raise PlannerError("planner.host: a key is sent over https alone")
    form = {"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": dict(SCHEMA)}}
    more, url = {"temperature": 0, "response_format": form}, f"{settings.host}/chat/completions"
    content = ("choices", 0, "message", "content")
    return ChatPlanner(settings.model, url, settings.model, settings.seconds, more, content, key)
