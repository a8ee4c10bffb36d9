"""What proves one record: its own hash, its neighbours, and the first signature over what followed it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.core.audit import FIRST_SEQ, GENESIS, checkpoint, hash_of, moment
from interlock.core.audit_verify import Verify
from interlock.core.records import AuditRow, Checkpoint


@dataclass(frozen=True, slots=True)
class Proof:
    """What holds of one record, each by itself."""

    whole: bool  # its hash is the hash of what it says
    follows: bool | None  # the record before it is the one it names; None: that one was let go
    followed: bool | None  # the record after it names it; None: it is the last
    signed_at: float | None = None  # when a checkpoint was signed that covers it
    links: int = 0  # records between it and the one that was signed
    broken: bool = False  # the way to the signed record is broken

    @property
    def ok(self) -> bool:
        """Nothing speaks against it; whether a signature speaks for it is `signed_at`."""
        return self.whole and self.follows is not False and self.followed is not False and not self.broken


def covering(row: AuditRow, checkpoints: Iterable[Checkpoint], verify: Verify) -> Checkpoint | None:
    """The first checkpoint with a good signature whose head is this record or a later one."""
    for point in checkpoints:
        head = point.heads.get(row.writer)
        if isinstance(head, dict) and isinstance(head.get("seq"), int) and head["seq"] >= row.seq:
            if _signed(point, verify):
                return point
    return None


def proof(row: AuditRow, before: AuditRow | None, after: Iterable[AuditRow], point: Checkpoint | None) -> Proof:
    """Follows the chain from the record to what the checkpoint names; `after` are the records behind it, in order."""
    head = point.heads[row.writer] if point is not None else None
    last, links, followed, broken = row, 0, None, False
    for other in after:
        linked = other.seq == last.seq + 1 and other.prev == last.hash and _whole(other)
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
    return Proof(_whole(row), _follows(row, before), followed, covered, links, broken)


def _follows(row: AuditRow, before: AuditRow | None) -> bool | None:
    if row.seq == FIRST_SEQ:
        return row.prev == GENESIS
    return None if before is None else before.seq == row.seq - 1 and before.hash == row.prev


def _whole(row: AuditRow) -> bool:
    try:
        return moment(row.at) == row.at and hash_of(row) == row.hash
    except (TypeError, ValueError, OverflowError):
        return False


def _signed(point: Checkpoint, verify: Verify) -> bool:
    try:
        return verify(point.key_id, checkpoint(point.heads, point.floors, point.at), point.signature)
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError):
        return False
