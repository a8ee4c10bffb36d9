"""One record is proved by its own hash, by its neighbours, and by the first signature over what followed it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.audit.chain import entry, head_of, signed_checkpoint
from interlock.audit.proof import RecordProof, covering_checkpoint, prove
from interlock.records import AuditRow, Checkpoint


def chain(count: int) -> list[AuditRow]:
    rows: list[AuditRow] = []
    for number in range(count):
        rows.append(entry("main", rows[-1] if rows else None, 1000.0 + number, "approve", {"n": number}))
    return rows


def signed(*rows: AuditRow) -> list[Checkpoint]:
    return [signed_checkpoint({row.writer: head_of(row)}, {}, row.at + 0.5, "k", lambda data: "good") for row in rows]


def good(key_id: str, data: bytes, signature: str) -> bool:
    return signature == "good"


def of(rows: list[AuditRow], at: int, points: list[Checkpoint]) -> RecordProof:
    before = rows[at - 1] if at else None
    return prove(rows[at], before, rows[at + 1 :], covering_checkpoint(rows[at], points, good))


@pytest.mark.parametrize("at", range(5))
def test_every_record_before_a_signed_one_is_proved_by_it(at: int) -> None:
    rows = chain(6)
    found = of(rows, at, signed(rows[4]))
    assert found.ok and found.signed_at == rows[4].at + 0.5 and found.links == 4 - at


def test_what_came_after_the_last_signature_is_chained_and_not_signed() -> None:
    rows = chain(6)
    found = of(rows, 5, signed(rows[2]))
    assert found.ok and (found.follows, found.followed, found.signed_at) == (True, None, None)


def test_the_first_checkpoint_that_covers_a_record_is_named_and_one_with_a_bad_signature_is_none() -> None:
    rows = chain(6)
    early, late = signed(rows[3], rows[5])
    assert covering_checkpoint(rows[2], [early, late], good) is early
    assert covering_checkpoint(rows[4], [early, late], good) is late
    assert covering_checkpoint(rows[2], [replace(early, signature="bad"), late], good) is late
    assert covering_checkpoint(replace(rows[2], writer="other"), [early, late], good) is None


def test_an_edit_a_gap_and_another_history_each_show() -> None:
    rows = chain(6)
    points = signed(rows[4])
    edited = [*rows[:2], replace(rows[2], body='{"n":99}'), *rows[3:]]
    assert not of(edited, 2, points).whole
    assert of(edited, 1, points).broken
    gap = [*rows[:2], *rows[3:]]
    assert of(gap, 1, points).followed is False and of(gap, 1, points).broken
    assert of(gap, 2, points).follows is False
    other = [*rows[:4], entry("main", rows[3], 1004.0, "approve", {"n": "another"})]
    assert of(other, 2, points).broken and of(other, 2, points).signed_at is None
    assert of(rows[:4], 2, points).broken  # its end was cut off


def test_a_record_whose_neighbour_was_let_go_by_age_is_not_called_broken() -> None:
    rows = chain(3)
    found = prove(rows[1], None, rows[2:], None)
    assert found.ok and found.follows is None
