"""Asks a child process, or root's helper for another user, to take, restore and prune snapshots; any failure means that there is no snapshot."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from interlock.impact import GRACE
from interlock.impact.user_access import HelperUnavailable, ask_as
from interlock.impact.warm_child import ChildBusy, ChildTimeout, WarmChild
from interlock.snapshots import (
    LIMITS,
    PruneResult,
    SnapshotLimits,
    SnapshotSummary,
    TakenSnapshot,
    UndoPlan,
    UndoResult,
    no_snapshot,
    parse_prune_result,
    parse_snapshot,
    parse_summary,
    parse_undo_plan,
    parse_undo_result,
)

REQUEST_KIND = "keep"  # of these questions, where somebody answers others too
LONG_SECONDS = 60.0  # seconds for what a person waits for
SETTLE_SECONDS = 5.0
MOST_ANSWER = 16 << 20  # bytes of an answer
_DIGEST = re.compile("[0-9a-f]{64}")
_T = TypeVar("_T")
_A = TypeVar("_A", TakenSnapshot, UndoPlan, UndoResult)


def take_seconds(ms: int) -> float:
    """Seconds that a snapshot may take, with time to say itself that it took too long."""
    return ms / 1000 + GRACE


class SnapshotChild(Protocol):
    """Whoever answers: one question at a time, in so many seconds; raises Busy, Overrun, OSError and ValueError."""

    @property
    def pid(self) -> int | None: ...

    def ask(self, question: Mapping[str, Any], seconds: float, waiting: float) -> Any: ...

    def close(self) -> None: ...


class SnapshotClient:
    """Keeps and brings back through a child; what it says is checked as the word of the agent's own user."""

    def __init__(self, child: SnapshotChild) -> None:
        self._child = child

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: SnapshotLimits = LIMITS) -> TakenSnapshot:
        """Keeps everything that the question's deeds would change, and reads it back; a problem means that nothing was kept."""
        asked = {"do": "take", "id": id, "at": at, "question": dict(question), "limits": [limits.files, limits.bytes, limits.ms]}  # fmt: skip
        return self._ask(
            asked, lambda found: _kept(found, id), take_seconds(limits.ms), lambda problem: no_snapshot(id, problem)
        )

    def plan(self, id: str, digest: str = "", diff: bool = False) -> UndoPlan:
        """What an undo would change now; refuses a snapshot whose manifest has another digest than the one given."""
        asked = {"do": "plan", "id": id, "digest": digest, "diff": diff}
        return self._ask(
            asked,
            lambda found: _about(parse_undo_plan(found), id),
            LONG_SECONDS,
            lambda problem: UndoPlan(id, problem=problem),
        )

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> UndoResult:
        """Brings everything back, after keeping what is there now under `as_id`; refuses to overwrite later work unless forced to."""
        asked = {"do": "undo", "id": id, "as_id": as_id, "at": at, "digest": digest, "force": force}
        return self._ask(
            asked, lambda found: _undone(found, id), LONG_SECONDS, lambda problem: UndoResult(id, problem=problem)
        )

    def settle(self, id: str) -> bool:
        """The action ran: what is there now is its doing. False where that could not be noted."""
        return self._ask({"do": "settle", "id": id}, lambda found: found is True, SETTLE_SECONDS, lambda _: False)

    def prune(self, now: float, days: float, total_bytes: int) -> PruneResult:
        """Throws away what is older, then the oldest until the rest fits, and what nobody refers to."""
        asked = {"do": "prune", "now": now, "days": days, "bytes": total_bytes}
        return self._ask(asked, parse_prune_result, LONG_SECONDS, lambda problem: PruneResult(problem=problem))

    def listed(self) -> list[SnapshotSummary]:
        """The snapshots of the folder, the newest first; none where it cannot be read."""
        return self._ask(
            {"do": "list"}, lambda found: [parse_summary(one) for one in found], LONG_SECONDS, lambda _: []
        )

    @property
    def pid(self) -> int | None:
        """Of the child that is warm."""
        return self._child.pid

    def close(self) -> None:
        self._child.close()

    def _ask(
        self, asked: Mapping[str, Any], read: Callable[[Any], _T], seconds: float, failed: Callable[[str], _T]
    ) -> _T:
        try:
            answer = self._child.ask(asked, seconds, min(seconds * 4, LONG_SECONDS))
            return failed(str(answer["problem"])[:400]) if set(answer) == {"problem"} else read(answer["answer"])
        except ChildBusy:
            return failed("too much is being kept already")
        except ChildTimeout:
            return failed("it takes too long")
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return failed("keeping failed")


def _about(found: _A, id: str) -> _A:
    """An answer to another question is none."""
    if found.id != id:
        raise ValueError("an answer about another snapshot")
    return found


def _kept(data: Any, id: str) -> TakenSnapshot:
    found = _about(parse_snapshot(data), id)
    if not found.problem and not _DIGEST.fullmatch(found.digest):
        raise ValueError("no digest")
    return found


def _undone(data: Any, id: str) -> UndoResult:
    found = _about(parse_undo_result(data), id)
    if found.as_id and not _DIGEST.fullmatch(found.as_digest):
        raise ValueError("no digest")
    return found


PATIENCE = 2.0  # seconds in which the helper has to have ended a child that takes too long


class HelperChild:
    """A child of root's helper, a new one for each question, that has become one user."""

    pid: int | None = None  # it is not this process's

    def __init__(self, place: str, uid: int) -> None:
        self._place, self._uid, self._lock = place, uid, threading.Lock()

    def ask(self, question: Mapping[str, Any], seconds: float, waiting: float) -> Any:
        """The answer; raises Busy, Overrun, OSError and ValueError."""
        if not self._lock.acquire(timeout=waiting):
            raise ChildBusy("too much is asked already")
        began = time.monotonic()
        try:
            return json.loads(ask_as(self._place, self._uid, REQUEST_KIND, question, seconds + PATIENCE, MOST_ANSWER))
        except HelperUnavailable as error:
            if time.monotonic() - began >= seconds:  # it was ended, or could not be
                raise ChildTimeout("no answer in time") from error
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """Nothing of it stays."""


def clients_by_principal(place: str, users: Mapping[str, int]) -> dict[str, SnapshotClient]:
    """A keeper for each user, by principal; none without a helper."""
    return {principal: SnapshotClient(HelperChild(place, uid)) for principal, uid in users.items()} if place else {}


class WarmSnapshotter(SnapshotClient):
    """Keeps below one folder, as the user that this process runs as; `guarded` is Interlock's own state, which is neither kept nor changed."""

    def __init__(self, folder: str | Path, guarded: str | Path | None = None) -> None:
        own = str(guarded) if guarded is not None else str(Path(folder).parent)
        self.folder = str(folder)
        super().__init__(WarmChild("interlock.snapshots.snapshotter", (self.folder, own), MOST_ANSWER))
