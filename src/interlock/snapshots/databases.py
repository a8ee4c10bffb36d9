"""Copies and restores SQLite databases through SQLite itself: whole, whoever writes to them meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import os
import urllib.parse

from interlock.impact import Budget, Unclear
from interlock.snapshots.contents import ContentReader, ContentWriter
from interlock.snapshots.folder import SnapshotFolder, create_file, remove_file
from interlock.snapshots.manifest import SavedDatabase

_MAGIC = b"SQLite format 3\0"
_CHANGE_COUNTERS = ((24, 28), (40, 44), (92, 100))  # write counters and versions: no content


def save_database(
    folder: SnapshotFolder, path: str, id: str, number: int, writer: ContentWriter, budget: Budget
) -> SavedDatabase:
    """Saves one database as it is now; raises Unclear for a file that is none."""
    found = _check_no_link(path)
    temporary = folder.temporary(f"{id}.{number}.db")
    try:
        copy_database(path, temporary, budget)
        with open(temporary, "r+b") as made:
            clear_change_counter(made.fileno())
            size = os.fstat(made.fileno()).st_size
            sha = writer.large(made.fileno(), size)
    finally:
        remove_database(temporary)
    return SavedDatabase(path, size, sha, found.st_mode & 0o7777, (found.st_uid, found.st_gid))


def database_digest(folder: SnapshotFolder, path: str, id: str, budget: Budget) -> str:
    """The SHA-256 of a database's present content; empty where there is none."""
    temporary = folder.temporary(f"{id}.now.db")
    try:
        _check_no_link(path)
        copy_database(path, temporary, budget)
        with open(temporary, "r+b") as made:
            clear_change_counter(made.fileno())
            made.seek(0)
            return hashlib.file_digest(made, "sha256").hexdigest()
    except (Unclear, OSError):
        return ""
    finally:
        remove_database(temporary)


def restore_database(
    folder: SnapshotFolder, one: SavedDatabase, id: str, reader: ContentReader, budget: Budget
) -> None:
    """Restores the old content through SQLite, so that programs that have the database open see it."""
    temporary = folder.temporary(f"{id}.back.db")
    try:
        remove_database(temporary)
        handle = create_file(temporary, 0o600)
        try:
            reader.into(handle, one.sha256, one.size)
        finally:
            os.close(handle)
        made = not os.path.lexists(one.path)
        if not made:
            _check_no_link(one.path)
        elif os.path.realpath(one.path) != one.path:
            raise Unclear("the database is behind a link")
        copy_database(temporary, one.path, budget)
        if made:
            os.chmod(one.path, one.mode)
    finally:
        remove_database(temporary)


def copy_database(source: str, target: str, budget: Budget) -> None:
    """Copies one database over another, page by page; raises Unclear for a file that is none, or stays locked too long."""
    import sqlite3

    with open(os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as given:
        if given.read(16) not in (_MAGIC, b""):
            raise Unclear("it is no SQLite database")
    try:
        with (
            contextlib.closing(sqlite3.connect(_uri(source, "ro"), uri=True, timeout=0.1)) as old,
            contextlib.closing(sqlite3.connect(_uri(target, "rwc"), uri=True, timeout=5.0)) as new,
        ):
            old.backup(new, pages=256, progress=lambda *_: budget.tick(), sleep=0.01)
    except sqlite3.Error as error:
        raise Unclear(f"the database cannot be copied ({error})") from None


def _check_no_link(path: str) -> os.stat_result:
    """Refuses a path with a link in it: SQLite would follow it."""
    if os.path.realpath(path) != path:
        raise Unclear("the database is behind a link")
    return os.lstat(path)


def clear_change_counter(handle: int) -> None:
    """Zeroes the fields that only count writes, so that equal contents have one SHA-256."""
    if os.fstat(handle).st_size:
        for start, end in _CHANGE_COUNTERS:
            os.pwrite(handle, bytes(end - start), start)


def remove_database(path: str) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        remove_file(f"{path}{ending}")


def _uri(path: str, mode: str) -> str:
    return f"file:{urllib.parse.quote(path, errors='surrogateescape')}?mode={mode}"
