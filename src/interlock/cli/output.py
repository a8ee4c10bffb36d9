"""Terminal output: styled lines in colour and wrapped, JSON, tables, progress bars; plain text in a pipe."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from interlock.analysis.display_text import Line, Lines, StyledText, visible
from interlock.cli.arguments import declarations

_CODES = {
    "allow": "1;32",
    "ask": "1;33",
    "deny": "1;31",
    "heading": "1",
    "command": "36",
    "dim": "2",
    "mark": "31",
    "level0": "32",
    "level1": "32",
    "level2": "33",
    "level3": "31",
    "level4": "1;31",
}


def error_text(error: object) -> str:
    """The words of an error; of one with a file, without the system's number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def wants_colour(out: TextIO) -> bool:
    return out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(lines: Iterable[Line], out: TextIO) -> None:
    if out.isatty():
        try:
            width = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(out.fileno()).columns
        except (ValueError, OSError):
            width = 0  # unknown
        lines = wrap_lines(lines, width)
    out.write(render_text(lines, wants_colour(out)))
    out.flush()


def render_text(lines: Iterable[Line], colour: bool) -> str:
    def text(part: StyledText) -> str:
        code = _CODES.get(part.style) if colour else None
        return f"\x1b[{code}m{part.text}\x1b[0m" if code and part.text.strip() else part.text

    return "".join("".join(map(text, line)).rstrip() + "\n" for line in lines)


NARROWEST = 40  # columns; below it the terminal breaks as it likes
DEEPEST = 24  # columns of a hanging indent
DIFF_STYLES = {"+": "allow", "-": "deny", "@": "dim"}
_UNBREAKABLE = frozenset({"command", "mark"})  # what somebody copies, and marks below a text
_PIECES = re.compile(r"\s+|\S+")


def wrap_lines(lines: Iterable[Line], width: int) -> Lines:
    """One with marks below it stays whole, because the marks point into it."""
    found = list(lines)
    for line, below in zip(found, [*found[1:], ()]):
        fits = width < NARROWEST or sum(len(part.text) for part in line) <= width
        whole = any(part.style in _UNBREAKABLE for part in line) or any(part.style == "mark" for part in below)
        yield from [line] if fits or whole else _break_line(line, width)


def _break_line(line: Line, width: int) -> Lines:
    """With a hanging indent; a word that is too long stays in one piece."""
    first = line[0].text
    indent = len(first) - len(first.lstrip())
    if len(line) > 1 and first.endswith(" ") and first.strip() and len(first) <= DEEPEST:
        indent = len(first)  # behind a label such as `Policy    `
    row: list[StyledText] = []
    used = 0
    for part in line:
        for piece in _PIECES.findall(part.text):
            if used + len(piece.rstrip()) > width and used > indent and not piece.isspace():
                yield tuple(row)
                row, used = [StyledText(" " * indent)], indent
            if piece.isspace() and row and used == indent and not row[-1].text.strip():
                continue  # the blank at which the line was broken
            row.append(StyledText(piece, part.style))
            used += len(piece)
    yield tuple(row)


def print_table(columns: Sequence[str], given: Sequence[Sequence[object]], out: TextIO) -> None:
    """The last column takes what room is left, and nothing in a cell acts on the terminal."""
    rows = [[visible(str(cell)) for cell in row] for row in given]
    if out.isatty():
        from interlock.cli.rich_output import print_rich_table  # Rich, for terminals alone

        print_rich_table(columns, rows, out, wants_colour(out))
        return
    rows.insert(0, [name.upper() for name in columns])
    widths = [max(map(len, column)) for column in zip(*rows)][:-1]
    for row in rows:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        out.write("  ".join([*cells, row[-1]]) + "\n")


def progress(
    title: str, total: int | None = None, quiet: bool = False
) -> AbstractContextManager[Callable[[object], None]]:
    if quiet or not sys.stderr.isatty():
        return nullcontext(lambda file: None)
    from interlock.cli.rich_output import progress_bar  # Rich, for terminals alone

    return progress_bar(title, total)


def say_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True))


def say(lines: Iterable[Line], to_errors: bool = False) -> None:
    paint(lines, sys.stderr if to_errors else sys.stdout)


def report(args: Namespace, found: object, words: str | Iterable[Line] | Callable[[], None], ok: object = True) -> int:
    if args.json:
        say_json(found)
    elif isinstance(words, str):
        print(words)
    elif callable(words):
        words()
    else:
        say(words)
    return 0 if ok else 1


def say_table(columns: Sequence[str], rows: Sequence[Sequence[object]], empty: str = "") -> None:
    if rows:
        print_table(columns, rows, sys.stdout)
    else:
        print(empty)


def report_table(
    args: Namespace,
    found: object,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    empty: str,
    ok: object = True,
) -> int:
    return report(args, found, lambda: say_table(columns, rows, empty), ok)


def pluralize(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def typed_name() -> str:
    """How this program is typed here: by its name where the shell finds it, else by its path."""
    own, found = Path(sys.argv[0]), shutil.which("interlock")
    if own.name != "interlock" or not own.exists() or (found is not None and own.samefile(found)):
        return "interlock"
    shown = str(own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own)
    return shown if "/" in shown else f"./{shown}"


def declared_words(module: str, word: str) -> Mapping[str, Any]:
    words: Mapping[str, Any] = declarations(module)[word]["words"]
    return words
