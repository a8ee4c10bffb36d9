"""The words of a git command -> its subcommand, its flags and what it names; a word that is not known here makes it unclear."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from interlock.looker.budget import Unclear

_QUIET = frozenset({"-q", "--quiet", "--no-pager", "-v", "--verbose", "--progress", "--no-progress"})


@dataclass(frozen=True, slots=True)
class Words:
    """What stands behind the subcommand."""

    flags: frozenset[str]
    names: tuple[str, ...]  # before `--`
    paths: tuple[str, ...] | None  # behind it; None where there is none
    force: int = 0  # how often

    def only(self, known: Collection[str]) -> None:
        """Refuses flags whose meaning is not known here."""
        strange = sorted(flag for flag in self.flags if flag.partition("=")[0] not in known)
        if strange:
            raise Unclear(f"{strange[0]} is not known here")

    def has(self, *flags: str) -> bool:
        return bool(self.flags & set(flags))


def split(words: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """`git -C sub reset --hard` -> the folders of -C, the subcommand, the rest."""
    folders: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C" and len(rest) > 1:
            folders.append(rest[1])
            del rest[:2]
        elif rest[0] in ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"):
            del rest[0]
        else:
            raise Unclear(f"git {rest[0]} is not known here")
    if not rest:
        raise Unclear("git without a command")
    return folders, rest[0], rest[1:]


def words_of(rest: Sequence[str], valued: Collection[str] = ()) -> Words:
    """Flags apart from names; short flags that stand together are taken apart."""
    flags: set[str] = set()
    names: list[str] = []
    force, number = 0, 0
    while number < len(rest):
        word = rest[number]
        number += 1
        if word == "--":
            return Words(frozenset(flags - _QUIET), tuple(names), tuple(rest[number:]), force)
        if not word.startswith("-") or word == "-":
            names.append(word)
        elif word.startswith("--"):
            if word in valued and number < len(rest):
                word, number = f"{word}={rest[number]}", number + 1
            force += word == "--force"
            flags.add(word)
        elif word in valued and number < len(rest):
            flags.add(f"{word}={rest[number]}")
            number += 1
        else:
            force += word.count("f")
            flags |= {f"-{letter}" for letter in word[1:]}
    return Words(frozenset(flags - _QUIET), tuple(names), None, force)
