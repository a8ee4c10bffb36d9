"""What a door asks, and what was read of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from interlock.analysis.effect_key import EffectKey
from interlock.core.circumstances import Adapted, Circumstances
from interlock.core.decide import Judgement
from interlock.core.decision import Decision
from interlock.core.guarded import Resolve
from interlock.core.loss import Seen
from interlock.core.made import NOTHING_MADE, Made
from interlock.core.model import Action, AgentRef, Assessment, Human, Kind, Level
from interlock.core.project import ProjectFile
from interlock.core.records import Json, nothing
from interlock.core.redact import redact_text
from interlock.core.registry import Matched
from interlock.core.titles import Titles
from interlock.ports import Tx

if TYPE_CHECKING:
    from interlock.core.undo import Kept, Limits
    from interlock.service.servers import Server


class Overtaken(Exception):
    """What a request was made of changed before its answer was kept; nothing was kept."""


@dataclass(frozen=True, slots=True)
class Stepping:
    """What the loop knows of the step, or of the start, that is asked about."""

    left: int | None = None  # steps without a person, this one included
    previous: str = ""  # outcome of the step before
    repeats: int = 0
    cumulative: int = 0
    starting: bool = False
    pause: str = ""  # what the agent waits for, in words
    pause_human: Human = Human.NONE  # what the held step asks for; none where this is another one
    told: Json = field(default_factory=nothing)  # what the record keeps of it
    more: int = 0  # steps that a yes allows where the limit is reached


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
    claimed_level: Level | None = None
    adapted: Adapted | None = None
    adapter: str = ""
    server: Server | None = None  # behind a proxy
    files: Callable[[str], str | None] | None = None
    project: Callable[[str], Sequence[ProjectFile]] | None = None  # the project files that count in a folder
    look: Callable[[Json], Seen] | None = None  # at its targets, as whoever asks could
    keeper: Callable[[Json, str, float, Limits], Kept] | None = (
        None  # keeps what it would change, as whoever asks could
    )
    runs_as: str = ""  # the principal whose user it runs as, where that is not whoever asks
    resolve: Resolve | None = None  # says where its paths really lead, as whoever asks would get there
    here: bool = False  # asked on this machine, whatever its principal is called
    hooked: tuple[str, ...] = ()  # settings files that call the hook of whoever asks
    made: Made = NOTHING_MADE  # what its session is known to have made
    inherits: Callable[[Judgement], Judgement | None] | None = None  # what it starts that was judged before
    operation: str = ""  # what it is called by, where that is not to be read from the action
    step: Stepping | None = None  # of the execution safety loop
    asks: Callable[[Assessment, tuple[EffectKey, ...]], bool] | None = (
        None  # may the agent's own prompt answer a confirm?
    )
    spend: bool = True  # whether an approval is used up by a yes; else the decision is `unspent`
    strength: str = ""  # of the wall around whoever asks, where the door knows more than the principal shows
    keep: Callable[[Tx, Judged, Decision], None] | None = None  # what is kept in the same transaction as the answer

    @property
    def owner(self) -> str:
        """The principal whose files it changes."""
        return self.runs_as or self.agent.principal


@dataclass(frozen=True, slots=True)
class Judged:
    """An action that was read: its judgement, its digest, what it is after, what the registry says."""

    request: Request
    judgement: Judgement
    named: Titles
    matched: Matched | None
    now: float
    digest: str = ""
    effect_keys: tuple[EffectKey, ...] = ()

    @property
    def severity(self) -> str:
        """Seed 003's word: the registry's where it spoke, else the level's (C-32)."""
        if self.matched and self.matched.severity is not None:
            return self.matched.severity.word
        level = self.judgement.assessment.level
        return ("", "", "medium", "high", "critical")[level]


def called(request: Request) -> str:
    """What the record and the counters call what is asked."""
    return request.operation or operation_of(request.action)


def stepped(at: Circumstances, request: Request) -> Circumstances:
    """The circumstances, with what the loop knows."""
    step = request.step
    if step is None:
        return at
    return replace(
        at,
        steps_left=step.left,
        previous=step.previous,
        repeats=step.repeats,
        cumulative=step.cumulative,
        starting=step.starting,
        pause=step.pause,
        pause_human=step.pause_human,
    )


def operation_of(action: Action) -> str:
    """What counting calls an action: an operation by its name, a command by its program."""
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        return action.text[:200]
    first = (action.text.split(None, 1) or [""])[0]
    name, given, _ = first.partition("=")  # `PGPASSWORD=… psql`: what is given to a variable may be a secret
    return f"{action.kind.value}:{redact_text(f'{name}{given}'[:100])}"


def session_of(agent: AgentRef) -> str:
    return agent.session or f"{agent.principal}/{agent.name}"
