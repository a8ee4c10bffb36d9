"""Compares the effects and targets of a call with the steps that its agent declared; a mismatch is noted, held or blocked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.analysis.facts import Effect, Fact
from interlock.analysis.programs.load import word_set
from interlock.model import Action, Assessment, Human, Level, Requirement
from interlock.policy.circumstances import Contribution
from interlock.policy.effect_key import EffectKey, Relation, effect_keys, path_keys, relation
from interlock.policy.overrides import DeclarationRules

if TYPE_CHECKING:
    from interlock.analysis.assess import Judgement

UNDECLARED, MISMATCH = "loop.undeclared", "loop.mismatch"
LONGEST = 2_000  # characters of a hint that are compared
# The requirement of each setting; `note` only records.
_REQUIREMENTS = {"note": Requirement(), "pause": Requirement(human=Human.APPROVE), "block": Requirement(blocked=True)}
# Effects that count below level 2, on targets with a name.
_CHANGES = frozenset(
    "write append overwrite truncate delete move chmod chown sql_write sql_update sql_delete store_write store_delete".split()
)
_PASSING = frozenset({"temp", "device"})  # places without lasting content
_TOKEN = re.compile(r"[^\W_]+")
_WITH_STEMS = frozenset("remove stop send revoke grant disable write request run".split())
_ALARMING = ("remove", "stop", "revoke", "disable", "grant")
_BY_NAME = frozenset({"run", "command", "operation", "tool"})  # announced by the name of the program or operation
# Targets that a program does not name, so that an announcement need not name them either: `the working tree`.
_UNNAMED = ("infrastructure_", "worktree ", "untracked ", "stash_", "history", "reflog", "branch_HEAD", "compose_")


class DeclaredStep(Struct, frozen=True):
    text: str
    level: Level
    effect_keys: tuple[EffectKey, ...]
    paths: tuple[EffectKey, ...]  # effects on named paths, harmless ones included
    categories: frozenset[str]
    words: frozenset[str]


def declared_step(action: Action, judgement: Judgement) -> DeclaredStep:
    facts, assessment, text = judgement.facts, judgement.assessment, action.text[:LONGEST]
    keys, words = effect_keys(action, facts, assessment), frozenset(_tokens(text))
    return DeclaredStep(text, assessment.level, keys, path_keys(facts), assessment.categories, words)


def compare_with_declared(
    action: Action, judgement: Judgement, hints: Sequence[DeclaredStep], rules: DeclarationRules
) -> Contribution | None:
    """The contribution of a call that differs from the reported steps, or was not reported."""
    assessment = judgement.assessment
    setting = rules.word(assessment.level)
    if setting == "off" or not _counts(assessment, judgement.facts):
        return None
    if any(_announces(hint, action, judgement) for hint in reversed(hints)):
        return None
    name, words = UNDECLARED, " that its agent did not report, though an execution runs"
    if hints:
        name, words = MISMATCH, f", where its agent had reported: {hints[-1].text[:120]!r}"
    return Contribution(name, _REQUIREMENTS[setting], f"a {assessment.level.word} {action.kind.value}{words}")


def _counts(assessment: Assessment, facts: Iterable[Fact]) -> bool:
    if assessment.level is not Level.REVERSIBLE:
        return assessment.level > Level.SAFE
    return any(isinstance(f, Effect) and f.verb in _CHANGES and f.place not in _PASSING for f in facts)


def _announces(hint: DeclaredStep, action: Action, judgement: Judgement) -> bool:
    """Below level 2 any announced change suffices, from level 2 on each effect and target counts."""
    if _quoted(action.text.strip(), hint.text):
        return True
    if judgement.assessment.level < Level.DESTRUCTIVE:
        return hint.level > Level.SAFE
    categories = frozenset(finding.category for finding in judgement.assessment.harmful if finding.category)
    after = effect_keys(action, judgement.facts, judgement.assessment)
    return all(_covers(hint, key, categories) for key in after if key.family != "more")


def _quoted(text: str, hint: str) -> bool:
    """The whole call, and not the beginning of a longer one."""
    return bool(text) and re.search(rf"(?<![\w/.-]){re.escape(text)}(?![\w/.-])", hint) is not None


def _covers(hint: DeclaredStep, key: EffectKey, categories: frozenset[str]) -> bool:
    if any(relation(other, key) in (Relation.SAME, Relation.INSIDE) for other in (*hint.effect_keys, *hint.paths)):
        return True
    effect, target = key.family, key.target
    if key.path and any(other.family == effect and other.path for other in hint.paths):
        return False  # it named other paths for this, or less than this
    named = _names(target)
    live = word_set("live_words")
    if named & live and hint.words & word_set("trial_words") and not hint.words & live:
        return False
    names, same = bool(named & hint.words), bool(categories & hint.categories)
    if effect in _BY_NAME or target.startswith(_UNNAMED):
        return same or (names and _mentions(hint, *_ALARMING))
    return (same or _mentions(hint, effect)) and (names if named else not target.startswith("/"))


def _mentions(hint: DeclaredStep, *effects: str) -> bool:
    return any(word.startswith(_stems(*effects)) for word in hint.words)


@cache
def _stems(*effects: str) -> tuple[str, ...]:
    each = (word_set(f"stems_{effect}") if effect in _WITH_STEMS else (effect,) for effect in effects)
    return tuple(chain.from_iterable(each))


def _names(target: str) -> frozenset[str]:
    if target.startswith("/"):
        target = " ".join(target.rstrip("/").split("/")[-2:])
    return frozenset(_tokens(target))


def _tokens(text: str) -> Iterable[str]:
    for found in _TOKEN.findall(text.casefold()):
        if found not in word_set("dull_words"):
            yield found if len(found) < 4 else found.removesuffix("s")
