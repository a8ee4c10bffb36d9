"""The effects that a text announces, as they are reported: acts, and whatever embedded commands, statements and calls would do that run."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.analysis.facts import Report
from interlock.analysis.http import read_http
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.names import is_operation
from interlock.analysis.operations.operation import read_operation, read_tool
from interlock.analysis.operations.requests import route_name
from interlock.analysis.prose.clauses import CALLED, NOTHING, AnnouncedAct, Mention, Tokens, framed
from interlock.analysis.prose.embedded import MARK, Embedded, Lifted, calls_in
from interlock.analysis.prose.english import EnglishClause, EnglishObject

_PATTERNS = Patterns("playing")
_LISTS = WordLists("playing")

_REACH = 8  # clauses
_LONGEST, _SHORT = 1_000, 80


class Told:
    """Passes effects on, and remembers of the text what its next clause may refer to, and whether it announced anything."""

    def __init__(self, out: Report, lifted: Lifted) -> None:
        self.whole, self.lifted = out, lifted
        self._out: Report | None = out  # none until something is told about these words
        self._words: Tokens = []
        self.any = self.known = self.vague = False
        self.read_only = True
        self.looks = False  # something only looks, asks or does nothing: without that, nothing is safe (C-01)
        self.asked = False
        self.plain: list[tuple[str, str]] = []  # sentences with nothing embedded, each with its trait
        self.rest: list[tuple[str, str]] = []  # the same for those that only speak of something
        self.language = ""  # that of the last sentence: empty for English, or "_foreign"
        self.before: list[str] = []  # the clauses in front
        self.last: EnglishClause | None = None  # the last of them, where nothing asked yet what it spoke of
        self.thing: EnglishObject | None = None  # what the ones before it spoke of
        self.named = False  # it only named a command
        self.quoted: list[Embedded] = []  # what was quoted or described so far
        self.always = NOTHING  # what holds for the whole text
        # of the sentence that is read
        self.wide = NOTHING  # what holds for all of it
        self.keeps = False  # it says that data stays
        self.mentioned: list[Mention] = []  # the operations that it names
        self.spoken: set[str] = set()  # of its clauses: told, look, or done

    def about(self, words: Tokens) -> None:
        """From here on, what is told is about the part of the text that has these words."""
        self._words, self._out = words, None

    @property
    def out(self) -> Report:
        if self._out is None:
            narrowed = getattr(self.whole, "about", None)
            self._out = self.whole if narrowed is None else narrowed(self.as_written(self._words))
        return self._out

    def as_written(self, words: Tokens) -> Tokens:
        """The words, with what stands for an embedded thing as its text."""
        if MARK not in self.lifted.text:
            return words
        return [self.lifted.of(word).text if word.startswith(MARK) else word for word in words]

    def hear(self, sentence: str, plain: bool) -> None:
        """Remembers a sentence with nothing embedded for whoever has an opinion on its wording."""
        (self.plain if plain else self.rest).append((sentence, f"{'plain' if plain else 'told'}{self.language}"))

    def asks(self) -> None:
        """A part of the text only asks, or says what others want."""
        self.known = self.looks = self.asked = True

    def act(self, one: AnnouncedAct) -> None:
        self.any = True
        self.out.effect(one.verb, one.target, *sorted(one.traits), f"worded{self.language}")

    def follow(self, text: str, speaks: bool) -> None:
        """Reports what a clause does with what one in front of it got; `speaks` when the clause only speaks of something."""
        before = self.before
        if before and not speaks and _PATTERNS.runs_it.match(text) and any(map(_PATTERNS.fetches.search, before)):
            self.act(AnnouncedAct("act_run", text[:120]))
        elif before and _PATTERNS.sends_it.match(text) and any(map(_PATTERNS.sensitive.search, before)):
            self.act(AnnouncedAct("act_leak", text[:120], frozenset({"secret"})))
        self.before = [*before[-_REACH:], text[:_LONGEST]]

    def run(self, words: Tokens, clause: EnglishClause) -> None:
        low = [word.lower() for word in words]
        speaks = clause.shield and not clause.denied  # `to fix the bug I'll do a quick x`: of something else
        for at, word in enumerate(words):
            if not word.startswith(MARK):
                self.named = self.named and low[at] in _LISTS.joints  # `the difference between x and y`
            elif self.named or _PATTERNS.named.search(framed(low, at)):
                self.named = True  # `what x does`, `uses of x`
            elif word in clause.marks or (speaks and _PATTERNS.launched.match(framed(low, at))):
                thing = self.lifted.of(word)
                if clause.runs or not thing.kind.startswith("quoted_"):
                    self.play(thing)

    def play(self, thing: Embedded) -> None:
        """Hands something embedded to the reader of its language."""
        kind, text = thing.kind.removeprefix("quoted_"), thing.text
        if kind == "quote":
            return
        self.any = self.known = True
        if kind == "shell":
            if text.split(None, 1)[0].lower() in _LISTS.cmdlets:
                self.out.code("powershell", text)
            else:  # `chmod -R 777` with the tree that the text names elsewhere; `rm -rf` without one is only spoken of
                bare = _PATTERNS.unaimed.match(text[:_SHORT])
                tree = bare and _PATTERNS.tree.search(self.lifted.text)
                aim = f" {tree[0]}" if tree else "" if bare and bare["rm"] else " ."
                self.out.shell(f"{text}{aim}" if bare else text)
            if _PATTERNS.aimless.match(text[:400]):
                self.out.effect("act_disk", text[:120], "all")
        elif kind in ("sql", "code"):
            self.out.code(thing.extra or kind, text)
            # `crm.bulk_delete_objects(…)`: the name of a method of several words is that of an operation
            last = _PATTERNS.last_call.search(text[:2000]) if kind == "code" else None
            if last and is_operation(last[1]) and not last[1].lower().endswith(_LISTS.in_order("tame_ends")):
                read_operation(last[1], _arguments(last[2] or ""), "", self.out)
        elif kind == "http":
            read_http(thing.extra, text, "", (), self.out)
            if act := route_name(text):
                read_operation(act, {}, "", self.out)
        elif kind == "json":
            for name, given in calls_in(text):
                read_tool(name, given, self.out)
        elif kind == "call":
            read_operation(text, _arguments(thing.extra), "", self.out)

    def call(self, named: Iterable[Mention]) -> None:
        for mention in named:
            if mention.role == CALLED:
                self.any = self.known = True
                read_operation(mention.name, mention.given, "", self.out)


def _arguments(text: str) -> dict[str, str]:
    """`table=\"users\", force=true` as names and values; a lone value is called by none of them."""
    found = {name: quoted or single or plain for name, quoted, single, plain in _PATTERNS.argument.findall(text)}
    return found or ({"value": text.strip("\"' ")} if text.strip() else {})
