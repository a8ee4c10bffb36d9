"""Does a grant cover this action? Effects and targets, never text; and what a ticket would look like as a grant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from interlock.core.digest import normal_name
from interlock.core.goals import UNKNOWN
from interlock.core.model import AgentRef, Assessment
from interlock.core.records import Grant, Ticket

ANY = "*"
RUN = "run"  # of a program whose effects are not known: its flags can mean anything, so only the very same action is granted


def covering(
    grants: Iterable[Grant], agent: AgentRef, goals: Sequence[str], assessment: Assessment, digest: str, now: float
) -> Grant | None:
    """The first grant that covers every goal of the action; none for what cannot be read."""
    if any("unreadable" in finding.rule for finding in assessment.findings):
        return None
    return next((g for g in grants if _covers(g, agent, goals, assessment, digest, now)), None)


def _covers(
    grant: Grant, agent: AgentRef, goals: Sequence[str], assessment: Assessment, digest: str, now: float
) -> bool:
    if grant.revoked_at or now >= grant.expires_at or grant.remaining <= 0 or assessment.level > grant.ceiling:
        return False
    if grant.principal and grant.principal != agent.principal:
        return False
    if grant.name and normal_name(grant.name) != normal_name(agent.name):
        return False
    if grant.session and grant.session != agent.session:
        return False
    if grant.digests:  # a frozen plan: exactly these actions, and anything else asks again
        return digest in grant.digests
    if (
        grant.environment
        and any("production" in finding.rule for finding in assessment.findings)
        and grant.environment != "production"
    ):
        return False
    return bool(goals) and all(_reaches(grant, goal) for goal in goals)


def _reaches(grant: Grant, goal: str) -> bool:
    effect, _, target = goal.partition(":")
    return effect == grant.effect != RUN and any(_within(pattern, target) for pattern in grant.targets)


def _within(pattern: str, target: str) -> bool:
    """The target itself, or something below it; a star stands for one part of a path, never for `..`."""
    if "/../" in f"{target}/" or target == UNKNOWN:
        return False
    if pattern == target:
        return True
    if pattern.endswith("/**"):
        root = pattern[:-3]
        return bool(root) and target.startswith(root + "/")
    return pattern != ANY and fnmatchcase(target, pattern) and target.count("/") == pattern.count("/")


def offered(ticket: Ticket) -> dict[str, object]:
    """The narrow grant that a ticket suggests: its own effect and targets, its level, once.

    The digest stands beside them where they do not say it all: then nothing but the very same action is covered.
    """
    known = [goal for goal in ticket.goals if not goal.endswith(f":{UNKNOWN}")]
    effects = sorted({goal.partition(":")[0] for goal in known or ticket.goals})
    told = len(effects) == 1 and RUN not in effects and len(known) == len(ticket.goals)
    return {
        "effect": effects[0] if effects else "",
        "targets": [goal.partition(":")[2] for goal in ticket.goals if goal.startswith(f"{effects[0]}:")]
        if effects
        else [],
        "digests": [] if told else [ticket.digest],
        "ceiling": ticket.level.word,
        "count": 1,
        "principal": ticket.agent.principal,
        "name": ticket.agent.name,
        "session": ticket.agent.session,
    }
