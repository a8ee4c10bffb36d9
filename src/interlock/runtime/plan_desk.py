"""Open plans of operators, in memory only, with their exact texts; stored copies are redacted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.config.plans import PlannerSettings, PlanSettings
from interlock.error_codes import AnswerRefused
from interlock.model import Assessment, Requirement, Witness
from interlock.policy.impact import Impact
from interlock.policy.plan_review import Draft, Risk
from interlock.ports import NO_ACCESS, Access, Planner
from interlock.records.plans import PLANNED, RUNNING

if TYPE_CHECKING:
    from interlock.journal.build import JournalRun
    from interlock.plans.history import TerminalProgram
    from interlock.plans.planner_choice import PlannerOffer
    from interlock.plans.process import RunningCommand
    from interlock.plans.workflows import RunningWorkflow

Inspect = Callable[[Mapping[str, Any]], Impact]
MOST = 200
MOST_RUNNING = 8
PLANNING = 2  # planners that run at a time: each occupies a thread
STARTING = "starting"


class Reviewed(Struct, frozen=True):
    """The current risk of a command, with a hash of exactly that."""

    assessment: Assessment
    risk: Risk
    asked: Requirement
    denies: bool  # whether the gate denies it until somebody approves
    witnesses: tuple[Witness, ...]
    mark: str
    blast: str = ""  # the impact on its targets, in words
    copied: bool = False  # whether a snapshot replaces the approval


class ReviewedPlan(Struct, frozen=True):
    id: str
    operator: str
    intent: str
    generated: str
    command: str
    cwd: str
    draft: Draft
    reviewed: Reviewed
    planner: str = ""
    notice: str = ""
    context: tuple[str, ...] = ()  # given to the planner beside the request
    made_at: float = 0.0
    status: str = PLANNED
    ticket: str = ""  # that the gate holds it under
    workflow: str = ""
    step: int = 0
    place: str = ""
    started_at: float = 0.0
    touched_at: float = 0.0
    runs_as: str = ""
    kept: str = ""

    @property
    def edited(self) -> bool:
        return self.command != self.generated


class PlanDesk(Struct):
    """The open plans of one process, and the means to inspect and run them."""

    settings: PlanSettings = PlanSettings()
    configured: PlannerSettings = PlannerSettings()
    planner: Planner | None = None  # the one that the configuration names
    offer: PlannerOffer | None = None  # what an operator chooses from, where it names none
    files: Callable[[str], str | None] | None = None  # reads a script with the rights of its user
    look: Inspect | None = None
    access: Callable[[str], Access] = lambda principal: NO_ACCESS  # to the files of a principal's user, for the gate
    journal: Callable[[str], JournalRun | None] = lambda principal: None  # keeps what a command changes, where possible
    processes: dict[str, RunningCommand] = {}  # by the plan's id
    terminals: dict[str, TerminalProgram] = {}  # by the plan's id: what runs it at a terminal
    flows: dict[str, RunningWorkflow] = {}  # by the workflow's id: the run that was begun last
    planning: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(PLANNING))
    lock: threading.RLock = field(default_factory=threading.RLock)
    _open: dict[str, ReviewedPlan] = {}

    def put(self, plan: ReviewedPlan) -> ReviewedPlan:
        """Drops the oldest idle one when full; refuses where all run."""
        with self.lock:
            if plan.id not in self._open and len(self._open) >= MOST:
                idle = next((id for id, one in self._open.items() if one.status not in (RUNNING, STARTING)), None)
                if idle is None:
                    raise AnswerRefused("too many commands are running", "RATE_LIMIT_EXCEEDED")
                del self._open[idle]
            self._open[plan.id] = plan
            return plan

    def of(self, operator: str, id: str) -> ReviewedPlan:
        """Refuses another operator's."""
        found = self._open.get(id)
        if found is None or found.operator != operator:
            words = f"no plan {id!r:.80} of yours is open: ask again, or take it from the history"
            raise AnswerRefused(words, "NOT_FOUND_RESOURCE")
        return found

    def all(self) -> list[ReviewedPlan]:
        with self.lock:
            return list(self._open.values())

    def change(self, before: ReviewedPlan, after: ReviewedPlan) -> ReviewedPlan:
        """Compare-and-set: refuses where another tab, or another request, was faster."""
        with self.lock:
            if self._open.get(before.id) is not before:
                words = "the plan was changed just now, perhaps in another window; review it again"
                raise AnswerRefused(words, "TOKEN_SCOPE_MISMATCH")
            self._open[before.id] = after
            return after

    def settle(self, id: str, status: str) -> None:
        with self.lock:
            if (found := self._open.get(id)) is not None:
                self._open[id] = replace(found, status=status)
