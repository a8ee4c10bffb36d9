"""Facts of one text, each read by itself -> the same facts, as they are when they are seen together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from interlock.core.read.facts import HOLE, Command, Effect, Fact

SAME = "same"  # trait of a file that goes over itself: what stood there was the input
LEFTOVER = "leftover"  # trait of what an engine itself calls unused
_GUARDED = frozenset({"agent_config", "guard"})  # whoever writes there is judged for that
_ENGINES = frozenset({"docker", "podman", "nerdctl"})
_LISTS = re.compile(r"(images|ps|image ls|image list|container ls|container list|container ps)( .*)?")
_DANGLING = re.compile(r".*(dangling=(true|1)|status=(exited|created|dead)).*")
UNDONE = "undone"  # trait of what a later command of the same text takes back
_INVERSES = {("gh", "workflow disable"): "workflow enable", ("glab", "schedule disable"): "schedule enable"}
_REMOVES = re.compile(r"(rm|rmi|image rm|image remove|container rm|container remove)( .*)?", re.S)
_CODE = re.compile(
    r"(python|node|ruby|perl|php|bun|deno)[\d.]*( -{1,2}\w+| eval)?"
)  # the way code comes on a command line
# What lets only the names through, of lines such as NAME=value.
_NAMES_ONLY = re.compile(
    r"cut (-d ?'?=|--delimiter==) (-f ?1|--fields=1)|cut -f ?1 -d ?=|awk -F ?= \{ ?print \$1;? ?\}|sed (-E )?s/=\.\*(/=?[*.x<>\w]*)?/g?|sed -n (s/=\.\*//p|/\^[^=]*=\$/p)|wc( -[lcw]+)*|grep -c [^-].*"
)


def together(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Every pass that needs more than one fact; nothing is taken away, and most texts have nothing for any of them."""
    if len(facts) < 2:
        return facts
    return _undone(_leftovers(_spoken(_names_only(_rewritten(facts)))))


def _rewritten(facts: Sequence[Fact]) -> Sequence[Fact]:
    """A file that a program of another language reads and writes; what a shell does to its input is told where it is redirected."""
    read = {(fact.span, fact.path) for fact in facts if isinstance(fact, Effect) and fact.verb == "read" and fact.via}
    if not read:
        return facts
    return [
        replace(fact, verb="overwrite", traits=fact.traits | {SAME})
        if isinstance(fact, Effect) and _goes_over(fact) and (fact.span, fact.path) in read
        else fact
        for fact in facts
    ]


def _goes_over(fact: Effect) -> bool:
    return fact.verb == "write" and bool(fact.path) and "create" not in fact.traits and fact.place not in _GUARDED


def _names_only(facts: Sequence[Fact]) -> Sequence[Fact]:
    """`cat .env | cut -d= -f1` shows no value: the next command gets all of it, and lets names through."""
    found = list(facts)
    for at, (fact, after) in enumerate(pairwise(facts)):
        if (
            isinstance(fact, Effect)
            and "shown" in fact.traits
            and isinstance(after, Command)
            and "piped" in after.traits
        ):
            if names_only(after.program, after.words):
                found[at] = replace(fact, traits=fact.traits - {"shown"})
    return found


def names_only(program: str, words: Sequence[str]) -> bool:
    """True for what lets no value through of the lines it is given."""
    return _NAMES_ONLY.fullmatch(" ".join((program, *words))) is not None


def _spoken(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Code on the command line that opens a file of secrets does so to show or use what is in it, as `cat` would."""
    return [
        replace(fact, traits=fact.traits | {"shown"})
        if isinstance(fact, Effect)
        and fact.verb == "read"
        and fact.place == "secret"
        and _CODE.fullmatch("".join(fact.via[-1:]))
        else fact
        for fact in facts
    ]


def _leftovers(facts: Sequence[Fact]) -> Sequence[Fact]:
    """A list to be removed that the engine made of what nothing uses; only where every list of the text is such a one."""
    lists = [line for fact in facts if (line := _engine_line(fact)) and _LISTS.fullmatch(line)]
    if not lists or not all(map(_DANGLING.fullmatch, lists)):
        return facts
    return [
        replace(fact, traits=(fact.traits - {"bulk"}) | {LEFTOVER})
        if isinstance(fact, Command) and HOLE in (line := _engine_line(fact)) and _REMOVES.fullmatch(line)
        else fact
        for fact in facts
    ]


def _undone(facts: Sequence[Fact]) -> Sequence[Fact]:
    """`gh workflow disable X && gh workflow enable X` leaves everything as it was."""
    found = list(facts)
    for at, fact in enumerate(facts):
        back = _taken_back(fact) if isinstance(fact, Command) else ()
        if back and any(isinstance(one, Command) and (one.program, *one.words) == back for one in facts[at + 1 :]):
            found[at] = replace(fact, traits=fact.traits | {UNDONE})
    return found


def _taken_back(fact: Command) -> tuple[str, ...]:
    """The command that undoes this one, in its own words; none for most."""
    back = _INVERSES.get((fact.program, " ".join(fact.words[:2])))
    return (fact.program, *back.split(), *fact.words[2:]) if back else ()


def _engine_line(fact: Fact) -> str:
    return " ".join(fact.words) if isinstance(fact, Command) and fact.program in _ENGINES else ""
