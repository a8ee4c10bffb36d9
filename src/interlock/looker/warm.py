"""A child that looks, kept warm: whatever goes wrong, the answer is that nothing is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.loss import Seen, seen_of, unseen
from interlock.looker.budget import GRACE, MILLISECONDS
from interlock.looker.warm_child import Busy, Overrun, WarmChild


class WarmLooker:
    """Looks as the user that this process runs as."""

    def __init__(self) -> None:
        self._child = WarmChild("interlock.looker.child")

    def __call__(self, question: Mapping[str, Any]) -> Seen:
        seconds = int(question.get("ms", MILLISECONDS)) / 1000 + GRACE
        try:
            return seen_of(self._child.ask(question, seconds, seconds * 4))
        except Busy:
            return unseen("too much is looked at already")
        except Overrun:
            return unseen("looking takes too long")
        except (OSError, ValueError, KeyError, TypeError):
            return unseen("looking failed")

    @property
    def pid(self) -> int | None:
        """Of the child that is warm."""
        return self._child.pid

    def close(self) -> None:
        self._child.close()
