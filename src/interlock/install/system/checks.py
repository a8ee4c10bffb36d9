"""Checks of `doctor` for a separate-user daemon: who can change its code, its configuration and its state."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from interlock.config import Config
from interlock.install.checks import NOTE, OK, PROBLEM, Check
from interlock.install.system.code import why_writable, why_writable_inside

# Members of these groups can become root, or read what root reads.
_MIGHTY = frozenset({"sudo", "wheel", "admin", "docker", "lxd", "libvirt", "disk", "shadow", "root", "interlock"})


def check_separation(config: Config) -> Iterator[Check]:
    """The checks of a daemon with its own user; none otherwise."""
    if not config.separate.on:
        return
    code = Path(config.separate.code or "/")
    for place in (code, Path(config.path)):
        why = why_writable(place) or (why_writable_inside(place) if place.is_dir() and place != Path("/") else "")
        yield Check("separate", PROBLEM if why else OK, why or f"{place}: only root can change it")
    yield _state(config.folder)
    for name in config.separate.users:
        yield from _user(name)


def _state(folder: Path) -> Check:
    try:
        found = folder.stat()
    except OSError as error:
        return Check("separate", PROBLEM, f"{folder}: {error.strerror}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        return Check("separate", PROBLEM, f"{folder} is open to others; chmod 700 it")
    return Check("separate", OK, f"{folder}: for user {found.st_uid} alone")


def _user(name: str) -> Iterator[Check]:
    """Checks by groups and sudo rules whether an agent's user can become root."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        yield Check("separate", PROBLEM, f"separate.users: there is no user {name!r}")
        return
    groups = {_name(gid) for gid in os.getgrouplist(name, entry.pw_gid)}
    if mighty := sorted(groups & _MIGHTY):
        words = f"{name} is in the group {mighty[0]}: its members can become root, or read what only the daemon may"
        yield Check("separate", NOTE if mighty[0] in ("sudo", "wheel", "admin") else PROBLEM, words)
    if os.geteuid() == 0 and _needs_no_password(name):
        yield Check(
            "separate", PROBLEM, f"{name} becomes root by sudo without a password, and so does every agent of theirs"
        )


def _name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _needs_no_password(name: str) -> bool:
    sudo = shutil.which("sudo", path="/usr/bin:/bin:/usr/local/bin")
    if sudo is None:
        return False
    done = subprocess.run([sudo, "-n", "-l", "-U", name], capture_output=True, text=True, timeout=20)
    return "NOPASSWD" in done.stdout
