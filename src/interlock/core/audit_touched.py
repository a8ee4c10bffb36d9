"""Which approvals and grants does a passkey prove, and up to when does that prove history?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interlock.core.assertion import Head, ProofError, from_hex
from interlock.core.audit import FIRST_SEQ
from interlock.core.audit_json import parsed
from interlock.core.audit_verify import Fault
from interlock.core.records import AuditRow
from interlock.core.redact import redact
from interlock.core.statement import StatementError, parse

Signed = Callable[[str, bytes, str], bool]  # key id, statement, proof; LookupError: no such passkey
Found = Callable[[Head], AuditRow | None]  # the record that a head names


class LetGo(Exception):
    """A record that was let go by age."""


@dataclass(frozen=True, slots=True)
class Touches:
    """What passkeys say about the record."""

    faults: tuple[Fault, ...] = ()
    count: int = 0
    until: float | None = None  # when the last record was written that a touch covers


def touches(rows: Iterable[AuditRow], signed: Signed, found: Found) -> Touches:
    """Checks every approval and grant that a passkey signed: that it did, for this action or these terms, and for the history before it."""
    faults: list[Fault] = []
    covered: list[float] = []
    count = 0
    for row in rows:
        body = _body(row)
        if "proof" not in body:
            continue
        count += 1
        try:
            covered += _covered(body, signed, found)
        except (StatementError, ProofError) as error:
            faults.append(Fault(row.writer, row.seq, "altered", str(error)))
        except LookupError as error:
            faults.append(Fault(row.writer, row.seq, "unsigned", str(error.args[0])))
    return Touches(tuple(faults), count, max(covered, default=None))


def _covered(body: dict[str, object], signed: Signed, found: Found) -> list[float]:
    """When the record was written that this touch covers; nothing where that one was let go by age."""
    try:
        text = bytes.fromhex(str(body.get("statement"))).decode()
    except ValueError:
        raise ProofError("what the passkey signed cannot be read") from None
    proof = from_hex(str(body.get("proof")))
    if not (_grants(body, text) if "grant" in body else _approves(body, text)):
        raise ProofError("the passkey signed something else than this")
    if proof.head is None or not signed(str(body.get("key_id")), text.encode(), str(body.get("proof"))):
        raise ProofError("no passkey of this operator signed this")
    if proof.head.seq < FIRST_SEQ:
        return []
    try:
        before = found(proof.head)
    except LetGo:
        return []
    if before is None or before.hash != proof.head.hash:
        raise ProofError(
            f"the passkey signed another history: record {proof.head.seq} of {proof.head.writer!r:.40} was different then"
        )
    return [before.at]


def _approves(body: dict[str, object], text: str) -> bool:
    said = parse(text)
    return (said.ticket, said.digest, said.operator) == (body.get("ticket"), body.get("digest"), body.get("by"))


def _grants(body: dict[str, object], text: str) -> bool:
    """Whether these are the terms, as a record has them, and whoever gave them."""
    try:
        said = redact(parsed(text))
    except ValueError:
        return False
    terms = body.get("terms")
    if not isinstance(said, dict) or not isinstance(terms, dict) or terms.get("by") != body.get("by"):
        return False
    return {**said, **terms, "id": body.get("grant")} == said


def _body(row: AuditRow) -> dict[str, object]:
    try:
        body = parsed(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
