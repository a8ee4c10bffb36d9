"""Rows of plans and workflows: the request, the proposal, what was run and how it ended."""

from __future__ import annotations

from msgspec import Struct

from interlock.model import NOTHING, Json, Level

PLANNED, RUNNING, REJECTED = "planned", "running", "rejected"
SUCCESS, FAILURE, INTERRUPTED = "success", "failure", "interrupted"
STATUSES = (PLANNED, RUNNING, REJECTED, SUCCESS, FAILURE, INTERRUPTED)
DAEMON, TERMINAL = "daemon", "terminal"  # where a command runs
NO_EXIT = -1  # it has not ended, or its exit code is unknown


class PlanRow(Struct, frozen=True):
    """Its texts are stored without secrets."""

    id: str
    operator: str
    made_at: float
    status: str
    intent: str
    generated: str  # the planner's command
    command: str  # as it was edited last, and as it ran
    cwd: str = ""
    risk: str = ""
    level: Level = Level.SAFE
    planner: str = ""
    place: str = ""  # where it ran
    details: Json = NOTHING  # explanation, flags and so on
    ticket: str = ""
    workflow: str = ""
    step: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    exit_code: int = NO_EXIT
    output: str = ""
    cut: bool = False  # there was more output
    writer: str = ""  # the process that owns it


class PlanQuery(Struct, frozen=True):
    text: str = ""
    status: str = ""
    operator: str = ""
    before: float = 0.0
    limit: int = 50


class Workflow(Struct, frozen=True):
    """Run one after the other, each after its review."""

    id: str
    name: str
    steps: tuple[Json, ...]  # command, cwd, intent
    stop_on_failure: bool
    made_by: str
    made_at: float
    frozen: Json = NOTHING  # one approval for all steps as they are: mark, grant, by, until
    removed_at: float = 0.0
