"""Builds the Decision that an interface returns, with its token, codes and notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.adapters.name_levels import name_level_notice
from interlock.approvals import Resolution, tokens
from interlock.identity.isolation import request_isolation
from interlock.model import Kind, Level
from interlock.policy.decision import Decision
from interlock.policy.evaluate import PolicyResult
from interlock.policy.registry_controls import matching_patterns
from interlock.records import NOTHING
from interlock.runtime import Judged
from interlock.runtime.state import State

if TYPE_CHECKING:
    from interlock.snapshots import TakenSnapshot


def decision_of(
    state: State, judged: Judged, weighed: PolicyResult, held: Resolution, kept: TakenSnapshot | None = None
) -> Decision:
    """Builds the decision; only an allow names its snapshot."""
    kept = kept if held.outcome == "allow" else None
    token = tokens.pending_token(state, judged, held)
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
        strength=request_isolation(state, judged.request),
        token=token,
        details=tokens.details(state, judged, weighed, held, code, token) if code else NOTHING,
        warnings=notices_of(state, judged, held),
        parts=weighed.parts or weighed.would,
        weighed=weighed.factors,
        kept=kept.id if kept is not None else "",
    )


def _patterns(state: State, judged: Judged) -> tuple[dict[str, Any], ...]:
    """The registry patterns that apply to this action."""
    if judged.registry_match is None:
        return ()
    found = matching_patterns(judged.judgement.assessment, state.policy, judged.registry_match)
    return tuple(pattern.wire for pattern in found.patterns)


INFERRED = "DANGER_LEVEL_INFERRED"


def notices_of(state: State, judged: Judged, held: Resolution) -> tuple[Mapping[str, Any], ...]:
    """The notices of an allowed operation; none where it is held, since the reason says why."""
    request, level = judged.request, judged.judgement.assessment.level
    if held.outcome != "allow" or level < Level.DANGEROUS:
        return ()
    if request.adapter_context is not None:
        return tuple(notice for notice in request.adapter_context.warnings if notice["code"] == INFERRED)
    action = request.action
    name = request.operation or (action.text if action.kind in (Kind.OPERATION, Kind.TOOL) else "")
    found = (
        name_level_notice(name, str(action.fields.get("crude") or ""), level, state.rules.patterns) if name else None
    )
    return (found.as_json(),) if found is not None else ()
