"""A span of a text -> its lines with the span underlined, safe to print on any terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.core.model import Span

MAX_LINES = 6
WIDTH = 100  # columns of a line that are shown
SHORT = 6  # letters of an id, behind its kind, that messages name it by
_LEAD = 20  # columns shown before a span that starts far to the right
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # would act on a terminal, or not be seen


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the text, as shown, and the line of marks under it."""

    number: int
    text: str
    marks: str


def visible(text: str) -> str:
    """The text as it can be printed: control and invisible characters spelled out, tabs as four spaces."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def short(id: str) -> str:
    """An id as people are told it: `pdact_7Qm2xK`, which every command takes for the whole one."""
    kind, mark, rest = id.partition("_")
    return f"{kind}_{rest[:SHORT]}" if mark else id


def excerpt(text: str, span: Span) -> tuple[list[Row], int]:
    """The lines that a span touches, and how many more there are."""
    start, end = max(0, span[0]), min(len(text), max(span[1], span[0] + 1))
    rows: list[Row] = []
    more = 0
    for number, first, line in _lines(text):
        if first >= end and rows:
            break
        if first + len(line) < start or (not line.strip() and rows):
            continue
        if len(rows) == MAX_LINES:
            more += 1
            continue
        rows.append(_row(number, line, max(0, start - first), min(len(line), end - first)))
    return rows, more


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    first = 0
    for number, line in enumerate(text.split("\n"), 1):
        yield number, first, line
        first += len(line) + 1


def _row(number: int, line: str, start: int, end: int) -> Row:
    skipped = start - _LEAD if start > WIDTH - _LEAD else 0
    head = "…" if skipped else ""
    shown, marks = [head], [" " * len(head)]
    width = 0
    for place in range(skipped, len(line)):
        piece = _shown(line[place])
        columns = _columns(piece)
        width += columns
        if width > WIDTH:
            shown.append("…")
            break
        shown.append(piece)
        marks.append(("^" if start <= place < end else " ") * columns)
    return Row(number, "".join(shown).rstrip(), "".join(marks).rstrip())


def _shown(char: str) -> str:
    if char == "\t":
        return "    "
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(piece: str) -> int:
    return len(piece) if piece.isascii() else sum(_char_columns(char) for char in piece)


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
