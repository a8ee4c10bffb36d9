"""`interlock reject`: one answer to one ticket."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.doors.cli.answering import answer


def main(argv: Sequence[str]) -> int:
    """Reject the ticket named."""
    return answer("reject", argv)
