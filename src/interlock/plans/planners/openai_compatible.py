"""Any endpoint that speaks OpenAI's chat completions; its key comes from the environment and goes nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.config.plans import PlannerSettings
from interlock.model import Confidential
from interlock.plans.draft import SCHEMA
from interlock.plans.planners import messages, parse_reply, post
from interlock.ports import Planner, PlannerError, PlannerReply


class OpenAiCompatible(Confidential, Struct, frozen=True):
    """One model at one endpoint."""

    HIDDEN = ("key",)

    host: str
    model: str
    seconds: float
    key: str = ""

    @property
    def name(self) -> str:
        return self.model

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        request = {
            "model": self.model,
            "messages": messages(intent, context),
            "temperature": 0,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "plan", "strict": True, "schema": dict(SCHEMA)},
            },
        }
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        answer = post(self.name, f"{self.host}/chat/completions", request, self.seconds, headers)
        return PlannerReply(parse_reply(self.name, _content(answer)), self.name)


def _content(answer: object) -> object:
    """The text of the first choice; none where the answer has another form."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message.get("content") if isinstance(message, dict) else None


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    """Refuses to send a key over a line that others can read."""
    key = environ.get(settings.key_env, "") if settings.key_env else ""
    if settings.key_env and not key:
        raise PlannerError(f"planner.key_env: there is no {settings.key_env} in the daemon's environment")
    if key and not settings.here and not settings.host.startswith("https:"):
        raise PlannerError("planner.host: a key is sent over https alone")
    return OpenAiCompatible(settings.host, settings.model, settings.seconds, key)
