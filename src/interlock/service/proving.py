"""One record's proof, from the store: its neighbours, and the checkpoint that covers it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from interlock.core.audit import FIRST_SEQ
from interlock.core.audit_proof import Proof, covering, proof
from interlock.core.audit_verify import Fault, Verdict, verify
from interlock.core.records import AuditQuery, AuditRow
from interlock.keys import verified
from interlock.ports import Tx
from interlock.service.state import State
from interlock.service.touched import touched

MOST = 20_000  # records that are followed to the signed one


def proof_of(state: State, row: AuditRow) -> Proof:
    """What proves this record; a way to the signature that is too long to follow here counts as no signature."""
    key = state.installation.checkpoint

    def signed(key_id: str, data: bytes, signature: str) -> bool:
        return key_id == key.key_id and verified(key.public_key, data, signature)

    def work(tx: Tx) -> Proof:
        point = covering(row, tx.checkpoints(), signed)
        distance = point.heads[row.writer]["seq"] - row.seq if point is not None else 0
        if distance > MOST:
            point, distance = None, 0
        around = tx.audit(AuditQuery(row.writer, row.seq - 2 if row.seq > 1 else -1, limit=distance + 4))
        before = next((one for one in around if one.seq == row.seq - 1), None)
        return proof(row, before, (one for one in around if one.seq > row.seq), point)

    return state.store.read(work)


def proved(state: State) -> Verdict:
    """The verdict on every writer's chain; the key is this installation's own."""
    key = state.installation.checkpoint
    writers, points = state.store.read(lambda tx: (tx.audit_writers(), tx.checkpoints()))

    def signed(key_id: str, data: bytes, signature: str) -> bool:
        if key_id != key.key_id:
            raise LookupError(key_id)
        return verified(key.public_key, data, signature)

    found = verify({writer: kept(state, writer) for writer in writers}, points, signed)
    strange = state.store.read(lambda tx: [writer for writer in writers if tx.audit_head(writer) is None])
    faults = [Fault(writer, FIRST_SEQ, "foreign", "somebody put these records there") for writer in strange]
    known = {fault.writer for fault in found.faults}
    hands = touched(state)
    return replace(
        found,
        faults=(*found.faults, *(fault for fault in faults if fault.writer not in known), *hands.faults),
        touches=hands.count,
        touched_until=hands.until,
    )


PAGE = 1_000  # records that are read at once


def kept(state: State, writer: str) -> Iterator[AuditRow]:
    """A writer's records from the first, a page at a time; records that were deleted or altered are no reason to stop."""
    after = -1
    while True:
        query = AuditQuery(writer, after, limit=PAGE)
        rows = state.store.read(lambda tx, query=query: tx.audit(query))  # type: ignore[misc]
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1].seq
