"""A child process that takes snapshots without a tight time limit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from interlock.snapshots import SnapshotLimits, TakenSnapshot
from interlock.snapshots.client import WarmSnapshotter
from repositories import PATIENT

T = TypeVar("T")


class PatientSnapshotter(WarmSnapshotter):
    """A snapshotter with time enough for a busy machine."""

    def take(
        self, question: Mapping[str, Any], id: str, at: float, limits: SnapshotLimits | None = None
    ) -> TakenSnapshot:
        return super().take(question, id, at, replace(limits or SnapshotLimits(), ms=PATIENT))


@contextmanager
def patient_snapshotter(folder: Path) -> Iterator[PatientSnapshotter]:
    """A snapshotter whose snapshots are below the folder."""
    found = PatientSnapshotter(folder / "undo", folder)
    try:
        yield found
    finally:
        found.close()


def until_allowed(asked: Callable[[], T], passed: Callable[[T], bool] = bool, seconds: float = 90.0) -> T:
    """The first answer that allows; a daemon's inspection has 300 ms, and on a busy machine it may ask instead."""
    end = time.monotonic() + seconds
    while not passed(found := asked()):
        assert time.monotonic() < end, found
    return found


def tree_contents(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything in a folder, byte for byte: kind, mode, content or link."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_file():
            found[name] = ("file", mode, path.read_bytes())
        else:
            found[name] = ("folder", mode)
    return found
