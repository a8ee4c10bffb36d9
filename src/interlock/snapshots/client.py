"""Asks a child process, or root's helper for another user, about snapshots; on any failure there is no snapshot."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import astuple, replace

from interlock.impact import GRACE
from interlock.impact.user_access import HelperUnavailable, UserHelper
from interlock.impact.warm_child import ChildBusy, ChildTimeout, WarmChild
from interlock.model import Json
from interlock.snapshots import (
    LIMITS,
    PruneResult,
    SnapshotLimits,
    TakenSnapshot,
    UndoPlan,
    UndoResult,
    no_snapshot,
    parse_answer,
)

REQUEST_KIND = "keep"  # of these requests among others to the same helper
LONG_SECONDS = 60.0  # for requests that a person waits for
SETTLE_SECONDS = 5.0
PATIENCE = 2.0  # seconds in which the helper has to have ended a child that takes too long
MOST_ANSWER = 16 << 20
FAILED = "the snapshot process failed"
_DIGEST = re.compile("[0-9a-f]{64}")
_A = TypeVar("_A", TakenSnapshot, UndoPlan, UndoResult, PruneResult)


def request_seconds(request: Json) -> float:
    """A snapshot that is taken has time to report by itself that it took too long."""
    if request["do"] == "take":
        return int(request["limits"][2]) / 1000 + GRACE
    return SETTLE_SECONDS if request["do"] == "settle" else LONG_SECONDS


class SnapshotClient:
    """Checks the child's answers: they come from the agent's user."""

    def __init__(self, child: WarmChild | HelperChild) -> None:
        self._child = child

    def take(self, question: Json, id: str, at: float, limits: SnapshotLimits = LIMITS) -> TakenSnapshot:
        """Saves what the effects in the question would change, and reads it back."""
        request = {"do": "take", "id": id, "at": at, "question": dict(question), "limits": astuple(limits)}
        found = self._ask(request, failed := no_snapshot(id, FAILED))
        return found if found.problem or _DIGEST.fullmatch(found.digest) else failed

    def plan(self, id: str, digest: str = "", diff: bool = False) -> UndoPlan:
        """Refuses a manifest with another digest than the given one."""
        return self._ask({"do": "plan", "id": id, "digest": digest, "diff": diff}, UndoPlan(id, problem=FAILED))

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> UndoResult:
        """After a snapshot of the present state under `as_id`; refuses to overwrite later work unless forced to."""
        request = {"do": "undo", "id": id, "as_id": as_id, "at": at, "digest": digest, "force": force}
        found = self._ask(request, failed := UndoResult(id, problem=FAILED))
        return found if not found.as_id or _DIGEST.fullmatch(found.as_digest) else failed

    def settle(self, id: str) -> bool:
        """Notes the present state as the one that the action left; False where that failed."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return self._exchange({"do": "settle", "id": id})["answer"] is True
        return False

    def prune(self, now: float, days: float, total_bytes: int) -> PruneResult:
        """Expired ones, then the oldest until the rest fits."""
        request = {"do": "prune", "now": now, "days": days, "bytes": total_bytes}
        return self._ask(request, PruneResult(problem=FAILED))

    def close(self) -> None:
        self._child.close()

    def _exchange(self, request: Json) -> Any:
        seconds = request_seconds(request)
        return self._child.ask(request, seconds, min(seconds * 4, LONG_SECONDS))

    def _ask(self, request: Json, failed: _A) -> _A:
        """`failed` with the reason where there is no answer, or one about another snapshot."""
        try:
            answer = self._exchange(request)
            if set(answer) == {"problem"}:
                return replace(failed, problem=str(answer["problem"])[:400])
            found = parse_answer(answer["answer"], type(failed))
            return found if isinstance(found, PruneResult) or found.id == request["id"] else failed
        except ChildBusy:
            return replace(failed, problem="too many snapshots are waiting already")
        except ChildTimeout:
            return replace(failed, problem="it takes too long")
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return failed


class HelperChild:
    """A new one for each request, that has become one user."""

    def __init__(self, user: UserHelper) -> None:
        self._user, self._lock = user, threading.Lock()

    def ask(self, question: Json, seconds: float, waiting: float) -> Any:
        """Raises ChildBusy, ChildTimeout, OSError and ValueError."""
        if not self._lock.acquire(timeout=waiting):
            raise ChildBusy
        began = time.monotonic()
        try:
            return self._user.ask(REQUEST_KIND, dict(question), seconds + PATIENCE, MOST_ANSWER)
        except HelperUnavailable as error:
            if time.monotonic() - began >= seconds:  # it was ended, or could not be
                raise ChildTimeout from error
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """Does nothing: no child outlives its request."""


def clients_by_principal(place: str, users: Mapping[str, int]) -> dict[str, SnapshotClient]:
    """None without a helper."""
    helped = users.items() if place else ()
    return {principal: SnapshotClient(HelperChild(UserHelper(place, uid))) for principal, uid in helped}


class WarmSnapshotter(SnapshotClient):
    """`guarded` is Interlock's own state, neither saved nor changed."""

    def __init__(self, folder: str | Path, guarded: str | Path | None = None) -> None:
        own = str(guarded) if guarded is not None else str(Path(folder).parent)
        self.folder = str(folder)
        super().__init__(WarmChild("interlock.snapshots.snapshotter", (self.folder, own), MOST_ANSWER))
