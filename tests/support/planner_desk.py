"""A gate with a scripted planner, and people who run its plans."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gate import Gate
from interlock.plans import planning, running
from interlock.plans.releasing import PlanConsent
from interlock.ports import PlannerError, PlannerReply
from interlock.records.plans import PlanRow
from interlock.runtime.plan_desk import ReviewedPlan

PATIENCE = 30.0


class ScriptedPlanner:
    """A planner with a fixed reply; raises it if it is an error."""

    def __init__(self, said: Any) -> None:
        self.said = said
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        self.asked.append((intent, context))
        if isinstance(self.said, PlannerError):
            raise self.said
        return PlannerReply(self.said, "says")


class PlannerDesk(Gate):
    """A gate with an operator who asks for plans."""

    def __init__(self, folder: Path, **config: Any) -> None:
        super().__init__(folder / "state", **config)
        self.here = folder / "work"
        self.here.mkdir(exist_ok=True)
        self.enrol()
        self.by = self.sign_in()

    def plan(self, command: str, **more: Any) -> ReviewedPlan:
        """The plan for a scripted command."""
        self.state.plans.planner = ScriptedPlanner({"command": command, **more})
        return planning.make_plan(self.state, self.by, "do something", str(self.here))

    def run(self, plan: ReviewedPlan, understood: bool = True) -> PlanRow:
        """Consents to a plan, runs it and waits for its end."""
        running.start(self.state, self.by, plan.id, consent_to(plan, understood))
        return self.ended(plan)

    def ended(self, plan: ReviewedPlan) -> PlanRow:
        process = self.state.plans.processes.get(plan.id)
        assert process is None or process.wait(PATIENCE)
        return until(lambda: (row := self.row(plan)).status != "running" and row)

    def row(self, plan: ReviewedPlan) -> PlanRow:
        return planning.find(self.state, plan.id)


def consent_to(plan: ReviewedPlan, understood: bool = True) -> PlanConsent:
    return PlanConsent(plan.command, plan.reviewed.mark, understood)


def until(holds: Any) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError("it did not come")
