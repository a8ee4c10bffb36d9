"""Restores a snapshot: shows the changes, refuses to overwrite later work, can be repeated after a kill and undone itself."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from interlock.impact import Budget, BudgetExceeded, Unclear
from interlock.snapshots import (
    LONGEST_DIFF,
    MOST_CHANGES,
    SnapshotLimits,
    UndoPlan,
    UndoResult,
    restore_plan,
    text_difference,
)
from interlock.snapshots.contents import ContentReader
from interlock.snapshots.folder import FolderHandles, RestoreRefused, SnapshotFolder, remove_file, sync_filesystem
from interlock.snapshots.git_writer import GitRestore, GitWriter
from interlock.snapshots.manifest import Manifest, parse_manifest
from interlock.snapshots.path_writer import PathWriter
from interlock.snapshots.restore_plan import RestorePlan, RestorePlanner, now, read_git_file, ref_value, state_key
from interlock.snapshots.scope import SnapshotScope, add_index, logged_commits
from interlock.snapshots.take import save_scope

MOST = 100  # files with a diff
LARGEST = 200_000  # bytes of one
TOGETHER = 400_000  # characters
MILLISECONDS = 55_000
ENTRIES = 2_000_000
FAILURES = (RestoreRefused, BudgetExceeded, Unclear, OSError)
LIMITS = SnapshotLimits(200_000, 8_000_000_000, MILLISECONDS)  # of the snapshot that an undo takes first


def text_diffs(planned: RestorePlan, places: FolderHandles, reader: ContentReader) -> dict[str, str]:
    """Files that are no text, too large or too many are left out."""
    found: dict[str, str] = {}
    left = TOGETHER
    for step in planned.steps:
        entry, state = step.entry, step.now
        plain = not {entry.kind, state.kind} - {"file", "absent"} and max(entry.size, state.size) <= LARGEST
        if plain and step.what in ("create", "replace", "delete") and len(found) < MOST and left > 0:
            old = read_git_file(places, entry.path) if state.kind == "file" else b""
            if text := text_difference(old, reader.entry(entry)):
                found[entry.path] = text[:LONGEST_DIFF]
                left -= len(text)
    return found


def plan(folder: SnapshotFolder, id: str, digest: str, diff: bool) -> UndoPlan:
    try:
        with folder.locked("lock"), _open(folder, id, digest) as one:
            planned = one()
            changes = list(planned.changes())
            later = sum(change.later for change in changes)
            shown = text_diffs(planned, one.places, one.reader) if diff else {}
            listed = tuple(replace(change, diff=shown.get(change.path, "")) for change in changes[:MOST_CHANGES])
            return UndoPlan(id, listed, len(changes), later, _say(one.manifest))
    except FAILURES as error:
        return UndoPlan(id, problem=_words(error))


def undo(folder: SnapshotFolder, id: str, as_id: str, at: float, digest: str, force: bool) -> UndoResult:
    """Where order is safety: (1) contents verified, (2) later work refused, (3) the present state saved, (4) the undo noted, (5) written, (6) ended."""
    try:
        with (
            folder.locked("lock"),
            folder.locked("undo.lock", exclusive=True, wait=False),
            _open(folder, id, digest) as one,
        ):
            undoing = folder.place(id, "undoing")
            one.reader.verify()  # (1)
            planned = one()
            changes = tuple(planned.changes())
            if any(change.later for change in changes) and not force:  # (2)
                listed = sorted(changes, key=lambda change: not change.later)[:MOST_CHANGES]
                return UndoResult(id, changes=tuple(listed), total=len(changes), refused=True)
            if not changes:
                remove_file(undoing)
                return UndoResult(id, say=_say(one.manifest))
            saved, saved_digest = _save_present(one, planned, as_id, at)  # (3)
            folder.write(undoing, {"as_id": saved.id, "digest": saved_digest})  # (4)
            say = _write(one, planned, saved, at)  # (5)
            written = {  # plain files, which need not be read again
                step.entry.path: state_key(step.entry)
                for step in planned.steps
                if step.entry.kind == "file" and step.entry.role not in restore_plan.READERS
            }
            _settle(replace(one, manifest=saved), written)  # (6)
            remove_file(undoing)
            return UndoResult(id, saved.id, saved_digest, changes[:MOST_CHANGES], len(changes), say=(*say, *_say(one.manifest)))  # fmt: skip
    except FAILURES as error:
        return UndoResult(id, problem=_words(error))


def settle(folder: SnapshotFolder, id: str) -> bool:
    try:
        with folder.locked("lock", wait=False), _open(folder, id, "") as one:
            _settle(one, {})
            return True
    except FAILURES:
        return False


@contextmanager
def _open(folder: SnapshotFolder, id: str, digest: str) -> Iterator[RestorePlanner]:
    try:
        data, found = folder.read(folder.place(id))
    except FileNotFoundError:
        raise RestoreRefused(f"there is no snapshot {id}") from None
    if digest and digest != found:
        raise RestoreRefused("the snapshot's manifest is not the one on record")
    manifest = parse_manifest(data, folder)
    if manifest.id != id:
        raise RestoreRefused("the manifest of the snapshot is damaged")
    budget = Budget.of(MILLISECONDS, ENTRIES)
    budget.bytes = 1 << 50
    reader = ContentReader(folder, manifest, budget)
    with FolderHandles(budget) as places, contextlib.closing(reader):
        undoing, after = _note(folder, id, "undoing"), _note(folder, id, "after")
        interrupted, digest = _read_interrupted(folder, undoing), str(undoing.get("digest", ""))
        yield RestorePlanner(manifest, reader, places, after, interrupted, digest)


def _save_present(one: RestorePlanner, planned: RestorePlan, as_id: str, at: float) -> tuple[Manifest, str]:
    """Unless an interrupted undo has saved all of it already."""
    interrupted = one.interrupted
    if interrupted is not None:
        paths = {entry.path for entry in interrupted.entries} | {database.path for database in interrupted.databases}
        refs = {(git.git_dir, ref.name) for git in interrupted.git for ref in git.refs}
        if (
            all(change.path in paths for change in planned.changes() if change.path.startswith("/"))
            and all((move.git.git_dir, move.ref.name) in refs for move in planned.moves)
            and not any(change.later for change in planned.changes())
        ):
            return interrupted, one.interrupted_digest
    saved, manifest = save_scope(_scope(one, planned), as_id, at, one.manifest.bases, LIMITS)
    return manifest, saved.digest


def _scope(one: RestorePlanner, planned: RestorePlan) -> SnapshotScope:
    scope = SnapshotScope(one.places, one.reader.folder)
    for move in planned.moves:
        changed = scope.git(one.repository(move.git))
        changed.refs[move.ref.name] = move.ref.old
        if move.now:
            scope.hold(changed.repository, bytes.fromhex(move.now))
    for step in planned.steps:
        path, role = step.entry.path, step.entry.role
        if step.now.kind == "folder" and step.entry.kind not in ("folder", "absent"):
            scope.tree(path)
        else:
            scope.path(path, role)
        git = next((git for git in one.manifest.git if path.startswith((f"{git.git_dir}/", f"{git.shared}/"))), None)
        if git is not None and role:
            repository = one.repository(git)
            scope.git(repository)
            if role in ("stash", "log"):
                scope.hold(repository, *logged_commits(repository, path))
            elif role == "index":
                add_index(scope, repository)
            elif role == "head":
                scope.hold(repository, repository.history.head())
    paths = (refill.database.path for refill in planned.refills)
    scope.databases |= {path: None for path in paths if os.path.exists(path)}
    return scope


def _write(one: RestorePlanner, planned: RestorePlan, saved: Manifest, at: float) -> tuple[str, ...]:
    plain = [step for step in planned.steps if step.entry.role not in restore_plan.READERS]
    written = PathWriter(one.places, one.reader, one.manifest, saved)
    written(plain)
    writer = GitWriter(one.places, one.manifest.id, again=one.interrupted is not None)
    GitRestore(writer, one.reader, one.manifest.git, at)(planned)
    for refill in planned.refills:
        one.reader.restore_database(refill.database)
    for base in one.manifest.bases:
        sync_filesystem(base if os.path.isdir(base) else "/")
    return tuple(written.say)


def _settle(one: RestorePlanner, known: Mapping[str, list[Any]]) -> None:
    folder, manifest, states = one.reader.folder, one.manifest, dict(known)
    for entry in manifest.entries:
        if entry.path not in states:
            state, role = now(one.places, entry.path), entry.role in restore_plan.READERS
            states[entry.path] = restore_plan.git_file_key(one.places, entry, state) if role else state_key(state)
    refs = {
        f"{git.git_dir}\0{ref.name}": ref_value(one.repository(git), ref.name)
        for git in manifest.git
        for ref in git.refs
    }
    contents = {database.path: one.reader.database_digest(database.path) for database in manifest.databases}
    folder.write(folder.place(manifest.id, "after"), {"states": states, "refs": refs, "databases": contents})


def _read_interrupted(folder: SnapshotFolder, note: Mapping[str, Any]) -> Manifest | None:
    try:
        data, digest = folder.read(folder.place(str(note["as_id"])))
        return parse_manifest(data, folder) if digest == note["digest"] else None
    except (OSError, ValueError, KeyError, RestoreRefused):
        return None


def _note(folder: SnapshotFolder, id: str, ending: str) -> dict[str, Any]:
    try:
        data, _ = folder.read(folder.place(id, ending))
    except FileNotFoundError:
        return {}
    return data if isinstance(data, dict) else {}


def _say(manifest: Manifest) -> tuple[str, ...]:
    """With the commands by which a person restores remote branches."""
    pushes = [
        f"git push --force-with-lease={one.branch}:{one.new} {one.remote} {one.old}:refs/heads/{one.branch}"
        for one in manifest.remotes
    ]
    return (*(f"to put the remote branch back: {push}" for push in pushes), *manifest.notes)


def _words(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    name = f" ({os.path.basename(os.fsdecode(error.filename))})" if isinstance(error.filename, str | bytes) else ""
    return f"it cannot be done: {error.strerror or type(error).__name__}{name}"
