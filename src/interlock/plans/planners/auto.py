"""Ollama where it answers, else the mock planner, which says that it is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.config.plans import PlannerSettings
from interlock.plans.planners import PlannerNotConnected, mock, ollama
from interlock.ports import Planner, PlannerReply


class Auto(Struct, frozen=True):
    """Asks the second planner only while the first is not connected; a wrong answer stays an error."""

    first: Planner
    second: Planner

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        try:
            return self.first.plan(intent, context)
        except PlannerNotConnected:
            return self.second.plan(intent, context)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    return Auto(ollama.open_planner(settings, environ), mock.open_planner(settings, environ))
