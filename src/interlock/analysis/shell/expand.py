"""Expands a written word, braces included, into the words a program would get; marks what only running would tell."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.analysis.facts import HOLE, QUOTED, hole
from interlock.analysis.shell.syntax.nodes import Arithmetic, Part, ShellText, ShellVariable, ShellWord, Substitution
from interlock.analysis.shell.variables import calculate, evaluate, items_of, separator

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

# What a text makes of itself costs as much to read as what is written, which was paid for when it was parsed.
_WORD_STEPS = 2  # for each word beyond the first that a written word becomes
_STEP_CHARACTERS = 64  # of a value that one step is enough for


def fields(word: ShellWord, values: Shell) -> list[str]:
    """The words that one written word becomes: braces, variables, substitutions and splitting worked out."""
    literal = word.literal
    if literal is not None and "{" not in literal:
        return [literal]
    out: list[str] = []
    for parts in expand_braces(word.parts):
        values.step()
        out += _split(parts, values)
        if len(out) > MAX_WORDS:
            out = [*out[:MAX_WORDS], hole()]
            break
    values.step(_WORD_STEPS * max(0, len(out) - 1) + sum(map(len, out)) // _STEP_CHARACTERS)
    return out


def text(word: ShellWord | None, values: Shell) -> str:
    """The word as one text, without splitting, as in an assignment or a redirection."""
    if word is None:
        return ""
    joined = "".join([_joined(part, values) for part in word.parts])
    if len(joined) > word.end - word.start:
        values.step(len(joined) // _STEP_CHARACTERS)
    first = word.parts[0] if joined.startswith("~") else None  # in quotes it is a file's name, not the home
    quoted = isinstance(first, ShellText) and first.quoted and first.text.startswith("~")
    return f"{QUOTED}{joined}" if quoted else joined


def _joined(part: Part, values: Shell) -> str:
    """A part as one text: `$*` and `${a[*]}` joined as between quotes, all else by blanks."""
    items = _value(part, values)
    if len(items) == 1:
        return items[0]
    starred = isinstance(part, ShellVariable) and "*" in (part.name, part.index)
    return (separator(values) if starred else " ").join(items)


def is_unknown(word: str) -> bool:
    """True when nothing of the word is known."""
    return word.startswith(HOLE) and word.find(HOLE, 1) == len(word) - 1


def _value(part: Part, values: Shell) -> list[str]:
    if isinstance(part, ShellText):
        return [part.text]
    if isinstance(part, Substitution):
        return [values.output(part)]
    if isinstance(part, Arithmetic):
        expression = text(ShellWord(part.parts, 0, 0), values)
        evaluate(expression, values)
        number = calculate(expression, values)
        return [hole() if number is None else str(number)]
    return items_of(part, values, text)


# -- splitting --------------------------------------------------------------------------------------------


class _Fields(Struct):
    """The fields that are done, and the one that still grows; None between two."""

    done: list[str] = []
    current: str | None = None

    def glue(self, piece: str) -> None:
        self.current = piece if self.current is None else self.current + piece

    def cut(self) -> None:
        if self.current is not None:
            self.done.append(self.current)
            self.current = None


def _split(parts: list[Part], values: Shell) -> list[str]:
    """One word's parts -> fields; what an unquoted expansion yields is split at IFS."""
    out = _Fields()
    for part in parts:
        if isinstance(part, ShellText):
            _add_text(out, part)
            continue
        items = _value(part, values)
        if isinstance(part, Arithmetic) or part.quoted:
            _add_whole(out, items)
        else:
            _add_split(out, items, values)
    out.cut()
    return out.done


def _add_text(out: _Fields, part: ShellText) -> None:
    piece = part.text
    if part.quoted and out.current is None and piece.startswith("~"):
        piece = f"{QUOTED}{piece}"
    out.glue(piece)
    if not part.quoted and piece == "":
        out.current = out.current or None


def _add_whole(out: _Fields, items: list[str]) -> None:
    """Each item stays one word; the first and the last stick to their neighbours."""
    for number, item in enumerate(items):
        if number:
            out.cut()
        if len(out.done) > MAX_WORDS:  # the rest is dropped
            break
        out.glue(item)


def _add_split(out: _Fields, items: list[str], values: Shell) -> None:
    for number, item in enumerate(items):
        if number:
            out.cut()
        if len(out.done) > MAX_WORDS:
            break
        pieces, glue_left, glue_right = _by_ifs(item, values)
        if item and not glue_left:
            out.cut()
        for at, piece in enumerate(pieces):
            if at:
                out.cut()
            out.glue(piece)
        if item and not glue_right:
            out.cut()


def _by_ifs(value: str, values: Shell) -> tuple[list[str], bool, bool]:
    """The pieces of a value, and whether the first and last stick to their neighbours."""
    separators = (values.lookup("IFS") or [" \t\n"])[0]
    if not separators:
        return ([value] if value else []), True, True
    pieces = [piece for piece in re.split(f"[{re.escape(separators)}]+", value) if piece]
    return pieces, bool(value) and value[0] not in separators, bool(value) and value[-1] not in separators


MAX_WORDS = 512
MAX_BRACES = 24  # in one word

_MAX_TRIES = 20  # braces of a word that stand for themselves
_MAX_SPAN = 4000  # characters between two braces
_PLACEHOLDER = 0xF0000  # private characters that stand for parts while braces are expanded
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def expand_braces(parts: list[Part]) -> list[list[Part]]:
    """The words that a word's parts stand for; the word itself when there are no braces."""
    if not any(isinstance(part, ShellText) and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    template = "".join(
        part.text if isinstance(part, ShellText) and not part.quoted else chr(_PLACEHOLDER + number)
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
                out.append(ShellText(plain, False))
                plain = ""
            out.append(parts[number])
        else:
            plain += char
    if plain or not out:
        out.append(ShellText(plain, False))
    return out


def _lines(line: str) -> list[str]:
    """Brace expansion of one word; with more than MAX_BRACES results it is unknown."""
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
                if len(cuts) > 1:
                    return pos + 1, [item[a + 1 : b] for a, b in pairwise([*cuts, pos])]
                span = _RANGE.fullmatch(item, start + 1, pos)
                return (pos + 1, _range(span[1], span[2], span[3])) if span else None
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    numeric = first.lstrip("-").isdigit()
    if numeric != last.lstrip("-").isdigit():
        return [f"{{{first}..{last}}}"]
    low, high = (int(first[:9]), int(last[:9])) if numeric else (ord(first), ord(last))
    by = abs(int(step[:6])) if step and int(step[:6]) else 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    padded = any(re.match(r"-?0\d", one) for one in (first, last)) if numeric else False
    width = max(len(first), len(last)) if padded else 0
    return [str(n).zfill(width) if numeric else chr(n) for n in numbers[: MAX_WORDS + 1]]
