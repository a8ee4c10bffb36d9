"""Facts of an action before any rule is applied: commands and effects, combined over one text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words
from interlock.analysis.programs.load import describe, program_set
from interlock.model import Span

# Text that cannot be known without running something stands as HOLE name HOLE, where the name says where it
# would come from: `$BUILD_DIR` reads as "\ufffcBUILD_DIR\ufffc", the output of a program as "\ufffc\ufffc".
HOLE = "\ufffc"
_HOLES = lazy_regex(f"{HOLE}[^{HOLE}]*{HOLE}?")


def hole(name: str = "") -> str:
    return f"{HOLE}{name}{HOLE}"


# Holes that say what flows in from somewhere: `$(curl …)`, `$(cat ~/.ssh/id_rsa)`, `$(env)`.
DOWNLOAD, SECRET, ENVIRONMENT = "<download>", "<secret>", "<environment>"
QUOTED = "\ufffb"  # stands before a ~ that was quoted, and so names a file


def hole_of(taints: Iterable[str]) -> str:
    return hole(next((name for name in (DOWNLOAD, SECRET, ENVIRONMENT) if name[1:-1] in taints), ""))


def taints_in(text: str) -> frozenset[str]:
    if "<" not in text or HOLE not in text:
        return frozenset()
    return frozenset(name[1:-1] for name in (DOWNLOAD, SECRET, ENVIRONMENT) if hole(name) in text)


def known(text: str) -> bool:
    return HOLE not in text


def without_holes(text: str, filler: str = "") -> str:
    return _HOLES.sub(filler, text) if HOLE in text else text


def show_command(program: str, words: Sequence[str]) -> str:
    """A command as a person would write it, holes as $NAME or …"""
    if len(words) > 40 or "" in words or _NEEDS_QUOTES.search("".join(words)):
        words = [_quoted(word[:_SHOWN]) for word in words[:40]]
    text = " ".join([program, *words])
    if not text.isascii():
        text = text.replace(QUOTED, "")
        text = _NAMED.sub(lambda m: f"${m[1]}" if m[1] else "…", text)
    return text if len(text) <= 300 else text[:297] + "..."


def _quoted(word: str) -> str:
    return word if word and not _NEEDS_QUOTES.search(word) else "'" + word.replace("'", "'\\''") + "'"


_SHOWN = 2_000  # characters of a word that can be among the first 300
_NAMED = lazy_regex(f"{HOLE}([^{HOLE}]*){HOLE}")
_NEEDS_QUOTES = lazy_regex(r"[\s'\"|&;<>()]")


class Command(Struct, frozen=True):
    """One program that would run, with the words that it would get."""

    program: str  # base name in lower case, without .exe
    words: tuple[str, ...]
    span: Span | None = None
    via: tuple[str, ...] = ()  # what it was unwrapped from, outermost first
    traits: frozenset[str] = frozenset()
    env: tuple[tuple[str, str], ...] = ()  # assignments for this command only
    cwd: str = ""  # the folder that it would run in, where that is not the action's own


class Effect(Struct, frozen=True):
    """One thing that would happen to one target, whatever tool or language does it."""

    verb: str
    target: str = ""
    place: str = ""  # kind of place of the target, for verbs on paths
    traits: frozenset[str] = frozenset()
    span: Span | None = None
    via: tuple[str, ...] = ()
    subject: str = ""  # the command or code that has this effect, for a person
    path: str = ""  # the target, resolved from the working directory of the effect, for verbs on paths


Fact = Command | Effect


EFFECTS = own_words("analysis/effects.toml")


def effect_verbs() -> frozenset[str]:
    return EFFECTS.verbs


class Report(Protocol):
    """Receives the effects that the analyser of a language finds."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        """The code has this effect; paths are given as written, holes included."""

    def run(self, argv: Sequence[str]) -> object:
        """The code runs this program with these words, without a shell."""

    def shell(self, text: str, *traits: str) -> None:
        """The code passes this text to a shell; its commands get the traits."""

    def code(self, language: str, text: str) -> None:
        """The code runs this text in another language."""

    def unreadable(self, what: str, *traits: str) -> None:
        """An effect here cannot be determined; `what` gives the reason to a person."""

    def step(self, count: int = 1) -> None:
        """Spend the budget; raises BudgetSpent when there is none left."""


class BudgetSpent(Exception):
    """The action takes more work to read than an action may."""


# Trait of an effect whose target was computed in a way that may differ from what the shell does; taint of such output.
APPROXIMATE = "approximate"
SAME = "same"  # trait of a file that goes over itself: what stood there was the input
LEFTOVER = "leftover"  # trait of what an engine itself calls unused
_GUARDED = frozenset({"agent_config", "guard"})  # a write there is judged by its own rule
_LISTED = frozenset("images ps image container rm rmi".split())
_LISTS = lazy_regex(r"(images|ps|image ls|image list|container ls|container list|container ps)( .*)?")
_DANGLING = lazy_regex(r".*(dangling=(true|1)|status=(exited|created|dead)).*")
UNDONE = "undone"  # trait of what a later command of the same text takes back
_INVERSES = {"disable": "enable", "pause": "resume", "suspend": "resume", "cordon": "uncordon"}
_REMOVES = lazy_regex(r"(rm|rmi|image rm|image remove|container rm|container remove)( .*)?", re.S)
_INTERPRETERS = "python|node|ruby|perl|php|bun|deno"
_CODE = lazy_regex(rf"({_INTERPRETERS})[\d.]*( -{{1,2}}\w+| eval)?")  # the way code comes on a command line
# What lets only the names through, of lines such as NAME=value.
_NAMES_ONLY = lazy_regex(
    r"cut (-d ?'?=|--delimiter==) (-f ?1|--fields=1)|cut -f ?1 -d ?=|awk -F ?= \{ ?print \$1;? ?\}"
    r"|sed (-E )?s/ ?= ?\.\*(/ ?=? ?[*.x<>\w]*)?/g?|sed -n (s/=\.\*//p|/\^[^=]*=\$/p)|wc( -[lcw]+)*|grep -c [^-].*"
)
UNSEEN = "unseen"  # of a command or of what it reads: nobody sees its output
PIPELINE = "pipeline"  # of a command: a step of a pipeline file that is written, not run
_RUNS_CODE = lazy_regex(rf"({_INTERPRETERS}|(ba|z|da|k|fi)?sh)[\d.]*")


def combine_facts(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Every pass that needs more than one fact; none takes any away."""
    if any(isinstance(fact, Effect) and fact.verb == "read" for fact in facts):  # the effect that these three are about
        facts = _spoken(_names_only(_read_and_written(facts)))
    several = sum(isinstance(fact, Command) for fact in facts) > 1
    return _undone(_leftovers(_unseen(facts))) if several else facts


def _read_and_written(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Redirections of a shell are reported on their own."""
    read = {(fact.span, fact.path) for fact in facts if isinstance(fact, Effect) and fact.verb == "read" and fact.via}
    found = list(facts)
    for at, fact in enumerate(facts if read else ()):
        if isinstance(fact, Effect) and fact.verb == "write" and fact.path and (fact.span, fact.path) in read:
            if "create" not in fact.traits and fact.place not in _GUARDED:
                found[at] = replace(fact, verb="overwrite", traits=fact.traits | {SAME})
    return found


def _names_only(facts: Sequence[Fact]) -> Sequence[Fact]:
    """`cat .env | cut -d= -f1` shows no value: the next command lets only names through."""
    found = list(facts)
    for at, (fact, after) in enumerate(pairwise(facts)):
        shown = isinstance(fact, Effect) and "shown" in fact.traits
        if shown and isinstance(after, Command) and "piped" in after.traits and names_only(after.program, after.words):
            found[at] = replace(fact, traits=fact.traits - {"shown"} | {UNSEEN})
    return found


def _unseen(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Marks commands whose output only names or counts come out of, or that is only a variable of a program."""
    found = list(facts)
    after: Command | None = None
    holder: Command | None = None  # a program with a secret in its environment
    for at, fact in reversed(list(enumerate(facts))):
        if not isinstance(fact, Command):
            continue
        counted = after is not None and "piped" in after.traits and names_only(after.program, after.words)
        inner, outer = fact.span, holder.span if holder is not None else None
        within = inner is not None and outer is not None and outer[0] <= inner[0] and inner[1] < outer[1]
        if counted or (within and "captured" in fact.traits):
            found[at] = replace(fact, traits=fact.traits | {UNSEEN})
        if fact.env and _hides_secret(fact):
            holder = fact
        after = fact
    return found


def _hides_secret(program: Command) -> bool:
    if _RUNS_CODE.fullmatch(program.program) and (not program.words or program.words[0].startswith("-")):
        return False
    texts, shown = (program.program, *program.words), program_set("shows_variables")
    handed = any("secret" in taints_in(value) for _, value in program.env)
    return handed and not any(text in shown or "secret" in taints_in(text) for text in texts)


def names_only(program: str, words: Sequence[str]) -> bool:
    return _NAMES_ONLY.fullmatch(" ".join((program, *words))) is not None


def _spoken(facts: Sequence[Fact]) -> Sequence[Fact]:
    """Code on the command line opens a file of secrets to show or use it, as `cat` would."""
    found = list(facts)
    for at, fact in enumerate(facts):
        if isinstance(fact, Effect) and (fact.verb, fact.place) == ("read", "secret"):
            if _CODE.fullmatch("".join(fact.via[-1:])):
                found[at] = replace(fact, traits=fact.traits | {"shown"})
    return found


def _leftovers(facts: Sequence[Fact]) -> Sequence[Fact]:
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
        words = fact.words if isinstance(fact, Command) else ()
        turn = next((number for number, word in enumerate(words[:3]) if word in _INVERSES), None)
        if turn is None or not isinstance(fact, Command):
            continue
        back = (fact.program, *words[:turn], _INVERSES[words[turn]], *words[turn + 1 :])
        if any(isinstance(one, Command) and (one.program, *one.words) == back for one in facts[at + 1 :]):
            found[at] = replace(fact, traits=fact.traits | {UNDONE})
    return found


def _engine_line(fact: Fact) -> str:
    if not isinstance(fact, Command) or not _LISTED.issuperset(fact.words[:1]):
        return ""
    return " ".join(fact.words) if "engine" in describe(fact.program).place else ""
