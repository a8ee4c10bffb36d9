"""`a{b,c}d` and `{1..3}` -> the words they stand for."""

from __future__ import annotations

import re
from itertools import pairwise

from interlock.core.read.facts import hole
from interlock.core.read.shell.nodes import Part, Text

MAX_WORDS = 512
MAX_BRACES = 24  # in one word

_MAX_TRIES = 20  # braces of a word that stand for themselves
_MAX_SPAN = 4000  # characters between two braces
_PLACEHOLDER = 0xF0000  # private characters that stand for parts while braces are expanded
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    """The words that a word's parts stand for; the word itself when there are no braces."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    template = "".join(
        part.text if isinstance(part, Text) and not part.quoted else chr(_PLACEHOLDER + number)
        for number, part in enumerate(parts)
    )
    return [_unplaced(line, parts) for line in _lines(template)]


def _unplaced(line: str, parts: list[Part]) -> list[Part]:
    """A line with the parts put back that its placeholders stand for."""
    out: list[Part] = []
    plain = ""
    for char in line:
        number = ord(char) - _PLACEHOLDER
        if 0 <= number < len(parts):
            if plain:
                out.append(Text(plain, False))
                plain = ""
            out.append(parts[number])
        else:
            plain += char
    if plain or not out:
        out.append(Text(plain, False))
    return out


def _lines(line: str) -> list[str]:
    """Brace expansion of one word; more than MAX_BRACES of them, and nobody can say which words it makes."""
    if line.count("{") > MAX_BRACES:
        return [hole()]
    done: list[str] = []
    todo = [line]
    while todo and len(done) < MAX_WORDS:
        item = todo.pop()
        found = _first_brace(item)
        if not found or len(todo) > MAX_WORDS:
            done.append(item)
            continue
        start, end, choices = found
        todo += [item[:start] + choice + item[end:] for choice in reversed(choices)]
    return done


def _first_brace(item: str) -> tuple[int, int, list[str]] | None:
    """Where the first brace that expands starts and ends, and its choices."""
    start = item.find("{")
    for _ in range(_MAX_TRIES):
        if start < 0:
            return None
        found = _brace_at(item, start)
        if found:
            return start, *found
        start = item.find("{", start + 1)
    return None


def _brace_at(item: str, start: int) -> tuple[int, list[str]] | None:
    """Where the brace that starts here ends, and its choices; None when it stands for itself."""
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
            if depth == 0:
                choices = _choices(item, [*cuts, pos])
                return (pos + 1, choices) if choices is not None else None
    return None


def _choices(item: str, cuts: list[int]) -> list[str] | None:
    if len(cuts) > 2:
        return [item[a + 1 : b] for a, b in pairwise(cuts)]
    span = _RANGE.fullmatch(item, cuts[0] + 1, cuts[1])
    return _range(span[1], span[2], span[3]) if span else None


def _range(first: str, last: str, step: str | None) -> list[str]:
    numeric = first.lstrip("-").isdigit()
    if numeric != last.lstrip("-").isdigit():
        return [f"{{{first}..{last}}}"]
    low, high = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    by = abs(int(step[:6])) if step and int(step[:6]) else 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    return [str(n) if numeric else chr(n) for n in numbers[:MAX_WORDS]]
