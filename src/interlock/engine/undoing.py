"""Lists, previews, restores and prunes snapshots; who restored what goes on record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.places import place
from interlock.engine.evaluate import fresh_id
from interlock.error_codes import NotFound
from interlock.journal.store import JournalStore
from interlock.ports import SnapshotTaker, Tx
from interlock.records import KEPT, PRUNED, UNDONE, Snapshot, SnapshotQuery
from interlock.redaction import redact_text
from interlock.runtime.state import State
from interlock.snapshots import UndoChange, UndoPlan, UndoResult

DONE, REFUSED, GONE = "undo.done", "undo.refused", "undo.pruned"
PAGE = 500  # snapshots that are read at a time
MOST_GONE = 10_000  # snapshots that one pruning records; the rest is pruned by age
DAY = 86_400.0
NONE = "there is no snapshot here that is not undone already"
OFF = "this daemon takes no snapshots: it has a user of its own, and no helper that becomes the agent's user (separate.inspector)"
_NOTED = {
    **dict.fromkeys(("journal", "undone_at", "undoable_as", "reason"), str),
    **dict.fromkeys(("changes", "uid"), int),
    "force": bool,
}
_ROOM = 4  # pruning frees a quarter of the space, or a whole snapshot's


class PlannedUndo(Struct, frozen=True):
    """`plan.problem` says why it cannot be done, `plan.changes` which of them undo `later` work."""

    snapshot: Snapshot
    plan: UndoPlan


class UndoOutcome(Struct, frozen=True):
    """`undone.done` after a restore, else `undone.refused` or `undone.problem`; `undone.say` is for people."""

    snapshot: Snapshot
    undone: UndoResult


def list_snapshots(state: State, principal: str = "", limit: int = 50, before: float = 0.0) -> list[Snapshot]:
    """Lists snapshots of every state, newest first; of one principal, or of all for an operator."""
    query = SnapshotQuery(principal=principal, before=before, limit=limit)
    return state.store.read(lambda tx: tx.snapshots(query))


def plan_undo(state: State, id: str = "", principal: str = "", diff: bool = True) -> PlannedUndo:
    """Without an id, of the newest action that is not undone. Raises AnswerRefused."""
    keeper, row = _find_with_taker(state, id, principal)
    plan = keeper.plan(row.id, row.digest, diff)
    return PlannedUndo(row, replace(plan, changes=tuple(map(_redacted, plan.changes))))


def _redacted(change: UndoChange) -> UndoChange:
    secret = change.diff and place(change.path) == "secret"
    return replace(change, diff="" if secret else redact_text(change.diff)) if change.diff else change


def undo(state: State, by: str, id: str = "", force: bool = False, principal: str = "") -> UndoOutcome:
    """`by` is an operator's name or a principal. Raises AnswerRefused where none is found."""
    keeper, row = _find_with_taker(state, id, principal)
    undone = keeper.undo(row.id, fresh_id(), state.clock.now(), row.digest, force)
    details: dict[str, Any] = {"snapshot": row.id, "digest": row.digest, "changes": undone.total, "force": force}
    if not undone.done:
        why = "somebody worked on it since" if undone.refused else undone.problem
        _record(state, REFUSED, by, details | {"reason": why})
        return UndoOutcome(row, undone)
    if undone.as_id:
        details |= {"undoable_as": undone.as_id}
    after = replace(row, state=UNDONE, ended_at=state.clock.now(), ended_by=by)
    _record(state, DONE, by, details, lambda tx: _end(tx, row, after, undone))
    return UndoOutcome(after, undone)


def is_crowded(state: State) -> bool:
    return any(used > _filled(state) for used in state.snapshots.usage.bytes.values())


def prune(state: State) -> int:
    """Prunes old or excess snapshots in every folder; returns how many."""
    own = {"": state.snapshots.taker} if state.snapshots.taker is not None else {}
    return sum(_prune_folder(state, whose, keeper) for whose, keeper in (own | dict(state.snapshots.takers)).items())


def prune_journal(state: State) -> int:
    """Prunes journaled actions by age alone; returns how many."""
    if state.snapshots.journal is None:
        return 0
    gone = JournalStore(state.snapshots.journal).prune(state.clock.now(), state.in_force.undo.days)
    if gone:
        _record(state, GONE, "time", {"journals": gone[:PAGE], "count": len(gone)})
    return len(gone)


def record_journal_undos(state: State) -> None:
    """They need no daemon, and are performed by the user's own process."""
    if state.snapshots.journal is None:
        return
    store = JournalStore(state.snapshots.journal)
    for entry in store.logged_undos():
        details = {key: entry[key] for key, kind in _NOTED.items() if type(entry.get(key)) is kind}
        _record(state, REFUSED if "reason" in details else DONE, f"uid:{details.pop('uid', '')}", details)
    store.forget_undos()


def _prune_folder(state: State, whose: str, keeper: SnapshotTaker) -> int:
    now = state.clock.now()
    if not state.store.read(lambda tx: _there(state, tx, whose)):
        return 0
    found = keeper.prune(now, state.in_force.undo.days, _filled(state))
    if found.problem:
        state.trouble(f"snapshots cannot be pruned: {found.problem}" + (f" ({whose})" if whose else ""), "undo")
        return 0
    state.snapshots.usage.bytes[whose] = found.bytes
    old = now - (state.in_force.undo.days + 1) * DAY
    aged = (row.id for row in state.store.read(lambda tx: _there(state, tx, whose, old, PAGE)))
    gone = dict.fromkeys([*state.store.read(lambda tx: _owned(tx, whose, found.ids[:MOST_GONE])), *aged])

    def work(tx: Tx) -> None:
        for row in filter(None, map(tx.snapshot, gone)):
            tx.end_snapshot(replace(row, state=PRUNED, ended_at=now, ended_by="time"), row)

    if gone:
        _record(state, GONE, "time", {"snapshots": list(gone)[:PAGE], "count": len(gone)}, work)
    return len(gone)


def _owned(tx: Tx, whose: str, ids: Sequence[str]) -> list[str]:
    """Its user is not trusted to name the snapshots of others."""
    return [id for id in ids if not whose or ((row := tx.snapshot(id)) is not None and row.principal == whose)]


def _there(state: State, tx: Tx, whose: str, before: float = 0.0, limit: int = 1) -> list[Snapshot]:
    asked = [SnapshotQuery(one, whose, state.snapshots.machine, before=before, limit=limit) for one in (KEPT, UNDONE)]
    return [row for query in asked for row in tx.snapshots(query)]


def _filled(state: State) -> int:
    """The bytes that pruning may leave, so that there is space until the next one."""
    settings = state.in_force.undo
    return settings.total_bytes - min(settings.bytes, settings.total_bytes // _ROOM)


def _find_with_taker(state: State, id: str, principal: str) -> tuple[SnapshotTaker, Snapshot]:
    if state.snapshots.taker is None and not state.snapshots.takers:
        raise NotFound(OFF)
    row = _find(state, id, principal)
    if (keeper := state.snapshots.taker_for(row.principal)) is None:
        words = f"{row.principal} is no user whose agents ask here (separate.users)"
        raise NotFound(f"snapshot {row.id} is out of reach: {words}")
    return keeper, row


def _find(state: State, id: str, principal: str) -> Snapshot:
    """The requested snapshot; never reveals another principal's."""
    query = SnapshotQuery(KEPT, principal, state.snapshots.machine, actions=True, limit=1)
    row = state.store.read(lambda tx: tx.snapshot(id) if id else next(iter(tx.snapshots(query)), None))
    if row is None or (principal and row.principal != principal):
        raise NotFound(f"no snapshot {id!r:.60}" if id else NONE)
    if row.machine != state.snapshots.machine:
        raise NotFound(f"snapshot {row.id} is on another machine: {row.machine}")
    if row.state == PRUNED:
        days = state.in_force.undo.days
        raise NotFound(f"snapshot {row.id} was pruned: snapshots last {days} days, as long as there is space")
    if row.state == UNDONE:
        raise NotFound(f"snapshot {row.id} was undone already{_by(state, row)}")
    return row


def _by(state: State, row: Snapshot) -> str:
    query = SnapshotQuery(KEPT, row.principal, row.machine, limit=PAGE)
    back = [one.id for one in state.store.read(lambda tx: tx.snapshots(query)) if one.undoes == row.id]
    return f"; `interlock undo {back[0]}` takes that back" if back else ""


def _end(tx: Tx, row: Snapshot, after: Snapshot, undone: UndoResult) -> None:
    tx.end_snapshot(after, row)
    if row.undoes and (first := tx.snapshot(row.undoes)) is not None and first.state == UNDONE:
        tx.end_snapshot(replace(first, state=KEPT, ended_at=0.0, ended_by=""), first)
    if undone.as_id and tx.snapshot(undone.as_id) is None:  # the id is a claim of the agent's user
        taken = replace(
            row, id=undone.as_id, at=after.ended_at, command=f"interlock undo {row.id}", digest=undone.as_digest,
            files=undone.total, bytes=0, state=KEPT, undoes=row.id, ended_at=0.0, ended_by="",
        )  # fmt: skip
        tx.add_snapshot(taken)


def _record(
    state: State, event: str, by: str, details: dict[str, Any], work: Callable[[Tx], None] = lambda tx: None
) -> None:
    def whole(tx: Tx) -> None:
        work(tx)
        state.recorder.event(tx, event, by, details)

    state.store.write(whole)
