"""Finds commands that stand bare in a sentence, or alone between quotes, with the words that the sentence adds to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from msgspec import Struct

from interlock.analysis.lexicon.forms import verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.programs.load import net_words, program_set

_PATTERNS = Patterns("commands")
_LISTS = WordLists("commands")

MARK = "\ue000"  # a private character; normalising took all others of its kind away


class Embedded(Struct, frozen=True):
    """Something in another language than the sentence's own."""

    kind: str  # shell, sql, code, http, call, json, quote
    text: str
    extra: str = ""  # the language of code, the verb of a request, the arguments of a call


WORD = re.compile(r"\S+")
_SHAPE = re.compile(r"^-{1,2}\w|[/~*=:@\\]|^\.\.?$|^\w+\.\w+$|^\$")
_VERSION = re.compile(r"^v?\d[\d.]*x?$")
_DRIVE = re.compile(r"^[A-Za-z]:\\?$")
_KANA = re.compile(r"[\u3040-\u30ff，。、]")
_PREFIX = re.compile(r"(?:^|(?<=\s))(?:[A-Z_][A-Z0-9_]{1,60}=\S{0,200} ){1,5}$")
_LATER = re.compile(r"^(?:[A-Z]|\w+ing\b)")


def commands_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where commands stand in the text, and how each would be typed."""
    if _said().isdisjoint(text.lower().split()) and not any(
        _program(word) for word in text.split() if not word.isalpha()
    ):
        return
    start = 0
    for match in WORD.finditer(text):
        if match.start() < start:
            continue
        program = _program(match[0])
        if not program:
            continue
        begin = _begin(text, match.start())
        if not _starts(text, match, program, begin):
            continue
        start, word = _end(text, match), match[0]
        # the program as a shell knows it, whatever the sentence begins with
        name = word if word.islower() or not word.isalpha() else program
        command = text[begin : match.start()] + name + text[match.end() : start]
        yield begin, start, _completed(command, program, text[start : start + _REST])


def shaped(word: str) -> bool:
    """True for a flag, a path, an assignment: what a sentence would not have."""
    return bool(_SHAPE.search(word)) and not _VERSION.match(word)


def starts_alone(text: str) -> bool:
    """True when a text that stands alone begins with a program and what belongs to it."""
    match = WORD.match(text)
    program = _program(match[0]) if match else ""
    return match is not None and bool(program) and _starts(text, match, program, 0)


@lru_cache(maxsize=4096)
def _program(word: str) -> str:
    """The program that a word may be, in lower case; empty for a word of the sentence."""
    if word.isalpha():
        low = word.lower()
        return low if low in _said() else ""
    if MARK in word:
        return ""
    if _PATTERNS.cmdlet.match(word):
        return word
    name = word.rpartition("/")[2].strip("(\"'").removesuffix(".exe").lower()
    return name if name in _said() or name.startswith("mkfs.") or word.startswith("./") else ""


@cache
def programs() -> frozenset[str]:
    """The names that nobody writes in a sentence without meaning the program: all that a rule names, and some more."""
    from interlock.analysis.rules.load import load

    named = {name.lower() for name in load().by_program if not _GLOBS.intersection(name)}
    return (program_set("said") | named) - program_set("said_plain")


_GLOBS = frozenset("*[: ")


@cache
def _said() -> frozenset[str]:
    """Every program that a sentence may name."""
    return program_set("said_plain") | frozenset(programs())


def _begin(text: str, at: int) -> int:
    """Where the command begins that has its program here: assignments may stand in front of it."""
    if at == 0 or "=" not in text[max(0, at - 80) : at]:
        return at
    window = max(0, at - 400)
    found = _PREFIX.search(text[window:at])
    return window + found.start() if found else at


def _starts(text: str, match: re.Match[str], program: str, begin: int) -> bool:
    """True for a program's name with something behind it that no sentence would have there."""
    word = match[0]
    after, raw, past = _following(text, match.end())
    stands, opens = _stands(text, begin)
    if MARK in after:  # `echo "…" >> /etc/sudoers`
        return word.islower() and stands and _following(text, past)[1] in _LISTS.operators
    if (
        not word.islower()
        and not _PATTERNS.cmdlet.match(word)
        and not (program in program_set("said_capital") and raw[:1] == "/")
    ):
        if not opens or word.isupper():
            return False
    fits = shaped(after)
    if not fits and _last_word(text, begin) in _LISTS.owners and _following(text, past)[0] in ("that", "which"):
        return False  # `the terraform plan that replaces the database`: a thing
    if begin < match.start():
        return True
    if program in program_set("said_numbered"):
        return stands and len(after) == 1 and after.isdigit()
    if program == "format":
        return bool(_DRIVE.match(raw.rstrip(",;"))) and stands
    if _PATTERNS.cmdlet.match(word):
        return fits or (stands and (not after or program.lower() in programs()))
    if program in program_set("said_plain"):
        leads = stands or _last_word(text, begin) in _LISTS.leads
        if program not in program_set("said_typed") and program in verb_forms() and not _OPTION.match(after):
            return False  # `replace /etc/hosts`: the sentence's own verb
        return bool(after) and fits and leads and not (after.endswith(":") or raw.endswith(":"))
    if not after:
        return program in program_set("said_alone") and stands
    if program in program_set("said_flagged") or (not word.islower() and program in program_set("said_verbs")):
        return after[0] == "-" and fits
    if fits or (program in program_set("said_familiar") and after in program_set("said_subcommands")):
        return True
    if program in program_set("said_wrappers"):
        return _program(after) != "" or after.startswith("-")
    if not stands:
        return program in program_set("said_anywhere") and after.isidentifier()
    if after in program_set("said_subcommands") or (program in program_set("said_alone") and after in _LISTS.stops):
        return True
    if after in program_set("said_nouns"):
        third = _following(text, past)[0]
        return shaped(third) or third in program_set("said_subcommands") or third in program_set("said_nouns")
    if program in program_set("said_names"):
        return after not in _LISTS.stops and after not in _LISTS.articles
    return _words_before_path(program) is not None and after in _LISTS.onto


_OPTION = re.compile(r"-{1,2}\w|/[A-Za-z](?:$|:)")


def _following(text: str, at: int) -> tuple[str, str, int]:
    """The word behind, without and with the sentence's own marks, and where it ends."""
    match = WORD.search(text, at, at + _REST)
    if match is None:
        return "", "", at
    return match[0].rstrip(".,;:?!)") or match[0], match[0], match.end()


def _last_word(text: str, at: int) -> str:
    before = text[max(0, at - 24) : at].rsplit(None, 1)
    return before[-1].lower() if before else ""


def _stands(text: str, at: int) -> tuple[bool, bool]:
    """Whether a command can begin here, and whether a sentence does."""
    before = text[max(0, at - 40) : at].rstrip()
    if not before or before[-1] in ".!?:;\n>":
        return True, True
    if before[-1] in "(,—–|&":
        return True, before[-1] == "("
    return before.rsplit(None, 1)[-1].lower() in _LISTS.starts, False


def _end(text: str, match: re.Match[str]) -> int:
    """Where the words of the sentence go on."""
    stop, depth, previous = match.end(), 0, ""
    for word in WORD.finditer(text, match.end()):
        if "\n" in text[stop : word.start()]:
            break
        plain = word[0].rstrip(".,;:?!)")
        if previous not in _LISTS.operators and (
            (plain.lower() in _LISTS.stops and plain.islower()) or word[0] in ("—", "–", "--") or _KANA.match(word[0])
        ):
            if word[0] != "--" or previous not in ("checkout", "restore", "HEAD"):
                break
        depth += word[0].count("(") - word[0].count(")")
        if depth < 0:
            return _trimmed(text, match.end(), word.start() + word[0].index(")"))
        stop, previous = word.end(), word[0]
        if word[0][-1] in ",:" and not _DRIVE.match(word[0]):
            break
        if word[0][-1] in ".!?" and len(plain) > 0 and plain[-1:] not in "./" and word.end() < len(text):
            break
        if word[0][-1] == ";" and _LATER.match(text[word.end() + 1 : word.end() + 40]):
            break
    return _trimmed(text, match.end(), stop)


def _trimmed(text: str, least: int, stop: int) -> int:
    if _DRIVE.match(text[max(least, stop - 2) : stop]):
        return stop
    while stop > least and text[stop - 1] in ".,;:?!)'\"" and text[stop - 2] not in " /.":
        stop -= 1
    return stop


# -- what the sentence says behind the command ------------------------------------------------------------

_REST = 200
_PLACES = {"home": "~", "root": "/", "current": ".", "working": ".", "project": ".", "user": "~"}
_SETS = re.compile(r"\bwith\s+([A-Z_][A-Z0-9_]{2,60}=[^\s,;]+)")
_OVER = re.compile(r"[.!?;](?:\s|$)|\n")


def _words_before_path(program: str) -> int | None:
    """How many words stand before the path that a program needs; None for one that needs none."""
    if program in program_set("said_aimed") or program.startswith("mkfs."):
        return 0
    return 1 if program in program_set("said_aimed_second") else None


def _completed(command: str, program: str, rest: str) -> str:
    """The command with the target, the flags and the assignments that stand behind it in words."""
    if not rest:
        return command
    rest = rest[: over.start()] if (over := _OVER.search(rest)) else rest
    if "-" in rest and (flags := _PATTERNS.flags.search(rest)):
        command = f"{command} {flags[1].replace(' and ', ' ')}"
    for word in _PATTERNS.spelt_out.findall(rest):
        if word not in _LISTS.calming and f"--{word}" in net_words().switches:
            command = f"{command} --{word}"  # `docker compose down with volumes`
    if "=" in rest and (sets := _SETS.search(rest)):
        command = f"{sets[1]} {command}"
    needs = _words_before_path(program.lower())
    if needs is None or sum(word[0] != "-" for word in command.split()[1:]) > needs:
        return command
    target = _PATTERNS.target.match(rest)
    if target is None:
        return command
    return f"{command} {(target['path'] or _PLACES.get(target['name'], target['name'])).rstrip('.')}"


_PIPED = re.compile(r":\(\)|\w+ .*\|\s*(?:(?:ba|z|da|k)?sh|python3?|perl|node|iex)\b|^:?\s?>\s?[/~\w]")
_CHAIN = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")


def is_command(text: str) -> bool:
    """True when a shell would be meant to run this; a lone word is one only for a program that everybody knows."""
    bare = _PATTERNS.shape_prefix.sub("", text)
    prefixed = bare != text
    if prefixed and re.match(r"(?:\S+=\S* +)*(?:sudo|doas) ", text):
        return True
    if _PIPED.search(text[:2000]):
        return True
    return any(_begins(piece, prefixed) for piece in _CHAIN.split(bare[:2000])[:10] if piece)


def _begins(text: str, prefixed: bool) -> bool:
    match = WORD.match(text)
    if match is None:
        return False
    program = match[0].rpartition("/")[2].removesuffix(".exe").lower()
    rest = text[match.end() :].split()
    if match[0].startswith("./") or program.startswith("mkfs."):
        return True
    if program in program_set("said_plain"):
        return starts_alone(text) or any(shaped(word) for word in rest[:4]) or (prefixed and bool(rest))
    if program in programs():
        return bool(rest) or program in program_set("said_familiar") or program in program_set("said_alone")
    return starts_alone(text)
