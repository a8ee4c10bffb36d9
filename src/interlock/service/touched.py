"""The record's approvals and grants by passkey, checked against the operators as they are sealed."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.core.assertion import Head
from interlock.core.audit_touched import LetGo, Touches, touches
from interlock.core.records import AuditQuery, AuditRow
from interlock.keys.passkeys import signed_by
from interlock.ports import Tx
from interlock.service.state import State

PAGE = 500  # records that are read at once
TOUCHED = ("approve", "grant")  # the events that a passkey can have signed


def touched(state: State) -> Touches:
    """What passkeys prove; nothing while nobody has unlocked the daemon, for then nobody's key is known."""
    roster = state.sessions.roster
    if roster is None:
        return Touches()

    def signed(key: str, statement: bytes, proof: str) -> bool:
        passkey = roster.passkey(key)  # a removed one too: what it signed then was signed
        if passkey is None:
            raise LookupError("nobody knows the passkey that signed this")
        return signed_by(passkey, statement, proof)

    writers = state.store.read(lambda tx: tx.audit_writers())
    return touches(
        (row for writer in writers for event in TOUCHED for row in _signed(state, writer, event)),
        signed,
        lambda head: _at(state, head),
    )


def _signed(state: State, writer: str, event: str) -> Iterator[AuditRow]:
    after = -1
    while True:
        query = AuditQuery(writer, after, event=event, limit=PAGE)
        rows = state.store.read(lambda tx, query=query: tx.audit(query))  # type: ignore[misc]
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


def _at(state: State, head: Head) -> AuditRow | None:
    """The record that a head names; a writer whose first records were let go has none of them any more."""

    def work(tx: Tx) -> tuple[list[AuditRow], list[AuditRow]]:
        return tx.audit(AuditQuery(head.writer, head.seq - 1, limit=1)), tx.audit(AuditQuery(head.writer, limit=1))

    here, first = state.store.read(work)
    if first and first[0].seq > head.seq:
        raise LetGo
    return here[0] if here and here[0].seq == head.seq else None
