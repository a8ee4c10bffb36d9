"""Undoes one action; runs below the supervisor, so that the undo is journaled and can be undone itself."""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from interlock.journal import JournalError
from interlock.journal.entries import Identity, JournalState, KeptContent, PathKind
from interlock.journal.store import JournalStore, StoredJournal
from interlock.journal.undo_plan import JournalPlan, JournalStep, ancestors, fingerprint, marks_differ, read_attributes
from interlock.snapshots.contents import write_all
from interlock.snapshots.folder import closing_handle, set_attributes

_PART = 1 << 20
MOST_SEARCHED = 100_000  # files among which another name of a file is looked for
MOST_CHANGES = 500
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Restorer:
    """Each part can fail without anything being lost, since the supervisor keeps what is overwritten."""

    def __init__(self, stored: StoredJournal, data: mmap.mmap | bytes) -> None:
        self._stored, self._data = stored, data
        self._moved: dict[str, str] = {}  # final path -> where it waits
        self._left: dict[str, str] = {}  # the path that it left -> the same
        self._made: dict[Identity, str] = {}
        self.say: list[str] = []

    def apply(self, plan: JournalPlan) -> None:
        """(1) contents verified, closed folders opened, (2) files removed, (3) moves begun, (4) folders removed, (5) everything put in place, (6) marks, the deepest first."""
        self._verify(plan)  # (1)
        steps = sorted(plan.steps, key=attrgetter("path"))
        for step in steps if os.geteuid() else ():
            if step.what == "mode" and _is_folder(step.path):
                os.chmod(step.path, stat.S_IMODE(os.lstat(step.path).st_mode) | stat.S_IRWXU)
        self._made |= plan.names
        deleted = [step for step in steps if step.what == "delete"]
        for step in deleted:  # (2)
            if not _is_folder(step.path):
                os.unlink(step.path)
        self._begin_moves(plan, {step.path for step in deleted})  # (3)
        for step in reversed(deleted):  # (4)
            self._remove_folder(step.path)
        for step in sorted(steps, key=_order):  # (5)
            if step.what != "delete":
                self._put(step)
        for step in reversed(steps):  # (6)
            if step.place.marks is not None and not step.place.times_only:
                self._mark(step.path, step.place.marks)
        for path, state in sorted(plan.folders, reverse=True, key=lambda one: one[0]):
            with contextlib.suppress(OSError):
                os.utime(path, ns=(state.atime, state.mtime))

    def _verify(self, plan: JournalPlan) -> None:
        sums = self._stored.sums()
        for step in plan.steps:
            content = step.place.content
            if content is None or step.what not in ("create", "replace"):
                continue
            found, size = hashlib.blake2b(digest_size=32), 0
            for part in self._parts(content):
                found.update(part)
                size += len(part)
            wanted = content.hash if any(content.hash) else sums.get(content.object)
            same = found.digest() == wanted
            # its hash is not there yet: whether a file that was kept by a second name is still the one that it was
            if wanted is None:
                kept = os.stat(self._stored.object(content.object))
                unchanged = (kept.st_ino, kept.st_mtime_ns) == (content.ino, content.mtime)
                same = unchanged or content.content is not KeptContent.LINKED
            if size != content.size or not same:
                raise JournalError(f"the kept content of {step.path} was altered or cut off")

    def _begin_moves(self, plan: JournalPlan, gone: set[str]) -> None:
        moves = sorted((step for step in plan.steps if step.what == "move"), key=attrgetter("base"), reverse=True)
        leaving = gone | {step.base for step in moves}
        for number, step in enumerate(moves):  # the deepest first: those above them move with what is left
            above = ancestors(os.path.dirname(step.base))
            stable = next((one for one in above if leaving.isdisjoint(ancestors(one))), "/")
            waiting = os.path.join(stable, f".interlock-{self._stored.id}-{number}")
            os.rename(step.base, waiting)
            self._moved[step.path] = self._left[step.base] = waiting

    def _remove_folder(self, path: str) -> None:
        if (above := next((one for one in ancestors(path) if one in self._left), None)) is not None:
            path = self._left[above] + path[len(above) :]
        try:
            if _is_folder(path):
                os.rmdir(path)
        except FileNotFoundError:
            pass
        except OSError:
            self.say.append(f"{path} stays, since something is in it")

    def _put(self, step: JournalStep) -> None:
        path, place = step.path, step.place
        if step.what in ("create", "move"):
            _make_room(path)
        if step.what == "move":
            os.rename(self._moved.pop(path), path)
        elif step.what == "replace" and place.content is not None:
            self._rewrite(path, place.content)
        elif step.what == "create" and (state := place.state or place.content) is not None:
            self._create(path, state, place.content)

    def _create(self, path: str, state: JournalState, content: JournalState | None) -> None:
        if state.kind is PathKind.FOLDER:
            os.mkdir(path, 0o700)
        elif state.kind is PathKind.LINK:
            os.symlink(os.fsdecode(bytes(self._data[state.data[0] : sum(state.data)])), path)
        elif content is not None and not (state.nlink > 1 and self._link(path, state, content)):
            with closing_handle(os.open(path, _MAKE, 0o600)) as handle:
                self._write(handle, content)
            self._made[state.identity] = path

    def _link(self, path: str, state: JournalState, content: JournalState) -> bool:
        other = self._made.get(state.identity) or _other_name(path, state)
        if other is None:
            return False
        try:
            os.link(other, path, follow_symlinks=False)
        except OSError:
            return False
        if state.identity not in self._made:
            self._rewrite(path, content)
        self._made[state.identity] = path
        return True

    def _rewrite(self, path: str, content: JournalState) -> None:
        """In place, since the file's other names have to see it too."""
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise JournalError(f"{path} is no file any more")
        if os.geteuid() and not found.st_mode & stat.S_IWUSR:
            os.chmod(path, stat.S_IMODE(found.st_mode) | stat.S_IWUSR)
        with closing_handle(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)) as handle:
            self._write(handle, content)

    def _write(self, handle: int, content: JournalState) -> None:
        for part in self._parts(content):
            if not any(part[:4096]) and len(part) == _PART and not any(part):
                os.lseek(handle, _PART, os.SEEK_CUR)  # a hole
            else:
                write_all(handle, part)
        os.ftruncate(handle, content.size)

    def _parts(self, content: JournalState) -> Iterator[bytes]:
        if content.content is KeptContent.INLINE:
            yield bytes(self._data[content.data[0] : sum(content.data)])
            return
        try:
            with open(self._stored.object(content.object), "rb") as file:
                while part := file.read(_PART):
                    yield part
        except OSError:
            raise JournalError(f"the kept content of {content.path} is missing") from None

    def _mark(self, path: str, state: JournalState) -> None:
        """What this user may not set is said, and keeps no content back."""
        try:
            found = os.lstat(path)
        except OSError:
            return
        if not marks_differ(path, found, state):
            return
        try:
            if (found.st_uid, found.st_gid) != state.owner:
                os.chown(path, *state.owner, follow_symlinks=False)
            if state.kind is not PathKind.LINK:
                os.chmod(path, stat.S_IMODE(state.mode))
                set_attributes(path, read_attributes(path), dict(state.attributes))
            os.utime(path, ns=(state.atime, state.mtime), follow_symlinks=False)
        except OSError as error:
            self.say.append(f"{path} is back without all of its owner, mode, times or attributes ({error.strerror})")


def _order(step: JournalStep) -> tuple[bool, str]:
    """Folders before what they hold; files with several names last, when one of them is there."""
    state = step.place.state
    return step.what == "create" and state is not None and state.kind is PathKind.FILE and state.nlink > 1, step.path


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _make_room(path: str) -> None:
    """The supervisor keeps what is in the way; a folder with something in it is refused."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if _is_folder(path):
        try:
            os.rmdir(path)
        except OSError:
            raise JournalError(f"{path} is in the way: it is a folder with something in it") from None
    elif os.path.lexists(path):
        os.unlink(path)


def _other_name(path: str, state: JournalState) -> str | None:
    """Looked for around its own; only if nobody wrote to it since."""
    searched, before = 0, ""
    for folder in ancestors(os.path.dirname(path)):
        if not os.path.isdir(folder) or os.stat(folder).st_dev != state.dev:
            continue
        for at, folders, names in os.walk(folder):
            if before and at == folder:
                folders[:] = [name for name in folders if os.path.join(at, name) != before]
            for full in (os.path.join(at, name) for name in names):
                searched += 1
                if searched > MOST_SEARCHED:
                    return None
                with contextlib.suppress(OSError):
                    found = os.lstat(full)
                    marks = found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns
                    if marks == (state.ino, state.dev, state.size, state.mtime):
                        return full
        before = folder
    return None


def restore(store: JournalStore, id: str, force: bool) -> dict[str, Any]:
    stored = store.journal(id)
    with stored.mapped() as data:
        plan = stored.plan(data)
        body = plan_body(plan)
        if any(step.later for step in plan.steps) and not force:
            return body | {"refused": True}
        restorer = Restorer(stored, data)
        restorer.apply(plan)
        body["say"] = [*body["say"], *restorer.say]
        return body | {"undone": True, "same": list(_same(plan))}


def plan_body(plan: JournalPlan) -> dict[str, Any]:
    steps = sorted(plan.steps, key=lambda step: (not step.later, step.path))
    return {
        "changes": [{"path": step.path, "what": step.what, "later": step.later} for step in steps[:MOST_CHANGES]],
        "total": len(steps),
        "later": sum(step.later for step in steps),
        "say": plan.notes[:20],
    }


def _same(plan: JournalPlan) -> Iterator[tuple[str, list[int], list[int]]]:
    """What each restored path is now, and which earlier state that stands for."""
    for step in plan.steps:
        state = step.place.was
        if step.what != "delete" and state is not None and state.kind in (PathKind.FILE, PathKind.LINK):
            with contextlib.suppress(OSError):
                yield step.path, list(fingerprint(os.lstat(step.path))), list(state.fingerprint)


def main(argv: Sequence[str]) -> int:
    store, id, force = argv
    try:
        body = restore(JournalStore(Path(store)), id, force == "force")
    except JournalError as error:
        body = {"problem": str(error)}
    except OSError as error:
        body = {"problem": f"{error.filename or 'it'}: {error.strerror or type(error).__name__}"}
    print(json.dumps(body))
    return 0 if body.get("undone") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
