"""An execution's states and transitions, and what a decision means for the agent that reported the step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, convert, field
from msgspec.structs import replace

from interlock.error_codes import LoopProblem
from interlock.model import NOTHING, Decision, Human, Tier, tier_of
from interlock.policy.circumstances import Contribution
from interlock.policy.evaluate import DANGER_ZONE, TAMPERING, finding_words
from interlock.records import Execution

PENDING, RUNNING, PAUSED, BLOCKED = "pending", "running", "paused", "blocked"
COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"
STATES = (PENDING, RUNNING, PAUSED, BLOCKED, COMPLETED, FAILED, CANCELLED)
LIVE = (PENDING, RUNNING, PAUSED, BLOCKED)
CORE_STATES = {PAUSED: RUNNING, BLOCKED: RUNNING}  # LC-03: our own states -> those of the core
MOVES = {
    (PENDING, "start"): RUNNING,
    (RUNNING, "pause"): PAUSED,
    (PAUSED, "pause"): PAUSED,
    (PAUSED, "resume"): RUNNING,
    (RUNNING, "resume"): RUNNING,
    (RUNNING, "block"): BLOCKED,
    (PAUSED, "block"): BLOCKED,
    (BLOCKED, "unblock"): RUNNING,
    (RUNNING, "complete"): COMPLETED,
    (PAUSED, "complete"): COMPLETED,
    (RUNNING, "fail"): FAILED,
    (PAUSED, "fail"): FAILED,
    **{(state, "cancel"): CANCELLED for state in LIVE},  # LC-03: from everything that has not ended
}
UNJUDGED = {  # the factor of a directive in the modes without a judgement
    "logging": "Not evaluated: in this mode the loop only records (logging)",
    "disabled": "Nothing is judged: the safety loop is disabled",
}
SINGLE_USE = "CONFIRM_SINGLE_USE"
STEP_LIMIT = "Step limit exceeded"  # AE-03
_TIERS = tuple(Tier)
# Contribution -> its stage of the five (AE-02).
_STAGES = {
    "steps": 1,
    "outcome": 2,
    "deny": 3,
    "approve_pattern": 3,
    "confirm_pattern": 3,
    "tier": 4,
    DANGER_ZONE: 4,
    "tolerance": 5,
}


class LoopVerdict(StrEnum):
    GO = "go"
    WAIT = "wait"  # another step is held, and nothing continues before it
    CONFIRM = "confirm"  # a person has to agree
    VERIFY = "verify"  # a person has to agree, out of band
    REFUSE = "refuse"  # no, and nobody is asked
    STOP = "stop"  # no, and the agent is blocked


GO, WAIT, CONFIRM, VERIFY, REFUSE, STOP = LoopVerdict


class Pause(Struct, frozen=True):
    kind: str  # confirm, verify, or other: held for another name of the principal
    digest: str  # of the held step
    human: int  # the approval required
    ticket: str = ""
    challenge: str = ""
    operation: str = ""
    reason: str = ""
    since: float = 0.0
    grants: bool = False  # whoever agrees grants one more quota of steps (C-20)

    @property
    def id(self) -> str:
        return self.challenge or self.ticket


class Directive(Struct, frozen=True, omit_defaults=True):
    """AE-01; encoded in 2.1's form."""

    go: bool = field(name="continue")
    factors: list[str]
    stopped: bool = False
    reason: str = ""
    steps_remaining: int | None = field(default=None, name="stepsRemaining")
    risk: Tier | None = field(default=None, name="nextStepRisk")
    notifications: list[dict[str, Any]] = field(default_factory=list)


def move_execution(execution: Execution, move: str, now: float) -> Execution:
    if (state := MOVES.get((execution.status, move))) is None:
        raise LoopProblem("PERMISSION_DENIED", f"execution {execution.id} is {execution.status}; it cannot {move}")
    if state in LIVE:
        return replace(execution, status=state, finished_at=0.0)
    return replace(execution, status=state, finished_at=now, pause=NOTHING)


def status_of(execution: Execution, blocked: bool) -> str:
    """A block is the principal's, and outranks the execution's own state."""
    return BLOCKED if blocked and execution.status in LIVE else execution.status


def pause_of(data: Mapping[str, Any]) -> Pause | None:
    """A row's pause; one that cannot be read still pauses."""
    if not data:
        return None
    try:
        return convert(dict(data), Pause)
    except ValueError:
        return Pause("confirm", "", int(Human.VERIFY), reason="the pause of this execution cannot be read")


def tier_reached(decision: Decision, claimed: int | None) -> Tier:
    """A step's tier: by its score or the agent's higher estimate, one more after much repetition (DL-13, R-13)."""
    tier = tier_of(max(decision.assessment.score if decision.assessment else 0, claimed or 0))
    repeated = any(part.name == "repetition" for part in decision.parts)
    return _TIERS[min(_TIERS.index(tier) + 1, len(_TIERS) - 1)] if repeated else tier


def verdict_of(decision: Decision, tier: Tier) -> LoopVerdict:
    """A deny pattern and the last tier stop the agent (C-10)."""
    names = {part.name for part in decision.parts}
    if decision.allowed:
        return GO
    if stops(decision.parts, tier):
        return STOP
    if decision.unknown or "blocked" in names:
        return REFUSE
    if "pause" in names and decision.requirement.blocked:
        return WAIT
    if decision.ticket is None or decision.requirement.blocked or not decision.token:
        return REFUSE
    return VERIFY if decision.requirement.human is Human.VERIFY else CONFIRM


def stops(parts: Iterable[Contribution], tier: Tier) -> bool:
    """OOB-02, R-9: by a deny pattern, the danger_zone tier, an unapprovable action or tampering."""
    names = {part.name for part in parts}
    asked = not names.isdisjoint({"tier", "repetition"})  # not where an operator's grant took it away
    return not names.isdisjoint({"deny", "never", DANGER_ZONE, TAMPERING}) or (asked and tier is Tier.DANGER_ZONE)


def stages(
    decision: Decision, tier: Tier, run: Execution, previous: str, tolerance: tuple[str, int], claimed: int | None
) -> tuple[str, ...]:
    """The five stages of the next step in sentences for a person, then other contributions (AE-02)."""
    by_stage: dict[int, list[str]] = {stage: [] for stage in range(1, 6)}
    for part in decision.parts:
        if part.name in _STAGES:
            by_stage[_STAGES[part.name]].append(part.words)
    name, limit = tolerance
    assessment = decision.assessment
    own, why = (assessment.score, [*assessment.factors]) if assessment else (0, [])
    score = max(own, claimed or 0)
    if score > own:
        why.append(f"the agent's own estimate ({claimed})")
    most, failed = run.max_steps, "failure; a person has to review it first"
    stage_words = (
        f"{STEP_LIMIT}: {most} of {most} steps are used; a person has to agree to more"
        if by_stage[1]
        else f"Step limit: step {min(run.steps + 1, most)} of {most}",
        f"Previous outcome: {failed if by_stage[2] else previous or 'not reported'}",
        *(_sentence(words) for words in dict.fromkeys(by_stage[3] or ["Patterns: none matched"])),
        f"Safety tier: {tier.value} (score {score}: {'; '.join(why)})",
        f"Risk tolerance: {name} (up to {limit}), {'exceeded' if score > limit or by_stage[5] else 'not exceeded'}",
    )
    staged = {f"{part.name}: {part.words}" for part in decision.parts if part.name in _STAGES}
    return (*stage_words, *(factor for factor in decision.weighed if factor not in staged))


def reason_of(verdict: LoopVerdict, decision: Decision, operation: str) -> str:
    """Short for a stop or a pause, since they are repeated."""
    named = {part.name: part.words for part in decision.parts}
    if verdict is STOP:
        if stopped := next((named[name] for name in ("deny", "never", TAMPERING) if name in named), ""):
            return _sentence(stopped)
        worst = decision.assessment.worst if decision.assessment else None
        return "In the danger zone" + (f": {finding_words(worst).rstrip('.')}" if worst else "")
    if verdict is REFUSE:
        return decision.reason
    if "steps" in named:
        return STEP_LIMIT
    if "approve_pattern" in named:
        return f"Action requires approval: {operation}"
    asks = max(decision.parts, key=lambda part: int(part.requirement.human), default=None)
    return _sentence(asks.words.rstrip(".")) if asks else decision.reason


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
