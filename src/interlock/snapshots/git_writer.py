"""Writes to a repository as Git would, without running Git, each file under Git's own lock."""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from interlock.impact import object_id
from interlock.impact.git import Repository
from interlock.snapshots.contents import ContentReader, write_all
from interlock.snapshots.folder import (
    READ,
    FolderHandles,
    RestoreRefused,
    closing_handle,
    create_file,
    remove_file,
    sync_filesystem,
)
from interlock.snapshots.manifest import SavedRepository
from interlock.snapshots.restore_plan import RefMove, RestorePlan, RestoreStep, read_git_file, ref_value

HELD = "refs/interlock/undo/"
_WHO = "Interlock <interlock@localhost>"
_ORDER = ("log", "stash", "config", "head", "index")
_NONE = "0" * 40


def make_holder(places: FolderHandles, path: str) -> tuple[int, str]:
    """Makes the folders above a path, and splits it."""
    try:
        return places.split(path)
    except FileNotFoundError:
        folder = os.path.dirname(path)
        handle, name = make_holder(places, folder)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=handle)
        places.forget(folder)
        return places.split(path)


def write_object(places: FolderHandles, shared: str, kind: bytes, data: bytes) -> bytes:
    oid, body = object_id(kind, data), b"%s %d\0" % (kind, len(data)) + data
    handle, name = make_holder(places, f"{shared}/objects/{oid.hex()[:2]}/{oid.hex()[2:]}")
    temporary = f"tmp_obj_{name}"
    with closing_handle(create_file(temporary, 0o444, handle)) as opened:
        write_all(opened, zlib.compress(body, 1))
    os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
    return oid


def hold_objects(
    places: FolderHandles, repository: Repository, id: str, at: float, tips: Iterable[bytes], blobs: Iterable[bytes]
) -> str:
    """A commit, under a ref of its own, protects them from garbage collection."""
    listed = b"".join(b"100644 %s\0" % oid.hex().encode() + oid for oid in sorted(blobs))
    parents = [oid for oid in dict.fromkeys(tips) if repository.objects.kind(oid) == b"commit"]
    tree = write_object(places, repository.shared, b"tree", listed)
    lines = [b"tree " + tree.hex().encode(), *(b"parent " + oid.hex().encode() for oid in parents)]
    who = b"%s %d +0000" % (_WHO.encode(), int(at))
    lines += [b"author " + who, b"committer " + who, b"", b"What `interlock undo %s` needs\n" % id.encode()]
    commit = write_object(places, repository.shared, b"commit", b"\n".join(lines)).hex()
    sync_filesystem(f"{repository.shared}/objects")  # a ref to what is not there would be damage
    GitWriter(places, id).set_ref(repository, f"{HELD}{id}", commit, "")
    return commit


class GitWriter(Struct, frozen=True):
    """Works under Git's own locks; with `again`, a killed undo may have left its locks."""

    places: FolderHandles
    id: str
    again: bool = False

    @contextmanager
    def locked(
        self, repository: Repository, path: str, data: bytes, mode: int = 0o666, replaces: bool = True
    ) -> Iterator[None]:
        """Holds Git's lock beside a file: it has the new content and replaces the file in the end, unless something failed.

        It is written elsewhere first, so that a lock left behind is whole. Refuses where another git command holds it.
        """
        handle, name = self.places.split(path)
        git, lock, own = self.places.folder(repository.own), f"{name}.lock", f"interlock-{self.id}.tmp"
        with closing_handle(create_file(own, mode, git)) as opened:
            write_all(opened, data)
            os.fsync(opened)
        try:
            if self.again and _holds(handle, lock, data):
                os.unlink(lock, dir_fd=handle)
            os.link(own, lock, src_dir_fd=git, dst_dir_fd=handle, follow_symlinks=False)
        except FileExistsError:
            raise RestoreRefused("another git command is at work in the repository") from None
        finally:
            os.unlink(own, dir_fd=git)
        try:
            yield
            if replaces:
                os.rename(lock, name, src_dir_fd=handle, dst_dir_fd=handle)
            else:
                remove_file(lock, handle)
        except BaseException:
            remove_file(lock, handle)
            raise

    def set_ref(self, repository: Repository, name: str, value: str, expected: str) -> None:
        """Deletes it with an empty value; refuses where its present value is not the expected one."""
        path = f"{repository.shared}/{name}"
        make_holder(self.places, path)
        with self.locked(repository, path, f"{value}\n".encode(), replaces=bool(value)):
            if ref_value(repository, name) != expected:
                raise RestoreRefused(f"{name} was changed meanwhile")
            if value:
                _remove_empty_folder(self.places, path)
            else:
                self._unpack_ref(repository, name)
                handle, last = self.places.split(path)
                remove_file(last, handle)

    def _unpack_ref(self, repository: Repository, name: str) -> None:
        path = f"{repository.shared}/packed-refs"
        lines = read_git_file(self.places, path).splitlines(keepends=True)
        kept, dropped = [], False
        for line in lines:
            if line.startswith(b"^") and dropped:
                continue
            dropped = line.rstrip(b"\n").partition(b" ")[2] == os.fsencode(name) and not line.startswith(b"#")
            kept += [line] if not dropped else []
        if len(kept) != len(lines):
            with self.locked(repository, path, b"".join(kept)):
                pass


def _holds(handle: int, name: str, data: bytes) -> bool:
    try:
        with closing_handle(os.open(name, READ, dir_fd=handle)) as opened:
            return os.read(opened, len(data) + 1) == data
    except FileNotFoundError:
        return False


def drop_hold(places: FolderHandles, shared: str, id: str) -> None:
    repository, name = Repository(shared, shared, shared, places.budget), f"{HELD}{id}"
    if now := ref_value(repository, name):
        GitWriter(places, id, again=True).set_ref(repository, name, "", now)
    for folder in ("refs/interlock/undo", "refs/interlock"):
        with contextlib.suppress(OSError):
            _remove_folder(places, f"{shared}/{folder}")


def _remove_folder(places: FolderHandles, path: str) -> None:
    handle, name = places.split(path)
    os.rmdir(name, dir_fd=handle)
    places.forget(path)


def _remove_empty_folder(places: FolderHandles, path: str) -> None:
    """Left over from other branches, at the path of a branch."""
    with contextlib.suppress(OSError):
        for inner in places.names(path):
            _remove_empty_folder(places, f"{path}/{inner}")
        _remove_folder(places, path)


class GitRestore:
    def __init__(self, writer: GitWriter, reader: ContentReader, gits: list[SavedRepository], at: float) -> None:
        self._writer, self._places, self._reader, self._at = writer, writer.places, reader, at
        budget = self._places.budget
        self._repositories = {one.git_dir: Repository(one.work_tree, one.git_dir, one.shared, budget) for one in gits}

    def __call__(self, planned: RestorePlan) -> None:
        for move in planned.moves:
            self._move_ref(move)
        for role in _ORDER:
            for step in planned.steps:
                if step.entry.role == role:
                    self._write_file(step)

    def _move_ref(self, move: RefMove) -> None:
        repository = self._repositories[move.git.git_dir]
        self._writer.set_ref(repository, move.ref.name, move.ref.old, move.now)
        if move.ref.old and move.now:
            self._append_log(f"{repository.shared}/logs/{move.ref.name}", move.now, move.ref.old)
            if repository.history.branch() == move.ref.name:
                self._append_log(f"{repository.own}/logs/HEAD", move.now, move.ref.old)

    def _write_file(self, step: RestoreStep) -> None:
        repository = self._of(step.entry.path)
        data = step.data if step.data is not None else self._reader.entry(step.entry)
        if step.entry.role == "stash":  # the ref first: a log without it counts as unfinished, and is written again
            value = data.splitlines()[-1].split(b" ")[1].decode() if data else ""
            have = ref_value(repository, "refs/stash")
            if have != value:
                self._writer.set_ref(repository, "refs/stash", value, have)
        before = read_git_file(self._places, step.entry.path)
        self._put(step, repository, data)
        if step.entry.role == "head":
            now, old = (_oid(repository, text.strip()) for text in (before, data))
            self._append_log(f"{repository.own}/logs/HEAD", now, old)

    def _put(self, step: RestoreStep, repository: Repository, data: bytes) -> None:
        entry = step.entry
        handle, name = make_holder(self._places, entry.path)
        if entry.kind == "absent" and step.data is None:
            remove_file(name, handle)
            return
        with self._writer.locked(repository, entry.path, data, entry.mode or 0o644):
            found = self._places.stat(entry.path)
            if step.now.found is not None and found is not None and found.st_mtime_ns != step.now.found.st_mtime_ns:
                raise RestoreRefused(f"{entry.path} was changed meanwhile")
        if entry.mode:
            os.chmod(name, entry.mode, dir_fd=handle)
        if entry.mtime_ns and entry.role == "index":
            os.utime(name, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=handle, follow_symlinks=False)

    def _append_log(self, path: str, old: str, new: str) -> None:
        if self._places.stat(path) is None or not new or old == new:
            return
        handle, name = self._places.split(path)
        opened = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=handle)
        line = f"{old or _NONE} {new} {_WHO} {int(self._at)} +0000\tinterlock: undo {self._writer.id}\n"
        with open(opened, "ab") as out:
            out.write(line.encode())

    def _of(self, path: str) -> Repository:
        for one in self._repositories.values():
            if path.startswith((f"{one.own}/", f"{one.shared}/")):
                return one
        raise RestoreRefused("the manifest of the snapshot is damaged")


def _oid(repository: Repository, text: bytes) -> str:
    if not text.startswith(b"ref: "):
        return text.decode("ascii", "replace")
    return ref_value(repository, os.fsdecode(text[5:]))
