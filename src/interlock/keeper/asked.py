"""Questions to whoever keeps and brings back: whatever goes wrong or is no answer to the question, nothing counts as kept, and an undo that broke off can be asked for again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from interlock.core.undo import (
    LIMITS,
    Held,
    Kept,
    Limits,
    Plan,
    Pruned,
    Undone,
    held_of,
    kept_of,
    plan_of,
    pruned_of,
    undone_of,
    unkept,
)
from interlock.looker.budget import GRACE
from interlock.looker.warm_child import Busy, Overrun

KIND = "keep"  # of these questions, where somebody answers others too
LONG = 60.0  # seconds for what a person waits for
SETTLING = 5.0
MOST = 16 << 20  # bytes of an answer
_DIGEST = re.compile("[0-9a-f]{64}")
_T = TypeVar("_T")
_A = TypeVar("_A", Kept, Plan, Undone)


def taking(ms: int) -> float:
    """Seconds that a snapshot may take, with time to say itself that it took too long."""
    return ms / 1000 + GRACE


class Child(Protocol):
    """Whoever answers: one question at a time, in so many seconds; raises Busy, Overrun, OSError and ValueError."""

    @property
    def pid(self) -> int | None: ...

    def ask(self, question: Mapping[str, Any], seconds: float, waiting: float) -> Any: ...

    def close(self) -> None: ...


class AskedKeeper:
    """Keeps and brings back through a child; what it says is checked as the word of the agent's own user."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: Limits = LIMITS) -> Kept:
        """Keeps everything that the question's deeds would change, and reads it back; a problem means that nothing was kept."""
        asked = {"do": "take", "id": id, "at": at, "question": dict(question), "limits": [limits.files, limits.bytes, limits.ms]}  # fmt: skip
        return self._ask(asked, lambda found: _kept(found, id), taking(limits.ms), lambda problem: unkept(id, problem))

    def plan(self, id: str, digest: str = "", diff: bool = False) -> Plan:
        """What an undo would change now; refuses a snapshot whose manifest has another digest than the one given."""
        asked = {"do": "plan", "id": id, "digest": digest, "diff": diff}
        return self._ask(
            asked, lambda found: _about(plan_of(found), id), LONG, lambda problem: Plan(id, problem=problem)
        )

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> Undone:
        """Brings everything back, after keeping what is there now under `as_id`; refuses to overwrite later work unless forced to."""
        asked = {"do": "undo", "id": id, "as_id": as_id, "at": at, "digest": digest, "force": force}
        return self._ask(asked, lambda found: _undone(found, id), LONG, lambda problem: Undone(id, problem=problem))

    def settle(self, id: str) -> bool:
        """The action ran: what is there now is its doing. False where that could not be noted."""
        return self._ask({"do": "settle", "id": id}, lambda found: found is True, SETTLING, lambda _: False)

    def prune(self, now: float, days: float, total_bytes: int) -> Pruned:
        """Throws away what is older, then the oldest until the rest fits, and what nobody refers to."""
        asked = {"do": "prune", "now": now, "days": days, "bytes": total_bytes}
        return self._ask(asked, pruned_of, LONG, lambda problem: Pruned(problem=problem))

    def listed(self) -> list[Held]:
        """The snapshots of the folder, the newest first; none where it cannot be read."""
        return self._ask({"do": "list"}, lambda found: [held_of(one) for one in found], LONG, lambda _: [])

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
            answer = self._child.ask(asked, seconds, min(seconds * 4, LONG))
            return failed(str(answer["problem"])[:400]) if set(answer) == {"problem"} else read(answer["answer"])
        except Busy:
            return failed("too much is being kept already")
        except Overrun:
            return failed("it takes too long")
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return failed("keeping failed")


def _about(found: _A, id: str) -> _A:
    """An answer to another question is none."""
    if found.id != id:
        raise ValueError("an answer about another snapshot")
    return found


def _kept(data: Any, id: str) -> Kept:
    found = _about(kept_of(data), id)
    if not found.problem and not _DIGEST.fullmatch(found.digest):
        raise ValueError("no digest")
    return found


def _undone(data: Any, id: str) -> Undone:
    found = _about(undone_of(data), id)
    if found.as_id and not _DIGEST.fullmatch(found.as_digest):
        raise ValueError("no digest")
    return found
