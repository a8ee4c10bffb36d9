"""The request that an interface makes of the engine, and the judged action read from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from interlock.analysis.assess import Judgement
from interlock.analysis.targets.provenance import NOTHING_CREATED, Provenance
from interlock.model import Action, AgentRef, Assessment, Human, Kind, Level
from interlock.policy.circumstances import AdapterContext, Circumstances
from interlock.policy.decision import Decision
from interlock.policy.effect_key import EffectKey
from interlock.policy.impact import Impact
from interlock.policy.load import ProjectFile
from interlock.policy.match_names import MatchNames
from interlock.policy.real_paths import Resolve
from interlock.policy.registry import RegistryMatch
from interlock.ports import Tx
from interlock.records import Json, nothing
from interlock.redaction import redact_text

if TYPE_CHECKING:
    from interlock.runtime.servers import ServerClaim
    from interlock.snapshots import SnapshotLimits, TakenSnapshot


class Overtaken(Exception):
    """What a request was made of changed before its answer was kept; nothing was kept."""


@dataclass(frozen=True, slots=True)
class StepContext:
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
    digest_fields: Collection[str] | None = None  # the fields of the body that count for the digest
    claimed_risk: int | None = None
    claimed_level: Level | None = None
    adapter_context: AdapterContext | None = None
    adapter: str = ""
    server: ServerClaim | None = None  # behind a proxy
    files: Callable[[str], str | None] | None = None
    project: Callable[[str], Sequence[ProjectFile]] | None = None  # the project files that count in a folder
    inspect_impact: Callable[[Json], Impact] | None = None  # at its targets, as whoever asks could
    take_snapshot: Callable[[Json, str, float, SnapshotLimits], TakenSnapshot] | None = (
        None  # keeps what it would change, as whoever asks could
    )
    runs_as: str = ""  # the principal whose user it runs as, where that is not whoever asks
    resolve: Resolve | None = None  # says where its paths really lead, as whoever asks would get there
    local: bool = False  # asked on this machine, whatever its principal is called
    hook_files: tuple[str, ...] = ()  # settings files that call the hook of whoever asks
    provenance: Provenance = NOTHING_CREATED  # what its session is known to have made
    inherits: Callable[[Judgement], Judgement | None] | None = None  # what it starts that was judged before
    operation: str = ""  # what it is called by, where that is not to be read from the action
    step: StepContext | None = None  # of the execution safety loop
    may_prompt: Callable[[Assessment, tuple[EffectKey, ...]], bool] | None = (
        None  # may the agent's own prompt answer a confirm?
    )
    spend: bool = True  # whether an approval is used up by a yes; else the decision is `unspent`
    strength: str = ""  # of the wall around whoever asks, where the door knows more than the principal shows
    persist: Callable[[Tx, Judged, Decision], None] | None = None  # what is kept in the same transaction as the answer

    @property
    def owner(self) -> str:
        """The principal whose files it changes."""
        return self.runs_as or self.agent.principal


@dataclass(frozen=True, slots=True)
class Judged:
    """An action that was read: its judgement, its digest, what it is after, what the registry says."""

    request: Request
    judgement: Judgement
    named: MatchNames
    registry_match: RegistryMatch | None
    now: float
    digest: str = ""
    effect_keys: tuple[EffectKey, ...] = ()

    @property
    def severity(self) -> str:
        """Seed 003's word: the registry's where it spoke, else the level's (C-32)."""
        if self.registry_match and self.registry_match.severity is not None:
            return self.registry_match.severity.word
        level = self.judgement.assessment.level
        return ("", "", "medium", "high", "critical")[level]


def operation_name(request: Request) -> str:
    """What the record and the counters call what is asked."""
    return request.operation or counted_name(request.action)


def with_step(at: Circumstances, request: Request) -> Circumstances:
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


def counted_name(action: Action) -> str:
    """What counting calls an action: an operation by its name, a command by its program."""
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        return action.text[:200]
    first = (action.text.split(None, 1) or [""])[0]
    name, given, _ = first.partition("=")  # `PGPASSWORD=… psql`: what is given to a variable may be a secret
    return f"{action.kind.value}:{redact_text(f'{name}{given}'[:100])}"


def session_of(agent: AgentRef) -> str:
    return agent.session or f"{agent.principal}/{agent.name}"
