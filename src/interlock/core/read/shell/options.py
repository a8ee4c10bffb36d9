"""A program's words -> its flags, their values, and its operands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_BUNDLE = re.compile(r"-[A-Za-z0-9]+")
NO_VALUES: frozenset[str] = frozenset()


@dataclass(slots=True)
class Options:
    """The words of one command, sorted."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, list[str]] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """True for any of these flags; long ones also when abbreviated as GNU getopt allows."""
        for name in names:
            if name in self.flags or name in self.values:
                return True
            if name.startswith("--"):
                for flag in self.flags:
                    if (
                        len(flag) > 4
                        and flag.startswith("--")
                        and name.startswith(flag)
                        and name[len(flag) : len(flag) + 1] != "-"
                    ):
                        return True  # but --force is no short form of --force-with-lease
        return False

    def value(self, *names: str) -> str | None:
        for name in names:
            if name in self.values:
                return self.values[name][-1]
        return None

    def all(self, *names: str) -> list[str]:
        return [value for name in names for value in self.values.get(name, ())]


def options(words: Sequence[str], valued: frozenset[str] = NO_VALUES, stop_at_operand: bool = False) -> Options:
    """Sort words; `valued` names the options that take the next word, `stop_at_operand` leaves the rest as operands."""
    found = Options()
    index = 0
    total = len(words)
    while index < total:
        word = words[index]
        index += 1
        if word == "--":
            found.operands += words[index:]
            break
        if len(word) < 2 or word[0] != "-":
            if stop_at_operand:
                found.operands += words[index - 1 :]
                break
            found.operands.append(word)
            continue
        if word.startswith("--") or word in valued:
            name, equals, value = word.partition("=")
            if equals:
                found.values.setdefault(name, []).append(value)
            elif name in valued and index < total:
                found.values.setdefault(name, []).append(words[index])
                index += 1
            found.flags.add(name)
            continue
        index = _short(word, words, index, valued, found)
    return found


def _short(word: str, words: Sequence[str], index: int, valued: frozenset[str], found: Options) -> int:
    """-abc, -n5, -n 5, and single-dash long options such as -name."""
    name, equals, value = word.partition("=")
    found.flags.add(name)
    if equals:
        found.values.setdefault(name, []).append(value)
    if not valued and not _BUNDLE.fullmatch(word):
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


def valued(text: str) -> frozenset[str]:
    """The options named in a line of text."""
    return frozenset(text.split())
