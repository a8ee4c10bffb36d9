"""Comparable descriptions of file trees and repositories, and a child process that takes and restores snapshots."""

from __future__ import annotations

import base64
import itertools
import os
import stat
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from effort import EFFORT
from interlock.snapshots import SnapshotLimits
from interlock.snapshots.client import WarmSnapshotter

PATIENT = SnapshotLimits(ms=20_000)  # the machine may be busy
NOW = 1_700_000_000.0
EXAMPLES = 12 * EFFORT  # of each property
_COUNTER = itertools.count()
_WHO = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"))
}
ALONE = _WHO | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent", "PATH": os.environ["PATH"]}  # fmt: skip


QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk would be waited for, time and again


@contextmanager
def snapshotter(state: Path) -> Iterator[WarmSnapshotter]:
    found = WarmSnapshotter(state / "undo")
    try:
        yield found
    finally:
        found.close()


def fresh_snapshot_id() -> str:
    """An unused snapshot id."""
    return "u_" + base64.b32encode(next(_COUNTER).to_bytes(6, "big")).decode().lower()[:10]


def describe_tree(top: Path) -> dict[str, Any]:
    """Everything below a folder, Git's own folders apart: kind, mode, attributes, content, link target, time of files, and which names are one file."""
    found: dict[str, Any] = {}
    inodes: dict[int, list[str]] = {}
    for at, folders, names in os.walk(os.fsencode(top)):
        folders[:] = [one for one in folders if one != b".git"]
        for name in (*folders, *names):
            full = os.path.join(at, name)
            key = os.fsdecode(os.path.relpath(full, os.fsencode(top)))
            seen = os.lstat(full)
            if stat.S_ISLNK(seen.st_mode):
                found[key] = ("link", os.readlink(full))
            elif stat.S_ISDIR(seen.st_mode):
                found[key] = ("folder", oct(stat.S_IMODE(seen.st_mode)), extended_attributes(full))
            elif stat.S_ISREG(seen.st_mode):
                with open(full, "rb") as given:
                    found[key] = (
                        "file",
                        oct(stat.S_IMODE(seen.st_mode)),
                        given.read(),
                        seen.st_mtime_ns,
                        extended_attributes(full),
                    )
                if seen.st_nlink > 1:
                    inodes.setdefault(seen.st_ino, []).append(key)
            else:
                found[key] = ("other", oct(seen.st_mode))
    return found | {"=": sorted(sorted(group) for group in inodes.values())}


def extended_attributes(path: bytes) -> dict[str, bytes]:
    """Extended attributes and access lists; none where the file system has none."""
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name.startswith(("user.", "system."))}
    except OSError:
        return {}


def set_attribute(path: bytes, name: str, value: bytes) -> bool:
    """Sets an attribute; returns whether the file system supports it."""
    with suppress(OSError):
        os.setxattr(path, name, value)
        return True
    return False


def access_list(user: int, mode: int = 0o640) -> bytes:
    """As the kernel has it: the owner, one more user who may read, the group, the mask, everybody else."""
    rows = ((1, mode >> 6, -1), (2, 4, user), (4, mode >> 3, -1), (16, mode >> 3, -1), (32, mode, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", tag, bits & 7, who) for tag, bits, who in rows)


def describe_repository(top: Path) -> dict[str, str]:
    """The state of a repository by Git's own commands, with the result of fsck."""
    says = {
        "status": ["status", "--porcelain=v1", "-z", "--ignored"],
        "index": ["ls-files", "-s", "-v", "-z"],
        "refs": ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags", "refs/remotes", "refs/stash"],
        "head": ["rev-parse", "--symbolic-full-name", "HEAD"],
        "stash": ["stash", "list"],
        "config": ["config", "--local", "--list"],
        "trees": ["worktree", "list", "--porcelain"],
    }  # fmt: skip
    found = {name: run_git(top, *words) for name, words in says.items()}
    checked = run_git(top, "fsck", "--no-dangling", "--no-progress")
    return found | {"fsck": checked}


def run_git(top: Path, *words: str) -> str:
    run = subprocess.run(["git", *words], cwd=top, env=ALONE, capture_output=True)
    return f"{run.returncode} " + (run.stdout + run.stderr).decode("utf-8", "surrogateescape")


def shell(top: Path, command: str) -> None:
    """The command, really run, as an agent would."""
    subprocess.run(["bash", "-c", command], cwd=top, env=ALONE, capture_output=True)
