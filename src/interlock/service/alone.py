"""Could this operator have said yes to it alone? Only then does a grant of theirs, or their pause, take anything away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from interlock.core.circumstances import Circumstances
from interlock.core.grants import covering
from interlock.core.model import Requirement
from interlock.core.records import Grant
from interlock.core.statement import may, needs_reauth
from interlock.core.weigh import weigh
from interlock.service.granting import asked_anew, holds
from interlock.service.request import Judged
from interlock.service.state import State


def alone(state: State, operator: str, asked: Requirement) -> bool:
    """Whether one answer by this operator is all that is asked for; not where two people, or others, are."""
    roster = state.sessions.roster
    person = state.sessions.person(operator)
    if roster is None or person is None or asked.quorum > 1:
        return False
    services = {name for name, one in roster.people.items() if one.service}
    return may(person, asked.approvers, services)


def granted(
    state: State, judged: Judged, grants: Iterable[Grant], at: Circumstances
) -> tuple[Grant | None, Circumstances]:
    """The grant that covers the action, by somebody who may, and the circumstances with it and with how far a pause reaches."""
    found = tuple(grants)
    if not found and not at.paused_by:
        return None, at
    assessment = judged.judgement.assessment
    asked = weigh(assessment, judged.named, state.policy, replace(at, paused_by="")).requirement
    anew = needs_reauth(asked)
    signed = (
        one for one in found if alone(state, one.by, asked) and holds(state, one) and (asked_anew(one) or not anew)
    )
    grant = covering(signed, judged.request.agent, judged.goals, assessment, judged.digest, judged.now)
    if at.paused_by and not alone(state, at.paused_by, asked):
        at = replace(at, paused_short=f"{at.paused_by} could not approve it alone")
    if grant is not None:
        at = replace(at, granted=grant.id, grant_ceiling=grant.ceiling)
    return grant, at
