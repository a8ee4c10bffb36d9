"""Keeping: everything that an action may change, copied, read back, and listed last, so that a snapshot is whole or is none."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.core.undo import Kept, Limits, unkept
from interlock.keeper import databases
from interlock.keeper.contents import Writer
from interlock.keeper.folder import Folder, Refused
from interlock.keeper.gathering import scope_of
from interlock.keeper.git_files import drop, hold
from interlock.keeper.manifest import Git, Manifest, Ref, manifest_json
from interlock.keeper.places import Places
from interlock.keeper.recorder import Recorder
from interlock.keeper.scope import Scope
from interlock.looker.budget import ENTRIES, Budget, Spent, Unclear
from interlock.looker.homes import home_in


def take(question: Mapping[str, Any], folder: Folder, id: str, at: float, limits: Limits, home: str) -> Kept:
    """What the question's deeds may change is kept; or, with a problem, nothing is."""
    budget = Budget(time.monotonic() + limits.ms / 1000, ENTRIES, 2 * limits.bytes + (64 << 20))
    try:
        with folder.locked("lock", wait=False), Places() as places:
            scope = Scope(budget, places, folder, home_in(question, home))
            bases = scope_of(question, scope)
            return keep(scope, folder, id, at, bases, limits)[0]
    except Spent as error:
        return unkept(id, str(error).replace("looking takes", "keeping takes"))
    except (Unclear, Refused) as error:
        return unkept(id, str(error))
    except OSError as error:
        return unkept(id, f"it cannot be kept ({error.strerror or type(error).__name__})")
    except RecursionError:
        return unkept(id, "it is nested too deep")
    except (ValueError, KeyError, TypeError, MemoryError):
        return unkept(id, "it cannot be read")


def keep(
    scope: Scope, folder: Folder, id: str, at: float, bases: Sequence[str], limits: Limits
) -> tuple[Kept, Manifest]:
    """A whole snapshot of a scope. Where order is safety: (1) what is begun is noted, (2) contents, (3) commits held, (4) the list."""
    place = folder.place(id)
    if os.path.lexists(place):
        raise Refused("there is such a snapshot already")
    writer = Writer(folder, id, scope.budget)
    try:
        _begun(folder, id, scope)  # (1)
        recorder = Recorder(folder, scope.places, writer, limits, scope.budget)
        notes = _recorded(scope, recorder)  # (2)
        made = Manifest(id, at, tuple(bases), notes=notes, remotes=list(scope.remotes))
        made.databases = [
            databases.kept(folder, path, id, number, writer, scope.budget)
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
    return Kept(id, digest, made.files, made.bytes, notes), made


def _recorded(scope: Scope, recorder: Recorder) -> tuple[str, ...]:
    aside: list[str] = []

    def again(path: str) -> bool:
        try:
            found = scope.standing.made_again(path)
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


def _held(scope: Scope, id: str, at: float) -> list[Git]:
    found = []
    for own, one in scope.touched.items():
        repository = one.repository
        values = {name: repository.history.ref(name) for name in one.refs}
        refs = tuple(Ref(name, oid.hex() if (oid := values[name]) is not None else "", leaves) for name, leaves in one.refs.items())  # fmt: skip
        held = hold(scope.places, repository, id, at, one.tips, one.blobs) if one.tips or one.blobs else ""
        found.append(Git(own, repository.shared, repository.top, refs, held))
    return found


def _own(folder: Folder, path: str) -> bool:
    if folder.own(path):
        raise Unclear("it is Interlock's own")
    return False


def _begun(folder: Folder, id: str, scope: Scope) -> None:
    """Which repositories get a ref, so that one that is left over can be found."""
    shared = [one.repository.shared for one in scope.touched.values() if one.tips or one.blobs]
    if shared:
        with open(folder.place(id, "begun"), "x", encoding="utf-8", errors="surrogateescape") as out:
            out.write("\0".join(shared))


def _ended(folder: Folder, id: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder.place(id, "begun"))


def _let_go(folder: Folder, scope: Scope, id: str) -> None:
    """Nothing of a snapshot that failed holds anything."""
    budget = Budget.of(1_000)
    with contextlib.suppress(OSError, Spent, Unclear, Refused):
        for one in scope.touched.values():
            drop(scope.places, one.repository.shared, id, budget)
        _ended(folder, id)
