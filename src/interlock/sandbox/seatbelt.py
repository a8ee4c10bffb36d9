"""Turns a sandbox plan into a profile for macOS's sandbox-exec, as far as its language reaches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from interlock.identity.isolation import FOLDER, JOURNAL
from interlock.sandbox import MountMode, SandboxMount, SandboxPlan

PROGRAM = "/usr/bin/sandbox-exec"


def argv(jail: SandboxPlan) -> list[str]:
    return [PROGRAM, "-p", profile(jail), *jail.command]


def profile(jail: SandboxPlan) -> str:
    """A profile that allows by default and denies by mount; of several matching rules the last counts."""
    lines = ["(version 1)", "(allow default)"]
    for mount in jail.world.in_order():
        if mount.how is not MountMode.LINK:
            lines += _rules(mount)
    lines += _state(jail)
    lines += [
        "(deny process-info* (target others))",
        "(deny signal (target others))",
        "(allow signal (target same-sandbox))",
    ]
    return "\n".join(lines) + "\n"


def _rules(mount: SandboxMount) -> Iterator[str]:
    kind, path = "subpath" if mount.folder else "literal", _quoted(mount.path)
    if mount.how is MountMode.HIDE:
        yield f"(deny file* network-outbound ({kind} {path}))"
    elif mount.how is MountMode.FIX:
        yield f"(deny file-write* ({kind} {path}))"
    else:  # neither renamed nor removed
        yield f"(allow file* network-outbound ({kind} {path}))"
        yield f"(deny file-write-unlink (literal {path}))"


def _state(jail: SandboxPlan) -> Iterator[str]:
    """Allows the parts of the hidden state folder that a hook needs."""
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
