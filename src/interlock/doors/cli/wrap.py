"""Styled lines -> lines that break between words where a terminal ends; what is copied, and what stands under a text, stays in one piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interlock.core.styled import Line, Part

NARROWEST = 40  # columns; below it the terminal breaks as it likes
DEEPEST = 24  # columns of a hanging indent
_WHOLE = frozenset({"command", "mark"})  # what somebody copies, and marks below a text
_PIECES = re.compile(r"\s+|\S+")


def wrapped(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """The lines, each as many as it takes; a line above marks stays, for they show where in it."""
    found = list(lines)
    for at, line in enumerate(found):
        below = found[at + 1] if at + 1 < len(found) else ()
        if width < NARROWEST or _length(line) <= width or _whole(line) or any(part.style == "mark" for part in below):
            yield line
        else:
            yield from _broken(line, width)


def _whole(line: Line) -> bool:
    return any(part.style in _WHOLE for part in line)


def _length(line: Line) -> int:
    return sum(len(part.text) for part in line)


def _broken(line: Line, width: int) -> Iterator[Line]:
    """A line in several, the later ones indented as far as its words begin; a word that is too long stays in one piece."""
    indent = _hanging(line)
    row: list[Part] = []
    used = 0
    for part in line:
        for piece in _PIECES.findall(part.text):
            if used + len(piece.rstrip()) > width and used > indent and not piece.isspace():
                yield tuple(row)
                row, used = [Part(" " * indent)], indent
            if piece.isspace() and row and used == indent and not row[-1].text.strip():
                continue  # the blank at which the line was broken
            row.append(Part(piece, part.style))
            used += len(piece)
    yield tuple(row)


def _hanging(line: Line) -> int:
    """Behind a name and its blanks, such as `Policy    `; else where the line begins."""
    first = line[0].text
    if len(line) > 1 and first.endswith(" ") and first.strip() and len(first) <= DEEPEST:
        return len(first)
    return len(first) - len(first.lstrip())
