"""A planned change -> the file, its backup and the register's note of both."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from interlock.agents import Client
from interlock.config import Config
from interlock.doors.install import register
from interlock.doors.install.files import FileProblem, digest, keep, look, put, take_away
from interlock.doors.install.plan import Change
from interlock.doors.install.register import Entry


def install(change: Change, client: Client, config: Config) -> str:
    """Writes the file; answers the backup's path, or nothing where there was no file or an older backup stays the one to go back to.

    1. the backup is on disk, 2. the file is replaced whole, 3. the register knows both.
    """
    assert change.after is not None
    older = _untouched(change)
    backup = ""
    if change.seen.data is not None and older is None:
        backup = str(keep(change.seen, stamp()))  # 1
    try:
        made = put(change.seen, change.after, change.place.mode)  # 2
    except BaseException:
        if backup:
            Path(backup).unlink(missing_ok=True)
        raise
    entry = Entry(
        agent=change.agent.word,
        scope=change.scope,
        project=str(change.project),
        path=str(change.place.path),
        written=digest(change.after),
        client=client.path,
        url=client.url,
        backup=backup,
        before=digest(change.seen.data) if change.seen.data is not None and not change.replaces else "",
        made=tuple(map(str, made)),
    )
    register.keep(config, register.continued(entry, older))  # 3
    return backup


def _untouched(change: Change) -> Entry | None:
    """The older installation in this file, where nothing else was changed since."""
    entry, data = change.entry, change.seen.data
    return entry if change.replaces and entry and data is not None and digest(data) == entry.written else None


def uninstall(change: Change, config: Config) -> None:
    """Puts the file back, or takes it away; a backup that was gone back to is not kept."""
    made = change.entry.made if change.entry else ()
    if change.after is None:
        take_away(change.seen, tuple(map(Path, made)))
    else:
        put(change.seen, change.after, change.seen.mode)
    if change.entry is None:
        return
    register.drop(config, change.entry.path)
    if not change.entry.backup:
        return
    with suppress(FileProblem, OSError):
        if change.after is not None and look(Path(change.entry.backup)).data == change.after:
            Path(change.entry.backup).unlink()


def stamp() -> str:
    """This moment, as it stands in a backup's name."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
