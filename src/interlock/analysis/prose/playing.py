"""Decides whether a command, statement or call in a clause would run, and hands it to the reader of its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interlock.analysis.facts import Report
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.names import is_operation
from interlock.analysis.operations.payloads import shell_text
from interlock.analysis.operations.requests import acting_path
from interlock.analysis.prose.clauses import AnnouncedAct, Tokens, framed
from interlock.analysis.prose.code_spans import calls_in
from interlock.analysis.prose.embedded import MARK, Embedded, Lifted
from interlock.analysis.prose.english import EnglishClause
from interlock.analysis.prose.named import CALLED, Mention

_PATTERNS = Patterns("playing")
_LISTS = WordLists("playing")


_REACH = 8  # clauses
_LONGEST = 1_000


class Told:
    """Passes effects on, and remembers whether there was one."""

    def __init__(self, out: Report) -> None:
        self.out = self.whole = out
        self.any = self.known = self.vague = False
        self.read_only = True
        self.looks = False  # something only looks, asks or does nothing: without that, nothing is safe (C-01)
        self.asked = False
        self.named = False  # the clause in front only named a command
        self.mentioned: list[Mention] = []  # the operations that the sentence names
        self.before: list[str] = []  # the clauses in front
        self.spoken: set[str] = set()  # of the clauses of a sentence: told, look, or done
        self.keeps = False  # the sentence says that data stays
        self.quoted: list[Embedded] = []  # what was quoted or described so far
        self.plain: list[tuple[str, str]] = []  # sentences with nothing embedded, and in which language they are

    def about(self, words: Tokens) -> None:
        """From here on, what is told is about the part of the text that has these words."""
        narrowed = getattr(self.whole, "about", None)
        self.out = self.whole if narrowed is None else narrowed(words)

    def asks(self) -> None:
        """A part of the text only asks, or says what others want."""
        self.known = self.looks = self.asked = True

    def act(self, one: AnnouncedAct) -> None:
        self.any = True
        self.out.effect(one.verb, one.target, *sorted(one.traits))

    def follow(self, text: str, speaks: bool) -> None:
        """Reports what a clause does with what one in front of it got; `speaks` when the clause only speaks of something."""
        for got, done, verb, traits in (
            (_PATTERNS.fetches, _PATTERNS.runs_it, "act_run", ()),
            (_PATTERNS.sensitive, _PATTERNS.sends_it, "act_leak", ("secret",)),
        ):
            if self.before and not (speaks and verb == "act_run") and done.match(text):
                if any(map(got.search, self.before)):
                    self.act(AnnouncedAct(verb, text[:120], frozenset(traits)))
                    break
        self.before = [*self.before[-_REACH:], text[:_LONGEST]]


# -- would it run? ----------------------------------------------------------------------------------------


def running(words: Tokens, clause: EnglishClause, lifted: Lifted, told: Told) -> list[Embedded]:
    """The embedded things of a clause that its sentence would run."""
    found: list[Embedded] = []
    low = [word.lower() for word in words]
    named = told.named  # `the difference between x and y`
    speaks = (
        clause.shield and not clause.denied
    )  # in `to fix the bug I'll do a quick x`, of something else than the command
    for at, word in enumerate(words):
        if not word.startswith(MARK):
            named = named and low[at] in _LISTS.joints
        elif named or _PATTERNS.named.search(framed(low, at)):
            named = True  # `what x does`, `uses of x`
        elif word in clause.marks or (speaks and _PATTERNS.launched.match(framed(low, at))):
            thing = lifted.of(word)
            if clause.runs or not thing.kind.startswith("quoted_"):
                found.append(thing)
    told.named = named
    return found


# -- what does it do? -------------------------------------------------------------------------------------


def play(thing: Embedded, told: Told) -> None:
    """Hands something embedded to the reader of its language."""
    kind = thing.kind.removeprefix("quoted_")
    if kind == "quote":
        return
    told.any = told.known = True
    if kind == "shell":
        _play_shell(thing.text, told)
    elif kind == "sql":
        told.out.code("sql", thing.text)
    elif kind == "code":
        told.out.code(thing.extra, thing.text)
        _play_method(thing.text, told)
    elif kind == "http":
        from interlock.analysis.http import read_http

        read_http(thing.extra, thing.text, "", (), told.out)
        acting_path(thing.text, lambda name: _read_operation(name, {}, told))
    elif kind == "json":
        from interlock.analysis.operations.operation import read_tool

        for name, given in calls_in(thing.text):
            read_tool(name, given, told.out)
    elif kind == "call":
        _read_operation(thing.text, _arguments(thing.extra), told)


def _play_shell(text: str, told: Told) -> None:
    if text.split(None, 1)[0].lower() in _LISTS.cmdlets:
        told.out.code("powershell", text)
    else:
        shell_text(text, told.out)
    if _PATTERNS.aimless.match(text[:400]):
        told.out.effect("act_disk", text[:120], "all")


_LAST = re.compile(r"(?:^|[.>:])(\w{1,60})[!?]?(?:\(((?:[^()]|\([^()]*\)){0,400})\))?;?$")


def _play_method(text: str, told: Told) -> None:
    """`crm.bulk_delete_objects(…)`: the name of a method of several words is that of an operation."""
    last = _LAST.search(text[:2000])
    if last and is_operation(last[1]) and not last[1].lower().endswith(tuple(_LISTS.tame_ends)):
        _read_operation(last[1], _arguments(last[2] or ""), told)


_ARGUMENT = re.compile(r"([\w-]{1,40})[\"']?\s?[=:]\s?(?:\"([^\"]{0,400})\"|'([^']{0,400})'|([^,)}\s]{1,100}))")


def _arguments(text: str) -> dict[str, str]:
    """`table=\"users\", force=true` as names and values; a lone value is called by none of them."""
    found = {name: quoted or single or plain for name, quoted, single, plain in _ARGUMENT.findall(text)}
    return found or ({"value": text.strip("\"' ")} if text.strip() else {})


def read_operations(named: Iterable[Mention], told: Told) -> None:
    """Reads every operation that a clause calls by its name."""
    for mention in named:
        if mention.role == CALLED:
            told.any = told.known = True
            _read_operation(mention.name, mention.given, told)


def _read_operation(name: str, given: Mapping[str, str], told: Told) -> None:
    from interlock.analysis.operations.operation import read_operation

    read_operation(name, given, "", told.out)
