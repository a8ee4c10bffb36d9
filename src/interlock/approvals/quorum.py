"""Decides whether one operator's answer suffices for a grant or a pause, and whether anybody can answer at all."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from interlock.approvals.confirmations import SESSION, is_plain_confirm
from interlock.approvals.grant_coverage import find_covering
from interlock.approvals.grants import has_reauth, is_signed
from interlock.approvals.statements import may_answer, needs_reauth
from interlock.model import Human, Requirement
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import PolicyResult, evaluate_policy
from interlock.records import Grant
from interlock.runtime import Judged
from interlock.runtime.state import State

NOBODY = (
    "Nobody can approve this yet: the user runs `interlock operator add` in a terminal of their own, then try again"
)
DIALOG = "dialog"  # the channel that shows codes without a sign-in


def suffices_alone(state: State, operator: str, asked: Requirement) -> bool:
    """Whether this operator's answer alone satisfies the requirement."""
    roster = state.sessions.roster
    person = state.sessions.person(operator)
    if roster is None or person is None or asked.quorum > 1:
        return False
    services = {name for name, one in roster.people.items() if one.service}
    return may_answer(person, asked.approvers, services)


def is_answerable(state: State, judged: Judged, weighed: PolicyResult) -> bool:
    """Whether something other than an operator can free it: time, the agent's own user, or a code that this desktop shows."""
    asked, request, assessment = weighed.requirement, judged.request, judged.judgement.assessment
    if asked.human is Human.NONE:
        return True
    if is_plain_confirm(asked, assessment.level) and not weighed.denies:
        if request.may_prompt is not None and request.may_prompt(assessment, judged.effect_keys):
            return True
        if request.agent.session.startswith(SESSION):  # an MCP client may have a user
            return True
    return request.step is not None and any(channel.name == DIALOG for channel in state.channels)


def apply_grant(
    state: State, judged: Judged, grants: Iterable[Grant], at: Circumstances
) -> tuple[Grant | None, Circumstances]:
    """The valid grant that covers the action, and the circumstances with it and with the reach of a pause."""
    found = tuple(grants)
    if not found and not at.paused_by:
        return None, at
    assessment = judged.judgement.assessment
    asked = evaluate_policy(assessment, judged.named, state.policy, replace(at, paused_by="")).requirement
    anew = needs_reauth(asked)
    signed = (
        one
        for one in found
        if suffices_alone(state, one.by, asked) and is_signed(state, one) and (has_reauth(one) or not anew)
    )
    grant = find_covering(signed, judged.request.agent, judged.effect_keys, assessment, judged.digest, judged.now)
    if at.paused_by and not suffices_alone(state, at.paused_by, asked):
        at = replace(at, paused_short=f"{at.paused_by} could not approve it alone")
    if grant is not None:
        at = replace(at, granted=grant.id, grant_ceiling=grant.ceiling)
    return grant, at
