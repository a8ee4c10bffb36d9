"""★ Decides how isolated a caller is from this gate (separate, jailed or plain), and verifies jails in the kernel's tables."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from interlock.identity import ancestors, mounts_of, namespace_depth, start_of, uid_of

if TYPE_CHECKING:
    from interlock.runtime.state import State


PLAIN, JAILED, SEPARATE = "plain", "jailed", "separate"


def isolation_of(state: State, principal: str, pid: int = 0) -> str:
    """Decides by the kernel's data about the caller, never by its claims; no decision becomes milder for it.

    The system separates another user than the daemon's, except root. A process of the same user is jailed where it descends
    from the first process of a jail that `interlock run` created.
    """
    uid = principal.removeprefix("uid:")
    if uid == principal or not uid.isdigit():
        return state.strength  # an agent with a token: where it runs is unknown
    if int(uid) not in (0, os.getuid()):
        return SEPARATE
    return JAILED if pid and state.jails.jail_of(pid) is not None else PLAIN


FOLDER = "jail"  # in the state folder: the part that a jail can see
JOURNAL = "journal"  # in there: decisions of hooks in a jail while no daemon answered
STANDING = "standing.json"  # in there: who is blocked, for those hooks
SOCKET = "sock"  # in there: the daemon's socket for jails; its path is no longer than that of the main one
MOST = 1_000  # jails
_NAME = "jails.json"  # in the state folder, which no jail sees


class NotJailed(Exception):
    """A process that is not in a jail; the message says what is missing."""


class JailedRun(Struct, frozen=True):
    pid: int
    start: int  # in kernel ticks, so that a reused number does not match
    program: str
    grants: tuple[str, ...] = ()
    since: float = 0.0
    journal: bool = False  # one journal keeps what its processes change, so that its hooks wrap nothing

    @property
    def runs(self) -> bool:
        return start_of(self.pid) == self.start


class Jails(Struct):
    """Stored in a file, so that a new daemon knows them."""

    known: dict[int, JailedRun] = {}
    folder: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def jail_of(self, pid: int) -> JailedRun | None:
        known = self.known
        found = next((known[one] for one in ancestors(pid) if one in known), None) if known else None
        return found if found and found.runs else None

    def running(self) -> list[JailedRun]:
        return [jail for jail in self.known.values() if jail.runs]

    def add(self, jail: JailedRun) -> None:
        with self.lock:
            self.known = {one.pid: one for one in [*self.running()[-MOST:], jail]}
            if self.folder:
                _put(self.folder / _NAME, [asdict(jail) for jail in self.known.values()])

    def load(self, folder: Path) -> None:
        self.folder = folder
        (folder / FOLDER / JOURNAL).mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(OSError, ValueError):
            read = msgspec.json.decode((folder / _NAME).read_bytes(), type=list[JailedRun])
            self.known = {jail.pid: jail for jail in read if jail.start and jail.runs}

    def stand(self, blocked: Mapping[str, str]) -> None:
        """Writes the blocked principals where hooks in a jail can read them; raises OSError."""
        if self.folder:
            with self.lock:
                _put(self.folder / FOLDER / STANDING, {"blocked": dict(blocked)})


def is_jailed(folder: Path) -> bool:
    """The state folder is read-only in a jail, and has no database."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY) and not (folder / "state.db").exists()
    except OSError:
        return False


def read_blocks(folder: Path) -> Mapping[str, str]:
    """Inside a jail; raises OSError or ValueError where they cannot be read."""
    found = json.loads((folder / FOLDER / STANDING).read_bytes())["blocked"]
    return {str(name): str(why) for name, why in found.items()}


def verify_jail(pid: int, uid: int, folder: Path, fixed: Sequence[str]) -> int:
    """The start of a jailed process; raises NotJailed unless it is the first of its own PID namespace, does not see the state
    folder and cannot write the files that install the hooks."""
    start = start_of(pid)
    if not start or uid_of(pid) != uid:
        raise NotJailed(f"there is no process {pid} of yours")
    depth, number = namespace_depth(pid)
    if depth <= namespace_depth()[0] or number != 1:
        raise NotJailed(f"process {pid} is not the first of a PID namespace of its own")
    mounts = mounts_of(pid)
    place = str(folder.resolve())
    if place not in mounts or mounts[place].kind != "tmpfs":
        raise NotJailed(f"process {pid} can see {folder}")
    for path in fixed:
        if path not in mounts or not mounts[path].read_only:
            raise NotJailed(f"process {pid} could write {path}")
    return start


def runs_below(pid: int, program: Path) -> bool:
    for above in islice(ancestors(pid), 1, None):
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{above}/exe", program):
                return True
    return False


def _put(path: Path, value: object) -> None:
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        json.dump(value, file)
    new.replace(path)
