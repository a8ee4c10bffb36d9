"""The child process that takes, restores and prunes snapshots; it starts nothing and can be killed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from interlock.impact import Budget, BudgetExceeded, Unclear, inspector, problem_words
from interlock.model import Json
from interlock.snapshots import ID, PruneResult, SnapshotLimits
from interlock.snapshots.folder import FolderHandles, RestoreRefused, SnapshotFolder, remove_file
from interlock.snapshots.git_writer import drop_hold
from interlock.snapshots.manifest import Manifest, parse_manifest
from interlock.snapshots.restore import plan, settle, undo
from interlock.snapshots.take import take

DAY = 86_400
MILLISECONDS = 50_000
_ENDINGS = ("json", "after", "undoing", "begun")


class ListedSnapshot(Struct, frozen=True):
    """One snapshot of the folder; without a manifest, one that cannot be read."""

    id: str
    at: float
    bytes: int
    manifest: Manifest | None = None


def prune(folder: SnapshotFolder, now: float, days: float, bytes: int) -> PruneResult:
    """Expired ones, and the oldest beyond so many bytes; nothing while a snapshot is being taken."""
    try:
        budget = Budget.of(MILLISECONDS, 10_000_000)
        with folder.locked("lock", exclusive=True, wait=False), FolderHandles(budget) as places:
            remaining = find_snapshots(folder)
            expired = [one for one in remaining if one.at < now - days * DAY]
            remaining = [one for one in remaining if one not in expired]
            while remaining and sum(one.bytes for one in remaining) > bytes:
                expired.append(remaining.pop())  # the oldest is the last
            for one in expired:
                _delete(folder, places, one)
            _delete_leftovers(folder, places, remaining)
            files = (f"{at}/{name}" for at, _, names in os.walk(folder.path) for name in names)
            return PruneResult(tuple(one.id for one in expired), sum(os.lstat(path).st_size for path in files))
    except (RestoreRefused, BudgetExceeded, OSError) as error:
        return PruneResult(problem=problem_words(error, "deleted"))


def find_snapshots(folder: SnapshotFolder) -> list[ListedSnapshot]:
    ids = [name[:-5] for name in os.listdir(f"{folder.path}/snapshots") if name.endswith(".json")]
    found = [_read_snapshot(folder, id) for id in ids if ID.fullmatch(id)]
    return sorted(found, key=lambda one: (one.at, one.id), reverse=True)


def _read_snapshot(folder: SnapshotFolder, id: str) -> ListedSnapshot:
    found, pack = os.lstat(folder.place(id)), folder.pack(id)
    size = found.st_size + (os.path.getsize(pack) if os.path.exists(pack) else 0)
    try:
        manifest = parse_manifest(folder.read(folder.place(id))[0], folder)
    except (RestoreRefused, OSError):
        return ListedSnapshot(id, found.st_mtime, size)
    size += sum(count for sha, count in manifest.contents.items() if sha not in manifest.pack)
    return ListedSnapshot(id, manifest.at, size, manifest)


def _delete(folder: SnapshotFolder, places: FolderHandles, one: ListedSnapshot) -> None:
    """Refs first, and the manifest before the contents: a kill leaves no manifest of missing contents."""
    held = one.manifest.git if one.manifest is not None else ()
    _release_objects(places, [git.shared for git in held if git.held], one.id)
    for path in (*(folder.place(one.id, ending) for ending in _ENDINGS), folder.pack(one.id)):
        remove_file(path)


def _delete_leftovers(folder: SnapshotFolder, places: FolderHandles, remaining: list[ListedSnapshot]) -> None:
    ids = {one.id for one in remaining}
    for name in os.listdir(f"{folder.path}/snapshots"):
        id, _, ending = name.partition(".")
        if id not in ids and ID.fullmatch(id):
            if ending == "begun":
                with open(folder.place(id, ending), encoding="utf-8", errors="surrogateescape") as given:
                    _release_objects(places, given.read(1 << 20).split("\0"), id)
            os.unlink(f"{folder.path}/snapshots/{name}")
    packs = set(map(folder.pack, ids))
    for part in ("tmp", "packs"):
        for path in (f"{folder.path}/{part}/{name}" for name in os.listdir(f"{folder.path}/{part}")):
            if path not in packs:
                os.unlink(path)
    manifests = [one.manifest for one in remaining if one.manifest is not None]
    if len(manifests) == len(remaining):  # one that cannot be read may need any of them
        needed = {sha for manifest in manifests for sha in manifest.contents}
        for first in os.listdir(f"{folder.path}/objects"):
            for name in os.listdir(f"{folder.path}/objects/{first}"):
                places.budget.tick()
                if first + name not in needed:
                    os.unlink(folder.object(first + name))


def _release_objects(places: FolderHandles, repositories: list[str], id: str) -> None:
    """A repository that is gone or damaged holds nothing of ours that matters."""
    for shared in repositories:
        with contextlib.suppress(OSError, RestoreRefused, Unclear, ValueError):
            drop_hold(places, shared, id)


# Limits the resources that a hostile tree could use up; it may write, and starts nothing.
confine = partial(inspector.confine, memory=4 << 30, handles=1_024, writes=True)
_ANSWERS: dict[str, Callable[..., Any]] = {"take": take, "plan": plan, "undo": undo, "settle": settle, "prune": prune}


def answer_request(request: dict[str, Any], home: str, folder: str, guarded: str) -> Json:
    try:
        place, what = SnapshotFolder.open(folder, guarded), request.pop("do")
        if what == "take":
            request |= {"home": home, "limits": SnapshotLimits(*request["limits"])}
        return {"answer": to_builtins(_ANSWERS[what](folder=place, **request))}
    except Exception as error:
        return {"problem": f"the snapshot process failed ({type(error).__name__})"}


if __name__ == "__main__":
    os.umask(0o022)
    handle, folder, guarded = sys.argv[1:]
    inspector.answer_requests(int(handle), partial(answer_request, folder=folder, guarded=guarded), confine)
