"""What does the loop answer when it cannot do what it was asked?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.codes import CODES
from interlock.core.records import NOTHING

INERT = "A token frees nothing until a person has armed it; whoever was paused cannot do so itself."


def how_confirmed(ticket: str) -> str:
    """What an agent tells its user of a held operation (ERR-03: what changes stands in quotes)."""
    return (
        f"This operation requires confirmation: a person can answer ticket '{ticket}' with `interlock approve {ticket}`"
    )


class LoopProblem(Exception):
    """A refusal in the words of the error registry: its code, a message for a person, details, and what has to be confirmed."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, Any] = NOTHING,
        confirmation: Mapping[str, Any] | None = None,
    ) -> None:
        known = CODES[code]  # a code that nobody registered is a mistake of ours
        self.code = code
        self.message = message or known.message
        self.details = details
        self.confirmation = confirmation
        super().__init__(self.message)
