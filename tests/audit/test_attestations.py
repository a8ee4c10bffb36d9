"""`audit verify` and passkeys: what was signed by touch is checked again, with the history before it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from authenticator import Authenticator
from browsers import SITE, SignedInBrowser, add_passkey, enter_with_passkey, register, touch_passkey
from gate import Gate
from interlock.approvals import step_up
from interlock.audit.chain import hash_of
from interlock.audit.proof import check_attestations as by_touch
from interlock.audit.proof import verify_chains
from interlock.identity import credentials
from interlock.model import command
from interlock.records import AuditRow

PUSH = command("git push --force origin main", "/home/dev/app")


def approved(gate: Gate, key: Authenticator) -> SignedInBrowser:
    entered, ticket = enter_with_passkey(gate, key), gate.held(PUSH)
    asked = step_up.approve_begin(gate.state, entered.visitor, ticket.id, SITE)
    answer = key.get(asked["publicKey"])
    step_up.approve(gate.state, entered.visitor, ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    return entered


def rewritten(gate: Gate, seq: int, **body: Any) -> None:
    """Tells a record anew, with hashes that fit from there on: what somebody with every key of the folder can do."""
    prev = ""
    for row in gate.records():
        if row.seq >= seq:
            text = json.dumps({**json.loads(row.body), **body}) if row.seq == seq else row.body
            row = replace(row, body=text, prev=prev)
            row = replace(row, hash=hash_of(row))
            _put(gate, row)
        prev = row.hash


def _put(gate: Gate, row: AuditRow) -> None:
    sql = "UPDATE audit SET body = ?, prev = ?, hash = ? WHERE writer = ? AND seq = ?"
    given = (row.body, row.prev, row.hash, row.writer, row.seq)
    gate.store.write(lambda tx: tx.execute(sql, given))  # type: ignore[attr-defined]
    gate.store.write(lambda tx: tx.execute("UPDATE audit_heads SET hash = ? WHERE seq = ?", (row.hash, row.seq)))  # type: ignore[attr-defined]


def test_the_record_says_until_when_a_passkey_proves_it(gate: Gate) -> None:
    key = add_passkey(gate)
    assert by_touch(gate.state).touched_until is None
    gate.clock.forward(10)
    approved(gate, key)
    verdict = verify_chains(gate.state)
    assert verdict.ok and verdict.touches == 1 and verdict.touched_until == gate.clock.now()


def test_history_before_a_touch_is_not_told_anew(gate: Gate) -> None:
    approved(gate, add_passkey(gate))
    enrolled = gate.records("enrol")[0]
    rewritten(gate, enrolled.seq, operator="mallory")
    (fault,) = by_touch(gate.state).faults
    assert fault.what == "altered" and "another history" in fault.words


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"ticket": "pdact_other"}, "something else"),
        ({"digest": "v1:00"}, "something else"),
        ({"by": "mallory"}, "something else"),
        ({"proof": "7b7d"}, "proof"),
        ({"statement": "zz"}, "cannot be read"),
        ({"key_id": "passkey:00"}, "nobody knows the passkey"),
    ],
    ids=str,
)
def test_an_approval_that_was_edited_in_the_record_shows(gate: Gate, edit: dict[str, str], words: str) -> None:
    approved(gate, add_passkey(gate))
    (row,) = gate.records("approve")
    rewritten(gate, row.seq, **edit)
    (fault,) = by_touch(gate.state).faults
    assert words in fault.words and fault.seq == row.seq


def test_what_a_passkey_signed_stays_proved_after_it_was_removed(gate: Gate) -> None:
    key, second = add_passkey(gate), Authenticator()
    entered = approved(gate, key)
    register(gate, touch_passkey(entered, key), second)
    other = enter_with_passkey(gate, second)
    credentials.remove(gate.state, touch_passkey(other, second), key.id.hex())
    assert by_touch(gate.state).faults == () and by_touch(gate.state).touched_until is not None


def test_records_that_were_let_go_by_age_are_no_fault(gate: Gate) -> None:
    approved(gate, add_passkey(gate))
    (row,) = gate.records("approve")
    gate.store.write(lambda tx: tx.prune_audit("main", row.seq))
    assert by_touch(gate.state).faults == () and by_touch(gate.state).touched_until is None
