"""Where does a process run? Its terminal, its session and the process that started it, as the kernel tells: what an unlocked terminal is known by."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from interlock.terminal.agents import agent_above

_PROC = Path("/proc")
_MOST = 4_096
_PARENT, _GROUP, _SESSION, _TERMINAL, _FOREGROUND, _STARTED = 1, 2, 3, 4, 5, 19  # behind the name, in /proc/PID/stat


@dataclass(frozen=True, slots=True)
class Place:
    """A person's shell at a terminal. A process that leaves it, or that another program starts, is somewhere else."""

    terminal: int  # device number
    session: int
    session_started: int  # ticks since the machine started, so that no later process takes a number over
    shell: int
    shell_started: int


def place_of(pid: int, connected: float | None = None, proc: Path = _PROC) -> Place | None:
    """The place of a command that a shell runs in the foreground of its terminal; None for every other process, and for an agent's.

    `connected` is when it was seen, in seconds since the machine started: a process that began later only has its number.
    """
    own = _stat(proc, pid)
    if own is None or not own[_TERMINAL] or own[_GROUP] != own[_FOREGROUND]:
        return None
    if connected is not None and own[_STARTED] / os.sysconf("SC_CLK_TCK") > connected + 0.02:
        return None
    shell, leader = _stat(proc, own[_PARENT]), _stat(proc, own[_SESSION])
    if shell is None or leader is None or agent_above(pid, proc) is not None:
        return None
    if (shell[_TERMINAL], shell[_SESSION]) != (own[_TERMINAL], own[_SESSION]):
        return None
    return Place(own[_TERMINAL], own[_SESSION], leader[_STARTED], own[_PARENT], shell[_STARTED])


def _stat(proc: Path, pid: int) -> list[int] | None:
    """The numbers behind a process's name; None where it cannot be seen."""
    if pid <= 1:  # what lost its parent was started by nobody here
        return None
    try:
        with (proc / str(pid) / "stat").open("rb") as file:
            fields = file.read(_MOST).decode("utf-8", "replace").rpartition(")")[2].split()
        return [0, *(int(field) for field in fields[1 : _STARTED + 1])]
    except (OSError, ValueError):
        return None
