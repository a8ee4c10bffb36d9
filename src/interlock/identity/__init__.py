"""Who acts here: reads a process from the kernel's tables, never from what it claims."""

from __future__ import annotations

import os
import pwd
import re
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

PROC = Path("/proc")
_MOST_BYTES = 4 << 20
MOST_ANCESTORS = 256


class ProcessMount(Struct, frozen=True):
    path: str
    kind: str  # of the file system
    read_only: bool


def ancestors(pid: int) -> Iterator[int]:
    """A process and those above it, up to the first that is not told or is the system's own."""
    for _ in range(MOST_ANCESTORS):
        if pid <= 1:
            return
        yield pid
        fields = process_stat(pid)[1]
        pid = int(fields[1]) if len(fields) > 19 else 0


def start_of(pid: int) -> int:
    """In kernel ticks, which tells a reused number apart; 0 where there is no such process."""
    fields = process_stat(pid)[1]
    return int(fields[19]) if len(fields) > 19 and fields[0] != "Z" else 0


def uid_of(pid: int) -> int | None:
    found = _status(pid, "Uid:")
    return int(found[0]) if found else None


def namespace_depth(pid: int | str = "self") -> tuple[int, int]:
    """The depth of its PID namespace as seen from here, and its number in the innermost."""
    found = _status(pid, "NSpid:")
    return (len(found), int(found[-1])) if found else (0, 0)


def mounts_of(pid: int) -> dict[str, ProcessMount]:
    """Of several mounts at one path, the last, which is in effect."""
    found = {}
    for line in process_text(pid, "mountinfo").splitlines():
        own, _, rest = line.partition(" - ")
        fields, kinds = own.split(" "), rest.split(" ")
        if len(fields) > 5 and len(kinds) > 2:
            path = re.sub(r"\\([0-7]{3})", lambda one: chr(int(one[1], 8)), fields[4])
            options = {*fields[5].split(","), *kinds[2].split(",")}
            found[path] = ProcessMount(path, kinds[0], "ro" in options)
    return found


def process_stat(pid: int) -> tuple[str, list[str]]:
    """The name may contain blanks and parentheses; no fields where it cannot be read."""
    name, _, rest = process_text(pid, "stat", "replace").partition("(")[2].rpartition(")")
    return name, rest.split()


def _status(pid: int | str, name: str) -> list[str]:
    lines = process_text(pid, "status").splitlines()
    return next((line.split()[1:] for line in lines if line.startswith(name)), [])


def process_text(pid: int | str, name: str, errors: str = "surrogateescape") -> str:
    """Empty where the process belongs to another user or is gone."""
    try:
        with (PROC / str(pid) / name).open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", errors)
    except OSError:
        return ""


UNKNOWN_HOME = "~"  # an unknown home: nothing below it is inspected
NOWHERE = "/nonexistent"
_LONGEST_HOME = 4_096


@lru_cache(maxsize=64)
def home_of(principal: str) -> str:
    try:
        return pwd.getpwuid(int(principal.removeprefix("uid:"))).pw_dir
    except (KeyError, ValueError):
        return NOWHERE


def home_for(principal: str, claimed: str) -> str:
    """A bare `~`, which is no path, where the claim cannot be trusted."""
    known = home_of(principal)
    if not claimed or claimed == known:
        return known if known != NOWHERE else ""
    number = principal.removeprefix("uid:")
    if not number.isdigit() or not claimed.startswith("/") or len(claimed) > _LONGEST_HOME or not claimed.isprintable():
        return UNKNOWN_HOME
    try:
        found = os.stat(claimed)
    except (OSError, ValueError):
        return UNKNOWN_HOME
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == int(number)
    return os.path.normpath(claimed) if own else UNKNOWN_HOME


_PR_SET_DUMPABLE = 4


def make_undumpable() -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
