"""What became of what a past call destroyed? As far as today's disk can tell: it is there again, Git or a program has it, or it is gone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.core.looking import Question
from interlock.core.model import Assessment, Category
from interlock.looker.budget import Budget, Spent, Unclear
from interlock.looker.repository import Repository, repository_of
from interlock.looker.standing import REGENERABLE, TEMP
from interlock.looker.targets import existing, whole

LOST, BACK, OPEN = "lost", "back", "open"
_DATA = frozenset({
    Category.DATA_DELETION, Category.DISK_DESTRUCTION, Category.HISTORY_REWRITE, Category.RESOURCE_TERMINATION,
    Category.CREDENTIAL_INVALIDATION,
})  # fmt: skip
_GLOB = frozenset("*?[{")
_MILLISECONDS, _ENTRIES = 2_000, 20_000


def fate(assessment: Assessment, question: Question | None, home: str) -> str:
    """`lost`, `back` or `open`, of a call that ran; `back` also for what deletes nothing that anybody could miss."""
    if not any(one.irreversible and one.category in _DATA for one in assessment.findings):
        return BACK
    if question is None:
        return LOST  # elsewhere: a database, a cloud, another machine
    if not question.deeds:
        return BACK  # a throw-away database, or one of the session's own
    try:
        return _worst(_deed(deed, base, home) for base in question.bases[-1:] for deed in question.deeds)
    except (OSError, Spent, Unclear, ValueError):
        return OPEN


def _worst(found: Iterable[str]) -> str:
    seen = set(found)
    return next((one for one in (LOST, OPEN) if one in seen), BACK)


def _deed(deed: Mapping[str, Any], base: str, home: str) -> str:
    """Of one target; what Git discards cannot be told from outside, nor what an overwritten file held."""
    target = deed.get("target")
    if deed.get("verb") != "delete" or not isinstance(target, str):
        return OPEN
    budget = Budget.of(_MILLISECONDS, _ENTRIES)
    if existing(base, target, home, budget):
        return BACK
    path = os.path.normpath(whole(base, target, home))
    if path.startswith(tuple(f"{folder}/" for folder in TEMP)):
        return BACK  # nothing of worth is kept there
    if _GLOB & set(target) or not os.path.isdir(os.path.dirname(path)):
        return OPEN
    return _of_git(path, budget)


def _of_git(path: str, budget: Budget) -> str:
    found: Repository | None = repository_of(os.path.dirname(path), budget)
    if found is None:
        return LOST
    inside = found.inside(path)
    if any(name == inside or name.startswith(f"{inside}/") for name in found.index.entries):
        return BACK
    return BACK if REGENERABLE.intersection(inside.split("/")) else LOST
