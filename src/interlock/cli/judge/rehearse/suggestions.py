"""Suggests the grants that would have spared most questions; only narrow ones: a target, or a folder below the agent's."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from msgspec import Struct

from interlock.approvals.grant_coverage import find_covering
from interlock.cli.judge.rehearse.rehearsal import RehearsedQuestion
from interlock.model import AgentRef, Level
from interlock.records import Grant

MOST, CANDIDATES = 5, 300  # shown; tried
LEAST, LEAST_OF_A_FOLDER = 2, 3  # questions that a grant has to spare
HIGHEST = Level.DANGEROUS
_ANYBODY = AgentRef("uid:0", "agent")


class Suggestion(Struct, frozen=True):
    """A grant, and the number of questions it would have spared."""

    effect: str
    target: str
    ceiling: Level
    spares: int

    def command(self) -> list[str]:
        """The command that makes this grant."""
        return [
            "interlock", "grants", "add", "--effect", self.effect, "--target", self.target,
            "--ceiling", self.ceiling.word, "--count", str(self.spares), "--for", "8h", "--why", "rehearsed",
        ]  # fmt: skip


def suggest_grants(asked: Sequence[RehearsedQuestion]) -> list[Suggestion]:
    """The best suggestions, each counted on the questions that the earlier ones leave."""
    left = [one for one in asked if one.effect_keys and one.assessment.level <= HIGHEST]
    found: list[Suggestion] = []
    while len(found) < MOST:
        tried = [_try_grant(effect, target, left) for effect, target in _candidates(left)]
        best = max((one for one in tried if _enough(one[0])), key=_worth, default=None)
        if best is None:
            return found
        found.append(best[0])
        left = [one for one in left if one not in best[1]]
    return found


def _enough(one: Suggestion) -> bool:
    return one.spares >= (LEAST_OF_A_FOLDER if one.target.endswith("/**") else LEAST)


def _worth(tried: tuple[Suggestion, list[RehearsedQuestion]]) -> tuple[int, bool]:
    """Sort key: more questions first, then the narrower grant."""
    return tried[0].spares, not tried[0].target.endswith("/**")


def _candidates(asked: Sequence[RehearsedQuestion]) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for one in asked:
        for key in one.effect_keys:
            if key.grantable and key.known and key.in_a_folder:
                found |= dict.fromkeys((key.family, wide) for wide in _targets(key.target, one.past.action.cwd))
    return list(found)[:CANDIDATES]


def _targets(target: str, cwd: str) -> Iterator[str]:
    yield target
    folder = posixpath.dirname(target)
    if cwd and cwd != "/" and folder.startswith(f"{cwd}/"):
        yield f"{folder}/**"


def _try_grant(
    effect: str, target: str, asked: Sequence[RehearsedQuestion]
) -> tuple[Suggestion, list[RehearsedQuestion]]:
    grant = Grant("rehearsed", effect, (target,), HIGHEST, "", "", 0.0, 1.0)
    spared = [
        one for one in asked if find_covering([grant], _ANYBODY, one.effect_keys, one.assessment, "", 0.0) is not None
    ]
    ceiling = max((one.assessment.level for one in spared), default=Level.DESTRUCTIVE)
    return Suggestion(effect, target, ceiling, len(spared)), spared
