"""Writing to a repository as Git does it, without running Git: objects by their names, branches and lists under Git's own lock files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterable

from interlock.keeper.contents import whole
from interlock.keeper.folder import Refused, all_synced
from interlock.keeper.places import Places
from interlock.looker.budget import Budget
from interlock.looker.repository import Repository

HELD = "refs/interlock/undo/"
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_WHO = b"Interlock <interlock@localhost>"


def made(places: Places, folder: str) -> None:
    """The folder is there, with those that it is in."""
    try:
        places.folder(folder)
    except FileNotFoundError:
        made(places, os.path.dirname(folder))
        handle, name = places.split(folder)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=handle)
        places.forget(folder)
        places.folder(folder)


def write_object(places: Places, shared: str, kind: bytes, data: bytes) -> bytes:
    """One object, loose; its name."""
    body = b"%s %d\0" % (kind, len(data)) + data
    oid = hashlib.sha1(body, usedforsecurity=False).digest()
    folder = os.path.join(shared, "objects", oid.hex()[:2])
    made(places, folder)
    handle, name = places.folder(folder), oid.hex()[2:]
    temporary = f"tmp_obj_{name}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=handle)
    opened = os.open(temporary, _MAKE, 0o444, dir_fd=handle)
    try:
        whole(opened, zlib.compress(body, 1))
    finally:
        os.close(opened)
    os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
    return oid


def hold(
    places: Places, repository: Repository, id: str, at: float, tips: Iterable[bytes], blobs: Iterable[bytes]
) -> str:
    """A commit that keeps commits and contents from being thrown away, under a ref of its own; its name."""
    names = sorted(oid.hex().encode() for oid in blobs)
    listed = b"".join(b"100644 %s\0" % name + bytes.fromhex(name.decode()) for name in names)
    parents = [oid for oid in dict.fromkeys(tips) if repository.objects.kind(oid) == b"commit"]
    tree = write_object(places, repository.shared, b"tree", listed)
    lines = [b"tree " + tree.hex().encode(), *(b"parent " + oid.hex().encode() for oid in parents)]
    who = b"%s %d +0000" % (_WHO, int(at))
    lines += [b"author " + who, b"committer " + who, b"", b"What `interlock undo %s` needs\n" % id.encode()]
    commit = write_object(places, repository.shared, b"commit", b"\n".join(lines)).hex()
    all_synced(os.path.join(repository.shared, "objects"))  # a ref to what is not there would be damage
    set_ref(places, repository, f"{HELD}{id}", commit, "", id)
    return commit


def set_ref(
    places: Places, repository: Repository, name: str, value: str, expected: str, id: str, again: bool = False
) -> None:
    """A branch gets another value, or goes with an empty one; refuses where it is not what was expected."""
    path = os.path.join(repository.shared, name)
    made(places, os.path.dirname(path))
    with locking(places, repository, path, f"{value}\n".encode(), id, again) as finish:
        now = repository.history.ref(name)
        if (now.hex() if now is not None else "") != expected:
            raise Refused(f"{name} was changed meanwhile")
        if value:
            _cleared(places, path)
            finish()
        else:
            unpack(places, repository, name, id, again)
            handle, last = places.split(path)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(last, dir_fd=handle)


class locking:
    """Git's lock beside a file, made with what is to be in it; `finish` puts it in the file's place, and anything else takes it away."""

    def __init__(self, places: Places, repository: Repository, path: str, data: bytes, id: str, again: bool, mode: int = 0o666) -> None:  # fmt: skip
        self._places, self._data, self._again = places, data, again
        self._handle, self._name = places.split(path)
        self._git, self._own = places.folder(repository.own), f"interlock-{id}.tmp"
        self._mode, self._done = mode, False

    def __enter__(self) -> locking:
        """Made elsewhere first, so that a lock that is left behind is whole."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._own, dir_fd=self._git)
        opened = os.open(self._own, _MAKE, self._mode, dir_fd=self._git)
        try:
            whole(opened, self._data)
            os.fsync(opened)
        finally:
            os.close(opened)
        try:
            self._linked()
        except FileExistsError:
            if not self._again or not self._ours():
                os.unlink(self._own, dir_fd=self._git)
                raise Refused("another git command is at work in the repository") from None
            os.unlink(f"{self._name}.lock", dir_fd=self._handle)
            self._linked()
        os.unlink(self._own, dir_fd=self._git)
        return self

    def __call__(self) -> None:
        os.rename(f"{self._name}.lock", self._name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
        self._done = True

    def __exit__(self, *error: object) -> None:
        if not self._done:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._name}.lock", dir_fd=self._handle)

    def _linked(self) -> None:
        os.link(self._own, f"{self._name}.lock", src_dir_fd=self._git, dst_dir_fd=self._handle, follow_symlinks=False)

    def _ours(self) -> bool:
        """What an undo that was killed has left."""
        opened = os.open(f"{self._name}.lock", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self._handle)  # fmt: skip
        try:
            return os.read(opened, len(self._data) + 1) == self._data
        finally:
            os.close(opened)


def unpack(places: Places, repository: Repository, name: str, id: str, again: bool = False) -> None:
    """Takes a ref out of the packed ones."""
    path = os.path.join(repository.shared, "packed-refs")
    if places.stat(path) is None:
        return
    opened = places.reading(path)
    with open(opened, "rb") as given:
        lines = given.read(64 << 20).splitlines(keepends=True)
    kept, dropped = [], False
    for line in lines:
        if line.startswith(b"^") and dropped:
            continue
        dropped = line.rstrip(b"\n").partition(b" ")[2] == os.fsencode(name) and not line.startswith(b"#")
        if not dropped:
            kept.append(line)
    if len(kept) != len(lines):
        with locking(places, repository, path, b"".join(kept), id, again) as finish:
            finish()


def drop(places: Places, shared: str, id: str, budget: Budget) -> None:
    """Takes away the ref that held what a snapshot needs."""
    repository, name = Repository(shared, shared, shared, budget), f"{HELD}{id}"
    now = repository.history.ref(name)
    if now is not None:
        set_ref(places, repository, name, "", now.hex(), id, again=True)
    for folder in (os.path.dirname(name), os.path.dirname(os.path.dirname(name))):
        with contextlib.suppress(OSError):
            handle, last = places.split(os.path.join(shared, folder))
            os.rmdir(last, dir_fd=handle)
            places.forget(os.path.join(shared, folder))


def _cleared(places: Places, path: str) -> None:
    """An empty folder where a branch comes, left over from others, goes."""
    with contextlib.suppress(OSError):
        handle, name = places.split(path)
        for inner in places.listed(path):
            _cleared(places, f"{path}/{inner}")
        os.rmdir(name, dir_fd=handle)
        places.forget(path)
