"""Request bodies and times other than evaluate's: every key is known, every length bounded, no error repeats a value."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from interlock.model import TRUSTS, Level
from interlock.plans.draft import MOST_COMMAND
from interlock.plans.planning import MOST_INTENT
from interlock.plans.releasing import PlanConsent
from interlock.plans.workflows import FREEZE_DAYS, MOST_STEPS
from interlock.policy.policy import MODES
from interlock.policy.registry import CATEGORIES
from interlock.web.errors import HttpProblem, invalid_value, missing_param

Word = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(max_length=500)]
Why = Annotated[str, Field(min_length=1, max_length=500)]
Name = Annotated[str, Field(max_length=200)]
Tier = Annotated[str, Field(max_length=64)]
Paths = list[Annotated[str, Field(min_length=1, max_length=4096)]]
Label = Annotated[str, Field(min_length=1, max_length=64)]
Labels = Annotated[list[Label], Field(max_length=50)]
Secret = Annotated[str, Field(min_length=1, max_length=1024, json_schema_extra={"format": "password"})]


def one_of(words: Iterable[str]) -> str:
    return f"^({'|'.join(words)})$"


class RequestBody(BaseModel):
    """A request body; refuses unknown keys and other types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Reason(RequestBody):
    reason: Words = ""


class Rejection(RequestBody):
    reason: Why


class ReportedOutcome(RequestBody):
    outcome: str = Field(min_length=1, max_length=500, description="the outcome of the action")
    agent: str = Field("", max_length=200, description="the name the ticket was opened under")


class Resume(RequestBody):
    operator: str = Field("", max_length=200, description="the expected operator; empty: the one who signed in")


class SignIn(RequestBody):
    operator: Label
    passphrase: Secret
    channel: str = Field("http", pattern="^[a-z][a-z0-9_-]{0,39}$")


class Passphrase(RequestBody):
    passphrase: Secret


class Mode(RequestBody):
    mode: str = Field(pattern=one_of(MODES))
    reason: Words = ""


class TypedCommand(RequestBody):
    command: str = Field(min_length=1, max_length=100_000)
    cwd: str = Field("", max_length=4096)


class NewPause(RequestBody):
    seconds: int = Field(ge=1)  # pause.max_minutes bounds it, and is named where it does
    reason: Why


class NewJail(RequestBody):
    pid: int = Field(ge=2, description="the first process of its PID namespace, by its pid outside")
    program: Word
    grants: Labels = []
    journal: bool = Field(False, description="a journal keeps what it changes")
    fixed: Paths = Field([], max_length=200, description="files that it must not be able to write")


class HookChange(RequestBody):
    change: str = Field(pattern="^(installed|removed)$")
    agent: Label
    scope: str = Field(pattern="^(project|user|system)$")
    files: Paths = Field(min_length=1, max_length=20)


class Acceptance(RequestBody):
    reason: Why
    mark: str = Field("", max_length=64, description="which of several servers of one name is meant")


class TrustChange(Acceptance):
    level: str = Field(pattern=one_of(TRUSTS))


class MetServer(RequestBody):
    server: dict[str, Any] = Field(description="as in evaluate")
    tools: Annotated[
        dict[str, Annotated[str, Field(min_length=1, max_length=64)]],
        Field(max_length=2_000, description="the tools that it lists, each with a hash of its description"),
    ] = {}


class NewAgent(RequestBody):
    name: Word
    trust_tier: Tier = ""


class AgentChange(RequestBody):
    principal: Word
    name: Name = ""
    trust_tier: Tier | None = None
    revoked: bool = False


class NewBlock(RequestBody):
    principal: Word
    reason: Why


class NewOperator(RequestBody):
    name: Label
    passphrase: Secret
    roles: Labels = []
    teams: Labels = []
    service: bool = False


class OperatorChange(RequestBody):
    roles: Labels | None = None
    teams: Labels | None = None
    disabled: bool | None = None


class FirstOperator(RequestBody):
    row: dict[str, Any] = Field(description="the sealed row from the terminal")
    seal_key: str = Field(pattern="^[0-9a-f]{64}$", description="hex")


class Undoing(RequestBody):
    force: bool = Field(False, description="whether later work is overwritten")


class NewGrant(RequestBody):
    effect: str = Field("", max_length=100)
    targets: Paths = Field([], max_length=100)
    environment: str = Field("", max_length=100)
    ceiling: str = Field("destructive", pattern=one_of(level.word for level in Level))
    count: int = Field(1, ge=1, le=1_000)
    seconds: int = Field(3_600, ge=1, le=7 * 86_400)
    why: Why
    principal: Name = ""
    name: Name = ""
    session: Name = ""
    digests: list[Word] = Field([], max_length=100)


class NewStanding(RequestBody):
    verdict: str = Field(pattern="^(allow|deny)$")
    pattern: str = Field(min_length=1, max_length=300)
    why: Words = ""
    seconds: int = Field(0, ge=0, le=366 * 86_400, description="0: until it is revoked")


class NewPattern(RequestBody):
    """A registry pattern, in the specification's fields."""

    id: str = Field(pattern="^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$")
    pattern: str = Field(min_length=1, max_length=1_000)
    category: str = Field(pattern=one_of(sorted(CATEGORIES)))
    severity: str = Field(pattern="^(low|medium|high|critical)$")
    description: Words = ""
    requiresConfirmation: bool = True
    coolingOffMs: int = Field(0, ge=0, le=86_400_000)
    requiresHumanApproval: bool = False
    canRollback: bool | None = None
    undo: Words = ""


Command = Annotated[str, Field(min_length=1, max_length=MOST_COMMAND)]
_FOLDER = "an absolute path; the daemon's home folder where it is empty"
Folder = Annotated[str, Field(max_length=4096, description=_FOLDER)]
Mark = Annotated[str, Field(max_length=200, description="of the review that was shown")]
Ticked = Annotated[bool, Field(description="whether the box was ticked, where the plan has one")]


class NewPlan(RequestBody):
    intent: str = Field(min_length=1, max_length=MOST_INTENT)
    cwd: Folder = ""


class EditedPlan(RequestBody):
    command: Command
    cwd: Folder | None = None


class PlanYes(RequestBody):
    command: Command
    mark: Mark
    understood: Ticked = False
    at: str = Field("daemon", pattern="^(daemon|terminal)$", description="where it runs")


class PlanEnd(RequestBody):
    exitCode: int = Field(ge=-255, le=255)
    interrupted: bool = False


class WorkflowStep(RequestBody):
    command: Command
    cwd: Folder = ""
    intent: str = Field("", max_length=MOST_INTENT)


class NewWorkflow(RequestBody):
    name: str = Field(min_length=1, max_length=80)
    steps: list[WorkflowStep] = Field(min_length=1, max_length=MOST_STEPS)
    stopOnFailure: bool = True


class StepYes(RequestBody):
    id: str = Field(min_length=1, max_length=200, description="of the step's plan")
    command: str = Field("", max_length=MOST_COMMAND)
    mark: Mark = ""
    understood: Ticked = False

    @property
    def consent(self) -> tuple[str, PlanConsent]:
        return self.id, PlanConsent(self.command, self.mark, self.understood)


Steps = Annotated[list[StepYes], Field(min_length=1, max_length=MOST_STEPS)]


class WorkflowRun(RequestBody):
    steps: Steps
    frozen: str = Field("", max_length=200, description="the workflow's mark, where it is frozen")


class Freeze(RequestBody):
    steps: Steps
    runs: int = Field(10, ge=1, le=50)
    days: int = Field(1, ge=1, le=FREEZE_DAYS)


_CHOICE = re.compile(r"\^\(([\w|]+)\)\$")
VALUE, TYPE = "VALIDATION_INVALID_VALUE", "VALIDATION_INVALID_TYPE"
# pydantic's error type -> our code and message; `{}` is the expected value.
_KINDS: Mapping[str, tuple[str, str]] = {
    "string_pattern_mismatch": (VALUE, "not one of the values it can have"),
    "string_too_short": (VALUE, "expected {min_length} characters or more"),
    "string_too_long": (VALUE, "expected no more than {max_length} characters"),
    "too_short": (VALUE, "expected {min_length} items or more"),
    "too_long": (VALUE, "expected no more than {max_length} items"),
    "greater_than_equal": (VALUE, "expected {ge} or more"),
    "less_than_equal": (VALUE, "expected {le} or less"),
    **dict.fromkeys(("string_type", "string_unicode"), (TYPE, "expected a text")),
    **dict.fromkeys(("bool_type", "bool_parsing"), (TYPE, "expected true or false")),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), (TYPE, "expected a whole number")),
    "int_parsing_size": (TYPE, "expected a smaller number"),
    "list_type": (TYPE, "expected a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), (TYPE, "expected an object")),
    "json_invalid": (TYPE, "cannot be read"),
}


def validation_problem(error: RequestValidationError) -> HttpProblem:
    first = error.errors()[0]
    kind, name = str(first.get("type", "")), ".".join(map(str, first.get("loc", ())[1:]))[:200] or "body"
    if kind == "missing":
        return missing_param(name)
    if kind == "extra_forbidden":
        words = f"unknown parameter {name!r}"
        return HttpProblem("VALIDATION_UNKNOWN_PARAM", words, details={"unknown_params": [name]})
    code, words = _KINDS.get(kind, (TYPE, "expected something else"))
    expected = defaultdict(lambda: "another number of", first.get("ctx") or {})
    said = _one_of(str(expected["pattern"])) or words.format_map(expected)
    return HttpProblem(code, f"{name!r}: {said}", details={"param_name": name})


def _one_of(pattern: str) -> str:
    """The words that a pattern like ^(|a|b)$ allows; empty for any other."""
    found = _CHOICE.fullmatch(pattern)
    return f"expected one of {', '.join(filter(None, found[1].split('|')))}" if found else ""


Moment = Annotated[str, StringConstraints(max_length=40)]


def seconds_of(name: str, text: str) -> float:
    """0 for an empty text; refuses anything but a time."""
    if not text:
        return 0.0
    try:
        if (digits := text.replace(".", "", 1)).isascii() and digits.isdigit():
            found = float(text)
        else:
            moment = datetime.fromisoformat(text)
            found = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise invalid_value(f"{name}: expected a time such as 2026-01-28T12:05:00Z, got {text!r:.50}") from None
    if not 0 <= found < 1e11:
        raise invalid_value(f"{name}: {text!r:.50} is too far away")
    return found
