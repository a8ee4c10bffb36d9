"""A child that keeps and brings back, kept warm: whatever goes wrong, nothing counts as kept, and an undo that broke off can be asked for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

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
from interlock.looker.warm_child import Busy, Overrun, WarmChild

LONG = 60.0  # seconds for what a person waits for
SETTLING = 5.0
_MOST = 16 << 20  # bytes of an answer
_T = TypeVar("_T")


class WarmKeeper:
    """Keeps below one folder, as the user that this process runs as; `guarded` is Interlock's own state, which is neither kept nor changed."""

    def __init__(self, folder: str | Path, guarded: str | Path | None = None) -> None:
        own = str(guarded) if guarded is not None else str(Path(folder).parent)
        self.folder = str(folder)
        self._child = WarmChild("interlock.keeper.child", (self.folder, own), _MOST)

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: Limits = LIMITS) -> Kept:
        """Keeps everything that the question's deeds would change, and reads it back; a problem means that nothing was kept."""
        asked = {"do": "take", "id": id, "at": at, "question": dict(question), "limits": [limits.files, limits.bytes, limits.ms]}  # fmt: skip
        seconds = limits.ms / 1000 + GRACE
        return self._ask(asked, kept_of, seconds, lambda problem: unkept(id, problem))

    def plan(self, id: str, digest: str = "", diff: bool = False) -> Plan:
        """What an undo would change now; refuses a snapshot whose manifest has another digest than the one given."""
        asked = {"do": "plan", "id": id, "digest": digest, "diff": diff}
        return self._ask(asked, plan_of, LONG, lambda problem: Plan(id, problem=problem))

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> Undone:
        """Brings everything back, after keeping what is there now under `as_id`; refuses to overwrite later work unless forced to."""
        asked = {"do": "undo", "id": id, "as_id": as_id, "at": at, "digest": digest, "force": force}
        return self._ask(asked, undone_of, LONG, lambda problem: Undone(id, problem=problem))

    def settle(self, id: str) -> bool:
        """The action ran: what is there now is its doing. False where that could not be noted."""
        return self._ask({"do": "settle", "id": id}, bool, SETTLING, lambda _: False)

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
        except (OSError, ValueError, KeyError, TypeError):
            return failed("keeping failed")
