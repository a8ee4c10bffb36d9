"""Migrations that a session adds and applies itself: a step back over the last one loses only what came since."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence

from interlock.analysis.facts import Command, Fact
from interlock.analysis.programs.load import describe
from interlock.analysis.targets.ordering import commands_of

MIGRATED = "migrated"  # kind of a folder whose migrations this session has applied, all of them


def folders_added_to(facts: Sequence[Fact], cwd: str) -> list[str]:
    return [_folder(fact, cwd) for fact in changes_of(facts) if _is(fact, "adds") and _runs_in_project(fact, facts)]


def folder_applied(facts: Sequence[Fact], cwd: str, sure: Callable[[Command], str]) -> Iterator[str]:
    for last in changes_of(facts)[-1:]:
        if _is(last, "applies") and sure(last) == "yes" and _runs_in_project(last, facts):
            yield _folder(last, cwd)


def folder_stepped_back(fact: Command, facts: Sequence[Fact], sure: Callable[[Command], str]) -> tuple[str, bool]:
    """The folder, empty where not exactly the last is rolled back; and whether the same line has just applied all."""
    if not _is(fact, "steps_back") or not _runs_in_project(fact, facts):
        return "", False
    changes = changes_of(facts)
    before = changes[: changes.index(fact)]
    applied = bool(before) and _is(before[-1], "applies") and {sure(fact), sure(before[-1])} == {"yes"}
    if before and not (applied and _runs_in_project(before[-1], facts)):
        return "", False
    return _folder(fact, ""), applied


def changes_of(facts: Sequence[Fact]) -> list[Command]:
    """After these, other migrations than before may be the last ones that are applied."""
    commands = [fact for fact in commands_of(facts) if fact.words and describe(fact.program).migrations]
    return [one for one in commands if one.words[0].partition(":")[0] in describe(one.program).migrations["changes"]]


def _is(fact: Command, what: str) -> bool:
    """One that adds migrations has any words behind it, the others none."""
    words = " ".join(fact.words[:1] if what == "adds" else fact.words)
    return words in describe(fact.program).migrations[what]


def _folder(fact: Command, cwd: str) -> str:
    return posixpath.join(cwd, describe(fact.program).migrations["folder"][0])


def _runs_in_project(fact: Command, facts: Sequence[Fact]) -> bool:
    """In the action's folder with the project's settings: only a plain wrapper, no variable."""
    if fact.traits or fact.env or fact.cwd or len(fact.via) > 1:
        return False
    around = [one for one in commands_of(facts) if one.span == fact.span and one is not fact]
    plain = [(*before, fact.program, *fact.words) for before in ((), ("run",), ("exec",))]
    return len(around) == len(fact.via) and all(one.words in plain and not one.env for one in around)
