"""Splits a command into program name, flags with their values, and operands; tells when it only asks for help."""

from __future__ import annotations

import fnmatch
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from interlock.analysis.facts import HOLE

if TYPE_CHECKING:
    from interlock.analysis.programs import Conditions, Payload, Printed, Program

_BUNDLE = re.compile(r"-[A-Za-z0-9]+")
_LONG = re.compile(r"-[a-z]{3,}-[a-z]")  # -shell-escape: no bundle of letters
NO_VALUES: frozenset[str] = frozenset()
NOTHING_BEHIND: Mapping[str, frozenset[str]] = MappingProxyType({})
Condition = TypeVar("Condition", bound="Conditions")


class CommandOptions(Struct):
    flags: set[str] = set()
    values: dict[str, list[str]] = {}
    operands: list[str] = []

    def has(self, *names: str) -> bool:
        """Any of these flags; long ones also when abbreviated as GNU getopt allows."""
        for name in names:
            if name in self.flags or name in self.values or (name[:2] == "--" and self._short_of(name)):
                return True
        return False

    def value(self, *names: str) -> str | None:
        given = self.all(*names)
        return given[-1] if given else None

    def all(self, *names: str) -> list[str]:
        if not self.values:
            return []
        return [
            value for name in names for value in self.values.get(name) or self.values.get(self._short_of(name)) or []
        ]

    def add(self, other: CommandOptions) -> None:
        self.flags |= other.flags
        for name, given in other.values.items():
            self.values.setdefault(name, []).extend(given)

    def _short_of(self, name: str) -> str:
        """What abbreviates this flag; but --force is no short form of --force-with-lease."""
        if name[:2] == "--":
            for flag in self.flags:
                if flag[:2] == "--" and name.startswith(flag) and name[len(flag) : len(flag) + 1] not in ("", "-"):
                    return flag
        return ""


def options(
    words: Sequence[str],
    valued: frozenset[str] = NO_VALUES,
    stop_at_operand: bool = False,
    behind: Mapping[str, frozenset[str]] = NOTHING_BEHIND,
    bare: frozenset[str] = NO_VALUES,
    pairs: frozenset[str] = NO_VALUES,
) -> CommandOptions:
    """Sort words; `valued` names the options that take the next word, `stop_at_operand` leaves the rest as operands.

    `behind` names more options that take the next word once a certain first operand has come; `bare` those that are one word and
    no bundle of letters; `pairs` those that take the next two words.
    """
    found = CommandOptions()
    flags, values, operands = found.flags, found.values, found.operands
    index = 0
    total = len(words)
    while index < total:
        word = words[index]
        index += 1
        if word[:1] != "-" or word == "-":
            if stop_at_operand:
                operands += words[index - 1 :]
                break
            if behind and not operands and word in behind:
                valued = valued | behind[word]
            operands.append(word)
            continue
        if word == "--":
            operands += words[index:]
            break
        if word.startswith("--") or word in valued or word in bare:
            name, equals, value = word.partition("=")
            if ":" in name and name.partition(":")[0] in valued:  # nim --eval:code
                name, equals, value = word.partition(":")
            if equals:
                values.setdefault(name, []).append(value)
            elif name in pairs:
                values.setdefault(name, []).append(" ".join(words[index : index + 2]))
                index += 2
            elif name in valued and index < total:
                values.setdefault(name, []).append(words[index])
                index += 1
            flags.add(name)
            continue
        index = _short(word, words, index, valued, found)
    return found


def _short(word: str, words: Sequence[str], index: int, valued: frozenset[str], found: CommandOptions) -> int:
    """-abc, -n5, -n 5, and single-dash long options such as -name."""
    name, equals, value = word.partition("=")
    found.flags.add(name)
    if equals:
        found.values.setdefault(name, []).append(value)
    if (not valued and not _BUNDLE.fullmatch(word)) or (_LONG.match(word) and word[:2] not in valued):
        return index
    for at in range(1, len(word)):
        flag = f"-{word[at]}"
        found.flags.add(flag)
        if flag in valued:
            if at + 1 < len(word):
                found.values.setdefault(flag, []).append(word[at + 1 :].removeprefix("="))
            elif index < len(words):
                found.values.setdefault(flag, []).append(words[index])
                return index + 1
            break
    return index


def parse(program: Program, words: Sequence[str], stop_at_operand: bool = False) -> CommandOptions:
    values = program.value_flags
    if program.bare_bundle and words and words[0].isalpha():
        # tar cf FILE: each letter is an option, and those with values take the words that follow in turn.
        flags, rest = [f"-{letter}" for letter in words[0]], list(words[1:])
        own = [word for flag in flags for word in ([flag, rest.pop(0)] if flag in values and rest else [flag])]
        words = own + rest
    if program.abbreviates:
        words = [_spelled_out(word, program) for word in words]
    if program.single_dash:
        words, values = list(map(_doubled, words)), frozenset(map(_doubled, values))
    return options(words, values, stop_at_operand, program.behind, pairs=program.pair_flags)


def _spelled_out(word: str, program: Program) -> str:
    """The shortest of several; itself where it is one, or a part of a request."""
    name, equals, value = word.partition("=")
    whole = name in program.value_flags or any(name in one for one in program.http.values())
    if len(name) < 5 or name[:2] != "--" or whole:
        return word
    return min((one for one in program.value_flags if one.startswith(name)), key=len, default=name) + equals + value


def _doubled(word: str) -> str:
    return f"-{word}" if word.startswith("-") and not word.startswith("--") and len(word) > 2 else word


def behind(paths: Sequence[Sequence[str]], operands: Sequence[str]) -> list[str] | None:
    """The operands behind one of these paths, else None; a `*` stands for any word."""
    if not paths:
        return list(operands)
    for path in paths:
        if len(operands) >= len(path) and all(want in (have, "*") for want, have in zip(path, operands, strict=False)):
            return list(operands[len(path) :])
    return None


def holds(item: Conditions, found: CommandOptions) -> bool:
    if (item.any_flag and not found.has(*item.any_flag)) or (item.no_flag and found.has(*item.no_flag)):
        return False
    return not item.given or all(
        re.fullmatch(pattern, found.value(*names.split()) or "", re.DOTALL) for names, pattern in item.given.items()
    )


def holding(items: Iterable[Condition], found: CommandOptions) -> Iterator[tuple[Condition, list[str]]]:
    """Each with the operands behind its subcommand."""
    for item in items:
        operands = behind(item.subcommand, found.operands)
        if operands is not None and holds(item, found):
            yield item, operands


def settings(names: Collection[str], words: Iterable[str]) -> list[str]:
    """The values of the NAME=value words with one of these names."""
    parts = (word.partition("=") for word in words)
    return [value for name, equals, value in parts if equals and name in names]


def may_hold(item: Payload | Printed, words: Sequence[str]) -> bool:
    """A quick look whether the words have what an entry speaks of."""
    if item.starts and item.starts.isdisjoint(words):
        return False
    if item.any_word and not any(re.fullmatch(item.any_word, word, re.IGNORECASE) for word in words):
        return False
    asked = item.asks
    flags = (word for word in words if word[:1] == "-")
    return not asked or any(
        word.partition("=")[0] in asked or (word[:2] != "--" and any(f"-{letter}" in asked for letter in word[1:]))
        for word in flags
    )


def known_options(
    words: Sequence[str], valued: Collection[str], bare: Collection[str], stop_at_operand: bool = False
) -> CommandOptions | None:
    """As `options`, but None where an option is neither of these or lacks its value: it could mean anything."""
    takes, alone = frozenset(valued), frozenset(bare)
    found = options(words, takes, stop_at_operand, bare=alone)
    whole = all(flag in found.values or flag not in takes for flag in found.flags)
    return found if whole and all(_is_known(flag, takes, alone) for flag in found.flags) else None


def _is_known(flag: str, takes: frozenset[str], alone: frozenset[str]) -> bool:
    """A bundle of known options may end with one that has a value."""
    if flag in takes or flag in alone:
        return True
    if flag.startswith("--") or len(flag) < 3:
        return False
    before_value = takewhile(lambda letter: letter not in takes, (f"-{letter}" for letter in flag[1:]))
    return alone.issuperset(before_value)


def valued(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GLOB = re.compile(r"[?*\[]")
_TARGETS_OF_GLOBS = "rm dd mkfs shred sudo wipefs bash sh zsh dash python python3 perl ruby node curl wget nc ncat cat chmod chown mv find kill".split()


def program_name(word: str) -> str:
    """Nothing when it cannot be known."""
    if HOLE in word and HOLE in (word := word.rpartition("/")[2]):
        return ""
    if len(word) > 1 and word[0] in "=^{":  # zsh =rm, nu ^rm, rc {rm
        word = word[1:]
    name = word.rpartition("/")[2].rpartition("\\")[2]
    if is_disguised(name):
        return ""
    name = name.lower()
    name = name[:-4] if name.endswith((".exe", ".cmd", ".bat", ".com")) else name
    if not _GLOB.search(name):
        return name
    spelled = any(char.isalnum() for char in name)  # /bin/r?: the most harmful program that it can be
    worst = next((one for one in _TARGETS_OF_GLOBS if spelled and fnmatch.fnmatchcase(one, name)), name)
    return worst if name.strip("*?") else ""


def is_unreadable(word: str) -> bool:
    return HOLE in word or not word.strip("*?") or is_disguised(word)  # in the root there are only folders


def is_disguised(name: str) -> bool:
    """Control characters or look-alike letters: a person reads another text than the shell."""
    if name.isascii():
        return not name.isprintable()
    return any(unicodedata.category(char) == "Cc" for char in name) or unicodedata.normalize("NFKC", name).isascii()


def may_be_value(words: Sequence[str], at: int, valued: frozenset[str], switches: frozenset[str]) -> bool:
    """Whether it can be the value of the option before it: of any but a known switch."""
    before = words[at - 1] if at else ""
    option = len(before) > 1 and before[0] == "-" and before != "--" and "=" not in before
    return option and (before in valued or before not in switches)


def asks_for_help(program: Program, words: Sequence[str], switches: frozenset[str], windows: bool = False) -> bool:
    """True where a help or version word stands for that, and for nothing else."""
    asked = program.help
    if not asked or not words:
        return False
    if windows and words[-1] in {"/?", "-?"}:
        return len(words) < 2 or not words[-2].startswith(("/", "-"))
    if not any(word in words for word in asked):
        return False
    last = program.options_first  # whether the next operand ends what the program reads itself
    for at, word in enumerate(words):
        if word == "--":
            return False
        if word in asked:
            if word == "--version" and 0 < at < len(words) - 1:
                continue
            # `aws s3 rm help`: the last word, behind nothing but names of subcommands.
            names = at == len(words) - 1 and all(one.replace("-", "").isalnum() and one[0] != "-" for one in words[:at])
            if word[0] not in "-/" and not names:
                continue
            return not may_be_value(words, at, program.value_flags, switches)
        if word[:1] != "-" and not (at and words[at - 1] in program.value_flags):
            if last:
                return False
            last = word in ("exec", "run")  # from the next operand on, the words belong to another program
    return False
