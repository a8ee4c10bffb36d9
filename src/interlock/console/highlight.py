"""Splits a command into pieces for display and marks the harmful part; a picture, not a judgement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from msgspec import Struct

from interlock.analysis.display_text import visible
from interlock.model import Span

MOST = 20_000  # characters highlighted; the rest is shown plain
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<sign>&&|\|\||;;|[;|&()<>{}]+)|(?P<note>#[^\n]*)"
    r"|(?P<text>'[^']*'?|\"(?:[^\"\\]|\\.)*\"?)|(?P<flag>-{1,2}[A-Za-z0-9][\w-]*=?)|(?P<word>(?:[^\s;|&()<>'\"\\]|\\.)+|.)",
    re.S,
)


class Piece(Struct, frozen=True):
    """A run of characters of one kind."""

    text: str
    kind: str = ""  # program, flag, text, sign or nothing
    marked: bool = False


def highlight(text: str, marks: Iterable[Span] = ()) -> list[Piece]:
    """The whole text in pieces; nothing is left out, as text that is not shown was not approved."""
    spans = sorted((max(0, start), min(end, len(text))) for start, end in marks if start < end)
    return [piece for piece in _cut(_tokens(text), spans) if piece.text]


def runs(pieces: Iterable[Piece]) -> list[tuple[bool, list[Piece]]]:
    """Groups neighbouring pieces by whether they are marked."""
    return [(marked, list(group)) for marked, group in groupby(pieces, key=lambda piece: piece.marked)]


def _tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Offset, text and kind of each token; the first word of a command is its program."""
    first = True
    for found in _TOKEN.finditer(text, 0, MOST):
        kind, said = found.lastgroup or "", found.group()
        if kind == "word":
            kind, first = ("program" if first and "=" not in said else ""), first and "=" in said
        elif kind == "sign":
            first = not said.startswith((">", "<"))
        elif kind == "space":
            kind, first = "", first or "\n" in said
        elif kind == "note":
            kind = "sign"
        yield found.start(), said, kind
    if len(text) > MOST:
        yield MOST, text[MOST:], ""


def _cut(tokens: Iterable[tuple[int, str, str]], spans: list[Span]) -> Iterator[Piece]:
    """Splits tokens where a mark begins or ends."""
    edges = sorted({edge for span in spans for edge in span})
    for start, said, kind in tokens:
        cuts = [start, *(edge for edge in edges if start < edge < start + len(said)), start + len(said)]
        for a, b in pairwise(cuts):
            marked = any(low <= a < high for low, high in spans)
            shown = "\n".join(visible(line) for line in said[a - start : b - start].split("\n"))
            yield Piece(shown, kind, marked)
