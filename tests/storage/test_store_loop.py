"""Executions, challenges, notifications: what every store promises about the safety loop's state."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.ports import Store, StoreError
from stored_records import AGENT, NOW, OTHER, challenge, execution, notification


def test_a_challenge_comes_back_as_it_was_kept_and_changed(store: Store) -> None:
    one = challenge("c1", execution="e1", digest="d", code_hash="h", minted_at=NOW, attempts=1)
    store.write(lambda tx: tx.save_challenge(one))
    assert store.read(lambda tx: tx.challenge("c1")) == one
    store.write(lambda tx: tx.save_challenge(replace(one, attempts=2, state="failed")))
    assert store.read(lambda tx: tx.challenge("c1")) == replace(one, attempts=2, state="failed")
    assert store.read(lambda tx: tx.challenge("c2")) is None


def test_challenges_are_listed_by_principal_and_state(store: Store) -> None:
    rows = [challenge("c1"), challenge("c2", state="verified"), challenge("c3", replace(OTHER, principal="uid:1"))]
    for row in rows:
        store.write(lambda tx, row=row: tx.save_challenge(row))
    assert store.read(lambda tx: tx.challenges()) == [rows[0], rows[2]]
    assert store.read(lambda tx: tx.challenges("uid:1000")) == [rows[0]]
    assert store.read(lambda tx: tx.challenges("uid:1000", "")) == rows[:2]
    assert store.read(lambda tx: tx.challenges(state="verified")) == [rows[1]]


def test_an_execution_is_added_once_and_changed_by_whoever_is_first(store: Store) -> None:
    new = execution("e1", goal={"what": "x"}, pause={})
    assert store.write(lambda tx: tx.save_execution(new, None))
    assert not store.write(lambda tx: tx.save_execution(new, None))
    after = replace(new, steps=1, risk=40, status="paused", pause={"id": "c1"})
    assert store.write(lambda tx: tx.save_execution(after, new))
    assert not store.write(lambda tx: tx.save_execution(replace(new, steps=9), new))
    assert store.read(lambda tx: tx.execution("e1")) == replace(after, version=1)
    assert store.read(lambda tx: tx.execution("e2")) is None
    with pytest.raises(StoreError, match="cannot become"):
        store.write(lambda tx: tx.save_execution(execution("e2"), new))


def test_executions_are_listed_by_agent_and_status(store: Store) -> None:
    rows = [
        execution("e1"),
        execution("e2", status="done", started_at=NOW + 1),
        execution("e3", OTHER, started_at=NOW + 2),
    ]
    for row in rows:
        store.write(lambda tx, row=row: tx.save_execution(row, None))
    assert store.read(lambda tx: tx.executions()) == rows[::-1]
    assert store.read(lambda tx: tx.executions(replace(AGENT, name="claude"))) == [rows[1], rows[0]]
    assert store.read(lambda tx: tx.executions(AGENT, "done")) == [rows[1]]
    assert store.read(lambda tx: tx.executions(status="running")) == [rows[2], rows[0]]


def test_notifications_are_numbered_and_told_to_their_agent_alone(store: Store) -> None:
    ids = [store.write(lambda tx, who=who: tx.add_notification(notification(who))) for who in (AGENT, OTHER, AGENT)]
    assert ids == [1, 2, 3]
    told = store.read(lambda tx: tx.notifications(replace(AGENT, name="CLAUDE"), NOW))
    assert told == [replace(notification(), id=1), replace(notification(), id=3)]
    assert store.read(lambda tx: tx.notifications(AGENT, NOW - 1)) == []


@pytest.mark.parametrize(("type", "stays"), [("info", False), ("permission_pending", True), ("autonomy_pause", True), ("danger_zone", True)])  # fmt: skip
def test_what_asks_for_a_human_is_told_until_it_is_cleared(store: Store, type: str, stays: bool) -> None:
    id = store.write(lambda tx: tx.add_notification(notification(type=type, metadata={"verificationId": "c1"})))
    told = replace(notification(type=type, metadata={"verificationId": "c1"}), id=id, delivered_at=NOW)
    store.write(lambda tx: tx.change_notification(told))
    assert store.read(lambda tx: tx.notifications(AGENT, NOW)) == ([told] if stays else [])
    store.write(lambda tx: tx.change_notification(replace(told, cleared_at=NOW)))
    assert store.read(lambda tx: tx.notifications(AGENT, NOW)) == []


def test_a_notification_that_was_never_added_cannot_be_changed(store: Store) -> None:
    with pytest.raises(StoreError, match="no notification 9"):
        store.write(lambda tx: tx.change_notification(replace(notification(), id=9)))
