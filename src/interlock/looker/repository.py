"""Which repository does a path belong to, and what does it hold? Found and read as files; Git itself is never run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from interlock.looker.budget import Budget, Unclear
from interlock.looker.history import History
from interlock.looker.ignored import Ignored
from interlock.looker.index import Index, read_index
from interlock.looker.objects import Objects
from interlock.looker.opened import contents

SHORT = 4_096  # bytes of a file that says where something is
_UP = 60  # folders


@dataclass(slots=True)
class Repository:
    """One work tree: its top, its own Git folder, and the one that it shares with its siblings."""

    top: str
    own: str  # HEAD and index
    shared: str  # objects and branches
    budget: Budget
    _index: Index | None = None
    _objects: Objects | None = None
    _ignored: Ignored | None = None
    _history: History | None = None
    _trees: dict[bytes, dict[str, tuple[int, bytes]]] = field(default_factory=dict)

    @property
    def index(self) -> Index:
        if self._index is None:
            self._index = read_index(os.path.join(self.own, "index"), self.budget)
        return self._index

    @property
    def objects(self) -> Objects:
        if self._objects is None:
            self._objects = Objects(os.path.join(self.shared, "objects"), self.budget)
        return self._objects

    @property
    def ignored(self) -> Ignored:
        if self._ignored is None:
            self._ignored = Ignored(self.top, self.shared, self.budget)
        return self._ignored

    @property
    def history(self) -> History:
        if self._history is None:
            self._history = History(self.own, self.shared, self.objects, self.budget)
        return self._history

    def inside(self, path: str) -> str:
        """The path from the top; empty for the top itself."""
        return "" if path == self.top else path[len(self.top.rstrip("/")) + 1 :]

    def tree(self, commit: bytes) -> dict[str, tuple[int, bytes]]:
        """Every path that a commit holds, with mode and content."""
        if commit not in self._trees:
            root = self.history.commit(commit).tree
            found: dict[str, tuple[int, bytes]] = {}
            todo = [("", root)]
            while todo:
                prefix, oid = todo.pop()
                for mode, name, content in _entries(self.objects.read(oid, b"tree")):
                    self.budget.entry()
                    path = f"{prefix}{name}"
                    if mode == 0o40000:
                        todo.append((f"{path}/", content))
                    else:
                        found[path] = (mode, content)
            self._trees[commit] = found
        return self._trees[commit]

    def committed(self, path: str) -> bytes | None:
        """The content that the last commit has under a path."""
        head = self.history.head()
        found = self.tree(head).get(path) if head is not None else None
        return found[1] if found else None


def _entries(data: bytes) -> list[tuple[int, str, bytes]]:
    found, place = [], 0
    while place < len(data):
        space = data.index(b" ", place)
        end = data.index(b"\0", space)
        found.append((int(data[place:space], 8), os.fsdecode(data[space + 1 : end]), data[end + 1 : end + 21]))
        place = end + 21
    return found


def repository_of(folder: str, budget: Budget) -> Repository | None:
    """The repository that a real folder is in; raises Unclear for one that says odd things about itself."""
    at = folder
    for _ in range(_UP):
        budget.entry()
        place = os.path.join(at, ".git")
        if os.path.islink(place):
            raise Unclear("the repository's folder is a link")
        if os.path.isdir(place) or os.path.isfile(place):
            return _opened(at, place, budget)
        if at == "/":
            return None
        at = os.path.dirname(at)
    raise Unclear("the folders are nested too deep")


def _opened(top: str, place: str, budget: Budget) -> Repository:
    own = place
    if os.path.isfile(place):  # of a linked work tree or a submodule
        own = _pointed(place, "gitdir: ", top, budget)
    shared = own
    if os.path.isfile(os.path.join(own, "commondir")):
        shared = _pointed(os.path.join(own, "commondir"), "", own, budget)
    if own != place and shared != own:
        _points_back(own, place, budget)
    if not os.path.isfile(os.path.join(own, "HEAD")) or not os.path.isdir(os.path.join(shared, "objects")):
        raise Unclear("the repository is not whole")
    _plain(os.path.join(shared, "config"), top, own, budget)
    return Repository(top, own, shared, budget)


def _pointed(place: str, lead: str, base: str, budget: Budget) -> str:
    text = os.fsdecode(contents(place, budget, SHORT)).strip()
    if not text.startswith(lead) or "\n" in text:
        raise Unclear("the repository points nowhere")
    return os.path.realpath(os.path.join(base, text[len(lead) :]))


def _points_back(own: str, place: str, budget: Budget) -> None:
    """A work tree and its repository name each other; one that only claims to belong there does not."""
    back = _pointed(os.path.join(own, "gitdir"), "", own, budget)
    if back != os.path.realpath(place):
        raise Unclear("the repository belongs to another folder")


# Settings that make a work tree another one than its files say.
_ODD = ("worktree", "objectformat", "partialclone", "refstorage", "sparsecheckout", "bare = true")


def _plain(path: str, top: str, own: str, budget: Budget) -> None:
    """Refuses a repository whose settings move its work tree or keep its objects otherwise; what its settings run is not run."""
    text = os.fsdecode(contents(path, budget, 1 << 20)).lower() if os.path.exists(path) else ""
    lines = [line.strip() for line in text.split("\n")]
    submodule = f"{os.sep}modules{os.sep}" in own
    for line in lines:
        name = line.partition("=")[0].strip().split(" ")[-1].split("]")[-1].strip()
        if name == "worktree" and submodule:  # every submodule says so
            continue
        if name in _ODD or line.replace(" ", "") == "bare=true":
            raise Unclear("the repository has settings that are not known here")
