"""Replaces commands, statements, requests, quotations and descriptions of commands in a sentence by marks, and keeps their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from interlock.analysis.lexicon.forms import nouns, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.names import is_operation
from interlock.analysis.programs.load import program_set
from interlock.analysis.prose.code_spans import (
    is_method,
    language_of,
    methods_in,
    objects_in,
    statement_kind,
    statements_in,
)
from interlock.analysis.prose.commands import MARK, WORD, Embedded, commands_in, is_command, programs

_LISTS = WordLists("embedded")
_PATTERNS = Patterns("embedded")

__all__ = ["MARK", "Embedded", "Lifted", "arguments", "shape_of"]

_FIRST = 0xE100
_MOST = 200
_TICKS = re.compile(r"```(?:[a-z]*\n)?([^`]{1,4000})```|`([^`\n]{1,2000})`")
_QUOTE_MARKS = re.compile("[\"“«„「'‘]")
_BOMB = re.compile(r"(?:\b\w{1,30}|:)\s?\(\)\s?\{[^}\n]{1,60}\}\s?;\s?(?:\w{1,30}|:)")
_NAME = (
    r"((?:\w{1,40}\.)?(?:[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}|[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{0,40}){1,8}))"
)
_GIVEN = r"\(([^()\n]{0,400}(?:\([^()\n]{0,200}\)[^()\n]{0,200})?)\)"
_CALL_ALONE = re.compile(_NAME + _GIVEN + r";?$")
_ARGUMENT = re.compile(r"([\w-]{1,40})[\"']?\s?[=:]\s?(?:\"([^\"]{0,400})\"|'([^']{0,400})'|([^,)}\s]{1,100}))")
_MARKED = re.compile(f" *{MARK}(.) *")


class Lifted:
    """A text in which everything embedded was replaced by a mark."""

    def __init__(self, text: str) -> None:
        self.found: list[Embedded] = []
        self.full = False  # there was more than can be kept
        if "{" in text:
            text = self._replaced(text, ((a, b, Embedded("json", text[a:b])) for a, b in objects_in(text)))
        text = self._replaced(text, ((a, b, Embedded("quote", text[a:b], name)) for a, b, name in documented_in(text)))
        if "`" in text:
            text = _TICKS.sub(lambda m: self._ticked((m[1] or m[2] or "").strip()), text)
        if "(" in text:
            text = _BOMB.sub(lambda m: self._mark(Embedded("shell", m[0])), text)
        if "(" in text or "." in text:
            text = self._replaced(text, ((a, b, Embedded("code", text[a:b], kind)) for a, b, kind in methods_in(text)))
        if "(" in text:
            text = _PATTERNS.call.sub(lambda m: m[1] + self._mark(Embedded("call", m[2], m[3])), text)
        if _QUOTE_MARKS.search(text):
            text = _PATTERNS.quotes.sub(self._quoted, text)
        if "/" in text:
            text = _PATTERNS.http.sub(lambda m: self._mark(Embedded("http", m[2] or m[4], m[1] or m[3])), text)
        text = self._replaced(text, ((a, b, _statement(text[a:b], kind)) for a, b, kind in statements_in(text)))
        self.text = self._replaced(
            text, ((a, b, Embedded("shell", self._restored(line))) for a, b, line in commands_in(text))
        )

    def _mark(self, thing: Embedded) -> str:
        if len(self.found) >= _MOST:
            self.full = True
            return " "
        self.found.append(thing)
        return f" {MARK}{chr(_FIRST + len(self.found) - 1)} "

    def of(self, token: str) -> Embedded:
        return self.found[ord(token[1]) - _FIRST]

    def _replaced(self, text: str, things: Iterable[tuple[int, int, Embedded]]) -> str:
        """The text with a mark for each of these pieces; a piece inside another one went with it."""
        pieces, at = [], 0
        for start, end, thing in sorted(things, key=lambda one: one[0]):
            if start >= at:
                pieces += [text[at:start], self._mark(thing)]
                at = end
        return "".join(pieces) + text[at:] if pieces else text

    def _restored(self, line: str) -> str:
        """A command with what was marked inside it as it was written."""
        return (
            _MARKED.sub(lambda m: f" {self._written(self.found[ord(m[1]) - _FIRST])} ", line).strip()
            if MARK in line
            else line
        )

    def _written(self, thing: Embedded) -> str:
        if thing.kind == "http":
            return f"{thing.extra} {thing.text}"
        if thing.extra == "redis" or thing.kind == "json":
            return thing.text
        if thing.kind == "call":
            return f"{thing.text}({thing.extra})"
        return f"'{thing.text}'" if '"' in thing.text else f'"{thing.text}"'

    @staticmethod
    def _is_listed(word: str, match: re.Match[str]) -> bool:
        """`keys for 'delete', 'remove' and 'erase'`: a verb in quotes with nothing behind that it is done to."""
        return word.lower() in verb_forms() and _PATTERNS.listed.match(match.string, match.end()) is not None

    def _ticked(self, text: str) -> str:
        thing = shape_of(text)
        if thing is None:
            return f" {text} " if " " not in text else self._mark(Embedded("quote", text))
        return self._mark(thing)

    def _quoted(self, match: re.Match[str]) -> str:
        text = next(group for group in match.groups() if group is not None).strip()
        if match.start() == 0 and match.end() >= len(match.string.rstrip(" .!")):
            return f" {text} "  # all of it in quotes is not a quotation
        if MARK in text or (" " not in text and len(text) <= 60 and not self._is_listed(text, match)):
            return f" {text} "
        thing = shape_of(text)
        return self._mark(
            Embedded(f"quoted_{thing.kind}", thing.text, thing.extra) if thing else Embedded("quote", text)
        )


def arguments(text: str) -> dict[str, str]:
    """`table=\"users\", force=true` as names and values; a lone value is called by none of them."""
    found = {name: quoted or single or plain for name, quoted, single, plain in _ARGUMENT.findall(text)}
    return found or ({"value": text.strip("\"' ")} if text.strip() else {})


def shape_of(text: str) -> Embedded | None:
    """What a text is that stands alone: a statement, a request, a call or a command; none when it is only words."""
    kind = statement_kind(text)
    if kind:
        return _statement(text, kind)
    request = _PATTERNS.http.fullmatch(text)
    if request:
        return Embedded("http", request[2] or request[4], request[1] or request[3])
    if is_method(text):
        return Embedded("code", text.rstrip("; "), language_of(text))
    call = _CALL_ALONE.match(text)
    if call and " " in text:
        return Embedded("call", call[1], call[2])
    match = WORD.match(text)
    return Embedded("shell", text) if match and is_command(text) else None


def _statement(text: str, kind: str) -> Embedded:
    text = text.strip(" ;")
    return Embedded("sql", text) if kind == "sql" else Embedded("code", text, kind)


_WORD = re.compile(r"[^\W\d_][\w']*")
_REACH, _MOST_SAID = 80, 40  # letters in front of a verb that are looked at; verbs of one text


@cache
def _says() -> frozenset[str]:
    """The forms in which somebody says what a thing does."""
    return (
        _LISTS.does
        | _LISTS.is_words
        | {form for form, (_, name, _) in verb_forms().items() if name == "third" and form not in nouns()}
    )


def documented_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where text that only describes a command begins and ends, and the command: `DROP TABLE removes the table`."""
    says = _says()
    if text.isascii() and says.isdisjoint(text.split()):
        return
    words = [match for match in _WORD.finditer(text) if match[0] in says]
    done = 0
    for match in words[:_MOST_SAID]:
        if match.start() < done:
            continue
        found = _subject(text, match.start())
        if (
            found is None
            or (match[0] in program_set("said_subcommands") and not found[1].isupper())
            or not _is_said(text, match, found[2])
        ):
            continue
        done = _end(text, match.end())
        yield found[0], done, found[1]
    if not text.isascii():
        yield from ((match.start(), match.end(), match[0].split("会")[0]) for match in _PATTERNS.cjk.finditer(text))


def _subject(text: str, at: int) -> tuple[int, str, bool] | None:
    """Where the command begins that stands in front of a verb, its words, and whether an explanation was announced."""
    start = max(0, at - _REACH)
    for cut in _PATTERNS.clause.finditer(text, start, at):
        start = cut.end()
    words = [(match.start(), match[0].strip("`'\"“”‘’«»„,")) for match in re.finditer(r"\S+", text[start:at])]
    while words and (words[-1][1].lower() in _LISTS.adverbs or not words[-1][1]):
        words.pop()
    explains = _PATTERNS.explains.search(text[max(0, start - 60) : start]) is not None
    for number in range(min(len(words), 8)):
        names = [word for _, word in words[number:]]
        if _is_command(names, explains):
            return start + words[number][0], " ".join(names), explains
        if names[0].lower() not in _LISTS.leads:
            return None
    return None


def _is_command(words: list[str], explains: bool) -> bool:
    """True for the name of a command or a statement without anything that it is aimed at."""
    article = words[0].lower() in _LISTS.articles and words[0]
    bare = words[bool(article) :]
    named = bool(bare) and bare[-1].lower() in _LISTS.named
    bare = [word.removesuffix("'s") for word in bare[:-1]] if named else bare
    if not bare:
        return False
    if (
        article in ("a", "an", "A", "An")
        and bare[-1].lower() in _LISTS.acts
        and _LISTS.kinds.issuperset(word.lower() for word in bare[:-1])
    ):
        return True
    return _is_bare(bare, named)


def _is_bare(words: list[str], named: bool) -> bool:
    first, rest = words[0], words[1:]
    if not rest and is_operation(first):
        return True
    if first in _LISTS.statements:
        return all(word in _LISTS.objects for word in rest)
    if named and all(word[:1] == "-" for word in words):
        return True  # `the --force flag`
    program = first.lower()
    if program not in programs() or not (first.islower() or named):
        return False
    return all(
        word[:1] == "-" or word in program_set("said_subcommands") or word in program_set("said_nouns") for word in rest
    )


def _is_said(text: str, verb: re.Match[str], explains: bool) -> bool:
    """False for `is run next` and for what happens to one's own things: that is announced."""
    after = text[verb.end() : verb.end() + _REACH]
    if verb[0] in _LISTS.is_words and (_PATTERNS.announces.match(after) or not after.strip(" .!")):
        return False
    return explains or not _PATTERNS.mine.search(text[verb.end() : _end(text, verb.end())])


def _end(text: str, at: int) -> int:
    end = _PATTERNS.predicate.search(text, at)
    return end.start() if end else len(text)
