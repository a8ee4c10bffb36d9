"""What operators send about plans and workflows: every key known, every length bounded."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interlock.core.plan_form import MOST_COMMAND
from interlock.doors.http.bodies import Body
from interlock.service.plans.making import MOST_INTENT
from interlock.service.plans.workflows import FREEZE_DAYS, MOST_STEPS

Command = Annotated[str, Field(min_length=1, max_length=MOST_COMMAND)]
Folder = Annotated[
    str, Field(max_length=4096, description="an absolute path; the daemon's home folder where it is empty")
]
Mark = Annotated[str, Field(max_length=200, description="of the review that was shown")]
Ticked = Annotated[bool, Field(description="whether the box was ticked, where the plan has one")]


class NewPlan(Body):
    intent: Annotated[str, Field(min_length=1, max_length=MOST_INTENT)]
    cwd: Folder = ""


class EditedPlan(Body):
    command: Command
    cwd: Folder | None = None


class PlanYes(Body):
    command: Command
    mark: Mark
    understood: Ticked = False
    at: Annotated[str, Field(pattern="^(daemon|terminal)$", description="where it runs")] = "daemon"


class PlanEnd(Body):
    exitCode: Annotated[int, Field(ge=-255, le=255)]
    interrupted: bool = False


class Step(Body):
    command: Command
    cwd: Folder = ""
    intent: Annotated[str, Field(max_length=MOST_INTENT)] = ""


class NewWorkflow(Body):
    name: Annotated[str, Field(min_length=1, max_length=80)]
    steps: Annotated[list[Step], Field(min_length=1, max_length=MOST_STEPS)]
    stopOnFailure: bool = True


class StepYes(Body):
    id: Annotated[str, Field(min_length=1, max_length=200, description="of the step's plan")]
    command: Annotated[str, Field(max_length=MOST_COMMAND)] = ""
    mark: Mark = ""
    understood: Ticked = False


Steps = Annotated[list[StepYes], Field(min_length=1, max_length=MOST_STEPS)]


class WorkflowRun(Body):
    steps: Steps
    frozen: Annotated[str, Field(max_length=200, description="the workflow's mark, where it is frozen")] = ""


class Freeze(Body):
    steps: Steps
    runs: Annotated[int, Field(ge=1, le=50)] = 10
    days: Annotated[int, Field(ge=1, le=FREEZE_DAYS)] = 1
