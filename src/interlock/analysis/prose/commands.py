"""Finds commands that stand bare in a sentence, or alone between quotes, with the words that the sentence adds to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice

from msgspec import Struct

from interlock.analysis.lexicon import verb_forms
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.net import NET

_PATTERNS = Patterns("commands")
_LISTS = WordLists("commands")

MARK = "\ue000"  # a private character; normalising took all others of its kind away


class Embedded(Struct, frozen=True):
    """Something in another language than the sentence's own."""

    kind: str  # shell, sql, code, http, call, json, quote
    text: str
    extra: str = ""  # the language of code, the verb of a request, the arguments of a call

    def written(self) -> str:
        """As it stood in the text, in a shell's quotes where it was a text."""
        if self.kind == "http":
            return f"{self.extra} {self.text}"
        if self.extra == "redis" or self.kind == "json":
            return self.text
        if self.kind == "call":
            return f"{self.text}({self.extra})"
        return f"'{self.text}'" if '"' in self.text else f'"{self.text}"'


WORD = re.compile(r"\S+")
_MARKS = ".,;:?!)"  # of the sentence, behind a word


def commands_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where commands stand in the text, and how each would be typed."""
    named = {word: program for word in set(text.split()) if (program := _program(word))}
    start = 0
    for match in WORD.finditer(text) if named else ():
        program = named.get(match[0], "")
        if not program or match.start() < start:
            continue
        begin, window = match.start(), max(0, match.start() - 400)
        if "=" in text[max(0, begin - 80) : begin] and (assigns := _PATTERNS.assigns.search(text[window:begin])):
            begin = window + assigns.start()
        if not _starts(text, match, program, begin):
            continue
        start, word = _end(text, match), match[0]
        # the program as a shell knows it, whatever the sentence begins with
        name = word if word.islower() or not word.isalpha() else program
        command = text[begin : match.start()] + name + text[match.end() : start]
        front, rest = text[max(0, begin - _REST) : begin], text[start : start + _REST]
        yield begin, start, _completed(command, program, front, rest)


def shaped(word: str) -> bool:
    """True for a flag, a path, an assignment: what a sentence would not have."""
    return bool(_PATTERNS.shaped.search(word)) and not _PATTERNS.version.match(word)


@lru_cache(maxsize=4096)
def _program(word: str) -> str:
    """The program that a word may be, in lower case; empty for a word of the sentence."""
    if _PATTERNS.cmdlet.match(word):
        return word
    name = word.rpartition("/")[2].strip("(\"'").removesuffix(".exe").lower()
    return name if name in _said() or name.startswith("mkfs.") or word.startswith("./") else ""


@cache
def programs() -> frozenset[str]:
    """The names that nobody writes in a sentence without meaning the program: all that a rule names, and some more."""
    from interlock.analysis.rules.load import load

    named = {name.lower() for name in load().by_program if frozenset("*[: ").isdisjoint(name)}
    return (program_set("said") | named) - program_set("said_plain")


_said = cache(lambda: program_set("said_plain") | programs())  # every program that a sentence may name
_STARTS = Rows("command_starts", "program", "word place last verb next third raw plain")
_KINDS = "plain typed familiar names anywhere alone capital wrappers flagged verbs numbered aimed aimed_second".split()


def _starts(text: str, match: re.Match[str], program: str, begin: int) -> bool:
    """True for a program's name with something behind it that no sentence would have there."""
    word, before = match[0], text[max(0, begin - 40) : begin].rstrip()
    last = before.rsplit(None, 1)[-1].lower() if before else ""
    opens = not before or before[-1] in ".!?:;>("
    stands = opens or before[-1] in ",—–|&" or last in _LISTS.starts
    behind = [found[0][:_REST] for found in islice(WORD.finditer(text, match.end()), 2)]
    raw, third = (*behind, "", "")[:2]
    words = {
        "word": ("lower" if word.islower() else "odd" if not opens or word.isupper() else "capital",),
        "place": ("stands" * stands, "prefixed" * (begin < match.start())),
        "last": (last,),
        "verb": ("yes" if program in verb_forms() else "",),
        "next": _classes(raw),
        "third": _classes(third),
        "raw": raw,
        "plain": raw.rstrip(_MARKS) or raw,
    }
    return bool(_STARTS.first((_kinds(program),), words))


@lru_cache(maxsize=1024)
def _kinds(program: str) -> frozenset[str]:
    kinds = {kind for kind in _KINDS if program in program_set(f"said_{kind}")}
    if _PATTERNS.cmdlet.match(program):
        kinds |= {"cmdlet", "known_cmdlet" if program.lower() in programs() else ""}
    kinds.add("format" if program == "format" else "")
    kinds.add("aimed" if program.startswith("mkfs.") else "")
    return frozenset(kinds)


@lru_cache(maxsize=4096)
def _classes(raw: str) -> tuple[str, ...]:
    word = raw.rstrip(_MARKS) or raw
    shape, program = "<shaped>" * shaped(word), "<program>" * bool(_program(word))
    subcommand = "<subcommand>" * (word in program_set("said_subcommands"))
    mark = "<mark>" * (MARK in word)
    return word, shape, program, subcommand, mark, "<noun>" * (word in program_set("said_nouns"))


def _end(text: str, match: re.Match[str]) -> int:
    """Where the words of the sentence go on."""
    stop, depth, previous, aimed = match.end(), 0, "", False
    for word in WORD.finditer(text, match.end()):
        if "\n" in text[stop : word.start()]:
            break
        plain = word[0].rstrip(_MARKS)
        strange = aimed and _PATTERNS.strange.match(word[0])  # `rm -rf / पहचानने`, not `rm -rf фото`
        stops = (plain in _LISTS.stops and plain.islower()) or strange or _PATTERNS.kana.match(word[0])
        paths = word[0] == "--" and previous in ("checkout", "restore", "HEAD")
        if stops and not paths and previous not in _LISTS.operators:
            break
        aimed = aimed or "/" in plain
        depth += word[0].count("(") - word[0].count(")")
        if depth < 0:
            stop = word.start() + word[0].index(")")
            break
        stop, previous = word.end(), word[0]
        ends = word[0][-1] in ",:" and not _PATTERNS.drive_alone.match(word[0])
        ends |= word[0][-1] in ".!?" and plain[-1:] not in "./" and word.end() < len(text)
        if ends or (word[0][-1] == ";" and _PATTERNS.later.match(text[word.end() + 1 : word.end() + 40])):
            break
    while not _PATTERNS.drive_alone.match(text[max(match.end(), stop - 2) : stop]) and stop > match.end():
        if text[stop - 1] not in ".,;:?!)'\"" or text[stop - 2] in " /.":
            break
        stop -= 1
    return stop


# -- what the sentence says behind the command

_REST = 200
_PLACES = {"home": "~", "root": "/", "current": ".", "working": ".", "project": ".", "user": "~"}


def _completed(command: str, program: str, front: str, rest: str) -> str:
    """The command with the target, the flags and the assignments that stand around it in words."""
    rest = rest[: over.start()] if (over := _PATTERNS.over.search(rest)) else rest
    if "-" in rest and (flags := _PATTERNS.flags.search(rest)):
        command = f"{command} {flags[1].replace(' and ', ' ')}"
    for word in _PATTERNS.spelt_out.findall(rest):
        if word not in _LISTS.calming and f"--{word}" in NET.switches:
            command = f"{command} --{word}"  # `docker compose down with volumes`
    if "=" in rest and (sets := _PATTERNS.sets.search(rest)):
        command = f"{sets[1]} {command}"
    kinds = _kinds(program.lower())  # of programs that need a path, some behind another word
    given = sum(word[0] != "-" for word in command.split()[1:])
    aimed = not kinds.isdisjoint(("aimed", "aimed_second")) and given <= ("aimed" not in kinds)
    if not aimed:
        return command
    if target := _PATTERNS.target.match(rest):
        return f"{command} {(target['path'] or _PLACES.get(target['name'], target['name'])).rstrip('.')}"
    return f"{command} {named['path']}" if (named := _PATTERNS.in_front.search(front)) else command


def is_command(text: str) -> bool:
    """True when a shell would be meant to run this; a lone word is one only for a program that everybody knows."""
    bare = _PATTERNS.shape_prefix.sub("", text)
    prefixed = bare != text
    if _PATTERNS.piped.search(text[:2000]) or (prefixed and re.match(r"(?:\S+=\S* +)*(?:sudo|doas) ", text)):
        return True
    for match in filter(None, map(WORD.match, _PATTERNS.chain.split(bare[:2000])[:10])):
        program, known = match[0].rpartition("/")[2].removesuffix(".exe").lower(), _program(match[0])
        rest = match.string[match.end() :].split()
        alone = program in program_set("said_familiar") or program in program_set("said_alone")
        plain = program in program_set("said_plain") and (any(map(shaped, rest[:4])) or (prefixed and rest))
        named = rest or alone if program in programs() else known and _starts(match.string, match, known, 0)
        if plain or named or match[0].startswith("./"):
            return True
    return False
