"""Proves records: neighbours, covering checkpoint, and approvals and grants attested by a passkey."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals.statements import StatementError, parse_statement
from interlock.audit.chain import FIRST_SEQ, GENESIS, body_of
from interlock.audit.verify import AuditVerdict, Fault, Verify, is_whole, signature_fault, verify
from interlock.canonical_json import parse_canonical
from interlock.identity.keys.roster import Roster
from interlock.identity.keys.signing import verify_signature
from interlock.identity.keys.webauthn import signed_by
from interlock.identity.passkey_proofs import ProofError, from_hex
from interlock.ports import Tx
from interlock.records import AuditQuery, AuditRow, Checkpoint
from interlock.redaction import redact
from interlock.runtime.state import State


class RecordProof(Struct, frozen=True):
    whole: bool  # its hash matches its content
    follows: bool | None  # it names the record before it; None: that one was pruned
    followed: bool | None  # the record after it names it; None: it is the last
    signed_at: float | None = None  # when a checkpoint was signed that covers it
    links: int = 0  # records between it and the one that was signed
    broken: bool = False  # the way to the signed record is broken

    @property
    def ok(self) -> bool:
        """Whether no check fails; `signed_at` says whether a signature covers it."""
        return self.whole and self.follows is not False and self.followed is not False and not self.broken


def covering_checkpoint(row: AuditRow, checkpoints: Iterable[Checkpoint], verify: Verify) -> Checkpoint | None:
    """The first with a good signature whose head is this record or a later one."""
    for point in checkpoints:
        head = point.heads.get(row.writer)
        seq = head.get("seq") if isinstance(head, dict) else None
        if isinstance(seq, int) and seq >= row.seq and signature_fault(point, verify) is None:
            return point
    return None


def prove(row: AuditRow, before: AuditRow | None, after: Iterable[AuditRow], point: Checkpoint | None) -> RecordProof:
    """Follows the chain to the checkpoint's head; `after` are the later records, in order."""
    head = point.heads[row.writer] if point is not None else None
    last, links, followed, broken = row, 0, None, False
    for other in after:
        linked = other.seq == last.seq + 1 and other.prev == last.hash and is_whole(other)
        followed = linked if followed is None else followed
        if head is None or last.seq >= head["seq"]:
            break
        if not linked:
            broken = True
            break
        last, links = other, links + 1
    if head is not None and not broken:
        broken = (last.seq, last.hash) != (head["seq"], head["hash"])
    covered = point.at if point is not None and not broken else None
    follows = None if before is None else before.seq == row.seq - 1 and before.hash == row.prev
    follows = row.prev == GENESIS if row.seq == FIRST_SEQ else follows
    return RecordProof(is_whole(row), follows, followed, covered, links, broken)


MOST = 20_000  # records that are followed to the signed one


def proof_of(state: State, row: AuditRow) -> RecordProof:
    """A signature too many records away counts as none."""

    def work(tx: Tx) -> RecordProof:
        point = covering_checkpoint(row, tx.checkpoints(), _by_own_key(state))
        distance = point.heads[row.writer]["seq"] - row.seq if point is not None else 0
        if distance > MOST:
            point, distance = None, 0
        around = tx.audit(AuditQuery(row.writer, row.seq - 2 if row.seq > 1 else -1, limit=distance + 4))
        before = next((one for one in around if one.seq == row.seq - 1), None)
        return prove(row, before, (one for one in around if one.seq > row.seq), point)

    return state.store.read(work)


def _by_own_key(state: State) -> Verify:
    key = state.installation.checkpoint

    def signed(key_id: str, data: bytes, signature: str) -> bool:
        if key_id != key.key_id:
            raise LookupError(key_id)
        return verify_signature(key.public_key, data, signature)

    return signed


def verify_chains(state: State) -> AuditVerdict:
    writers, points = state.store.read(lambda tx: (tx.audit_writers(), tx.checkpoints()))
    found = verify({writer: writer_records(state, writer) for writer in writers}, points, _by_own_key(state))
    others = set(writers) - {fault.writer for fault in found.faults}
    strange = state.store.read(lambda tx: [writer for writer in sorted(others) if tx.audit_head(writer) is None])
    faults = (Fault(writer, FIRST_SEQ, "foreign", "somebody put these records there") for writer in strange)
    hands = check_attestations(state)
    whole = (*found.faults, *faults, *hands.faults)
    return replace(found, faults=whole, touches=hands.touches, touched_until=hands.touched_until)


PAGE = 1_000  # records that are read at once


def writer_records(state: State, writer: str, event: str = "") -> Iterator[AuditRow]:
    """A page at a time; records that were deleted or altered are no reason to stop."""
    after = -1
    while True:
        query = AuditQuery(writer, after, event=event, limit=PAGE)
        rows = state.store.read(lambda tx, query=query: tx.audit(query))  # type: ignore[misc]
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


def _covered(state: State, roster: Roster, body: dict[str, object]) -> list[float]:
    """When the record was written that a passkey signed with this one; empty where there was none, or it is pruned."""
    try:
        text = bytes.fromhex(str(body.get("statement"))).decode()
    except ValueError:
        raise ProofError("what the passkey signed cannot be read") from None
    signature = str(body.get("proof"))
    head = from_hex(signature).head
    if not (_grants(body, text) if "grant" in body else _approves(body, text)):
        raise ProofError("the passkey signed something else than this")
    passkey = roster.passkey(str(body.get("key_id"))) if head is not None else None
    if head is not None and passkey is None:  # removed ones are known too: their earlier signatures stay valid
        raise LookupError("nobody knows the passkey that signed this")
    if head is None or passkey is None or not signed_by(passkey, text.encode(), signature):
        raise ProofError("no passkey of this operator signed this")
    if head.seq < FIRST_SEQ:
        return []
    here, first = state.store.read(
        lambda tx: [tx.audit(AuditQuery(head.writer, after, limit=1)) for after in (head.seq - 1, -1)]
    )
    if first and first[0].seq > head.seq:
        return []
    if not here or (here[0].seq, here[0].hash) != (head.seq, head.hash):
        raise ProofError(
            f"the passkey signed another history: record {head.seq} of {head.writer!r:.40} was different then"
        )
    return [here[0].at]


def _approves(body: dict[str, object], text: str) -> bool:
    said = parse_statement(text)
    return (said.ticket, said.digest, said.operator) == (body.get("ticket"), body.get("digest"), body.get("by"))


def _grants(body: dict[str, object], text: str) -> bool:
    try:
        said = redact(parse_canonical(text))
    except ValueError:
        return False
    terms = body.get("terms")
    if not isinstance(said, dict) or not isinstance(terms, dict) or terms.get("by") != body.get("by"):
        return False
    return said | terms | {"id": body.get("grant")} == said


def check_attestations(state: State) -> AuditVerdict:
    """That a passkey signed each, for this action or these terms, and for the history before it.

    None while the daemon is locked, since no key is known.
    """
    if (roster := state.sessions.roster) is None:
        return AuditVerdict()
    faults: list[Fault] = []
    covered: list[float] = []
    count = 0
    for writer, event in product(state.store.read(lambda tx: tx.audit_writers()), ("approve", "grant")):
        for row in writer_records(state, writer, event):
            body = body_of(row)
            if "proof" not in body:
                continue
            count += 1
            try:
                covered += _covered(state, roster, body)
            except (StatementError, ProofError) as error:
                faults.append(Fault(writer, row.seq, "altered", str(error)))
            except LookupError as error:
                faults.append(Fault(writer, row.seq, "unsigned", str(error.args[0])))
    return AuditVerdict(tuple(faults), touches=count, touched_until=max(covered, default=None))
