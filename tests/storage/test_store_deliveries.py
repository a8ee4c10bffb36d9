"""What channels owe to people: kept once, changed by one, forgotten when it is old."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.ports import Store
from interlock.records import SENT, Delivery, claim_delivery, finish_delivery
from stored_records import NOW

ROW = Delivery("hook/ticket t1", "hook", "held", "ticket t1", "", NOW, NOW)


def test_one_id_is_kept_once(store: Store) -> None:
    assert store.write(lambda tx: (tx.add_delivery(ROW), tx.add_delivery(replace(ROW, words="other")))) == (True, False)
    assert store.read(lambda tx: tx.delivery(ROW.id)) == ROW


def test_what_is_due_is_found_until_somebody_has_it(store: Store) -> None:
    later = replace(ROW, id="hook/later", due_at=NOW + 60)
    store.write(lambda tx: (tx.add_delivery(later), tx.add_delivery(ROW)))
    assert store.read(lambda tx: tx.due_deliveries("hook", NOW, 10)) == [ROW]
    assert store.read(lambda tx: (tx.next_delivery("hook"), tx.owed("hook"), tx.owed("mail"))) == (NOW, 2, 0)
    mine = claim_delivery(ROW, NOW)
    assert store.write(lambda tx: tx.change_delivery(mine, ROW))
    assert not store.write(lambda tx: tx.change_delivery(mine, ROW)), "somebody was faster"
    assert store.read(lambda tx: tx.due_deliveries("hook", NOW + 1, 10)) == []
    assert store.read(lambda tx: tx.next_delivery("hook")) == later.due_at


def test_what_has_ended_is_forgotten_in_time_and_what_waits_is_not(store: Store) -> None:
    over = replace(finish_delivery(ROW, SENT, NOW), id="hook/over")
    store.write(lambda tx: (tx.add_delivery(ROW), tx.add_delivery(over)))
    assert store.read(lambda tx: tx.owed("hook")) == 1
    store.write(lambda tx: tx.forget_deliveries(NOW + 1))
    assert store.read(lambda tx: tx.deliveries("hook", 10)) == [ROW]
