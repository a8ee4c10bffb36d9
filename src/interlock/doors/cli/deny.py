"""`interlock deny`: a standing no."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.doors.cli.standing import standing


def main(argv: Sequence[str]) -> int:
    """Deny what a pattern meets, until it is taken back."""
    return standing("deny", argv)
