"""What was kept before an action ran: listed, looked at, brought back; who did it and what came of it goes on record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.snapshots import KEPT, PRUNED, UNDONE, Snapshot, SnapshotQuery
from interlock.core.undo import Plan, Undone
from interlock.ports import Keeper, Tx
from interlock.service.answers import Refused
from interlock.service.keeping import fresh_id
from interlock.service.record import deed
from interlock.service.state import State

DONE, REFUSED, GONE = "undo.done", "undo.refused", "undo.pruned"
PAGE = 500  # snapshots that are read at a time
DAY = 86_400.0
NONE = "nothing is kept here that is not undone already"
OFF = "this daemon keeps nothing: it has a user of its own, who can neither read nor write what agents change"
_ROOM = 4  # a quarter of the room is free again after a pruning, or a whole snapshot's


@dataclass(frozen=True, slots=True)
class Planned:
    """What bringing a snapshot back would change; `plan.problem` says why it cannot be done, `plan.changes` which are `later` work."""

    snapshot: Snapshot
    plan: Plan


@dataclass(frozen=True, slots=True)
class Brought:
    """What came of it: `undone.done` where it was brought back, else `undone.refused` or `undone.problem`; `undone.say` is for people."""

    snapshot: Snapshot
    undone: Undone


def listed(state: State, principal: str = "", limit: int = 50, before: float = 0.0) -> list[Snapshot]:
    """The newest first, of every state; of one principal, or of all for an operator."""
    query = SnapshotQuery(principal=principal, before=before, limit=limit)
    return state.store.read(lambda tx: tx.snapshots(query))


def planned(state: State, id: str = "", principal: str = "", diff: bool = True) -> Planned:
    """What undoing would change; without an id, of the newest action that is not undone. Raises `answers.Refused`."""
    keeper, row = _keeper(state), _found(state, id, principal)
    return Planned(row, keeper.plan(row.id, row.digest, diff))


def undo(state: State, by: str, id: str = "", force: bool = False, principal: str = "") -> Brought:
    """Brings it back and puts that on record; `by` is an operator's name or a principal. Raises `answers.Refused` for what cannot be found."""
    keeper, row = _keeper(state), _found(state, id, principal)
    undone = keeper.undo(row.id, fresh_id(), state.clock.now(), row.digest, force)
    details: dict[str, Any] = {"snapshot": row.id, "digest": row.digest, "changes": undone.total, "force": force}
    if not undone.done:
        why = "somebody worked on it since" if undone.refused else undone.problem
        _recorded(state, REFUSED, by, details | {"reason": why})
        return Brought(row, undone)
    if undone.as_id:
        details |= {"undoable_as": undone.as_id}
    after = replace(row, state=UNDONE, ended_at=state.clock.now(), ended_by=by)
    _recorded(state, DONE, by, details, lambda tx: _ended(tx, row, after, undone))
    return Brought(after, undone)


def crowded(state: State) -> bool:
    """Whether the next snapshot may find no room."""
    return state.room.bytes > _filled(state)


def prune(state: State) -> int:
    """Lets go of what is too old or too much; how many snapshots that were."""
    keeper, now = state.keeper, state.clock.now()
    if keeper is None or not state.store.read(lambda tx: _there(state, tx, limit=1)):
        return 0
    found = keeper.prune(now, state.undo.days, _filled(state))
    state.room.bytes = found.bytes if not found.problem else state.room.bytes
    if found.problem:
        state.trouble(f"snapshots cannot be pruned: {found.problem}", "undo")
    old = now - (state.undo.days + 1) * DAY
    gone = dict.fromkeys([*found.ids, *(row.id for row in state.store.read(lambda tx: _there(state, tx, old, PAGE)))])
    if not gone or found.problem:
        return 0

    def work(tx: Tx) -> None:
        for row in filter(None, map(tx.snapshot, gone)):
            tx.end_snapshot(replace(row, state=PRUNED, ended_at=now, ended_by="time"), row)

    _recorded(state, GONE, "time", {"snapshots": list(gone)[:PAGE], "count": len(gone)}, work)
    return len(gone)


def _there(state: State, tx: Tx, before: float = 0.0, limit: int = 1) -> list[Snapshot]:
    """Snapshots whose files should be on this machine."""
    asked = [SnapshotQuery(one, machine=state.machine, before=before, limit=limit) for one in (KEPT, UNDONE)]
    return [row for query in asked for row in tx.snapshots(query)]


def _filled(state: State) -> int:
    """So much is left after a pruning: there has to be room until the next."""
    settings = state.undo
    return settings.total_bytes - min(settings.bytes, settings.total_bytes // _ROOM)


def _keeper(state: State) -> Keeper:
    if state.keeper is None:
        raise Refused(OFF, "NOT_FOUND_RESOURCE")
    return state.keeper


def _found(state: State, id: str, principal: str) -> Snapshot:
    """The snapshot that is meant; nobody learns of another principal's."""
    if id:
        row = state.store.read(lambda tx: tx.snapshot(id))
    else:
        query = SnapshotQuery(KEPT, principal, state.machine, actions=True, limit=1)
        row = next(iter(state.store.read(lambda tx: tx.snapshots(query))), None)
    if row is None or (principal and row.principal != principal):
        raise Refused(f"no snapshot {id!r:.60}" if id else NONE, "NOT_FOUND_RESOURCE")
    if row.machine != state.machine:
        raise Refused(f"snapshot {row.id} is on another machine: {row.machine}", "NOT_FOUND_RESOURCE")
    if row.state == PRUNED:
        words = f"snapshot {row.id} is gone: they are kept for {state.undo.days} days, as long as there is room"
        raise Refused(words, "NOT_FOUND_RESOURCE")
    if row.state == UNDONE:
        raise Refused(f"snapshot {row.id} was undone already{_by(state, row)}", "NOT_FOUND_RESOURCE")
    return row


def _by(state: State, row: Snapshot) -> str:
    """And how that is taken back."""
    query = SnapshotQuery(KEPT, row.principal, row.machine, limit=PAGE)
    back = [one.id for one in state.store.read(lambda tx: tx.snapshots(query)) if one.undoes == row.id]
    return f"; `interlock undo {back[0]}` takes that back" if back else ""


def _ended(tx: Tx, row: Snapshot, after: Snapshot, undone: Undone) -> None:
    """It is undone, what was there until now can be had back in turn, and what an undo took away counts again once that is undone."""
    tx.end_snapshot(after, row)
    if row.undoes and (first := tx.snapshot(row.undoes)) is not None and first.state == UNDONE:
        tx.end_snapshot(replace(first, state=KEPT, ended_at=0.0, ended_by=""), first)
    if undone.as_id:
        taken = replace(
            row, id=undone.as_id, at=after.ended_at, command=f"interlock undo {row.id}", digest=undone.as_digest,
            files=undone.total, bytes=0, state=KEPT, undoes=row.id, ended_at=0.0, ended_by="",
        )  # fmt: skip
        tx.add_snapshot(taken)


def _recorded(
    state: State, event: str, by: str, details: dict[str, Any], work: Callable[[Tx], None] = lambda tx: None
) -> None:
    def whole(tx: Tx) -> None:
        work(tx)
        state.recorder.now(tx, event, deed(state.clock.now(), event, by, details))

    state.store.write(whole)
