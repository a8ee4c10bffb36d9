"""The standing answers that count: an operator's patterns, allowed or denied until they are taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from interlock.core.excerpt import short
from interlock.core.patterns import Glob, PatternSyntax
from interlock.core.records import Grant

ALLOW, DENY = "allow", "deny"
STANDING = frozenset({ALLOW, DENY})  # the effects of grants that are such answers
FOREVER = 253_402_300_799.0  # the end of the year 9999
SETTING = "standing"  # announces a change to replicas
Answer = tuple[Grant, Glob]


@dataclass(slots=True)
class Standing:
    """As one process knows them."""

    answers: Mapping[str, Answer] = field(default_factory=dict)  # by id

    def of(self, verdict: str, now: float) -> list[Answer]:
        return [one for one in self.answers.values() if one[0].effect == verdict and one[0].expires_at > now]

    def put(self, *grants: Grant) -> None:
        self.answers = {**self.answers, **readable(grants)}

    def drop(self, id: str) -> None:
        self.answers = {known: one for known, one in self.answers.items() if known != id}


def readable(grants: Iterable[Grant]) -> dict[str, Answer]:
    """The answers by id; one that is no pattern was written by somebody else than us, and is none."""
    found = {}
    for grant in grants:
        origin = f"{grant.by}, `interlock {grant.effect}` {short(grant.id)}"
        try:
            found[grant.id] = (grant, Glob.of(grant.targets[0] if grant.targets else "", origin))
        except PatternSyntax:
            continue
    return found
