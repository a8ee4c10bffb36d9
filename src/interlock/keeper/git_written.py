"""A repository becomes what it was: branches, then what is stashed and set, then what is checked out and staged, each under Git's own lock."""

from __future__ import annotations

import contextlib
import os

from interlock.keeper.contents import Reader
from interlock.keeper.folder import Refused
from interlock.keeper.git_files import locking, made, set_ref
from interlock.keeper.manifest import Git
from interlock.keeper.places import Places
from interlock.keeper.planning import Move, Planned, Step
from interlock.keeper.present import read
from interlock.looker.budget import Budget
from interlock.looker.repository import Repository

_ORDER = ("log", "stash", "config", "head", "index")
_NONE = "0" * 40


class GitWritten:
    """One undo's writing to repositories; `again`: an undo that was killed may have left its locks."""

    def __init__(self, places: Places, reader: Reader, gits: list[Git], id: str, at: float, budget: Budget, again: bool) -> None:  # fmt: skip
        self._places, self._reader, self._id, self._at, self._again = places, reader, id, at, again
        self._repositories = {one.git_dir: Repository(one.work_tree, one.git_dir, one.shared, budget) for one in gits}

    def __call__(self, planned: Planned) -> None:
        for move in planned.moves:
            self._moved(move)
        for role in _ORDER:
            for step in planned.steps:
                if step.entry.role == role:
                    self._written(step)

    def _moved(self, move: Move) -> None:
        repository = self._repositories[move.git.git_dir]
        set_ref(self._places, repository, move.ref.name, move.ref.old, move.now, self._id, self._again)
        if move.ref.old and move.now:
            logs = [os.path.join(repository.shared, "logs", move.ref.name)]
            if repository.history.branch() == move.ref.name:
                logs.append(os.path.join(repository.own, "logs", "HEAD"))
            for log in logs:
                self._logged(log, move.now, move.ref.old)

    def _written(self, step: Step) -> None:
        repository = self._of(step.entry.path)
        if step.entry.role == "stash":
            self._stashed(step, repository)
            return
        before = read(self._places, step.entry.path).strip()
        self._put(step, repository, self._content(step))
        if step.entry.role == "head":
            now, old = _oid(repository, before), _oid(repository, self._content(step).strip())
            self._logged(os.path.join(repository.own, "logs", "HEAD"), now, old)

    def _stashed(self, step: Step, repository: Repository) -> None:
        """The ref first: a list without it is seen as unfinished, and done again."""
        data = self._content(step)
        value = data.splitlines()[-1].split(b" ")[1].decode() if data else ""
        now = repository.history.ref("refs/stash")
        have = now.hex() if now is not None else ""
        if have != value:
            set_ref(self._places, repository, "refs/stash", value, have, self._id, self._again)
        self._put(step, repository, data)

    def _put(self, step: Step, repository: Repository, data: bytes) -> None:
        entry = step.entry
        made(self._places, os.path.dirname(entry.path))
        handle, name = self._places.split(entry.path)
        if entry.kind == "absent" and step.data is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=handle)
            return
        with locking(self._places, repository, entry.path, data, self._id, self._again, entry.mode or 0o644) as finish:
            found = self._places.stat(entry.path)
            if step.now.found is not None and found is not None and found.st_mtime_ns != step.now.found.st_mtime_ns:
                raise Refused(f"{entry.path} was changed meanwhile")
            finish()
        if entry.mode:
            os.chmod(name, entry.mode, dir_fd=handle)
        if entry.mtime_ns and entry.role == "index":
            os.utime(name, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=handle, follow_symlinks=False)

    def _content(self, step: Step) -> bytes:
        if step.data is not None:
            return step.data
        return self._reader.data(step.entry.sha256, step.entry.size) if step.entry.kind == "file" else b""

    def _logged(self, path: str, old: str, new: str) -> None:
        """As Git does it: a log that is there names every move."""
        if self._places.stat(path) is None or not new or old == new:
            return
        handle, name = self._places.split(path)
        opened = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=handle)
        with open(opened, "ab") as out:
            line = f"{old or _NONE} {new} Interlock <interlock@localhost> {int(self._at)} +0000\tinterlock: undo {self._id}\n"  # fmt: skip
            out.write(line.encode())

    def _of(self, path: str) -> Repository:
        for one in self._repositories.values():
            if path.startswith((f"{one.own}/", f"{one.shared}/")):
                return one
        raise Refused("the list of the snapshot is damaged")


def _oid(repository: Repository, text: bytes) -> str:
    if not text.startswith(b"ref: "):
        return text.decode("ascii", "replace")
    found = repository.history.ref(os.fsdecode(text[5:]))
    return found.hex() if found is not None else ""
