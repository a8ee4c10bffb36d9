"""One record's proof, from the store: its neighbours, and the checkpoint that covers it."""

from __future__ import annotations

from interlock.core.audit_proof import Proof, covering, proof
from interlock.core.records import AuditQuery, AuditRow
from interlock.keys import verified
from interlock.ports import Tx
from interlock.service.state import State

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
