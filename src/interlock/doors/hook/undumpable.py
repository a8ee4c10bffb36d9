"""A process that no other one of the same user can look into."""

from __future__ import annotations

import sys

_PR_SET_DUMPABLE = 4


def undumpable() -> bool:
    """Whether that is so from now on: no debugger, no core file, nothing to read in /proc."""
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
