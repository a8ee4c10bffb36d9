"""Words as written -> the words a program would get, holes where only running would tell."""

from __future__ import annotations

import re

from interlock.core.read.facts import HOLE, QUOTED, hole
from interlock.core.read.shell.arithmetic import calculate
from interlock.core.read.shell.braces import MAX_BRACES, MAX_WORDS, expand_braces
from interlock.core.read.shell.nodes import Arithmetic, Part, Substitution, Text, Word
from interlock.core.read.shell.variables import WELL_KNOWN, Values, items_of

__all__ = ["MAX_BRACES", "MAX_WORDS", "WELL_KNOWN", "Values", "calculate", "fields", "is_unknown", "text"]


# What a text makes of itself costs as much to read as what is written, which was paid for when it was parsed.
_WORD_STEPS = 2  # for each word beyond the first that a written word becomes
_STEP_CHARACTERS = 64  # of a value that one step is enough for


def fields(word: Word, values: Values) -> list[str]:
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


def text(word: Word | None, values: Values) -> str:
    """The word as one text, without splitting, as in an assignment or a redirection."""
    if word is None:
        return ""
    joined = "".join([" ".join(_value(part, values)) for part in word.parts])
    if len(joined) > word.end - word.start:
        values.step(len(joined) // _STEP_CHARACTERS)
    return joined if not _quoted_tilde(word.parts, joined) else f"{QUOTED}{joined}"


def is_unknown(word: str) -> bool:
    """True when nothing of the word is known."""
    return word.startswith(HOLE) and word.find(HOLE, 1) == len(word) - 1


def _quoted_tilde(parts: list[Part], joined: str) -> bool:
    """A `~` in quotes is a file's name, not the home."""
    first = parts[0] if joined.startswith("~") else None
    return isinstance(first, Text) and first.quoted and first.text.startswith("~")


def _value(part: Part, values: Values) -> list[str]:
    if isinstance(part, Text):
        return [part.text]
    if isinstance(part, Substitution):
        return [values.output(part)]
    if isinstance(part, Arithmetic):
        number = calculate(text(Word(part.parts, 0, 0), values), values)
        return [hole() if number is None else str(number)]
    return items_of(part, values, text)


# -- splitting --------------------------------------------------------------------------------------------


class _Fields:
    """The fields that are done, and the one that still grows; None between two."""

    __slots__ = ("current", "done")

    def __init__(self) -> None:
        self.done: list[str] = []
        self.current: str | None = None

    def glue(self, piece: str) -> None:
        self.current = piece if self.current is None else self.current + piece

    def cut(self) -> None:
        if self.current is not None:
            self.done.append(self.current)
            self.current = None


def _split(parts: list[Part], values: Values) -> list[str]:
    """One word's parts -> fields; what an unquoted expansion yields is split at IFS."""
    out = _Fields()
    for part in parts:
        if isinstance(part, Text):
            _add_text(out, part)
            continue
        items = _value(part, values)
        if isinstance(part, Arithmetic) or part.quoted:
            _add_whole(out, items)
        else:
            _add_split(out, items, values)
    out.cut()
    return out.done


def _add_text(out: _Fields, part: Text) -> None:
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
        if len(out.done) > MAX_WORDS:  # what comes after them is not told
            break
        out.glue(item)


def _add_split(out: _Fields, items: list[str], values: Values) -> None:
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


def _by_ifs(value: str, values: Values) -> tuple[list[str], bool, bool]:
    """The pieces of a value, and whether the first and last stick to their neighbours."""
    separators = (values.lookup("IFS") or [" \t\n"])[0]
    if not separators:
        return ([value] if value else []), True, True
    pieces = [piece for piece in re.split(f"[{re.escape(separators)}]+", value) if piece]
    return pieces, bool(value) and value[0] not in separators, bool(value) and value[-1] not in separators
