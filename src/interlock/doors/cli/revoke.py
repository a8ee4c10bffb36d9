"""`interlock revoke`: one answer to one ticket."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.doors.cli.answering import answer


def main(argv: Sequence[str]) -> int:
    """Revoke the ticket named."""
    return answer("revoke", argv)
