"""Kind of verb x kind of object -> the announced effect, in any language; joins one clause's fetching with the next one's running."""

from __future__ import annotations

import re

from msgspec import Struct

from interlock.analysis.lexicon.lists import Patterns
from interlock.analysis.lexicon.load import english

_PATTERNS = Patterns("acts")

Traits = frozenset[str]
NOTHING: Traits = frozenset()


class AnnouncedAct(Struct, frozen=True):
    """One thing that a sentence announces."""

    verb: str
    target: str = ""
    traits: Traits = NOTHING

    @property
    def harmful(self) -> bool:
        return self.verb not in ("act_change", "act_read", "act_vague") or "mutates" in self.traits


def act(kind: str, thing: str, target: str, traits: Traits) -> AnnouncedAct:
    """What a verb of this kind does to a thing of this kind, with everything that is known about it."""
    effect, traits = english().effect(kind, thing, traits)
    if effect == "act_send" and traits.isdisjoint(_SEVERAL):
        effect = "act_change"
    if traits.isdisjoint(_SEVERAL):
        traits = traits | {"one"}
    return AnnouncedAct(effect, target[:120], traits - {"admin", "public"})


_SEVERAL: Traits = frozenset({"all", "bulk"})


class Carried:
    """Remembers the clauses in front."""

    def __init__(self) -> None:
        self.before: list[str] = []

    def follow(self, text: str, speaks: bool, denied: bool) -> AnnouncedAct | None:
        """The act that this clause completes, if it does; `speaks` when the clause only speaks of something."""
        if denied:
            return None
        found: AnnouncedAct | None = None
        if not speaks and self._had(_PATTERNS.fetches, _PATTERNS.runs_it, text):
            found = AnnouncedAct("act_run", text[:120])
        elif self._had(_PATTERNS.sensitive, _PATTERNS.sends_it, text):
            found = AnnouncedAct("act_leak", text[:120], frozenset({"secret"}))
        self.before = [*self.before[-_REACH:], text[:_LONGEST]]
        return found

    def _had(self, earlier: re.Pattern[str], now: re.Pattern[str], text: str) -> bool:
        return bool(self.before) and now.match(text) is not None and any(earlier.search(one) for one in self.before)


_REACH = 8  # clauses
_LONGEST = 1_000
