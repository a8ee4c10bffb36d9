"""Tables and progress bars on a terminal, by Rich."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

PATIENCE = 1.0  # seconds before a progress bar is worth showing
_NAME = 40  # characters of a name or an id
_STYLES = {"destructive": "yellow", "dangerous": "red", "forbidden": "bold red", "safe": "green", "reversible": "green"}


def print_rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], out: TextIO, colour: bool) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for at, name in enumerate(columns):
        whole = at == 0 and all(len(row[0]) <= _NAME for row in rows)  # what is copied from there stays in one piece
        table.add_column(name.capitalize(), overflow="fold", no_wrap=whole, ratio=1 if name == columns[-1] else None)
    for row in rows:
        table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    colours: Literal["auto"] | None = "auto" if colour else None  # without any, nothing is bold either
    Console(file=out, highlight=False, color_system=colours).print(table)


@contextmanager
def progress_bar(title: str, total: int | None) -> Iterator[Callable[[object], None]]:
    of = "" if total is None else f" of {total}"
    columns = (TextColumn(title), BarColumn(), TextColumn(f"{{task.completed}}{of} files"), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(title, total=total)
    started = time.monotonic()

    def tick(piece: object) -> None:
        if not bar.live.is_started and time.monotonic() - started > PATIENCE:
            bar.start()
        bar.advance(task)

    try:
        yield tick
    finally:
        bar.stop()
