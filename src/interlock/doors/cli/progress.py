"""A bar on the terminal for work that takes a while; nothing in a pipe, and nothing for what is over at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds before a progress bar is worth showing


@contextmanager
def progress(
    title: str, unit: str, total: int | None = None, quiet: bool = False
) -> Iterator[Callable[[object], None]]:
    """What is called once for each piece of work that is done."""
    if quiet or not sys.stderr.isatty():
        yield lambda piece: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    of = "" if total is None else f" of {total}"
    columns = (TextColumn(title), BarColumn(), TextColumn(f"{{task.completed}}{of} {unit}"), TimeElapsedColumn())
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
