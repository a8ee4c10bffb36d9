"""Bringing back: what an undo would change, and doing it, so that it can be done again after a kill at any moment, and undone itself."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from interlock.core.undo import MOST_CHANGES, Limits, Plan, Undone
from interlock.keeper import databases, git_state
from interlock.keeper.contents import Reader
from interlock.keeper.differences import differences, with_diff
from interlock.keeper.folder import Folder, Refused, all_synced
from interlock.keeper.git_scope import index, logged
from interlock.keeper.git_written import GitWritten
from interlock.keeper.manifest import Manifest, manifest_of
from interlock.keeper.places import Places
from interlock.keeper.planning import Planned, Planner
from interlock.keeper.present import key_of, now
from interlock.keeper.scope import Scope
from interlock.keeper.snapshot import keep
from interlock.keeper.written import Written
from interlock.looker.budget import Budget, Spent, Unclear

MILLISECONDS = 55_000
ENTRIES = 2_000_000
LIMITS = Limits(200_000, 8_000_000_000, MILLISECONDS)  # of what an undo keeps before it changes it


@dataclass(slots=True)
class Opened:
    """A snapshot with everything that is needed to compare it."""

    folder: Folder
    manifest: Manifest
    reader: Reader
    places: Places
    budget: Budget
    planner: Planner
    journal: dict[str, Any] | None  # of an undo that broke off


def plan(folder: Folder, id: str, digest: str, diff: bool) -> Plan:
    """What an undo would change now."""
    try:
        with folder.locked("lock"), _opened(folder, id, digest) as one:
            planned = one.planner()
            changes = list(planned.changes())
            later = sum(change.later for change in changes)
            shown = differences(planned, one.places, one.reader) if diff else {}
            listed = tuple(with_diff(change, shown) for change in changes[:MOST_CHANGES])
            return Plan(id, listed, len(changes), later, _say(one.manifest))
    except (Refused, Spent, Unclear) as error:
        return Plan(id, problem=str(error))
    except OSError as error:
        return Plan(id, problem=_words(error))


def undo(folder: Folder, id: str, as_id: str, at: float, digest: str, force: bool) -> Undone:
    """Where order is safety: (1) contents verified, (2) later work refused, (3) what is there kept, (4) the undo noted, (5) written, (6) ended."""
    try:
        with (
            folder.locked("lock"),
            folder.locked("undo.lock", alone=True, wait=False),
            _opened(folder, id, digest) as one,
        ):
            one.reader.verify()  # (1)
            planned = one.planner()
            changes = tuple(planned.changes())
            if any(change.later for change in changes) and not force:  # (2)
                listed = sorted(changes, key=lambda change: not change.later)[:MOST_CHANGES]
                return Undone(id, changes=tuple(listed), total=len(changes), refused=True)
            if not changes:
                _end(folder, id)
                return Undone(id, say=_say(one.manifest))
            kept, kept_digest = _kept(one, planned, as_id, at)  # (3)
            folder.write(folder.place(id, "undoing"), {"as_id": kept.id, "digest": kept_digest})  # (4)
            say = _write(one, planned, kept, at)  # (5)
            _settle(folder, kept, one.places, one.budget, _written(planned))  # (6)
            _end(folder, id)
            return Undone(id, kept.id, kept_digest, changes[:MOST_CHANGES], len(changes), say=(*say, *_say(one.manifest)))  # fmt: skip
    except (Refused, Spent, Unclear) as error:
        return Undone(id, problem=str(error))
    except OSError as error:
        return Undone(id, problem=_words(error))


def settle(folder: Folder, id: str) -> bool:
    """The action ran: what is there now is its doing."""
    try:
        with folder.locked("lock", wait=False), _opened(folder, id, "") as one:
            _settle(folder, one.manifest, one.places, one.budget, {})
            return True
    except (Refused, Spent, Unclear, OSError):
        return False


@contextmanager
def _opened(folder: Folder, id: str, digest: str) -> Iterator[Opened]:
    try:
        data, found = folder.read(folder.place(id))
    except FileNotFoundError:
        raise Refused(f"there is no snapshot {id}") from None
    if digest and digest != found:
        raise Refused("the snapshot's list is not the one on record")
    manifest = manifest_of(data, folder)
    if manifest.id != id:
        raise Refused("the list of the snapshot is damaged")
    budget = Budget.of(MILLISECONDS, ENTRIES)
    budget.bytes = 1 << 50
    reader = Reader(folder, manifest, budget)
    with Places() as places, contextlib.closing(reader):
        journal, after = _optional(folder, id, "undoing"), _optional(folder, id, "after")
        met = _met(folder, journal)
        yield Opened(
            folder, manifest, reader, places, budget,
            Planner(folder, manifest, reader, places, budget, after, met), journal if met is not None else None,
        )  # fmt: skip


def _kept(one: Opened, planned: Planned, as_id: str, at: float) -> tuple[Manifest, str]:
    """What is there now, unless the undo that broke off has kept all of it already."""
    met = one.planner.met
    if met is not None and one.journal is not None:
        paths = {entry.path for entry in met.entries} | {database.path for database in met.databases}
        refs = {(git.git_dir, ref.name) for git in met.git for ref in git.refs}
        if (
            all(change.path in paths for change in planned.changes() if change.path.startswith("/"))
            and all((move.git.git_dir, move.ref.name) in refs for move in planned.moves)
            and not any(change.later for change in planned.changes())
        ):
            return met, str(one.journal["digest"])
    scope = _scope(one, planned)
    kept, manifest = keep(scope, one.folder, as_id, at, one.manifest.bases, LIMITS)
    return manifest, kept.digest


def _scope(one: Opened, planned: Planned) -> Scope:
    scope = Scope(one.budget, one.places, one.folder)
    for move in planned.moves:
        touched = scope.git(one.planner.repository(move.git))
        touched.refs[move.ref.name] = move.ref.old
        if move.now:
            touched.tips[bytes.fromhex(move.now)] = None
    for step in planned.steps:
        path, role = step.entry.path, step.entry.role
        if step.now.kind == "folder" and step.entry.kind not in ("folder", "absent"):
            scope.tree(path)
        else:
            scope.path(path, role)
        git = next((git for git in one.manifest.git if path.startswith((f"{git.git_dir}/", f"{git.shared}/"))), None)
        if git is not None and role:
            repository = one.planner.repository(git)
            touched = scope.git(repository)
            if role in ("stash", "log"):
                touched.tips |= dict.fromkeys(logged(repository, path))
            elif role == "index":
                index(scope, repository)
            elif role == "head" and (head := repository.history.head()) is not None:
                touched.tips[head] = None
    scope.databases |= {
        refill.database.path: None for refill in planned.refills if os.path.exists(refill.database.path)
    }
    return scope


def _write(one: Opened, planned: Planned, kept: Manifest, at: float) -> tuple[str, ...]:
    plain = [step for step in planned.steps if step.entry.role not in git_state.READERS]
    written = Written(one.places, one.reader, one.manifest, kept)
    written(plain)
    repositories = GitWritten(one.places, one.reader, one.manifest.git, one.manifest.id, at, one.budget, one.journal is not None)  # fmt: skip
    repositories(planned)
    for refill in planned.refills:
        databases.brought_back(one.folder, refill.database, one.manifest.id, one.reader, one.budget)
    for base in one.manifest.bases:
        all_synced(base if os.path.isdir(base) else "/")
    return tuple(written.say)


def _written(planned: Planned) -> dict[str, list[Any]]:
    """What an undo has just made of plain files, which need not be read again."""
    return {
        entry.path: key_of(entry)
        for step in planned.steps
        if (entry := step.entry).kind == "file" and entry.role not in git_state.READERS
    }


def _settle(folder: Folder, manifest: Manifest, places: Places, budget: Budget, known: Mapping[str, list[Any]]) -> None:
    states = dict(known)
    for entry in manifest.entries:
        if entry.path not in states:
            state = now(places, entry.path, budget)
            role = entry.role in git_state.READERS
            states[entry.path] = git_state.key(places, entry, state, budget) if role else state.key
    planner = Planner(folder, manifest, Reader(folder, manifest, budget), places, budget)
    refs = {}
    for git in manifest.git:
        for ref in git.refs:
            oid = planner.repository(git).history.ref(ref.name)
            refs[f"{git.git_dir}\0{ref.name}"] = oid.hex() if oid is not None else ""
    contents = {one.path: databases.state(folder, one.path, manifest.id, budget) for one in manifest.databases}
    folder.write(folder.place(manifest.id, "after"), {"states": states, "refs": refs, "databases": contents})


def _met(folder: Folder, journal: dict[str, Any] | None) -> Manifest | None:
    if journal is None:
        return None
    try:
        data, digest = folder.read(folder.place(str(journal["as_id"])))
        return manifest_of(data, folder) if digest == journal["digest"] else None
    except (OSError, ValueError, KeyError, Refused):
        return None


def _optional(folder: Folder, id: str, ending: str) -> dict[str, Any] | None:
    try:
        data, _ = folder.read(folder.place(id, ending))
    except FileNotFoundError:
        return None
    return data if isinstance(data, dict) else None


def _end(folder: Folder, id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder.place(id, "undoing"))


def _say(manifest: Manifest) -> tuple[str, ...]:
    """What only a person can bring back, with the command that does it."""
    pushes = [
        f"git push --force-with-lease={one.branch}:{one.new} {one.remote} {one.old}:refs/heads/{one.branch}"
        for one in manifest.remotes
    ]
    return (*(f"to put the remote branch back: {push}" for push in pushes), *manifest.notes)


def _words(error: OSError) -> str:
    name = f" ({os.path.basename(os.fsdecode(error.filename))})" if isinstance(error.filename, str | bytes) else ""
    return f"it cannot be done: {error.strerror or type(error).__name__}{name}"
