"""What does the kernel say about a process? Its parent, its start, its namespace and its mounts; nothing that the process itself says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_MOST_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of a process's mount table."""

    path: str
    kind: str  # of the file system
    read_only: bool


def parent_of(pid: int, proc: Path = _PROC) -> int:
    """The process above; 0 where there is none, or none that can be seen."""
    fields = _stat(pid, proc)
    return int(fields[1]) if len(fields) > 19 else 0


def start_of(pid: int, proc: Path = _PROC) -> int:
    """When it began, in the kernel's own ticks: a number that is given out again begins later. 0 where there is no such process."""
    fields = _stat(pid, proc)
    return int(fields[19]) if len(fields) > 19 and fields[0] != "Z" else 0


def uid_of(pid: int, proc: Path = _PROC) -> int | None:
    found = _status(pid, "Uid:", proc)
    return int(found[0]) if found else None


def depth_of(pid: int | str = "self", proc: Path = _PROC) -> tuple[int, int]:
    """How many PID namespaces it is in, seen from here, and its number in the innermost."""
    found = _status(pid, "NSpid:", proc)
    return (len(found), int(found[-1])) if found else (0, 0)


def mounts_of(pid: int, proc: Path = _PROC) -> dict[str, Mount]:
    """Its mount table by path; of several at one path the last, which is the one that counts."""
    found = {}
    for line in _text(proc / str(pid) / "mountinfo").splitlines():
        own, _, rest = line.partition(" - ")
        fields, kinds = own.split(" "), rest.split(" ")
        if len(fields) > 5 and len(kinds) > 2:
            path = _unescaped(fields[4])
            options = {*fields[5].split(","), *kinds[2].split(",")}
            found[path] = Mount(path, kinds[0], "ro" in options)
    return found


def _stat(pid: int, proc: Path) -> list[str]:
    """The fields behind the name, which can hold blanks and brackets."""
    return _text(proc / str(pid) / "stat").rpartition(")")[2].split()


def _status(pid: int | str, name: str, proc: Path) -> list[str]:
    for line in _text(proc / str(pid) / "status").splitlines():
        if line.startswith(name):
            return line.split()[1:]
    return []


def _unescaped(path: str) -> str:
    for octal, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(octal, letter)
    return path


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
