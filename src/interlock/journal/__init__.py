"""The journal of what a command really changed: each file kept by a supervisor just before a system call touched it."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from pathlib import Path

from msgspec import Struct

from interlock.problems import ExpectedError

ID = re.compile(r"j_[2-7a-z]{10}")
PROGRAM = "interlock-journal"
FRONT = "interlock-journaled"  # the file that a wrapped call sources
FOLDER = "journal"  # of the store, in the state folder
_ASK = "/dev/null/interlock-journal"
CANNOT = 125  # exit code of the supervisor where no journal is possible: the command was not run


class JournalError(ExpectedError):
    """The journal cannot be used; the message is a sentence for a person."""


class JournaledAction(Struct, frozen=True):
    id: str
    at: float
    command: tuple[str, ...]
    cwd: str
    label: str = ""
    running: bool = False  # a process of it still runs
    files: int = 0
    bytes: int = 0
    undoes: str = ""  # the action that this one undid
    undone_by: str = ""


def is_journaled() -> bool:
    """Whether a journal watches this process; only a journal answers this call so."""
    try:
        os.unlink(_ASK)
    except OSError as error:
        return error.errno == errno.EALREADY
    return False


def join() -> None:
    """Begins a call of this process in the journal around it."""
    with contextlib.suppress(OSError):
        os.unlink(f"{_ASK}/call")


def write_whole(place: Path, data: bytes) -> None:
    """All of it or nothing; does nothing where it is there already."""
    if not place.exists() or place.read_bytes() != data:
        new = place.with_name(f"{place.name}.{os.getpid()}")
        new.write_bytes(data)
        new.replace(place)


def parse_journal_id(value: str) -> str:
    """Refuses everything else, since it becomes the name of a folder."""
    if not ID.fullmatch(value):
        raise JournalError(f"no action is called {value!r:.60}")
    return value
