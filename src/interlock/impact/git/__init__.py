"""Opens a Git repository by its files and reads its index; Git itself is never run, and an unknown format is Unclear."""

from __future__ import annotations

import os
import struct
from functools import cached_property

from msgspec import Struct

from interlock.impact import Budget, Unclear, blob_id, read_contents
from interlock.impact.git.history import GitHistory
from interlock.impact.git.ignore import IgnoreRules
from interlock.impact.git.objects import Objects, read_offset

SHORT = 4_096  # bytes of a file that points to another place
MOST = 64 << 20  # bytes of an index
_UP = 60  # folders
# Settings that make a work tree another one than its files say.
_ODD = ("worktree", "objectformat", "partialclone", "refstorage", "sparsecheckout", "bare = true")
_FIXED = struct.Struct(">10I20sH")
_EXTENDED, _STAGE, _ASSUMED = 0x4000, 0x3000, 0x8000
_ELSEWHERE = (b"link", b"sdir")  # extensions that say that the rest of the index is elsewhere
Tree = dict[str, tuple[int, bytes]]  # every path of a commit, with mode and content
UNTRACKED = 0, b""  # in place of a mode and content


class Repository(Struct, dict=True):
    top: str
    own: str  # HEAD and index
    shared: str  # objects and branches
    budget: Budget
    _trees: dict[bytes, Tree] = {}

    @cached_property
    def index(self) -> GitIndex:
        """Empty where there is none; raises Unclear for an unknown form."""
        path = f"{self.own}/index"
        try:
            return parse_index(read_contents(path, self.budget, MOST), _parts(os.stat(path).st_mtime_ns), self.budget)
        except FileNotFoundError:
            return GitIndex({}, (0, 0), self.budget)

    @cached_property
    def objects(self) -> Objects:
        return Objects(f"{self.shared}/objects", self.budget)

    @cached_property
    def ignored(self) -> IgnoreRules:
        return IgnoreRules(self.top, self.shared, self.budget)

    @cached_property
    def history(self) -> GitHistory:
        return GitHistory(self.own, self.shared, self.objects, self.budget)

    def inside(self, path: str) -> str:
        return "" if path == self.top else path[len(self.top.rstrip("/")) + 1 :]

    def tree(self, commit: bytes) -> Tree:
        if commit not in self._trees:
            found: Tree = {}
            todo = [("", self.history.commit(commit).tree)]
            while todo:
                prefix, oid = todo.pop()
                for mode, name, content in self.entries(oid):
                    path = f"{prefix}{name}"
                    if mode == 0o40000:
                        todo.append((f"{path}/", content))
                    else:
                        found[path] = (mode, content)
            self._trees[commit] = found
        return self._trees[commit]

    @property
    def committed(self) -> Tree:
        """Of the commit that is checked out."""
        head = self.history.head()
        return self.tree(head) if head is not None else {}

    def entries(self, tree: bytes) -> list[tuple[int, str, bytes]]:
        data, found, place = self.objects.read(tree, b"tree"), [], 0
        while place < len(data):
            space = data.index(b" ", place)
            end = data.index(b"\0", space)
            found.append((int(data[place:space], 8), os.fsdecode(data[space + 1 : end]), data[end + 1 : end + 21]))
            place = end + 21
        self.budget.entry(len(found))
        return found


def repository_of(folder: str, budget: Budget) -> Repository | None:
    """Raises Unclear for an unusual or inconsistent one."""
    at = folder
    for _ in range(_UP):
        budget.entry()
        place = os.path.join(at, ".git")
        if os.path.islink(place):
            raise Unclear("the repository's folder is a link")
        if os.path.isdir(place) or os.path.isfile(place):
            return _open(at, place, budget)
        if at == "/":
            return None
        at = os.path.dirname(at)
    raise Unclear("the folders are nested too deep")


def _open(top: str, place: str, budget: Budget) -> Repository:
    own = shared = place
    if os.path.isfile(place):  # of a linked work tree or a submodule
        own = shared = _read_pointer(place, "gitdir: ", top, budget)
    if os.path.isfile(f"{own}/commondir"):
        shared = _read_pointer(f"{own}/commondir", "", own, budget)
    # A work tree and its repository name each other; one that only claims to belong there does not.
    if place != own != shared and _read_pointer(f"{own}/gitdir", "", own, budget) != os.path.realpath(place):
        raise Unclear("the repository belongs to another folder")
    if not os.path.isfile(f"{own}/HEAD") or not os.path.isdir(f"{shared}/objects"):
        raise Unclear("the repository is not whole")
    _check_settings(f"{shared}/config", own, budget)
    return Repository(top, own, shared, budget)


def _read_pointer(place: str, lead: str, base: str, budget: Budget) -> str:
    text = os.fsdecode(read_contents(place, budget, SHORT)).strip()
    if not text.startswith(lead) or "\n" in text:
        raise Unclear("the repository points nowhere")
    return os.path.realpath(os.path.join(base, text[len(lead) :]))


def _check_settings(path: str, own: str, budget: Budget) -> None:
    """Refuses those that move the work tree or store objects in another way; runs nothing that they name."""
    text = os.fsdecode(read_contents(path, budget, 1 << 20)).lower() if os.path.exists(path) else ""
    for line in map(str.strip, text.split("\n")):
        name = line.partition("=")[0].strip().split(" ")[-1].split("]")[-1].strip()
        if name == "worktree" and "/modules/" in own:  # every submodule says so
            continue
        if name in _ODD or line.replace(" ", "") == "bare=true":
            raise Unclear("the repository has settings that are not known here")


class IndexEntry(Struct, frozen=True):
    """The id of a tracked path's content, and the file's state when Git last read it."""

    oid: bytes
    mode: int
    size: int
    mtime: tuple[int, int]
    ctime: tuple[int, int]
    inode: int
    trusted: bool  # not marked as assumed unchanged

    @property
    def submodule(self) -> bool:
        return self.mode & 0o170000 == 0o160000


class GitIndex(Struct, frozen=True):
    entries: dict[str, IndexEntry]
    written: tuple[int, int]
    budget: Budget
    merging: bool = False  # some paths have more than one content

    def clean(self, entry: IndexEntry, path: str, found: os.stat_result) -> bool:
        state = (found.st_size & 0xFFFFFFFF, _parts(found.st_mtime_ns), _parts(found.st_ctime_ns))
        same = state == (entry.size, entry.mtime, entry.ctime) and found.st_ino & 0xFFFFFFFF == entry.inode
        if same and entry.trusted and entry.mtime < self.written:
            return True
        return blob_id(path, found, self.budget) == entry.oid


def parse_index(data: bytes, written: tuple[int, int], budget: Budget) -> GitIndex:
    """Raises Unclear for an unknown or malformed form."""
    try:
        return _parse_index(data, written, budget)
    except (struct.error, IndexError, ValueError):
        raise Unclear("the index of the repository cannot be read") from None


def _parse_index(data: bytes, written: tuple[int, int], budget: Budget) -> GitIndex:
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise Unclear("the index of the repository has a form that is not known here")
    budget.entry(count)
    entries: dict[str, IndexEntry] = {}
    place, name, merging = 12, b"", False
    for _ in range(count):
        cs, cn, ms, mn, _, inode, mode, _, _, size, oid, flags = _FIXED.unpack_from(data, place)
        start, more, cut = place + _FIXED.size, 0, len(name)
        if flags & _EXTENDED:
            (more,) = struct.unpack_from(">H", data, start)
            start += 2
        trusted = not flags & _ASSUMED and not more & 0x4000
        if version == 4:  # how many bytes of the name before are dropped
            cut, start = read_offset(data, start)
        end = data.index(b"\0", start)
        name = name[: len(name) - cut] + data[start:end]
        place = end + 1 if version == 4 else place + ((end - place + 8) & ~7)
        merging = merging or bool(flags & _STAGE)
        entries[os.fsdecode(name)] = IndexEntry(oid, mode, size, (ms, mn), (cs, cn), inode, trusted)
    while place + 8 <= len(data) - 20:  # extensions; the last bytes are a checksum
        mark, size = struct.unpack_from(">4sI", data, place)
        if mark in _ELSEWHERE:
            raise Unclear("the index of the repository is split or sparse")
        place += 8 + size
    return GitIndex(entries, written, budget, merging)


def _parts(nanoseconds: int) -> tuple[int, int]:
    return (nanoseconds // 1_000_000_000) & 0xFFFFFFFF, nanoseconds % 1_000_000_000
