"""What was weighed and held -> the Decision that a door hands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock.core.decision import Decision
from interlock.core.hold import Held
from interlock.core.records import NOTHING
from interlock.core.registered import spoken
from interlock.core.weigh import Weighed
from interlock.service import tokens
from interlock.service.request import Judged
from interlock.service.state import State
from interlock.service.strength import strength_in
from interlock.service.warned import warnings_of

if TYPE_CHECKING:
    from interlock.core.circumstances import Circumstances
    from interlock.core.undo import Kept


@dataclass(frozen=True, slots=True)
class Answer:
    """What was weighed and held under which circumstances, and the snapshot that was taken before it may run."""

    at: Circumstances
    weighed: Weighed
    held: Held
    kept: Kept | None = None


def decision_of(state: State, judged: Judged, weighed: Weighed, held: Held, kept: Kept | None = None) -> Decision:
    """The decision; a snapshot stands in one that allows."""
    kept = kept if held.outcome == "allow" else None
    token = tokens.offered(state, judged, held)
    code = tokens.code_of(held, weighed, token)
    return Decision(
        outcome=held.outcome,
        reason=state.words(judged, weighed, held, kept),
        assessment=judged.judgement.assessment,
        requirement=weighed.requirement,
        factors=(*judged.judgement.assessment.factors, *weighed.factors),
        ticket=held.ticket,
        wait_seconds=held.wait_seconds,
        patterns=_patterns(state, judged),
        code=code,
        message=held.message,
        strength=strength_in(state, judged.request),
        token=token,
        details=tokens.details(state, judged, weighed, held, code, token) if code else NOTHING,
        warnings=warnings_of(state, judged, held),
        parts=weighed.parts or weighed.would,
        weighed=weighed.factors,
        kept=kept.id if kept is not None else "",
    )


def _patterns(state: State, judged: Judged) -> tuple[dict[str, Any], ...]:
    """The registry's patterns that count for this action."""
    if judged.matched is None:
        return ()
    found = spoken(judged.judgement.assessment, state.policy, judged.matched)
    return tuple(pattern.wire for pattern in found.patterns)
