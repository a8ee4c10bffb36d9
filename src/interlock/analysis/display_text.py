"""Text for display: styled lines, excerpts, control characters spelled out, warnings of look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from interlock.model import Span

MAX_LINES = 6
WIDTH = 100  # columns of a line that are shown
SHORT = 6  # letters of an id, behind its kind, that messages name it by
_LEAD = 20  # columns shown before a span that starts far to the right
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # would control a terminal, or be invisible


class ExcerptLine(Struct, frozen=True):
    number: int
    text: str
    marks: str


def visible(text: str) -> str:
    """Control and invisible characters spelled out, tabs as four spaces."""
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def short_id(id: str) -> str:
    """`pdact_7Qm2xK`, which every command accepts."""
    kind, mark, rest = id.partition("_")
    return f"{kind}_{rest[:SHORT]}" if mark else id


def excerpt(text: str, span: Span) -> tuple[list[ExcerptLine], int]:
    start, end = max(0, span[0]), min(len(text), max(span[1], span[0] + 1))
    rows: list[ExcerptLine] = []
    more = 0
    first = after = 0
    for number, line in enumerate(text.split("\n"), 1):
        first, after = after, after + len(line) + 1
        if first >= end and rows:
            break
        if first + len(line) < start or (not line.strip() and rows):
            continue
        if len(rows) == MAX_LINES:
            more += 1
        else:
            rows.append(_row(number, line, max(0, start - first), min(len(line), end - first)))
    return rows, more


def _row(number: int, line: str, start: int, end: int) -> ExcerptLine:
    skipped = start - _LEAD if start > WIDTH - _LEAD else 0
    head = "…" if skipped else ""
    shown, marks = [head], [" " * len(head)]
    width = 0
    for place in range(skipped, len(line)):
        piece = _shown(line[place])
        columns = len(piece) if piece.isascii() else sum(map(_columns, piece))
        width += columns
        if width > WIDTH:
            shown.append("…")
            break
        shown.append(piece)
        marks.append(("^" if start <= place < end else " ") * columns)
    return ExcerptLine(number, "".join(shown).rstrip(), "".join(marks).rstrip())


def _shown(char: str) -> str:
    if char == "\t":
        return "    "
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class StyledText(Struct, frozen=True):
    """A piece of a line; the style is a word that each interface renders in its own way."""

    text: str
    style: str = ""


Line = tuple[StyledText, ...]
Lines = Iterator[Line]


def line(text: object, style: str = "") -> Line:
    """A line, or a part of one; control and invisible characters in it are spelled out."""
    return (StyledText(visible(str(text)), style),)


def labelled(name: str, value: object, style: str = "", width: int = 10) -> Line:
    return line(f"{name:<{width}}", "dim") + line(value, style)


def undo_words(irreversible: bool, ways: Iterable[str]) -> str:
    """Whether ordinary means undo it, and the advice of the rules."""
    advice = list(dict.fromkeys(filter(None, ways)))
    if irreversible:  # the worst of it stands first, and the others often repeat it
        return "cannot be undone" + (f" by ordinary means. {advice[0]}" if advice else "")
    return "can be undone" + (f": {'; '.join(advice)}" if advice else "")


def mid_sentence(reason: str) -> str:
    text = reason.rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


LONG = 240  # characters that are taken in at a glance
MOST = 5
_WIDTH = 200
_WORD = re.compile(r"[^\W\d_]+")
# Letters of other alphabets that look like Latin ones in most fonts.
_ALIKE = frozenset(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһӏԛԝʋ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορτυ" "օոսցհ"
    "ⅰⅴⅹⅼⅽⅾⅿ" "ɑɡɩıȷ"
)  # fmt: skip


def harm(text: str, findings: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The commands that do the worst of it; none of a text that is read at a glance."""
    if len(text) <= LONG and text.count("\n") < 3:
        return ()
    known = [one for one in findings if isinstance(one, Mapping)]
    worst = max((int(one.get("level") or 0) for one in known), default=0)
    said = (str(one.get("subject") or "") for one in known if int(one.get("level") or 0) == worst)
    short = (one if len(one) <= _WIDTH else f"{one[: _WIDTH - 1]}…" for one in dict.fromkeys(filter(None, said)))
    return tuple(short)[:MOST]


def lookalikes(text: str) -> tuple[str, ...]:
    """Each word with the names of its letters that imitate Latin ones."""
    if text.isascii():
        return ()
    found: list[str] = []
    for word in dict.fromkeys(_WORD.findall(text)):
        alike = dict.fromkeys(letter for letter in word if letter in _ALIKE)
        foreign = not all(letter.isascii() or letter in alike for letter in word)  # wholly of another alphabet
        if alike and len(found) < MOST and not (foreign and not any(map(str.isascii, word))):
            names = (f"{one} is {unicodedata.name(one, '?').lower()} (U+{ord(one):04X})" for one in alike)
            found.append(f"{word}: {', '.join(names)}")
    return tuple(found)
