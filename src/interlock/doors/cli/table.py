"""Rows -> a table that fits the terminal, or aligned columns in a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TextIO

from interlock.core.excerpt import visible
from interlock.doors.cli.paint import wants_colour

_NAME = 40  # characters of a name or an id
_STYLES = {"destructive": "yellow", "dangerous": "red", "forbidden": "bold red", "safe": "green", "reversible": "green"}


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], out: TextIO) -> None:
    """Print the rows under their headings; the last column takes what room is left, and nothing in a cell acts on the terminal."""
    rows = [[visible(cell) for cell in row] for row in rows]
    if out.isatty():
        _rich(columns, rows, out)
        return
    widths = [max([len(name), *(len(row[at]) for row in rows)]) for at, name in enumerate(columns[:-1])]
    for row in [[name.upper() for name in columns], *rows]:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        out.write("  ".join([*cells, row[-1]]) + "\n")


def _rich(columns: Sequence[str], rows: Sequence[Sequence[str]], out: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for at, name in enumerate(columns):
        whole = at == 0 and all(len(row[0]) <= _NAME for row in rows)  # what is copied from there stays in one piece
        table.add_column(name.capitalize(), overflow="fold", no_wrap=whole, ratio=1 if name == columns[-1] else None)
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    colours: Literal["auto"] | None = "auto" if wants_colour(out) else None  # without any, nothing is bold either
    Console(file=out, highlight=False, color_system=colours).print(table)
