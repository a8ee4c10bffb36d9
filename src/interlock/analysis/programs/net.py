"""Judges a command by its words alone: verb and object in subcommands, options and the program's own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

import re2
from msgspec import Struct

from interlock.analysis.lexicon import deed_nouns, objects, reaches, split_name, verbs
from interlock.analysis.packs import PackWords, words_of
from interlock.analysis.programs.load import entries

READ, MAKE, NOUN = "reading", "making", "noun"  # meanings that are no harm; NOUN: unless a verb follows
QUIET = frozenset({READ, MAKE, NOUN})
MAX_WORD, MAX_OPERANDS = 60, 7
_ANY = frozenset({"*"})
_NOTHING = ("", (), False)
_NOUNS = frozenset({"ls", "view"})  # reading verbs alone, but nouns before a verb: a logical switch, a view

# The kind of the verb, the other words of the name, whether the word is the verb alone.
Meaning = tuple[str, tuple[str, ...], bool]


NET = PackWords(lambda: words_of(entries("net")))  # what words mean on a command line, besides what they mean in names


@cache
def _needs_of_kinds() -> Mapping[str, frozenset[str]]:
    net = entries("net")
    return {kind: frozenset(text.split()) for kind, text in {**net["kinds"], **net["objects"]}.items()}


@cache
def _harms() -> Mapping[str, str]:
    """The kind of each verb that counts, of the lexicon's and of the others."""
    kinds = {word: kind for word, kind in verbs().items() if kind in _needs_of_kinds() and word not in NET.other}
    return {**kinds, **NET.table("verbs")}


@cache
def _verbs() -> Mapping[str, str]:
    making, reading, nouns = NET.making, NET.reading, NET.nouns
    return {**_harms(), **dict.fromkeys(making, MAKE), **dict.fromkeys(reading, READ), **dict.fromkeys(nouns, NOUN)}


@cache
def _needs() -> Mapping[str, frozenset[str]]:
    smaller = entries("net")["smaller"].items()
    needs = {verb: _needs_of_kinds()[kind] for verb, kind in _harms().items()}
    return needs | {verb: frozenset(text.split()) for words, text in smaller for verb in words.split()}


_objects = cache(lambda: {**objects(), **NET.table("names")})


@cache
def _searcher() -> re2.Set:
    """Finds any word that can count; short ones only where a name or a part of one begins."""
    words = {*_harms(), *deed_nouns(), *NET.options, *NET.whole_options, *NET.forced_options}
    long = "|".join(word for word in words if len(word) > 3)
    short = [word for word in words if len(word) <= 3]
    any_short, titled = "|".join(short), "|".join(map(str.title, short))
    found = re2.Set.SearchSet()
    found.Add(f"(?i:{long})|\\b(?i:{any_short})|_(?:{any_short})|[a-z](?:{titled})")
    found.Compile()
    return found


def is_suspect(text: str) -> bool:
    return bool(_searcher().Match(text.encode("utf-8", "replace")))


class Harm(Struct, frozen=True):
    kind: str
    everything: bool


def harm_of(
    program: str,
    words: Sequence[str],
    valued: frozenset[str],
    described: bool,
    operands: bool,
    settled: Callable[[int, str], bool],
) -> Harm | None:
    """The harm that the words name; `settled` says which operands (by position) and options (at -1) others judge.

    The name of a `described` program says nothing; without `operands` only options are looked at.
    """
    reading = _WordReading(settled, operands)
    reading.read(words, valued | NET.values)
    kind = "" if reading.reads else reading.kind or (reading.small if reading.everything else "")
    if not kind and operands and not described and not reading.silent:
        kind = reading.by_name(program)
    return Harm(kind, reading.everything) if kind else None


def only_reads(words: Sequence[str]) -> bool:
    """Whether the words name nothing but a reading verb (`list`, `prog show`, `-l`), neither harm nor a path."""
    if not words or any("/" in word for word in words) or is_suspect("\n".join(words)):
        return False
    operands = [word for word in words if not word.startswith("-")]
    if operands:
        return any(meaning(word)[0] == READ or word in NET.lists for word in operands[:2])
    return all(word in NET.shows or word.startswith("--show") for word in words)


class _WordReading(Struct):
    settled: Callable[[int, str], bool]
    operands: bool
    kind: str = ""
    everything: bool = False
    forced: bool = False
    silent: bool = False
    objects: list[str] = []  # the nouns so far, the last the nearest
    place: int = 0
    small: str = ""  # the kind of a verb that counts only where it is done to everything
    reads: bool = False  # nothing is changed, whatever the options are

    def read(self, words: Sequence[str], valued: frozenset[str]) -> None:
        self.silent = not self.operands
        self.forced = not NET.forced.isdisjoint(words)
        before = ""  # the option that could take this word for its value
        left = iter(enumerate(words, 1))
        for behind, word in left:
            if word == "--":
                before = ""
            elif len(word) > 1 and word[0] == "-":
                name, equals, value = word.partition("=")
                self._option(name, value)
                before = "" if equals or name in NET.switches else name
                if not equals and (name in valued or (len(name) > 2 and f"--{name.lstrip('-').lower()}" in valued)):
                    _, value = next(left, (0, ""))
                    if self.operands and before.lstrip("-") in NET.acts:
                        self._act(value)
                    before = ""
            elif word[:1] == "/" and word[1:].lower() in NET.options:
                self._option(f"--{word[1:]}")
            else:
                self._operand(word, "".join(words[behind : behind + 1]), before)
                before = ""

    def _operand(self, word: str, following: str, before: str) -> None:
        """One operand; behind an option that nobody knows it may be that option's value, and silences nothing."""
        at, self.place = self.place, self.place + 1
        if word == "*" or word in NET.all_of:
            self.everything = True
        if self.silent or self.kind or at >= MAX_OPERANDS or len(word) > MAX_WORD:
            return
        if "=" in word:
            name, _, value = word.partition("=")
            if name.lower() in NET.acts and not self.settled(at, word):
                self._act(name if value.lower() in NET.on else value)
            return
        if "/" in word and at < 2:
            head, _, tail = word.partition("/")
            word = tail if head.isalpha() and tail.isalpha() and head not in NET.folders else word
        kind, others, alone = meaning(word)
        if kind in QUIET:
            if before:
                return
            named, _, bare = meaning(following)
            self.silent = kind != NOUN or bool(named and not bare)
            self.reads = kind == READ
            self.objects.append(word)
            return
        if not kind:
            self.objects.append(word.lower())
            return
        if before and not alone:
            return
        if self.settled(at, word):
            self.silent = True
            return
        verb = _verb_in(word)
        near = others or tuple(self.objects[-1:]) or tuple(filter(None, [following.lower()]))
        if self._counts(verb, near):
            self.kind = kind
            self.everything |= _of_everything(others)
        elif verb in NET.whole_by_all and NET.light.isdisjoint(near[-1:]):
            self.small = kind
        elif others or self.objects:
            self.silent = True

    def _counts(self, verb: str, near: Sequence[str]) -> bool:
        light = NET.light | NET.reinstallable if verb in NET.uninstalls else NET.light
        if not light.isdisjoint(near[-1:]):
            return False
        wanted = _needs().get(verb, _ANY)
        return wanted == _ANY or any(
            _objects().get(word, "") in wanted or reaches().get(word) == "all" for word in near
        )

    def _option(self, name: str, value: str = "") -> None:
        bare = name.lstrip("-").lower()
        parts = bare.replace("_", "-").split("-")
        if parts[0] in NET.all_of:
            self.everything = True
            return
        if self.kind or len(bare) < 3 or value.lower() in NET.off:
            return
        if bare in NET.acts:
            self._act(value)
        if not self.kind and (verb := self._ordered(name, parts)) and not self.settled(-1, name):
            kind = _verbs().get(verb, READ)
            self.kind = "delete" if kind in QUIET else kind
            self.everything |= _of_everything(parts)

    def _ordered(self, name: str, parts: Sequence[str]) -> str:
        """`--delete-user`, `--force-overwrite`, `--wipe`; not `--no-delete`."""
        first, last = parts[0], parts[-1]
        if first in NET.not_in_front or (len(parts) > 1 and not name.startswith("--")):
            return ""
        if first in NET.options:
            return "" if len(parts) > 1 and self._spared(first, last) else first
        if "-".join(parts) in NET.whole_options:
            return first
        if first in NET.forced_options and (len(parts) > 1 or self.forced):
            stored = _objects().get(last, "light") not in ("light", "safety") and last not in NET.light
            return first if stored or len(parts) == 1 else ""
        ends = len(parts) > 1 and (last in NET.options or last in NET.whole_options)
        return last if ends and first in NET.in_front else ""

    def _spared(self, verb: str, noun: str) -> bool:
        kind = _objects().get(noun, "")
        if noun in NET.light or noun in NET.reinstallable or kind == "light":
            return True
        return verb in NET.vague_options and not kind and noun not in NET.all_of and reaches().get(noun) != "all"

    def _act(self, value: str) -> None:
        """`--action`, `cmd=`: a verb there is what the program is told to do."""
        kind, others, _ = meaning(value)
        if kind and not self.kind and self._harms(value, kind, others):
            self.kind = kind

    def by_name(self, program: str) -> str:
        """`delete-tenant`, `kubectl-nuke`, `dropusers`; not a script's file."""
        kind, others, alone = meaning(program)
        if (alone and (kind != "delete" or not self.place)) or "." in program or not self._harms(program, kind, others):
            return ""
        self.everything |= _of_everything(others)
        return kind

    def _harms(self, word: str, kind: str, others: Sequence[str]) -> bool:
        loud = bool(kind) and kind not in QUIET and not self.settled(-1, word)
        return loud and self._counts(_verb_in(word), others)


def _of_everything(words: Sequence[str]) -> bool:
    return any(reaches().get(word) in ("all", "permanent") or word == "factory" for word in words)


def _verb_in(word: str) -> str:
    return next((part for part in _parts(word) if _verbs().get(part, READ) not in QUIET), word.lower())


@lru_cache(maxsize=8192)
def _parts(word: str) -> tuple[str, ...]:
    low = word.lower()
    if low.isalpha() and (low == word or word == word.upper()):
        return _halves(low)
    return tuple(half for segment in split_name(word) for part in segment for half in _halves(part))


def _halves(word: str) -> tuple[str, ...]:
    """`deletetable`, `zonedelete`: verb and object without anything between."""
    if word in verbs() or word in objects() or len(word) < 6:
        return (word,)
    for verb in NET.in_order("joined_in_front"):
        rest = word.removeprefix(verb)
        if rest == word:
            continue
        if rest in objects() or reaches().get(rest) == "all" or rest == "unused":
            return (verb, rest)
        if rest[:3] == "all" and rest[3:] in objects():
            return (verb, "all", rest[3:])
    for verb in NET.in_order("joined_behind"):
        if (rest := word.removesuffix(verb)) != word and rest in objects():
            return (verb, rest)
    return (word,)


@lru_cache(maxsize=8192)
def _names(word: str) -> tuple[str, ...]:
    """The words of what can be a subcommand; nothing for paths, files, addresses, texts and numbers."""
    if not word or len(word) > MAX_WORD or not (word[0].isalpha() or word[0] == ":"):
        return ()
    plain = word.replace("-", "").replace("_", "").replace(":", "").replace(".", "").isalnum()
    tail = word.rpartition(".")[2] if "." in word else ""
    is_file = tail and len(tail) < 5 and tail.lower() not in verbs()  # by its ending
    return _parts(word) if plain and not is_file else ()


def meaning(word: str) -> Meaning:
    """What one word says: the kind of its verb, the other words of its name, and whether it is the verb alone."""
    kind = _verbs().get(word)
    if kind is not None:
        return kind, (), True
    if word.islower() and word.isalpha() and len(word) < 6:
        return _NOTHING
    parts = _names(word)
    if len(parts) == 1:
        kind = _verbs().get(parts[0], "") if parts[0] != word else ""
        return (kind, (), True) if kind else _NOTHING
    if len(parts) == 2 and parts[1] in NET.joined_behind and (_verbs().get(parts[0]) == NOUN or parts[0] in _NOUNS):
        return "delete", parts[:1], False  # log-delete: of a log
    if not parts or parts[0] in NET.not_in_front:
        return _NOTHING
    quiet = ""
    first = len(parts) - len(_parts(word.rpartition(".")[2])) if "." in word else 0  # purge.timer is a file's name
    for at, part in enumerate(parts):
        kind = _verbs().get(part, "")
        if kind in (READ, MAKE) and at in (0, len(parts) - 1):
            quiet = quiet or kind
            if at == 0:
                break
        elif at < first:
            continue
        elif kind and kind not in QUIET and (at == first or at >= len(parts) - 2 or parts[at - 1] in NET.in_front):
            return kind, (*parts[:at], *parts[at + 1 :]), False
    if not quiet and deed_nouns().get(parts[-1], "") == "delete" and parts[0] in NET.in_front:
        return "delete", parts[:-1], False
    if not quiet and len(parts) > 2 and _verbs().get(parts[1], "") == MAKE:
        quiet = MAKE
    return (quiet, (), False) if quiet else _NOTHING
