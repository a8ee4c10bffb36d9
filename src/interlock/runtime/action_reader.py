"""Reads and judges actions with one rulebook, and caches recent judgements that no script influenced."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from interlock.analysis.assess import Judgement, judge
from interlock.analysis.read import BUDGET, FileReader
from interlock.analysis.rules.book import Rulebook
from interlock.model import Action, Kind, Level
from interlock.policy.circumstances import Circumstances
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.policy import Policy

MOST = 2_048
AT_ONCE = 2_000  # steps of reading, some ten milliseconds, that others may wait for
LONGEST = 2_000  # characters; longer texts are not cached, so that the cache stays small

MOST_FIELDS = 20  # of a call that is cached

Read = tuple[Judgement, MatchNames]
Key = tuple[Kind, str, str, str]


Decided = TypeVar("Decided")


class _Known(Struct):
    """A cached judgement, and its last outcome without the store."""

    read: Read
    without_scripts: bool  # a script reader was given and not used
    decided: tuple[Policy, Circumstances, Any] | None = None


class _Scripts(Struct):
    """Reads scripts, and notes whether it did."""

    files: FileReader
    used: bool = False

    def __call__(self, path: str) -> str | None:
        self.used = True
        return self.files(path)


class ActionReader:
    """Judges with one rulebook, and caches judgements that depend on no script."""

    def __init__(self, rules: Rulebook) -> None:
        self.rules = rules
        self._known: OrderedDict[Key, _Known] = OrderedDict()

    def read(self, action: Action, files: FileReader | None = None, budget: int = BUDGET) -> Read:
        """The judgement of an action and its match names; raises BudgetSpent where the budget is too small."""
        key = _key(action)
        if key is None:
            return self._read(action, files, budget)
        known = self._known.get(key)
        if known is not None and (files is None or known.without_scripts):
            return known.read
        scripts = _Scripts(files) if files is not None else None
        read = self._read(action, scripts, budget)
        if scripts is None or not scripts.used:
            self._known[key] = _Known(read, scripts is not None)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return read

    def recall(
        self, action: Action, judgement: Judgement, policy: Policy, at: Circumstances, decide: Callable[[], Decided]
    ) -> Decided:
        """Decides; returns the last outcome where neither policy nor circumstances have changed."""
        key = _key(action)
        known = self._known.get(key) if key is not None else None
        if known is None or known.read[0] is not judgement or at.paused_by:  # who may pause is not compared
            return decide()
        last = known.decided
        if last is None or last[0] is not policy or last[1] != at:
            last = known.decided = (policy, at, decide())
        found: Decided = last[2]
        return found

    def _read(self, action: Action, files: FileReader | None, budget: int) -> Read:
        judgement = judge(action, self.rules, files, budget)
        return judgement, match_names(action, judgement.facts)


def _key(action: Action) -> Key | None:
    """The cache key of an action; None for one that is too large."""
    if action.kind in (Kind.COMMAND, Kind.INTENT):
        text = action.text
        return (action.kind, text, action.cwd, action.home) if len(text) <= LONGEST else None
    small = all(map(_is_small, action.fields.values()))
    return (action.kind, repr(action.fields), action.cwd, action.home) if small else None


def _is_small(value: Any) -> bool:
    if isinstance(value, Mapping):
        return len(value) <= MOST_FIELDS and all(_is_plain(name) and _is_plain(one) for name, one in value.items())
    return _is_plain(value)


def _is_plain(value: Any) -> bool:
    """True for a short text, a number, true, false or nothing, each of which is spelled in one way."""
    if type(value) is str:
        return len(value) <= LONGEST
    return value is None or type(value) in (bool, int, float, Level)
