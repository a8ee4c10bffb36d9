"""The files in which Git says what is checked out, staged, stashed and set: what has to be in them, and whether somebody worked on them since."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from interlock.keeper.manifest import Entry
from interlock.keeper.places import Places
from interlock.keeper.present import Now, listing, named, read, tracked
from interlock.looker.budget import Budget, Unclear

if TYPE_CHECKING:
    from interlock.keeper.planning import Planner

# What has to be in the file (None: what was kept), and whether that would undo later work; None where there is nothing to do.
Found = tuple[bytes | None, bool] | None
_LINE = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) (.*)$")


def key(places: Places, entry: Entry, state: Now, budget: Budget) -> list[Any]:
    """What two states of such a file that mean the same have in common."""
    if entry.role == "index" and state.kind == "file":
        try:
            return ["index", named(read(places, entry.path), budget)]
        except Unclear:
            pass
    return [*state.key[:1], 0, *state.key[2:]]


def _index(planner: Planner, entry: Entry, kept: bytes, known: bool, unsettled: bool) -> Found:
    before = listing(tracked(kept, planner.budget))
    present = listing(tracked(read(planner.places, entry.path), planner.budget))
    if before == present:
        return None
    if known or not unsettled:
        return None, not known
    trees = list(_trees(planner, entry))
    new = [
        path
        for path, row in present.items()
        if row != before.get(path) and all(row[:2] != tree.get(path) for tree in trees)
    ]
    return None, bool(new)


def _trees(planner: Planner, entry: Entry) -> Iterator[dict[str, tuple[int, bytes]]]:
    """What the action takes its contents from: the commit that is checked out now, and the one that it names."""
    for git in planner.manifest.git:
        if git.git_dir == os.path.dirname(entry.path):
            repository = planner.repository(git)
            head = repository.history.head()
            for oid in {head, bytes.fromhex(entry.leaves) if entry.leaves else None} - {None}:
                if oid is not None and repository.objects.has(oid):
                    yield repository.tree(oid)


def _head(planner: Planner, entry: Entry, kept: bytes, known: bool, unsettled: bool) -> Found:
    text = read(planner.places, entry.path).strip()
    if text == kept.strip():
        return None
    return None, not known and (not unsettled or text != os.fsencode(entry.leaves))


def _config(planner: Planner, entry: Entry, kept: bytes, known: bool, unsettled: bool) -> Found:
    """An action takes sections away; a line that was not there before is somebody's work."""
    lines = {line.strip() for line in kept.splitlines()}
    new = [line for line in read(planner.places, entry.path).splitlines() if line.strip() and line.strip() not in lines]
    return None, bool(new) if unsettled else not known


def _stash(planner: Planner, entry: Entry, kept: bytes, known: bool, unsettled: bool) -> Found:
    """What was put aside comes back; what was put aside since stays, on top of it."""
    old, new = _lines(kept), _lines(read(planner.places, entry.path))
    names = {line[1] for line in old}
    more = [line for line in new if line[1] not in names]
    if known or not more:
        return None, False
    if {line[1] for line in new} >= names:
        return None
    rows, last = [], b"0" * 40
    for _, oid, rest in (*old, *more):
        rows.append(b"%s %s %s\n" % (last, oid, rest))
        last = oid
    return b"".join(rows), False


def _log(planner: Planner, entry: Entry, kept: bytes, known: bool, unsettled: bool) -> Found:
    """A log that went comes back; one that is there has only grown."""
    present = read(planner.places, entry.path)
    if (entry.kind == "file" and present.startswith(kept)) or (entry.kind == "absent" and not known):
        return None
    return None, False


def _lines(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    found = [_LINE.match(line) for line in data.splitlines()]
    return [(match[1], match[2], match[3]) for match in found if match is not None]


READERS: dict[str, Callable[[Planner, Entry, bytes, bool, bool], Found]] = {
    "index": _index,
    "head": _head,
    "config": _config,
    "stash": _stash,
    "log": _log,
}
