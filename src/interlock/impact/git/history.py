"""Resolves refs and walks commits: what a name points to, and which commits become unreachable without it."""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from interlock.impact import Budget, Unclear, read_contents
from interlock.impact.git.objects import Objects

MOST_REFS = 20_000
MOST_COMMITS = 20_000
_STEPS = re.compile(r"([~^])(\d*)")
_FULL = re.compile(r"[0-9a-f]{40}")
_SHORT = re.compile(r"[0-9a-f]{7,39}")
_PLAIN = re.compile(r"[A-Za-z0-9_./@+-]+")
_LINKS = 5  # refs that name refs
OURS = "refs/interlock/"  # holds the objects of an undo for some days: no branch that preserves anything


class GitCommit(Struct, frozen=True):
    tree: bytes
    parents: tuple[bytes, ...]
    time: int


class GitHistory(Struct, dict=True):
    own: str
    shared: str
    objects: Objects
    budget: Budget
    _commits: dict[bytes, GitCommit] = {}

    def read_file(self, *path: str, most: int = 16 << 20) -> bytes:
        """Empty where there is none."""
        try:
            return read_contents(os.path.join(*path), self.budget, most)
        except (FileNotFoundError, NotADirectoryError):
            return b""

    def head(self) -> bytes | None:
        """None before the first commit."""
        return self.ref("HEAD")

    def ref(self, name: str) -> bytes | None:
        for _ in range(_LINKS):
            text = self._text(name)
            if text.startswith("ref: "):
                name = text[5:].strip()
                if ".." in name or not name.startswith("refs/"):
                    raise Unclear("a branch of the repository points elsewhere")
            else:
                return bytes.fromhex(text) if _FULL.fullmatch(text) else dict(self._packed_refs()).get(name)
        raise Unclear("a branch of the repository points in a circle")

    def branch(self) -> str:
        """The full name; empty where no branch is checked out."""
        text = self._text("HEAD")
        return text[5:].strip() if text.startswith("ref: ") else ""

    def resolve(self, name: str) -> bytes | None:
        """None for a word that names no commit known here."""
        base = re.split("[~^]", name)[0]
        steps = _STEPS.findall(name[len(base) :])
        if base + "".join(map("".join, steps)) != name:
            raise Unclear("the commit is named in a way that is not known here")
        if (oid := self._base(base)) is not None:
            oid = self._peel(oid)
            for kind, count in steps:
                oid = self._step(oid, kind, int(count[:6] or 1))
        return oid

    def refs(self) -> dict[str, bytes]:
        found = dict(self._packed_refs())
        todo = [f"{self.shared}/refs"]
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    self.budget.entry()
                    name = os.path.relpath(entry.path, self.shared)
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    elif entry.is_file(follow_symlinks=False) and (oid := self.ref(name)) is not None:
                        found[name] = oid
            if len(found) > MOST_REFS:
                raise Unclear("the repository has too many branches")
        return {name: oid for name, oid in found.items() if not name.startswith(OURS)}

    def commit(self, oid: bytes) -> GitCommit:
        if oid not in self._commits:
            found = _parse_commit(self.objects.read(oid, b"commit"))
            self._commits[oid] = found if oid not in self._shallow else replace(found, parents=())
        return self._commits[oid]

    @cached_property
    def _shallow(self) -> frozenset[bytes]:
        """Their parents were never fetched."""
        lines = self.read_file(self.shared, "shallow").split()
        return frozenset(bytes.fromhex(line.decode("ascii", "replace")) for line in lines)

    def beyond(self, tips: Iterable[bytes], reachable: Iterable[bytes]) -> set[bytes]:
        """Newest first, so that little has to be read."""
        queue: list[tuple[int, bytes, bool]] = []
        marks: dict[bytes, bool] = {}  # commit -> whether it is reachable
        for oids, mark in ((tips, False), (reachable, True)):
            for oid in oids:
                self._push(queue, marks, oid, mark)
        open_tips = sum(1 for mark in marks.values() if not mark)
        seen: set[bytes] = set()
        oldest = 1 << 62  # of those seen: what is reachable may reach them through commits of the same second
        while queue and (open_tips > 0 or -queue[0][0] >= oldest):
            if len(marks) > MOST_COMMITS:
                raise Unclear("the history is too long")
            _, oid, mark = heapq.heappop(queue)
            if mark != marks[oid]:
                continue  # it was found to be reachable meanwhile
            if not mark:
                open_tips -= 1
                seen.add(oid)
                oldest = min(oldest, self.commit(oid).time)
            for parent in self.commit(oid).parents:
                before = marks.get(parent)
                self._push(queue, marks, parent, mark)
                if before is None and not mark:
                    open_tips += 1
                elif before is False and mark:
                    open_tips -= parent not in seen
        return {oid for oid in seen if not marks[oid]}

    def stashes(self) -> list[str]:
        """Their messages, the newest last."""
        lines = self.read_file(self.shared, "logs", "refs", "stash").splitlines()
        return [os.fsdecode(line).partition("\t")[2] for line in lines if line]

    def _push(self, queue: list[tuple[int, bytes, bool]], marks: dict[bytes, bool], oid: bytes, mark: bool) -> None:
        before = marks.get(oid)
        if before is None or (mark and not before):
            marks[oid] = mark
            heapq.heappush(queue, (-self.commit(oid).time, oid, mark))

    def _base(self, name: str) -> bytes | None:
        if name in ("HEAD", "@"):
            return self.head()
        if name == "ORIG_HEAD" and (oid := self.ref(name)) is not None:
            return oid
        if _FULL.fullmatch(name):
            return bytes.fromhex(name)
        if not _PLAIN.fullmatch(name) or ".." in name or "@{" in name:
            return None
        for form in ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD"):
            full = form.format(name)
            if full.startswith("refs/") and (oid := self.ref(full)) is not None:
                return oid
        return self.objects.by_prefix(name) if _SHORT.fullmatch(name) else None

    def _peel(self, oid: bytes) -> bytes:
        for _ in range(_LINKS):
            if self.objects.kind(oid) != b"tag":
                return oid
            oid = bytes.fromhex(self.objects.read(oid, b"tag")[7:47].decode("ascii"))
        raise Unclear("a tag of the repository points in a circle")

    def tips(self, refs: Iterable[bytes]) -> list[bytes]:
        """Refs to other objects are left out."""
        peeled = [self._peel(oid) for oid in dict.fromkeys(refs)]
        return [oid for oid in peeled if self.objects.kind(oid) == b"commit"]

    def _step(self, oid: bytes, kind: str, count: int) -> bytes:
        """`^2` is the second parent, `~2` the first parent of the first."""
        for _ in range(min(count, MOST_COMMITS if kind == "~" else 1)):
            parents = self.commit(oid).parents
            number = count if kind == "^" else 1
            if number > len(parents):
                raise Unclear("there is no such commit")
            oid = parents[number - 1]
        return oid

    def _text(self, name: str) -> str:
        place = os.path.join(self.own if not name.startswith("refs/") else self.shared, name)
        return os.fsdecode(self.read_file(place, most=4_096)).strip() if not os.path.isdir(place) else ""

    def _packed_refs(self) -> Iterator[tuple[str, bytes]]:
        for line in self.read_file(self.shared, "packed-refs").split(b"\n"):
            oid, _, name = line.partition(b" ")
            if len(oid) == 40 and name:
                yield os.fsdecode(name), bytes.fromhex(oid.decode("ascii", "replace"))


def _parse_commit(data: bytes) -> GitCommit:
    tree, parents, time = b"", [], 0
    for line in data.split(b"\n\n", 1)[0].split(b"\n"):
        word, _, rest = line.partition(b" ")
        if word == b"tree":
            tree = bytes.fromhex(rest.decode("ascii"))
        elif word == b"parent":
            parents.append(bytes.fromhex(rest.decode("ascii")))
        elif word == b"committer":
            time = int(rest.rsplit(b" ", 2)[1])
    if len(tree) != 20:
        raise Unclear("a commit of the repository is damaged")
    return GitCommit(tree, tuple(parents), time)
