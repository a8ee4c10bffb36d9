"""What a door asks, and what was read of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from interlock.core.circumstances import Adapted
from interlock.core.decide import Judgement
from interlock.core.model import Action, AgentRef, Kind
from interlock.core.redact import redact_text
from interlock.core.registry import Matched
from interlock.core.titles import Titles


@dataclass(frozen=True, slots=True)
class Request:
    """What a door asks: an action, by whom, through which door, and the ticket it says it has."""

    action: Action
    agent: AgentRef
    door: str
    resource: str = ""
    pending: str = ""  # a ticket's id
    token: str = field(default="", repr=False)  # a confirmation token, as it came
    execution: str = ""
    judged: Collection[str] | None = None  # the fields of the body that count for the digest
    claimed_risk: int | None = None
    adapted: Adapted | None = None
    adapter: str = ""
    files: Callable[[str], str | None] | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """An action that was read: its judgement, its digest, what it is after, what the registry says."""

    request: Request
    judgement: Judgement
    named: Titles
    matched: Matched | None
    now: float
    digest: str = ""
    goals: tuple[str, ...] = ()

    @property
    def severity(self) -> str:
        """Seed 003's word: the registry's where it spoke, else the level's (C-32)."""
        if self.matched and self.matched.severity is not None:
            return self.matched.severity.word
        level = self.judgement.assessment.level
        return ("", "", "medium", "high", "critical")[level]


def operation_of(action: Action) -> str:
    """What counting calls an action: an operation by its name, a command by its program."""
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        return action.text[:200]
    first = (action.text.split(None, 1) or [""])[0]
    name, given, _ = first.partition("=")  # `PGPASSWORD=… psql`: what is given to a variable may be a secret
    return f"{action.kind.value}:{redact_text(f'{name}{given}'[:100])}"


def session_of(agent: AgentRef) -> str:
    return agent.session or f"{agent.principal}/{agent.name}"
