"""Snapshots of what an action would change, and its undo: the values that cross processes, parsed strictly, for they come from the agent's user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from interlock.analysis.display_text import visible
from interlock.policy.impact import count_words, size_words
from interlock.redaction import redact_text

ID = re.compile(r"u_[a-z2-7]{10}")
MOST_CHANGES = 500  # that an answer lists; their total is a field of its own
MOST_NOTES = 20
LONGEST = 400  # characters of a name or a note
LONGEST_DIFF = 20_000
# What an undo may do to a path or ref.
WHATS = frozenset({"create", "replace", "delete", "mode", "attributes", "ref", "index", "stash", "config", "database"})


class SnapshotLimits(Struct, frozen=True):
    """The files, bytes and time that one snapshot may take; beyond them there is no snapshot."""

    files: int = 5_000
    bytes: int = 200_000_000
    ms: int = 300


LIMITS = SnapshotLimits()


class TakenSnapshot(Struct, frozen=True):
    """A snapshot that was taken and verified; with a problem, there is none."""

    id: str
    digest: str = ""  # SHA-256 of its manifest
    files: int = 0
    bytes: int = 0
    notes: tuple[str, ...] = ()  # what it leaves out, and why that is no loss
    problem: str = ""

    @property
    def verified(self) -> bool:
        """Whether everything the action would change can be restored."""
        return bool(self.digest) and not self.problem

    @property
    def words(self) -> str:
        """kept 312 files, 4.1 MB: interlock undo u_…"""
        if not self.verified:
            return redact_text(f"no snapshot was taken: {visible(self.problem) or 'the reason is not known'}")
        how = f"{count_words(self.files, 'file')}, {size_words(self.bytes)}"
        notes = "; ".join(visible(note) for note in self.notes)
        return redact_text(f"kept {how}: interlock undo {self.id}" + (f" ({notes})" if notes else ""))


class UndoChange(Struct, frozen=True):
    """One change that an undo would make."""

    path: str  # or the name of a ref
    what: str  # one of WHATS
    later: bool = False  # somebody worked on it since: it is neither what was before nor what the action left
    diff: str = ""  # from what is there to what comes back, where both are text


class UndoPlan(Struct, frozen=True):
    """The changes that an undo would make now."""

    id: str
    changes: tuple[UndoChange, ...] = ()
    total: int = 0  # of which the changes are the first
    later: int = 0  # how many of the total are later work
    say: tuple[str, ...] = ()  # what a person has to do, or has to know
    problem: str = ""


class UndoResult(Struct, frozen=True):
    """The changes that an undo made; with `refused` nothing was changed, since later work would be lost."""

    id: str
    as_id: str = ""  # of the snapshot that undoes the undo; empty where nothing had to be changed
    as_digest: str = ""
    changes: tuple[UndoChange, ...] = ()
    total: int = 0
    refused: bool = False
    problem: str = ""
    say: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        return not self.refused and not self.problem


class SnapshotSummary(Struct, frozen=True):
    """One snapshot as the folder lists it."""

    id: str
    at: float
    digest: str
    files: int
    bytes: int
    bases: tuple[str, ...] = ()


class PruneResult(Struct, frozen=True):
    """The snapshots that were deleted."""

    ids: tuple[str, ...] = ()
    bytes: int = 0  # that the folder holds now
    problem: str = ""


def no_snapshot(id: str, problem: str) -> TakenSnapshot:
    """The answer where no snapshot was taken."""
    return TakenSnapshot(id, problem=problem or "it could not be copied")


def snapshot_json(taken: TakenSnapshot) -> dict[str, Any]:
    return {
        "id": taken.id,
        "digest": taken.digest,
        "files": taken.files,
        "bytes": taken.bytes,
        "notes": list(taken.notes),
        "problem": taken.problem,
    }


def parse_snapshot(data: Mapping[str, Any]) -> TakenSnapshot:
    """Parses JSON from the agent's user; like all parsers here it raises ValueError, KeyError and TypeError for anything else."""
    return TakenSnapshot(
        parse_snapshot_id(data["id"]), _text(data, "digest", 64), _figure(data, "files"), _figure(data, "bytes"), _texts(data, "notes"), _text(data, "problem")
    )  # fmt: skip


def change_json(change: UndoChange) -> dict[str, Any]:
    body: dict[str, Any] = {"path": change.path, "what": change.what, "later": change.later}
    return body | ({"diff": change.diff} if change.diff else {})


def parse_change(data: Mapping[str, Any]) -> UndoChange:
    if data["what"] not in WHATS:
        raise ValueError("no such change")
    return UndoChange(
        _text(data, "path", 4_096), data["what"], bool(data.get("later")), _text(data, "diff", LONGEST_DIFF)
    )


def undo_plan_json(plan: UndoPlan) -> dict[str, Any]:
    return {
        "id": plan.id,
        "changes": [change_json(change) for change in plan.changes[:MOST_CHANGES]],
        "total": plan.total or len(plan.changes),
        "later": plan.later,
        "say": list(plan.say),
        "problem": plan.problem,
    }


def parse_undo_plan(data: Mapping[str, Any]) -> UndoPlan:
    return UndoPlan(
        parse_snapshot_id(data["id"]), _changes(data), _figure(data, "total"), _figure(data, "later"), _texts(data, "say"), _text(data, "problem")
    )  # fmt: skip


def undo_result_json(result: UndoResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "as_id": result.as_id,
        "as_digest": result.as_digest,
        "changes": [change_json(change) for change in result.changes[:MOST_CHANGES]],
        "total": result.total or len(result.changes),
        "refused": result.refused,
        "problem": result.problem,
        "say": list(result.say),
    }


def parse_undo_result(data: Mapping[str, Any]) -> UndoResult:
    return UndoResult(
        parse_snapshot_id(data["id"]),
        parse_snapshot_id(data["as_id"]) if data.get("as_id") else "",
        _text(data, "as_digest", 64),
        _changes(data),
        _figure(data, "total"),
        bool(data.get("refused")),
        _text(data, "problem"),
        _texts(data, "say"),
    )


def summary_json(summary: SnapshotSummary) -> dict[str, Any]:
    return {
        "id": summary.id,
        "at": summary.at,
        "digest": summary.digest,
        "files": summary.files,
        "bytes": summary.bytes,
        "bases": list(summary.bases),
    }


def parse_summary(data: Mapping[str, Any]) -> SnapshotSummary:
    return SnapshotSummary(
        parse_snapshot_id(data["id"]), float(data["at"]), _text(data, "digest", 64), _figure(data, "files"), _figure(data, "bytes"), _texts(data, "bases", 4_096)
    )  # fmt: skip


def prune_result_json(result: PruneResult) -> dict[str, Any]:
    return {"ids": list(result.ids), "bytes": result.bytes, "problem": result.problem}


def parse_prune_result(data: Mapping[str, Any]) -> PruneResult:
    return PruneResult(
        tuple(parse_snapshot_id(one) for one in data["ids"]), _figure(data, "bytes"), _text(data, "problem")
    )


def parse_snapshot_id(value: object) -> str:
    """A snapshot's id; refuses everything else, since it becomes the name of a file."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise ValueError(f"no snapshot is called {value!r:.60}")
    return value


def _changes(data: Mapping[str, Any]) -> tuple[UndoChange, ...]:
    return tuple(parse_change(one) for one in data.get("changes", ())[:MOST_CHANGES])


def _text(data: Mapping[str, Any], name: str, longest: int = LONGEST) -> str:
    return str(data.get(name, ""))[:longest]


def _texts(data: Mapping[str, Any], name: str, longest: int = LONGEST) -> tuple[str, ...]:
    values: Sequence[Any] = data.get(name, ())
    return tuple(str(value)[:longest] for value in values[:MOST_NOTES])


def _figure(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name, 0)
    if type(value) is not int or value < 0:
        raise ValueError("no number")
    return value


class SnapshotUsage(Struct):
    """The bytes that snapshots use; one for a process, whatever policy or isolation a single call is under."""

    bytes: dict[str, int] = field(default_factory=dict)  # by the folder's owner, as `SnapshotPlaces.owner_of` names it
