"""A text in a language without spaces -> the words that are known there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_OWN = ("\ue000", *map(chr, range(0xE200, 0xE300)))  # marks, and what idioms were replaced by


class Pieces:
    """Words that are found where they stand, the longest first; one in Latin letters has to stand alone."""

    def __init__(self, names: Iterable[str]) -> None:
        self.begun: dict[str, tuple[str, ...]] = {}
        for name in sorted({*names, *_OWN}, key=len, reverse=True):
            self.begun[name[0]] = (*self.begun.get(name[0], ()), name)

    def at(self, text: str, place: int) -> str:
        """The word that begins here, or nothing."""
        for name in self.begun.get(text[place : place + 1], ()):
            if text.startswith(name, place) and (not name.isascii() or _stands_alone(text, place, name)):
                return name
        return ""

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Where each word stands; none is inside another."""
        place = 0
        while place < len(text):
            name = self.at(text, place)
            if name:
                yield place, name
            place += len(name) or 1


def _stands_alone(text: str, place: int, name: str) -> bool:
    before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
    return not (before.isascii() and before.isalpha()) and not (after.isascii() and after.isalpha())
