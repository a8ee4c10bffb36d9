"""Matches grants to actions by effect and target, never by text, and derives the narrowest grant from a ticket."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from interlock.canonical_json import normal_name
from interlock.model import AgentRef, Assessment
from interlock.policy.effect_key.key import EARLIER, RUN, EffectKey, parse
from interlock.records import Grant, Ticket

ANY = "*"
AT = " @ "  # between a target and the place that it is granted in
_OTHER = re.compile(r"[\W_]+")


def find_covering(
    grants: Iterable[Grant], agent: AgentRef, keys: Sequence[EffectKey], assessment: Assessment, digest: str, now: float
) -> Grant | None:
    """The first that covers every effect of the action; None for an unreadable action."""
    if assessment.unreadable:
        return None
    return next((g for g in grants if _covers(g, agent, keys, assessment, digest, now)), None)


def _covers(
    grant: Grant, agent: AgentRef, keys: Sequence[EffectKey], assessment: Assessment, digest: str, now: float
) -> bool:
    if grant.revoked_at or now >= grant.expires_at or grant.remaining <= 0 or assessment.level > grant.ceiling:
        return False
    if grant.principal not in ("", agent.principal) or grant.session not in ("", agent.session):
        return False
    if grant.name and normal_name(grant.name) != normal_name(agent.name):
        return False
    if grant.digests:  # a frozen plan: exactly these actions
        return digest in grant.digests
    if grant.environment not in ("", "production") and any("production" in one.rule for one in assessment.findings):
        return False
    return bool(keys) and all(_reaches(grant, key) for key in keys)


def _reaches(grant: Grant, key: EffectKey) -> bool:
    """A program's own words can mean more, so those are granted by digest."""
    if not key.grantable or not key.known or EARLIER.get(grant.effect, grant.effect) != key.family or key.family == RUN:
        return False
    earlier = grant.effect in EARLIER
    return any(_within(pattern, key) or (earlier and _spelled_before(pattern, key)) for pattern in grant.targets)


def _within(pattern: str, key: EffectKey) -> bool:
    """The target itself, or something below it; a star stands for one part of a path, never for `..`.

    With a place behind it the target is granted there and below, without one in whatever folder the agent works.
    """
    pattern, _, place = pattern.partition(AT)
    here = key.place == place or key.place.startswith(f"{place}/") if place else key.in_a_folder or key.place == "db:"
    target = key.target
    if not here or "/../" in f"{target}/":
        return False
    if pattern == target:
        return True
    if pattern.endswith("/**"):
        root = pattern[:-3]
        return bool(root) and target.startswith(root + "/")
    return pattern != ANY and fnmatchcase(target, pattern) and target.count("/") == pattern.count("/")


def _spelled_before(pattern: str, key: EffectKey) -> bool:
    return key.in_a_folder and not key.path and pattern == _OTHER.sub("_", key.target.casefold()).strip("_")


def has_reauth(grant: Grant) -> bool:
    """Whether its operator signed in anew for it; else it satisfies no requirement of that."""
    return json.loads(grant.statement).get("reauth") is True


def narrow_grant(ticket: Ticket) -> dict[str, object]:
    """The narrow grant that a ticket suggests: its own effect and targets, its level, once.

    The digest stands beside them where they do not say it all: then nothing but the very same action is covered.
    """
    keys = [parse(text) for text in ticket.effect_keys]
    known = [key for key in keys if key.known]
    families = sorted({key.family for key in known or keys})
    told = len(families) == 1 and all(key.known and key.grantable and key.family != RUN for key in keys)
    return {
        "effect": families[0] if families else "",
        "targets": [
            f"{key.target}{AT}{key.place}" if key.place else key.target for key in keys if key.family in families[:1]
        ],
        "digests": [] if told else [ticket.digest],
        "ceiling": ticket.level.word,
        "count": 1,
        "principal": ticket.agent.principal,
        "name": ticket.agent.name,
        "session": ticket.agent.session,
    }
