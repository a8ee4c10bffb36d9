"""Expands a written word into the words a program would get; marks what only running would tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from interlock.analysis.facts import HOLE, QUOTED, hole
from interlock.analysis.shell.syntax.nodes import Arithmetic, Part, ShellText, ShellVariable, ShellWord, Substitution
from interlock.analysis.shell.variables import computed, items_of, separator

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

# What a text makes of itself costs as much to read as what is written, which was paid for when it was parsed.
_WORD_STEPS = 2  # for each word beyond the first that a written word becomes
_STEP_CHARACTERS = 64  # of a value that one step is enough for


def fields(word: ShellWord, values: Shell) -> list[str]:
    literal = word.literal
    if literal is not None and "{" not in literal:
        return [literal]
    out: list[str] = []
    for parts in expand_braces(word.parts):
        values.step()
        out += _split(parts, values)
        if len(out) > MAX_WORDS:
            out = bounded(out, MAX_WORDS)
            break
    values.step(_WORD_STEPS * max(0, len(out) - 1) + sum(map(len, out)) // _STEP_CHARACTERS)
    return out


def bounded(items: Sequence[str], most: int) -> list[str]:
    """One unknown item stands for those beyond."""
    return list(items) if len(items) <= most else [*items[:most], hole()]


def text(word: ShellWord | None, values: Shell) -> str:
    """Unsplit, as in an assignment or a redirection."""
    if word is None:
        return ""
    joined = "".join([_joined(part, values) for part in word.parts])
    if len(joined) > word.end - word.start:
        values.step(len(joined) // _STEP_CHARACTERS)
    first = word.parts[0] if joined.startswith("~") else None  # in quotes it is a file's name, not the home
    quoted = isinstance(first, ShellText) and first.quoted and first.text.startswith("~")
    return f"{QUOTED}{joined}" if quoted else joined


def _joined(part: Part, values: Shell) -> str:
    """`$*` and `${a[*]}` joined as in quotes, all else by blanks."""
    items = _value(part, values)
    if len(items) == 1:
        return items[0]
    starred = isinstance(part, ShellVariable) and "*" in (part.name, part.index)
    return (separator(values) if starred else " ").join(items)


def is_unknown(word: str) -> bool:
    """Nothing of it is known."""
    return word.startswith(HOLE) and word.find(HOLE, 1) == len(word) - 1


def _value(part: Part, values: Shell) -> list[str]:
    if isinstance(part, ShellText):
        return [part.text]
    if isinstance(part, Substitution):
        return [values.output(part)]
    if isinstance(part, Arithmetic):
        return [computed(text(ShellWord(part.parts), values), values)]
    return items_of(part, values)


# -- splitting


def _split(parts: list[Part], values: Shell) -> list[str]:
    out: list[str] = []
    grows = False  # the last of them
    for part in parts:
        for piece in _pieces(part, values):
            if piece is None:
                grows = False
            elif grows:
                out[-1] += piece
            else:
                named = piece.startswith("~") and isinstance(part, ShellText) and part.quoted
                out.append(f"{QUOTED}{piece}" if named else piece)
                grows = True
    return out


def _pieces(part: Part, values: Shell) -> Iterator[str | None]:
    """What a part adds to the fields; None between two of them."""
    if isinstance(part, ShellText):
        if part.quoted or part.text:
            yield part.text
        return
    items = _value(part, values)
    whole = isinstance(part, Arithmetic) or part.quoted
    separators = "" if whole else (values.lookup("IFS") or [" \t\n"])[0]
    for number, item in enumerate(items[: MAX_WORDS + 2]):  # the rest is dropped
        if number:
            yield None
        if not separators and (whole or item):
            yield item
        elif separators:
            for piece in filter(None, re.split(f"([{re.escape(separators)}]+)", item)):
                yield None if piece[0] in separators else piece


MAX_WORDS = 512
MAX_BRACES = 24  # in one word

_MAX_SPAN = 4000  # characters between two braces
_PLACEHOLDER = 0xF0000  # private characters that stand for parts while braces are expanded
_PLACEHOLDERS = re.compile("([\U000f0000-\U000fffff])")
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    if not any(isinstance(part, ShellText) and "{" in part.text for part in parts):
        return [parts]
    placed = {chr(_PLACEHOLDER + number): part for number, part in enumerate(parts)}
    template = "".join(
        part.text if isinstance(part, ShellText) and not part.quoted else mark for mark, part in placed.items()
    )
    pieces = (filter(None, _PLACEHOLDERS.split(line)) for line in _lines(template))
    return [
        [placed.get(piece) or ShellText(piece, False) for piece in line] or [ShellText("", False)] for line in pieces
    ]


def _lines(line: str) -> list[str]:
    if line.count("{") > MAX_BRACES:
        return [hole()]
    done: list[str] = []
    todo = [line]
    while todo and len(done) < MAX_WORDS:
        item = todo.pop()
        braces = (_brace_at(item, at) for at, char in enumerate(item) if char == "{")
        found = next(filter(None, braces), None) if len(todo) <= MAX_WORDS else None
        if found is None:
            done.append(item)
        else:
            start, end, choices = found
            todo += [item[:start] + choice + item[end:] for choice in reversed(choices)]
    return done


def _brace_at(item: str, start: int) -> tuple[int, int, list[str]] | None:
    """None when it stands for itself."""
    depth = 0
    cuts = [start]
    for pos in range(start, min(len(item), start + _MAX_SPAN)):
        char = item[pos]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            cuts.append(pos)
        elif char == "}":
            depth -= 1
            if not depth:
                if len(cuts) > 1:
                    return start, pos + 1, [item[a + 1 : b] for a, b in pairwise([*cuts, pos])]
                span = _RANGE.fullmatch(item, start + 1, pos)
                return (start, pos + 1, _range(*span.groups())) if span else None
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    numeric = not first.isalpha()
    if numeric == last.isalpha():
        return [f"{{{first}..{last}}}"]
    low, high = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    by = abs(int((step or "")[:6] or 0)) or 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    width = max(len(first), len(last)) if re.search(r"\b0\d", f"{first} {last}") else 0
    return [str(n).zfill(width) if numeric else chr(n) for n in numbers[: MAX_WORDS + 1]]
