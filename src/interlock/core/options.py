"""The words of a program -> its options with their values, and the rest; None where an option is not known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What a program was given."""

    values: dict[str, list[str]]  # option, as it is written -> its values; one without a value has an empty one
    rest: tuple[str, ...]

    def last(self, *names: str) -> str | None:
        """The value that counts: of several the last one."""
        found = [value for name in names for value in self.values.get(name, ())]
        return found[-1] if found else None

    def has(self, *names: str) -> bool:
        return any(name in self.values for name in names)


def options_of(
    words: Sequence[str], valued: Collection[str], bare: Collection[str], stops: bool = False
) -> Options | None:
    """Both spellings of a long option, and short ones that stand together; with `stops`, what follows the first other word is the rest."""
    values: dict[str, list[str]] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--" or not word.startswith("-") or word == "-":
            rest += left if word == "--" else [word, *(left if stops else ())]
            if word == "--" or stops:
                break
            continue
        pairs = _long(word, left, valued, bare) if word.startswith("--") else _short(word, left, valued, bare)
        if pairs is None:
            return None
        for name, value in pairs:
            values.setdefault(name, []).append(value)
    return Options(values, tuple(rest))


def _long(word: str, left: list[str], valued: Collection[str], bare: Collection[str]) -> list[tuple[str, str]] | None:
    name, given, value = word.partition("=")
    if name in valued:
        if not given and not left:
            return None
        return [(name, value if given else left.pop(0))]
    return [(name, value)] if name in bare else None


def _short(word: str, left: list[str], valued: Collection[str], bare: Collection[str]) -> list[tuple[str, str]] | None:
    if word in valued or word in bare:  # also programs whose long options have one dash
        return [(word, left.pop(0))] if word in valued and left else [(word, "")] if word in bare else None
    found: list[tuple[str, str]] = []
    for place, letter in enumerate(word[1:], 2):
        name = f"-{letter}"
        if name in valued:
            if not word[place:] and not left:
                return None
            return [*found, (name, word[place:] or left.pop(0))]
        if name not in bare:
            return None
        found.append((name, ""))
    return found
