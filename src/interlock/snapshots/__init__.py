"""Snapshots and their undo: the values that cross processes, parsed strictly, for they come from the agent's user."""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct, convert, to_builtins

from interlock.analysis.display_text import visible
from interlock.policy.impact import count_words, size_words
from interlock.redaction import redact_text

ID = re.compile(r"u_[a-z2-7]{10}")
MOST_CHANGES = 500  # that an answer lists; their total is a field of its own
LONGEST_DIFF = 20_000
_MOST = {"changes": MOST_CHANGES, "ids": 100_000}  # of a list; 20 of any other
_LONGEST = {"path": 4_096, "diff": LONGEST_DIFF}  # characters of a text; 400 of any other
SnapshotId = Annotated[str, Meta(pattern=rf"^{ID.pattern}\Z")]
_Count = Annotated[int, Meta(ge=0)]
_Answer = TypeVar("_Answer")
# What an undo may do to a path or ref.
WHATS = frozenset({"create", "replace", "delete", "mode", "attributes", "ref", "index", "stash", "config", "database"})


class SnapshotLimits(Struct, frozen=True):
    """Beyond them there is no snapshot."""

    files: int = 5_000
    bytes: int = 200_000_000
    ms: int = 300


LIMITS = SnapshotLimits()


class TakenSnapshot(Struct, frozen=True):
    """With a problem, there is none."""

    id: SnapshotId
    digest: str = ""
    files: _Count = 0
    bytes: _Count = 0
    notes: tuple[str, ...] = ()  # what it leaves out, and why that is no loss
    problem: str = ""

    @property
    def verified(self) -> bool:
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
    path: str  # or the name of a ref
    what: Annotated[str, Meta(pattern=rf"^(?:{'|'.join(sorted(WHATS))})\Z")]
    later: bool = False  # somebody worked on it since: it is neither what was before nor what the action left
    diff: str = ""  # from what is there to what comes back, where both are text


class UndoPlan(Struct, frozen=True):
    id: SnapshotId
    changes: tuple[UndoChange, ...] = ()
    total: _Count = 0  # of which the changes are the first
    later: _Count = 0  # how many of the total are later work
    say: tuple[str, ...] = ()  # what a person has to do, or has to know
    problem: str = ""


class UndoResult(Struct, frozen=True):
    """The changes that an undo made; with `refused` nothing was changed, since later work would be lost."""

    id: SnapshotId
    as_id: Annotated[str, Meta(pattern=rf"^({ID.pattern})?\Z")] = ""  # undoes the undo; empty where nothing changed
    as_digest: str = ""
    changes: tuple[UndoChange, ...] = ()
    total: _Count = 0
    refused: bool = False
    problem: str = ""
    say: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        return not self.refused and not self.problem


class PruneResult(Struct, frozen=True):
    ids: tuple[SnapshotId, ...] = ()
    bytes: _Count = 0  # that the folder holds now
    problem: str = ""


def no_snapshot(id: str, problem: str) -> TakenSnapshot:
    return TakenSnapshot(id, problem=problem or "it could not be copied")


def parse_answer(data: Any, kind: type[_Answer]) -> _Answer:
    """Texts and lists cut to their limits; raises ValueError for anything else."""
    return convert(_bounded(data), kind)


def _bounded(data: Any, name: str = "") -> Any:
    if isinstance(data, dict):
        return {key: _bounded(value, key) for key, value in data.items()}
    if isinstance(data, list):
        return [_bounded(one, name) for one in data[: _MOST.get(name, 20)]]
    return data[: _LONGEST.get(name, 400)] if isinstance(data, str) else data


def change_json(change: UndoChange) -> dict[str, Any]:
    body: dict[str, Any] = to_builtins(change)
    return body if change.diff else {"path": change.path, "what": change.what, "later": change.later}


def text_difference(old: bytes, new: bytes) -> str:
    """In lines with two around them; empty where one of the two is no text."""
    if b"\0" in old or b"\0" in new:
        return ""
    before, after = ([visible(line) for line in data.decode("utf-8", "replace").splitlines()] for data in (old, new))
    return "\n".join(list(difflib.unified_diff(before, after, "now", "undone", n=2, lineterm=""))[2:])


def parse_snapshot_id(value: object) -> str:
    """Refuses everything else, since it becomes the name of a file."""
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise ValueError(f"no snapshot is called {value!r:.60}")
    return value


class SnapshotUsage(Struct):
    """One for a process, whatever policy or isolation a single call is under."""

    bytes: dict[str, int] = {}  # by the folder's owner, as `SnapshotPlaces.owner_of` names it
