"""A jail -> macOS's sandbox-exec: the same in its profile language, as far as that goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.doors.jail.mounts import How, Mount
from interlock.doors.jail.plan import Jail
from interlock.service.jails import FOLDER, JOURNAL

PROGRAM = "/usr/bin/sandbox-exec"


def argv(jail: Jail) -> list[str]:
    return [PROGRAM, "-p", profile(jail), *jail.command]


def profile(jail: Jail) -> str:
    """Everything is allowed but what is denied; of several rules that match the last counts."""
    lines = ["(version 1)", "(allow default)"]
    for mount in jail.world.in_order():
        if mount.how is not How.LINK:
            lines += _rules(mount)
    lines += _state(jail)
    lines += [
        "(deny process-info* (target others))",
        "(deny signal (target others))",
        "(allow signal (target same-sandbox))",
    ]
    return "\n".join(lines) + "\n"


def _rules(mount: Mount) -> Iterator[str]:
    kind, path = "subpath" if mount.folder else "literal", _quoted(mount.path)
    if mount.how is How.HIDE:
        yield f"(deny file* network-outbound ({kind} {path}))"
    elif mount.how is How.FIX:
        yield f"(deny file-write* ({kind} {path}))"
    else:  # neither renamed nor removed
        yield f"(allow file* network-outbound ({kind} {path}))"
        yield f"(deny file-write-unlink (literal {path}))"


def _state(jail: Jail) -> Iterator[str]:
    """Of the hidden state folder, what a hook needs."""
    for path, what in (
        (jail.state / "bin", "file-read* process-exec"),
        (jail.state / FOLDER, "file-read* network-outbound"),
    ):
        yield f"(allow {what} (subpath {_quoted(path)}))"
    yield f"(allow file* (subpath {_quoted(jail.state / FOLDER / JOURNAL)}))"
    yield f"(allow network-outbound file-read* (literal {_quoted(jail.state / 'interlock.sock')}))"


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
