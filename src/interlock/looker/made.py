"""Which of what would be gone did this session make itself? By what it is known to have written, as it was then."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.looker.budget import Budget
from interlock.looker.opened import blob_id
from interlock.looker.repository import Repository, repository_of

MOST = 2_000


def mark_of(found: os.stat_result) -> str:
    """What a file was like: another file of that name, or one that was changed since, has another mark."""
    return f"{found.st_dev}:{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"


@dataclass(slots=True)
class Own:
    """What the session made, as far as files and branches go."""

    files: dict[str, list[Mapping[str, Any]]]  # by the last part of their names
    refs: list[Mapping[str, Any]]
    budget: Budget
    _relied_on: set[str] = field(default_factory=set)  # files whose copies were let go
    _gone: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, things: Sequence[Mapping[str, Any]], budget: Budget) -> Own:
        files: dict[str, list[Mapping[str, Any]]] = {}
        for thing in things[:MOST]:
            if thing["kind"] == "file":
                files.setdefault(os.path.basename(str(thing["name"])), []).append(thing)
        return cls(files, [one for one in things[:MOST] if one["kind"] != "file"], budget)

    def file(self, path: str, found: os.stat_result) -> bool:
        """Whether this very file was made by the session, and of a copy, that what it is a copy of is still the same."""
        self._gone.add(path)
        return stat.S_ISREG(found.st_mode) and any(
            self._is(thing, path) and thing.get("mark") == mark_of(found) and self._copied(thing, path, found)
            for thing in self.files.get(os.path.basename(path), ())
        )

    @property
    def lost_with_its_copy(self) -> bool:
        return bool(self._relied_on & self._gone)

    def ref(self, repository: Repository, kind: str, name: str, remote: str = "") -> bool:
        """Whether the session made or pushed a branch or a tag of this repository; pushed it to that remote, where one is named."""
        return any(
            one["kind"] == kind
            and one["name"] == name
            and remote in ("", one.get("source", ""))
            and self._same(repository, str(one["base"]))
            for one in self.refs
        )

    def _is(self, thing: Mapping[str, Any], path: str) -> bool:
        full = os.path.join(str(thing.get("base", "/")), str(thing["name"]))
        return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full)) == path

    def _copied(self, thing: Mapping[str, Any], path: str, found: os.stat_result) -> bool:
        if not thing.get("source"):
            return True
        source = os.path.realpath(os.path.join(str(thing.get("base", "/")), str(thing["source"])))
        try:
            there = os.lstat(source)
        except OSError:
            return False
        if there.st_size != found.st_size or (there.st_dev, there.st_ino) == (found.st_dev, found.st_ino):
            return False
        self._relied_on.add(source)
        mark = blob_id(source, there, self.budget)
        return mark is not None and mark == blob_id(path, found, self.budget)

    def _same(self, repository: Repository, base: str) -> bool:
        other = repository_of(os.path.realpath(base), self.budget) if os.path.isdir(base) else None
        return other is not None and other.shared == repository.shared
