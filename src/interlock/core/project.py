"""A repository's own `.interlock.toml` -> what it denies and what it wants asked; it can only tighten, and one that cannot be used asks about everything."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from interlock.core.loop_rules import LoopRules, owned
from interlock.core.patterns import EVERYTHING, Glob, PatternSet
from interlock.core.policy_form import globs_of
from interlock.core.problems import Problems

NAME = ".interlock.toml"
MOST = 65_536  # bytes
MOST_PATTERNS = 200
KEYS = ("deny", "ask")
_LOOSENS = frozenset({"allow", "autoApprove", "allowPatterns", "safe", "trust", "mode", "policy", "gate", "levels"})
_EVERYTHING = LoopRules(asks=(Glob.of(EVERYTHING),))


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One file as it was found; `problem` says why its text could not be had."""

    path: str
    text: str = ""
    problem: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is wrong with it, in words."""
        return (self.problem,) if self.problem else _parsed(self.text)[1]

    @property
    def rules(self) -> LoopRules:
        """What it asks for; what cannot be used asks about everything, and says why."""
        wrong = self.problems
        if wrong:
            return owned(_EVERYTHING, f"{self.path}, which cannot be used: {'; '.join(wrong)}"[:400])
        return owned(_parsed(self.text)[0], self.path)


def project_rules(files: Iterable[ProjectFile]) -> list[tuple[LoopRules, bool]]:
    """The rules of all the files that count; whoever wrote them is nobody that was proved, so they only tighten."""
    return [(file.rules, False) for file in files if file.rules]


def _parsed(text: str) -> tuple[LoopRules, tuple[str, ...]]:
    problems = Problems()
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return LoopRules(), (f"no TOML: {error}"[:200],)
    for key in sorted(set(data) & _LOOSENS):
        words = f"{key}: a project's file can only tighten (deny, ask); an operator loosens with `interlock allow`"
        problems.error((key,), words)
    problems.only({key: value for key, value in data.items() if key not in _LOOSENS}, KEYS, ())
    deny, asks = (globs_of(data, key, (), problems) for key in KEYS)
    if len(deny) + len(asks) > MOST_PATTERNS:
        problems.error((), f"{len(deny) + len(asks)} patterns, at most {MOST_PATTERNS}")
    return LoopRules(patterns=PatternSet(deny=deny), asks=asks), tuple(one.message for one in problems.found)
