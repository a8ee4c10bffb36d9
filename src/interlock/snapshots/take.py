"""Takes a snapshot of everything that an action may change: copied, read back, manifest last, so that a snapshot is whole or does not exist."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.impact import ENTRIES, Budget, BudgetExceeded, Unclear
from interlock.impact.inspector import target_paths
from interlock.impact.targets import effective_home, join_target, real_path
from interlock.snapshots import SnapshotLimits, TakenSnapshot, databases, no_snapshot
from interlock.snapshots.contents import ContentWriter
from interlock.snapshots.filesystem import FolderHandles
from interlock.snapshots.folder import RestoreRefused, SnapshotFolder
from interlock.snapshots.git_writer import drop_hold, hold_objects
from interlock.snapshots.manifest import Manifest, SavedRef, SavedRepository, manifest_json
from interlock.snapshots.recorder import PathRecorder
from interlock.snapshots.scope import SnapshotScope, add_git_command

_GLOB = frozenset("*?[")


def collect_scope(question: Mapping[str, Any], scope: SnapshotScope) -> list[str]:
    """Fills the scope, and gives the folders back; raises Unclear for what is not fully understood."""
    bases = [str(base) for base in question["bases"]]
    if not bases or not all(base.startswith("/") for base in bases):
        raise Unclear("the folder is not known")
    for effect in question["deeds"]:
        verb = str(effect["verb"])
        if verb == "git":
            words, after = ([str(word) for word in effect.get(name, ())] for name in ("words", "after"))
            if not sum(add_git_command(base, words, scope, after) for base in bases):
                raise Unclear("there is no repository")
        elif verb in _FILES:
            _FILES[verb](effect, _meant(effect, bases, scope), scope)
            _led(effect, bases, scope)
        else:
            raise Unclear(f"what {verb} changes is not known here")
    return [os.path.realpath(base) for base in bases]


def _meant(effect: Mapping[str, Any], bases: Sequence[str], scope: SnapshotScope) -> list[str]:
    """The paths that are there; without any, those that come into being."""
    found = sorted(dict.fromkeys(target_paths(effect, bases, scope.home, scope.budget)))
    if found or "found" in effect or _GLOB & set(str(effect["target"])):
        return found
    return [os.path.realpath(join_target(base, str(effect["target"]), scope.home)) for base in bases]


def _deleted(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    for path in paths:
        if "found" in effect:  # a search deletes a folder only when nothing is left in it
            scope.path(path)
        elif os.path.lexists(path):
            scope.tree(path)
            _holder(effect, path, scope)


def _holder(effect: Mapping[str, Any], path: str, scope: SnapshotScope) -> None:
    """What deletes everything in a folder may delete the folder."""
    holder = os.path.dirname(path)
    if str(effect["target"]).endswith("*") and os.stat(holder).st_uid == os.geteuid() and not scope.folder.own(holder):
        scope.path(holder)


def _led(effect: Mapping[str, Any], bases: Sequence[str], scope: SnapshotScope) -> None:
    """Nor is it known whether a link that leads to such a folder stays: `find link -delete` takes the link."""
    target = str(effect["target"]).rstrip("*").rstrip("/")
    if effect["verb"] == "delete" and str(effect["target"]).endswith("*") and not _GLOB & set(target):
        for path in (real_path(join_target(base, target, scope.home)) for base in bases if target):
            if os.path.islink(path):
                scope.path(path)


def _emptied(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    _written(paths, scope, "empty")


def _overwritten(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    _written(paths, scope, "")


def _written(paths: Sequence[str], scope: SnapshotScope, leaves: str) -> None:
    """What is written goes through links; a program that renames replaces the link itself: both are kept."""
    for path in paths:
        behind = os.path.realpath(path)
        if os.path.isdir(behind):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        scope.path(behind, leaves=leaves)
        if behind != path:
            scope.path(path)


def _database(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    for path in paths:
        behind = os.path.realpath(path)
        if not os.path.isfile(behind):
            raise Unclear("there is no such database")
        scope.databases[behind] = None


_FILES: dict[str, Callable[[Mapping[str, Any], Sequence[str], SnapshotScope], None]] = {
    "delete": _deleted,
    "truncate": _emptied,
    "overwrite": _overwritten,
    "database": _database,
}


def take(
    question: Mapping[str, Any], folder: SnapshotFolder, id: str, at: float, limits: SnapshotLimits, home: str
) -> TakenSnapshot:
    """What the question's deeds may change is kept; or, with a problem, nothing is."""
    budget = Budget(time.monotonic() + limits.ms / 1000, ENTRIES, 2 * limits.bytes + (64 << 20))
    try:
        with folder.locked("lock", wait=False), FolderHandles() as places:
            scope = SnapshotScope(budget, places, folder, effective_home(question, home))
            bases = collect_scope(question, scope)
            return save_scope(scope, folder, id, at, bases, limits)[0]
    except (BudgetExceeded, Unclear, RestoreRefused) as error:
        return no_snapshot(id, str(error))
    except OSError as error:
        return no_snapshot(id, f"it cannot be kept ({error.strerror or type(error).__name__})")
    except RecursionError:
        return no_snapshot(id, "it is nested too deep")
    except (ValueError, KeyError, TypeError, MemoryError):
        return no_snapshot(id, "it cannot be read")


def save_scope(
    scope: SnapshotScope, folder: SnapshotFolder, id: str, at: float, bases: Sequence[str], limits: SnapshotLimits
) -> tuple[TakenSnapshot, Manifest]:
    """A whole snapshot of a scope. Where order is safety: (1) what is begun is noted, (2) contents, (3) commits held, (4) the list."""
    place = folder.place(id)
    if os.path.lexists(place):
        raise RestoreRefused("there is such a snapshot already")
    writer = ContentWriter(folder, id, scope.budget)
    try:
        _begun(folder, id, scope)  # (1)
        recorder = PathRecorder(folder, scope.places, writer, limits, scope.budget)
        notes = _recorded(scope, recorder)  # (2)
        made = Manifest(id, at, tuple(bases), notes=notes, remotes=list(scope.remotes))
        made.databases = [
            databases.save_database(folder, path, id, number, writer, scope.budget)
            for number, path in enumerate(scope.databases)
            if not _own(folder, path)
        ]
        made.entries = sorted(recorder.entries.values(), key=lambda entry: entry.path)
        writer.finish()
        made.pack = writer.pack
        made.git = _held(scope, id, at)  # (3)
        scope.budget.tick()
        digest = folder.write(place, manifest_json(made))  # (4)
    except BaseException:
        writer.abandon()
        _let_go(folder, scope, id)
        raise
    _ended(folder, id)
    return TakenSnapshot(id, digest, made.files, made.bytes, notes), made


def _recorded(scope: SnapshotScope, recorder: PathRecorder) -> tuple[str, ...]:
    aside: list[str] = []

    def again(path: str) -> bool:
        try:
            found = scope.survey.is_regenerable(path)
        except Unclear:
            return False
        aside.extend([path] if found else [])
        return found

    for path in scope.trees:
        recorder.tree(path, again)
    for path, (role, leaves) in scope.paths.items():
        recorder.path(path, role, leaves)
    left = [path for path in aside if not recorder.fits(path)]
    return tuple(f"{os.path.basename(path)} can be made again and was not kept" for path in left)


def _held(scope: SnapshotScope, id: str, at: float) -> list[SavedRepository]:
    found = []
    for own, one in scope.touched.items():
        repository = one.repository
        values = {name: repository.history.ref(name) for name in one.refs}
        refs = tuple(SavedRef(name, oid.hex() if (oid := values[name]) is not None else "", leaves) for name, leaves in one.refs.items())  # fmt: skip
        held = hold_objects(scope.places, repository, id, at, one.tips, one.blobs) if one.tips or one.blobs else ""
        found.append(SavedRepository(own, repository.shared, repository.top, refs, held))
    return found


def _own(folder: SnapshotFolder, path: str) -> bool:
    if folder.own(path):
        raise Unclear("it is Interlock's own")
    return False


def _begun(folder: SnapshotFolder, id: str, scope: SnapshotScope) -> None:
    """Which repositories get a ref, so that one that is left over can be found."""
    shared = [one.repository.shared for one in scope.touched.values() if one.tips or one.blobs]
    if shared:
        with open(folder.place(id, "begun"), "x", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\0".join(shared))


def _ended(folder: SnapshotFolder, id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder.place(id, "begun"))


def _let_go(folder: SnapshotFolder, scope: SnapshotScope, id: str) -> None:
    """Nothing of a snapshot that failed holds anything."""
    budget = Budget.of(1_000)
    with contextlib.suppress(OSError, BudgetExceeded, Unclear, RestoreRefused):
        for one in scope.touched.values():
            drop_hold(scope.places, one.repository.shared, id, budget)
        _ended(folder, id)
