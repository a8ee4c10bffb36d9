"""Replaces commands, statements, requests, quotations and descriptions of commands in a sentence by marks, and keeps their text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

from msgspec.structs import replace

from interlock.analysis.lexicon import nouns, verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.operations.names import is_operation, may_be_operation
from interlock.analysis.operations.nested import PARAMS, calls_inside, given_params
from interlock.analysis.operations.params import short_keys, squash
from interlock.analysis.programs.load import program_set
from interlock.analysis.prose.commands import MARK, Embedded, commands_in, is_command, programs

_LISTS = WordLists("embedded")
_PATTERNS = Patterns("embedded")

__all__ = ["MARK", "Embedded", "Lifted", "calls_in", "shape_of"]

_FIRST = 0xE100
_MOST = 200
Place = tuple[int, int, Embedded]  # where something embedded begins and ends


class Lifted:
    """A text in which everything embedded was replaced by a mark."""

    def __init__(self, text: str) -> None:
        self.found: list[Embedded] = []
        self.full = False  # there was more than can be kept
        if "{" in text:
            text = self._replaced(text, objects_in(text))
        text = self._replaced(text, documented_in(text))
        text = _PATTERNS.ticks.sub(self._ticked, text)
        if "(" in text:
            text = _PATTERNS.bomb.sub(lambda one: self._mark(Embedded("shell", one[0])), text)
        text = self._replaced(text, methods_in(text))
        if "(" in text:
            text = _PATTERNS.call.sub(lambda one: one[1] + self._mark(Embedded("call", one[2], one[3])), text)
        if _PATTERNS.quote_marks.search(text):
            text = _PATTERNS.quotes.sub(self._quoted, text)
        if "/" in text:
            text = _PATTERNS.http.sub(lambda one: self._mark(Embedded("http", one[2], one[1])), text)
        text = self._replaced(text, statements_in(text))
        commands = ((a, b, Embedded("shell", self._restored(line))) for a, b, line in commands_in(text))
        self.text = self._replaced(text, commands)

    def of(self, token: str) -> Embedded:
        return self.found[ord(token[1]) - _FIRST]

    def _mark(self, thing: Embedded) -> str:
        if len(self.found) >= _MOST:
            self.full = True
            return " "
        self.found.append(thing)
        return f" {MARK}{chr(_FIRST + len(self.found) - 1)} "

    def _replaced(self, text: str, things: Iterable[Place]) -> str:
        """The text with a mark for each of these pieces; a piece inside another one went with it."""
        pieces, at = [], 0
        for start, end, thing in sorted(things, key=lambda one: one[0]):
            if start >= at:
                pieces += [text[at:start], self._mark(thing)]
                at = end
        return "".join(pieces) + text[at:] if pieces else text

    def _restored(self, line: str) -> str:
        """A command with what was marked inside it as it was written."""
        return _PATTERNS.marked.sub(lambda mark: f" {self.of(mark[0].strip()).written()} ", line).strip()

    def _ticked(self, match: re.Match[str]) -> str:
        text = (match[1] or match[2]).strip()
        thing = shape_of(text)
        if thing is None and " " not in text and not _PATTERNS.releases.fullmatch(text):
            return f" {text} "
        return self._mark(thing or Embedded("quote", text))

    def _quoted(self, match: re.Match[str]) -> str:
        text = next(group for group in match.groups() if group is not None).strip()
        whole = match.start() == 0 and match.end() >= len(match.string.rstrip(" .!"))  # which is no quotation
        # `keys for 'delete', 'remove' and 'erase'`: a verb in quotes with nothing behind that it is done to
        listed = text.lower() in verb_forms() and _PATTERNS.listed.match(match.string, match.end())
        around = f"{match.string[: match.start()][-60:]}¦{match.string[match.end() :][:40]}"
        if _PATTERNS.name.fullmatch(text) and _PATTERNS.names_rights.search(around):
            return f" {text.replace(' ', '·')} "  # `the "Payroll Approvers" group`
        if whole or MARK in text or (" " not in text and len(text) <= 60 and not listed):
            return f" {text} "
        thing = shape_of(text)
        kind = f"quoted_{thing.kind}" if thing else "quote"
        return self._mark(Embedded(kind, thing.text, thing.extra) if thing else Embedded(kind, text))


def shape_of(text: str) -> Embedded | None:
    """What a text is that stands alone: a statement, a request, a call or a command; none when it is only words."""
    for start, _, statement in statements_in(text):
        if not start:
            return replace(statement, text=text.strip(" ;"))
    if request := _PATTERNS.http.fullmatch(text):
        return Embedded("http", request[2], request[1])
    for start, end, called in methods_in(text):
        if not start and not text[end:].strip(" ;"):
            return called
    call = _PATTERNS.call.match(text)
    if call and " " in text and not call[1] and text[call.end() :] in ("", ";"):
        return Embedded("call", call[2], call[3])
    return Embedded("shell", text) if text[:1].strip() and is_command(text) else None


# -- what only describes a command

_REACH, _MOST_SAID = 80, 40  # letters in front of a verb that are looked at; verbs of one text


# The forms in which somebody says what a thing does.
_thirds = cache(lambda: {form for form, known in verb_forms().items() if known[1] == "third" and form not in nouns()})
_says = cache(lambda: _LISTS.does | _LISTS.is_words | _thirds())


def documented_in(text: str) -> Iterator[Place]:
    """Where text that only describes a command stands, as a quotation with the command: `DROP TABLE removes the table`."""
    says = _says()
    if text.isascii() and says.isdisjoint(text.split()):
        return
    done = 0
    for verb in islice((match for match in _PATTERNS.word.finditer(text) if match[0] in says), _MOST_SAID):
        at, command, explains = _subject(text, verb.start()) if verb.start() >= done else (0, "", False)
        if not command or (verb[0] in program_set("said_subcommands") and not command.isupper()):
            continue  # `is run next`
        after = text[verb.end() : verb.end() + _REACH]
        if verb[0] in _LISTS.is_words and (_PATTERNS.announces.match(after) or not after.strip(" .!")):
            continue
        stop = _PATTERNS.predicate.search(text, verb.end())
        end = stop.start() if stop else len(text)
        if explains or not _PATTERNS.mine.search(text[verb.end() : end]):  # not what happens to one's own things
            yield at, end, Embedded("quote", text[at:end], command)
            done = end
    for match in _PATTERNS.cjk.finditer(text) if not text.isascii() else ():
        yield *match.span(), Embedded("quote", match[0], match[0].split("会")[0])


def _subject(text: str, at: int) -> tuple[int, str, bool]:
    """Where the command begins that stands in front of a verb, its words, and whether an explanation was announced."""
    start = max(0, at - _REACH)
    for cut in _PATTERNS.clause.finditer(text, start, at):
        start = cut.end()
    words = [(match.start(), match[0].strip("`'\"“”‘’«»„,")) for match in re.finditer(r"\S+", text[start:at])]
    while words and (words[-1][1].lower() in _LISTS.adverbs or not words[-1][1]):
        words.pop()
    for number in range(min(len(words), 8)):
        names = [word for _, word in words[number:]]
        if _is_command(names):
            explains = _PATTERNS.explains.search(text[max(0, start - 60) : start]) is not None
            return start + words[number][0], " ".join(names), explains
        if names[0].lower() not in _LISTS.leads:
            break
    return 0, "", False


def _is_command(words: list[str]) -> bool:
    """True for the name of a command or a statement without anything that it is aimed at."""
    article = words[0].lower() if words[0].lower() in _LISTS.articles else ""
    bare = words[bool(article) :]
    named = bool(bare) and bare[-1].lower() in _LISTS.named
    bare = [word.removesuffix("'s") for word in bare[:-1]] if named else bare
    if not bare:
        return False
    first, rest = bare[0], bare[1:]
    kinds = {word.lower() for word in bare[:-1]}
    if article in ("a", "an") and bare[-1].lower() in _LISTS.acts and kinds <= _LISTS.kinds:
        return True
    if (not rest and is_operation(first)) or (named and all(word[:1] == "-" for word in bare)):
        return True  # `the --force flag`
    if first in _LISTS.statements:
        return _LISTS.objects.issuperset(rest)
    if first.lower() not in programs() or not (first.islower() or named):
        return False
    subcommands = (program_set("said_subcommands"), program_set("said_nouns"))
    return all(word[:1] == "-" or any(word in known for known in subcommands) for word in rest)


# -- statements and method calls

_PUNCTUATION = "`'\"(),.;:"


def statements_in(text: str) -> Iterator[Place]:
    """Where statements stand in the text, each in its language; several with `;` between them are one."""
    words = {word.strip(_PUNCTUATION) for word in text.lower().split()}
    for redis in _PATTERNS.redis.finditer(text) if not _LISTS.redis_first.isdisjoint(words) else ():
        yield *redis.span(), Embedded("code", redis[0].strip(" ;"), "redis")
    start = 0
    while not _LISTS.first.isdisjoint(words):
        styles = (_PATTERNS.capitals.search(text, start), _PATTERNS.small.search(text, start))
        match = min(filter(None, styles), key=lambda one: one.start(), default=None)
        if match is None:
            return
        end = _PATTERNS.ends.search(text, match.end() if _PATTERNS.says_to.search(match[0]) else match.start() + 12)
        start = max(end.start() if end else len(text), match.start() + 1)
        yield match.start(), start, Embedded("sql", text[match.start() : start].strip(" ;"))


_BRACKET = re.compile(r"[()]")
_LANGUAGES = Rows("method_language", "", "call head last")


def methods_in(text: str) -> Iterator[Place]:
    """Where calls of methods stand that a sentence makes, each in its language."""
    if "(" in text:
        start = 0
        opened: list[int] = []
        closing: dict[int, int] = {}  # for each bracket that opens, the place behind the one that closes it
        for bracket in _BRACKET.finditer(text):
            if bracket[0] == "(":
                opened.append(bracket.start())
            elif opened:
                closing[opened.pop()] = bracket.end()
        for match in _PATTERNS.head.finditer(text):
            if match.start() < start:
                continue
            end = _end_of_call(text, match.end() - 1, closing)
            called = text[match.start() : end]
            head, last = called.partition("(")[0], called.rpartition(".")[2].partition("(")[0]
            chain = "." in head or any(link in called for link in ("->", "::", ")."))
            if end and chain and _can_begin(text, match.start()):
                language = _LANGUAGES.first((), {"call": called, "head": head, "last": last}) or "python"
                yield match.start(), end, Embedded("code", called, language)
                start = end
    elif "." in text:
        for match in _PATTERNS.bare.finditer(text):
            if _can_begin(text, match.start()):
                yield *match.span(), Embedded("code", match[0], "ruby")


def _can_begin(text: str, at: int) -> bool:
    before = text[max(0, at - 30) : at].rstrip()
    return not before or before[-1] in ".!?:;,(—–>" or before.rsplit(None, 1)[-1].lower() in _LISTS.begins


def _end_of_call(text: str, at: int, closing: dict[int, int]) -> int:
    """Where the call ends whose bracket opens here, with all that is called on its result; 0 when it never does."""
    end = closing.get(at, 0)
    while end and (more := _PATTERNS.more.match(text, end)):
        if not more[1]:
            return more.end() if text[more.end() : more.end() + 1] in " ;," else end
        end = closing.get(more.end() - 1, 0)
    return end


# -- JSON

Call = tuple[str, Mapping[str, Any]]
_MOST_OBJECTS, _DEEPEST, _LONGEST_JSON = 8, 4, 20_000
_DECODER = json.JSONDecoder()
_PARAMS = frozenset(PARAMS)


def objects_in(text: str) -> Iterator[Place]:
    """Where JSON stands that calls something, by one of its keys."""
    done = tried = 0
    for found in _PATTERNS.opens.finditer(text[:_LONGEST_JSON]):
        if found.start() < done or tried >= _MOST_OBJECTS:
            continue
        tried += 1
        try:
            value, done = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if any(not _LISTS.call_keys.isdisjoint(short_keys(one)) for one in _objects(value)):
            yield found.start(), done, Embedded("json", text[found.start() : done])


def calls_in(text: str) -> list[Call]:
    """The operations that a JSON text calls, with what they are given; one that names none is given to whatever runs it."""
    found: list[Call] = []
    for value in _objects(json.loads(text)):
        keys = short_keys(value)
        name = _name(keys)
        if name:
            beside = {key: item for key, item in value.items() if squash(key) not in _LISTS.names}
            found.append((name, given_params(keys, {}) if not _PARAMS.isdisjoint(keys) else beside))
        elif calls := calls_inside({"call": value}):
            found += calls
        else:
            said = ". ".join(_said(value))
            found.append(("Task", {"prompt": said}) if said else ("call_tool", value))
    return found


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in (value if isinstance(value, list) else [value])[:_MOST_OBJECTS] if isinstance(one, Mapping)]


def _said(value: object, depth: int = 0) -> Iterator[str]:
    """What an agent is told in plain words, at any place in an object."""
    if isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_MOST_OBJECTS]:
            yield from _said(item, depth + 1)
    for key, item in value.items() if isinstance(value, Mapping) and depth < _DEEPEST else ():
        if isinstance(item, str) and squash(key) in _LISTS.says:
            yield item
        yield from _said(item, depth + 1)


def _name(keys: Mapping[str, Any]) -> str:
    name = next((keys[key] for key in _LISTS.in_order("names") if isinstance(keys.get(key), str)), "")
    if not name and (not _PARAMS.isdisjoint(keys) or keys.get("type") in ("tool_use", "function")):
        name = keys.get("name", "")
    if not isinstance(name, str) or not _PATTERNS.called.fullmatch(name):
        return ""
    upon = next((keys[key] for key in _LISTS.in_order("upon") if isinstance(keys.get(key), str)), "")
    upon = "_".join(upon.split())
    bare = name.isalpha() and not may_be_operation(name)
    return f"{name}_{upon}" if bare and _PATTERNS.called.fullmatch(upon) else name
