"""Snapshots come back as they were kept, in whichever store, the newest first, and end once."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from interlock.ports import Store, StoreError
from interlock.records import PRUNED, UNDONE, Snapshot, SnapshotQuery
from stored_records import NOW


def row(id: str, **more: Any) -> Snapshot:
    values: dict[str, Any] = {"at": NOW, "principal": "uid:1", "name": "claude-code", "session": "s", "cwd": "/x"}
    return Snapshot(id, **(values | {"command": "rm -rf x", "digest": "d" * 64} | more))


def found(store: Store, **query: Any) -> list[str]:
    return [one.id for one in store.read(lambda tx: tx.snapshots(SnapshotQuery(**query)))]


def test_every_field_of_a_snapshot_comes_back(store: Store) -> None:
    full = row("u_a", command="rm \0 \ud800 ünï", files=312, bytes=4_100_000_000, machine="host", undoes="u_b")
    full = replace(full, ended_at=NOW + 1, ended_by="ana", state=UNDONE)
    store.write(lambda tx: tx.add_snapshot(full))
    assert store.read(lambda tx: tx.snapshot("u_a")) == full
    assert store.read(lambda tx: tx.snapshot("u_b")) is None


def test_an_id_is_used_once(store: Store) -> None:
    store.write(lambda tx: tx.add_snapshot(row("u_a")))
    with pytest.raises(StoreError):
        store.write(lambda tx: tx.add_snapshot(row("u_a", command="ls")))
    assert store.read(lambda tx: tx.snapshot("u_a")) == row("u_a")


def test_snapshots_are_found_newest_first_by_state_principal_machine_and_time(store: Store) -> None:
    rows = [row(f"u_{at}", at=NOW + at) for at in range(3)]
    rows += [row("u_other", at=NOW + 9, principal="uid:2", machine="far", undoes="u_1", state=PRUNED)]
    for one in rows:
        store.write(lambda tx, one=one: tx.add_snapshot(one))
    assert found(store) == ["u_other", "u_2", "u_1", "u_0"] and found(store, limit=2) == ["u_other", "u_2"]
    assert found(store, actions=True) == found(store, principal="uid:1") == found(store, state="kept")
    assert found(store, before=NOW + 2) == ["u_1", "u_0"] and found(store, machine="far") == ["u_other"]


def test_a_snapshot_ends_once(store: Store) -> None:
    kept = row("u_a")
    store.write(lambda tx: tx.add_snapshot(kept))
    undone = replace(kept, state=UNDONE, ended_at=NOW + 1, ended_by="ana")
    assert store.write(lambda tx: tx.end_snapshot(undone, kept)) is True
    assert store.write(lambda tx: tx.end_snapshot(replace(kept, state=PRUNED), kept)) is False
    assert store.read(lambda tx: tx.snapshot("u_a")) == undone
