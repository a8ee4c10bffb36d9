"""Which of many wordings can be in a text at all, by the words that they begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+ ?")
_LETTERS = re.compile(r"[a-z0-9]+")
_PIECES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]")  # what is escaped, classes, groups and bars
_KEY = 2  # letters by which the beginnings are kept


class Wordings:
    """Patterns, found in a text as if each were searched; those that no word of the text begins are left out."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = [re.compile(pattern) for pattern in patterns]
        self.always: list[int] = []  # nothing says with which words these begin
        begun: dict[str, dict[str, list[int]]] = {}
        for number, pattern in enumerate(patterns):
            starts = beginnings(pattern)
            if not starts or min(map(len, starts)) < _KEY:
                self.always.append(number)
                continue
            for start in starts:
                begun.setdefault(start[:_KEY], {}).setdefault(start, []).append(number)
        self.begun = {key: (tuple(starts), starts) for key, starts in begun.items()}

    def found(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """The number and the first match of each pattern that a text in lower case has, in the order of the patterns."""
        wanted = set(self.always)
        for word in _WORD.findall(text):
            starts, numbers = self.begun.get(word[:_KEY], _NONE)
            if word.startswith(starts):
                wanted.update(*(numbers[start] for start in starts if word.startswith(start)))
        for number in sorted(wanted):
            match = self.patterns[number].search(text)
            if match:
                yield number, match


_NONE: tuple[tuple[str, ...], dict[str, list[int]]] = ((), {})


def beginnings(pattern: str) -> list[str]:
    """How the first word of every match begins, with a space behind a whole word; nothing when that cannot be told."""
    found: list[str] = []
    for wording in _alternatives(pattern):
        anchored = wording.removeprefix(r"\b").removeprefix("^")
        starts = _first_words(anchored) if anchored != wording else []
        if not starts:
            return []
        found += starts
    return found


def _first_words(wording: str) -> list[str]:
    if wording.startswith("(?:"):
        return _of_group(wording)
    letters = _LETTERS.match(wording)
    if letters is None:
        return []
    word, after = letters[0], wording[letters.end() : letters.end() + 1]
    if after in ("?", "*", "{"):
        word = word[:-1]
    return [word + " " if after == " " else word] if word else []


def _of_group(wording: str) -> list[str]:
    end = _end_of_group(wording)
    rest = wording[end:]
    if rest[:1] in ("?", "*", "+", "{"):
        return []
    found: list[str] = []
    for option in _alternatives(wording[3 : end - 1]):
        starts = _first_words(option + rest)
        if not starts:
            return []
        found += starts
    return found


def _alternatives(pattern: str) -> list[str]:
    """The pattern, cut at every `|` that stands in no group."""
    cuts = [at for at, char, depth in _structure(pattern) if char == "|" and depth == 0]
    return [pattern[start:end] for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, None], strict=True)]


def _end_of_group(wording: str) -> int:
    """Where the group ends that the wording begins with."""
    return next(at for at, char, depth in _structure(wording) if char == ")" and depth == 0) + 1


def _structure(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Groups and bars with their places and depths; what is escaped or in a class is none of them."""
    depth = 0
    for piece in _PIECES.finditer(pattern):
        char = piece[0]
        if char in "()|":
            depth -= char == ")"
            yield piece.start(), char, depth
            depth += char == "("
