"""May the client's own prompt answer this? Only a confirm at level 2, for what can be read and does not reach beyond the project."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.analysis.effect_key import EffectKey, parse
from interlock.core.decision import Decision
from interlock.core.model import Action, Assessment
from interlock.service.unattested import enough

_NEVER = ("unreadable", "self_protection", "unknown")
_LOCAL = "git."  # what these rules find is lost in the working copy; what they find at a remote is level 3


def may_ask(decision: Decision, action: Action) -> bool:
    """Whether nobody in particular has to agree, and what would be lost can be seen from where the agent works."""
    ticket, assessment = decision.ticket, decision.assessment
    if decision.outcome != "confirm" or ticket is None or assessment is None or not enough(ticket):
        return False
    if not decision.token:  # the ticket is for other words than these
        return False
    return fits(assessment, [parse(text) for text in ticket.effect_keys], action.cwd)


def fits(assessment: Assessment, keys: Sequence[EffectKey], cwd: str) -> bool:
    """Whether a user can see what a confirm is about: all of it was read, and what is lost for good lies in the agent's folder."""
    if any(word in finding.rule for finding in assessment.findings for word in _NEVER):
        return False
    local = all(finding.rule.startswith(_LOCAL) for finding in assessment.findings)
    return not assessment.irreversible or _inside(keys, cwd, local)


def _inside(keys: Sequence[EffectKey], cwd: str, local: bool) -> bool:
    """Whether everything that is lost for good lies below the agent's folder; `local` says so of what is no path."""
    return bool(keys) and all(_below(key.path, cwd) if key.path and not key.place else local for key in keys)


def _below(target: str, cwd: str) -> bool:
    return bool(cwd.strip("/")) and posixpath.normpath(target).startswith(posixpath.normpath(cwd) + "/")
