"""Verifies each writer's chain: names the first altered, missing, reordered or added record, and how far signatures reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from interlock.audit.chain import (
    CHECKPOINT,
    FIRST_SEQ,
    GENESIS,
    SCHEMA,
    body_of,
    checkpoint,
    fingerprint_of,
    hash_of,
    moment,
)
from interlock.records import AuditRow, Checkpoint

GROUPED = 5.0  # seconds that everyday records may be older than what was written meanwhile: they are kept in groups
_MAX_FAULTS = 100

Verify = Callable[[str, bytes, str], bool]  # key id, what was signed, signature in hex; LookupError: no such key


class Fault(Struct, frozen=True):
    """The first record of a writer that is not as it was written."""

    writer: str  # empty: a checkpoint
    seq: int  # of the record, or the checkpoint's number
    what: str  # altered, missing, reordered, foreign, duplicated, truncated, forked; of a checkpoint: altered, unsigned, missing
    words: str
    since: int = 0  # the first record that may be altered as well: after the last that a checkpoint confirms
    after: float = 0.0  # when the last good record before it was written


class AuditVerdict(Struct, frozen=True):
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    rows: int = 0
    proved: Mapping[str, int] = {}  # writer -> last record that a signature covers
    unproved: int = 0  # good links that no signature covers yet
    proved_until: float | None = None  # None: no signature proves anything
    touches: int = 0  # approvals that a passkey signed
    touched_until: float | None = None  # history before it cannot be forged without one of these passkeys

    @property
    def ok(self) -> bool:
        return not self.faults

    @property
    def first(self) -> Fault | None:
        return next(iter(self.faults), None)


class _Marks(Struct):
    known: dict[int, str] = {}  # seq -> hash
    floors: dict[int, str] = {}
    head: int = FIRST_SEQ - 1

    def starts(self) -> dict[int, str]:
        """Where the remaining part may begin, and the hash that it has to follow there."""
        return {FIRST_SEQ: GENESIS, **{seq + 1: hash for seq, hash in self.floors.items()}}

    def end_pruned(self) -> int:
        return max(self.floors, default=FIRST_SEQ - 1)


def verify(
    rows_by_writer: Mapping[str, Iterable[AuditRow]], checkpoints: Iterable[Checkpoint], verify_signature: Verify
) -> AuditVerdict:
    """Names the first bad record of every writer; reads each stream once, in order, two records at a time."""
    # What a chain has to fulfil:
    # 1. every checkpoint is signed by a key that is known, and no two contradict each other;
    # 2. it begins at the genesis, or after a record that a signed floor names;
    # 3. each record is of this writer, has the next number, its own hash, and follows the one before;
    # 4. each record that a checkpoint names has the hash that was signed;
    # 5. it reaches the newest head that was signed;
    # 6. each checkpoint that a record speaks of is there.
    checked = [(point, signature_fault(point, verify_signature)) for point in checkpoints]  # 1
    points = [point for point, fault in checked if fault is None]
    marks, forks = _marks(points)
    known_points = {fingerprint_of(point) for point in points}
    walks = [_Walk(writer, marks.get(writer, _Marks()), known_points) for writer in sorted({*rows_by_writer, *marks})]
    for walk in walks:
        walk.through(rows_by_writer.get(walk.writer, ()))  # 2-6
    found = sorted((fault for walk in walks for fault in walk.faults), key=lambda fault: (fault.after, fault.writer))
    faults = [*(fault for _, fault in checked if fault is not None), *forks, *found]
    proved = {walk.writer: walk.confirmed for walk in walks}
    whole = (
        point.at
        for point in points
        if point.heads and all(place["seq"] <= proved.get(writer, -1) for writer, place in point.heads.items())
    )
    return AuditVerdict(
        faults=tuple(faults[:_MAX_FAULTS]),
        notes=tuple(note for walk in walks for note in walk.notes()),
        rows=sum(walk.count for walk in walks),
        proved={writer: seq for writer, seq in proved.items() if seq >= FIRST_SEQ},
        unproved=sum(max(0, walk.last.seq - walk.confirmed) for walk in walks if walk.last),
        proved_until=max(whole, default=None),
    )


class _Walk:
    def __init__(self, writer: str, marks: _Marks, points: set[str]) -> None:
        self.writer, self.marks, self.points = writer, marks, points
        self.last: AuditRow | None = None
        self.confirmed = FIRST_SEQ - 1
        self.faults: list[Fault] = []
        self.count = self.backwards = self.first_backwards = 0

    def through(self, rows: Iterable[AuditRow]) -> None:
        stream = iter(rows)
        row = next(stream, None)
        self.confirmed = self._expected(row) - 1 if row is not None else self.marks.end_pruned()  # 2
        while row is not None:
            after = next(stream, None)
            self.count += 1
            if (fault := self._wrong(row, after)) is not None:
                self.faults.insert(0, self._told_apart(fault, row, after, stream))
                return
            self._accept(row)
            row = after
        end = self.last.seq if self.last is not None else self.marks.end_pruned()
        if end < self.marks.head:  # 5
            words = f"the chain ends at {end}, a signed checkpoint has {self.marks.head}"
            self.faults.insert(0, self._fault(end + 1, "truncated" if self.count else "missing", words))

    def notes(self) -> Iterator[str]:
        if self.backwards:
            more = f", and {self.backwards - 1} more times" if self.backwards > 1 else ""
            yield (
                f"{self.writer}: record {self.first_backwards} is dated before the one in front of it{more}: the clock was"
                " set back, or it waited for the store. Their order is what the chain shows, whatever the clock said"
            )
        if not self.marks.known and self.count:
            yield f"{self.writer}: no checkpoint names this writer, so nothing of it is proved"

    def _accept(self, row: AuditRow) -> None:
        if self.last is not None and row.at < self.last.at - GROUPED:
            self.first_backwards = self.first_backwards or row.seq
            self.backwards += 1
        if row.seq in self.marks.known:
            self.confirmed = row.seq
        if row.event == CHECKPOINT and not self.faults and body_of(row).get("digest") not in self.points:
            words = f"the checkpoint that record {row.seq} speaks of is gone"
            self.faults.append(replace(self._fault(row.seq, "missing", words), writer=""))
        self.last = row

    def _wrong(self, row: AuditRow, after: AuditRow | None) -> Fault | None:
        """Obligations 2 to 4."""
        if row.writer != self.writer:
            return self._fault(self._expected(row), "foreign", f"a record of {row.writer!r:.80} stands in this chain")
        expected = self._expected(row)
        if not isinstance(row.seq, int) or row.seq < FIRST_SEQ:
            return self._fault(expected, "foreign", f"a record with the number {row.seq!r:.40}")
        if row.seq != expected:
            words = f"record {row.seq} stands where {expected} belongs"
            return self._fault(min(row.seq, expected), "missing" if row.seq > expected else "duplicated", words)
        if row.schema != SCHEMA:
            return self._fault(row.seq, "foreign", f"schema {row.schema!r:.20} is unknown; expected {SCHEMA}")
        if not is_whole(row):
            return self._fault(row.seq, "altered", "the record's hash is not the hash of its content")
        if row.prev != (self.last.hash if self.last is not None else self.marks.starts()[row.seq]):
            return self._unlinked(row, after)
        if self.marks.known.get(row.seq, row.hash) != row.hash:
            return self._fault(row.seq, "altered", "a signed checkpoint has another hash for this record")
        return None

    def _expected(self, row: AuditRow) -> int:
        if self.last is not None:
            return self.last.seq + 1
        known = self.marks.starts() if isinstance(row.seq, int) else ()
        return max((start for start in known if start <= row.seq), default=FIRST_SEQ)

    def _unlinked(self, row: AuditRow, after: AuditRow | None) -> Fault:
        """Of two whole records that do not follow each other, the one that a signature or the next record vouches for is good."""
        if (last := self.last) is None or last.seq == self.confirmed:
            return self._fault(row.seq, "foreign", "it does not follow the record before it")
        if after is None or after.prev == row.hash or self.marks.known.get(row.seq) == row.hash:
            return self._fault(last.seq, "altered", f"record {row.seq} was written after another record {last.seq}")
        return self._fault(row.seq, "foreign", "neither the record before it nor the one after it knows it")

    def _told_apart(self, fault: Fault, row: AuditRow, after: AuditRow | None, stream: Iterator[AuditRow]) -> Fault:
        """Once the rest is read: the number twice, or the missing record elsewhere."""
        ours = row.writer == self.writer
        if ours and after is not None and after.seq == row.seq == fault.seq and fault.what in ("altered", "foreign"):
            fault = replace(fault, what="duplicated", words=f"two records have the number {fault.seq}")
        found = False
        for other in chain((after,) if after is not None else (), stream):
            self.count += 1
            found |= other.seq == fault.seq and other.writer == self.writer
        return replace(fault, what="reordered") if found and fault.what == "missing" else fault

    def _fault(self, seq: int, what: str, words: str) -> Fault:
        since = min(max(self.confirmed + 1, FIRST_SEQ), seq)
        after = self.last.at if self.last is not None else 0.0
        return Fault(self.writer, seq, what, words, since, after)


def signature_fault(point: Checkpoint, verify_signature: Verify) -> Fault | None:
    what, words = "altered", ""
    try:
        if not verify_signature(point.key_id, checkpoint(point.heads, point.floors, point.at), point.signature):
            words = "the signature is wrong"
        elif point.at != moment(point.at):
            words = "its time is not one that was signed"
    except LookupError:
        what, words = "unsigned", f"nobody knows the key {point.key_id!r:.80}"
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        words = str(error) or type(error).__name__
    return Fault("", point.id, what, f"checkpoint {point.id}: {words}") if words else None


def _marks(points: Iterable[Checkpoint]) -> tuple[dict[str, _Marks], list[Fault]]:
    """Two signed hashes of one record are a fork."""
    marks: dict[str, _Marks] = {}
    faults: list[Fault] = []
    for point in points:
        for places, are_floors in ((point.heads, False), (point.floors, True)):
            for writer, place in places.items():
                seq, hash = place["seq"], place["hash"]
                mark = marks.setdefault(writer, _Marks())
                mark.head = max(mark.head, seq)
                if mark.known.setdefault(seq, hash) != hash:
                    faults.append(Fault(writer, seq, "forked", f"checkpoint {point.id} has another hash for it", seq))
                if are_floors:
                    mark.floors[seq] = hash
    return marks, faults


def is_whole(row: AuditRow) -> bool:
    """Whether a record is what was hashed; a value of a wrong type is not."""
    try:
        return moment(row.at) == row.at and hash_of(row) == row.hash
    except (TypeError, ValueError, OverflowError):
        return False
