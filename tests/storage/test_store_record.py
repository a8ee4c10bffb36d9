"""The audit's chains and checkpoints: what every store promises about them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.ports import Store, StoreError
from interlock.records import AuditQuery, AuditRow, Checkpoint
from stored_records import NOW, chain


def appended(store: Store, rows: list[AuditRow]) -> None:
    store.write(lambda tx: tx.append_audit(rows))


def test_a_chain_grows_at_its_end(store: Store) -> None:
    rows = chain(120)
    assert store.read(lambda tx: tx.audit_head("w1")) is None
    appended(store, rows[:100])
    appended(store, [])
    appended(store, rows[100:])
    assert store.read(lambda tx: tx.audit_head("w1")) == rows[-1]
    assert store.read(lambda tx: tx.audit(AuditQuery(writer="w1"))) == rows


BROKEN = {
    "a gap": lambda rows: [replace(rows[3], seq=4)],
    "a repetition": lambda rows: [rows[2]],
    "another history": lambda rows: [replace(rows[3], prev="forged")],
    "a new beginning": lambda rows: [replace(rows[0], hash="other")],
    "a break further on": lambda rows: [rows[3], replace(rows[4], prev="forged")],
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_record_that_does_not_continue_its_chain_is_refused(store: Store, what: str) -> None:
    rows = chain(5)
    appended(store, rows[:3])
    with pytest.raises(StoreError, match=r"audit of 'w1': record .* does not continue it, expected"):
        appended(store, BROKEN[what](rows))
    assert store.read(lambda tx: tx.audit(AuditQuery())) == rows[:3]
    appended(store, rows[3:])


@pytest.mark.parametrize("wrong", [{"seq": 1}, {"prev": ""}])
def test_a_chain_begins_at_its_beginning(store: Store, wrong: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="does not continue"):
        appended(store, [replace(chain(1)[0], **wrong)])  # type: ignore[arg-type]


def test_writers_have_chains_of_their_own(store: Store) -> None:
    one, two = chain(3), chain(2, "w0")
    appended(store, [*one, *two])
    assert store.read(lambda tx: tx.audit_writers()) == ["w0", "w1"]
    assert store.read(lambda tx: tx.audit_head("w0")) == two[-1]


def test_records_are_found_by_writer_number_event_time_and_text(store: Store) -> None:
    rows = chain(6)
    rows[2] = replace(rows[2], event="TOKEN_ISSUED", body='{"what":"Drop 100%_of it!"}')
    other = chain(2, "w2")
    appended(store, [*rows, *other])

    def found(**query: object) -> list[AuditRow]:
        return store.read(lambda tx: tx.audit(AuditQuery(**query)))  # type: ignore[arg-type]

    assert found(writer="w1", after_seq=3) == rows[4:]
    assert found(writer="w1", after_seq=0) == rows[1:]
    assert found(writer="w1", newest_first=True, limit=2) == [rows[5], rows[4]]
    assert found(event="TOKEN_ISSUED") == [rows[2]]
    assert found(since=NOW + 2, until=NOW + 3) == rows[2:4]
    assert found(limit=3) == [rows[0], other[0], rows[1]]
    assert found(newest_first=True, limit=1) == [rows[5]]
    assert found(text="100%_OF IT!") == [rows[2]]
    assert found(text="100_") == found(text="d%p") == found(writer="w9") == []


def test_pruning_takes_the_oldest_and_leaves_the_end(store: Store) -> None:
    rows = chain(5)
    appended(store, [*rows, *chain(2, "w2")])
    assert store.write(lambda tx: tx.prune_audit("w1", 3)) == 3
    assert store.write(lambda tx: tx.prune_audit("w1", 99)) == 1
    assert store.write(lambda tx: tx.prune_audit("w9", 99)) == 0
    assert store.read(lambda tx: tx.audit(AuditQuery(writer="w1"))) == rows[4:]
    appended(store, chain(1, head=rows[-1]))
    assert len(store.read(lambda tx: tx.audit(AuditQuery(writer="w2")))) == 2


def test_checkpoints_are_numbered_in_order(store: Store) -> None:
    one = Checkpoint(0, NOW, {"w1": {"seq": 4, "hash": "h"}}, {}, "sig", "k1")
    assert [store.write(lambda tx: tx.add_checkpoint(one)) for _ in range(2)] == [1, 2]
    assert store.read(lambda tx: tx.checkpoints()) == [replace(one, id=1), replace(one, id=2)]
