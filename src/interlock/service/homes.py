"""Whose home `~` is: that of the process which asks, where it belongs to its user, else the one that the system knows."""

from __future__ import annotations

import os
import pwd
import stat
from functools import lru_cache

UNKNOWN_HOME = "~"  # a home whose path is not known: nothing below it is looked at
NOWHERE = "/nonexistent"
_LONGEST = 4_096


@lru_cache(maxsize=64)
def home_of(principal: str) -> str:
    """The home of whoever the kernel says it is; nowhere for everybody else."""
    try:
        return pwd.getpwuid(int(principal.removeprefix("uid:"))).pw_dir
    except (KeyError, ValueError):
        return NOWHERE


def home_for(principal: str, claimed: str) -> str:
    """The home that a process of this principal has; `~` alone, which is no path, where what it says cannot be believed."""
    known = home_of(principal)
    if not claimed or claimed == known:
        return known if known != NOWHERE else ""
    number = principal.removeprefix("uid:")
    if not number.isdigit() or not claimed.startswith("/") or len(claimed) > _LONGEST or not claimed.isprintable():
        return UNKNOWN_HOME
    try:
        found = os.stat(claimed)
    except (OSError, ValueError):
        return UNKNOWN_HOME
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == int(number)
    return os.path.normpath(claimed) if own else UNKNOWN_HOME
