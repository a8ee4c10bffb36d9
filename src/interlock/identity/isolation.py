"""★ Decides how isolated a caller is from this gate (separate, jailed or plain), and verifies jails in the kernel's tables."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.identity import mounts_of, namespace_depth, parent_of, start_of, uid_of

if TYPE_CHECKING:
    from interlock.runtime import Request
    from interlock.runtime.state import State


PLAIN, JAILED, SEPARATE = "plain", "jailed", "separate"
_ROOT = 0


def isolation_of(state: State, principal: str, pid: int = 0) -> str:
    """By what the kernel says of the caller, never by what it says itself; no decision is ever milder for it.

    Another user than the daemon's is kept apart by the system, root excepted, who is kept apart by nothing. A process of the
    same user is kept apart where it descends from the first process of a jail that `interlock run` made.
    """
    uid = principal.removeprefix("uid:")
    if uid == principal or not uid.isdigit():
        return state.strength  # a token's agent: where it runs cannot be seen
    if int(uid) not in (_ROOT, os.getuid()):
        return SEPARATE
    return JAILED if pid and state.jails.around(pid) is not None else PLAIN


def request_isolation(state: State, request: Request) -> str:
    """Of one request: what its door found out, else what its principal shows."""
    return request.strength or state.caller_isolation or isolation_of(state, request.agent.principal)


FOLDER = "jail"  # in the state folder: what a jail gets to see of it
JOURNAL = "journal"  # in there: what hooks decided in a jail while no daemon answered
STANDING = "standing.json"  # in there: who is blocked, for those hooks
SOCKET = "sock"  # in there: where a jail asks; no longer a path than the daemon's own socket
MOST = 1_000  # jails
MOST_ANCESTORS = 256
_NAME = "jails.json"  # in the state folder, which no jail sees


class NotJailed(Exception):
    """A process that is not in a jail, whatever was said about it; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class JailedRun:
    """One run of `interlock run`: the first process of its PID namespace, and what it was given."""

    pid: int
    start: int  # in the kernel's ticks, so that the number cannot be another process's
    program: str
    grants: tuple[str, ...] = ()
    since: float = 0.0

    @property
    def runs(self) -> bool:
        return start_of(self.pid) == self.start


@dataclass(slots=True)
class Jails:
    """Those that were looked at and found to hold; kept in a file, so that a new daemon knows them."""

    known: dict[int, JailedRun] = field(default_factory=dict)
    folder: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def around(self, pid: int) -> JailedRun | None:
        """The jail that a process is in: of the processes above it, one is the first of that jail."""
        known = self.known
        for _ in range(MOST_ANCESTORS if known else 0):
            if pid <= 1:
                return None
            found = known.get(pid)
            if found is not None:
                return found if found.runs else None
            pid = parent_of(pid)
        return None

    def running(self) -> list[JailedRun]:
        return [jail for jail in self.known.values() if jail.runs]

    def add(self, jail: JailedRun) -> None:
        """Remembers a jail that holds; those that have ended are forgotten."""
        with self.lock:
            self.known = {one.pid: one for one in [*self.running()[-MOST:], jail]}
            self._save()

    def load(self, folder: Path) -> None:
        """What an earlier daemon knew, as far as it still runs."""
        self.folder = folder
        (folder / FOLDER / JOURNAL).mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            rows = json.loads((folder / _NAME).read_bytes())
        except (OSError, ValueError):
            return
        read = [_jail(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        self.known = {jail.pid: jail for jail in read if jail is not None and jail.runs}

    def stand(self, blocked: Mapping[str, str]) -> None:
        """Writes who is blocked to where hooks in a jail can read it; raises OSError."""
        if self.folder is not None:
            with self.lock:
                _put(self.folder / FOLDER / STANDING, {"blocked": dict(blocked)})

    def _save(self) -> None:
        if self.folder is not None:
            _put(self.folder / _NAME, [asdict(jail) for jail in self.known.values()])


def is_jailed(folder: Path) -> bool:
    """Whether this process is in a jail that hides the state folder: what it sees there cannot be written, and there is no database."""
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY) and not (folder / "state.db").exists()
    except OSError:
        return False


def read_blocks(folder: Path) -> Mapping[str, str]:
    """Inside a jail: who is blocked and why; raises OSError or ValueError where that cannot be known."""
    found = json.loads((folder / FOLDER / STANDING).read_bytes())["blocked"]
    return {str(name): str(why) for name, why in found.items()}


def verify_jail(pid: int, uid: int, folder: Path, fixed: Sequence[str]) -> int:
    """When this process began; raises NoJail unless it is the first of a PID namespace of its own, does not see the state folder and
    cannot write the files that install the hooks."""
    start = start_of(pid)
    if not start or uid_of(pid) != uid:
        raise NotJailed(f"there is no process {pid} of yours")
    depth, number = namespace_depth(pid)
    if depth <= namespace_depth()[0] or number != 1:
        raise NotJailed(f"process {pid} is not the first of a PID namespace of its own")
    mounts = mounts_of(pid)
    hidden = mounts.get(str(folder.resolve()))
    if hidden is None or hidden.kind != "tmpfs":
        raise NotJailed(f"process {pid} can see {folder}")
    for path in fixed:
        found = mounts.get(path)
        if found is None or not found.read_only:
            raise NotJailed(f"process {pid} could write {path}")
    return start


def _put(path: Path, value: object) -> None:
    """The whole file in its place, or none."""
    new = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
        json.dump(value, file)
    new.replace(path)


def _jail(row: Mapping[str, Any]) -> JailedRun | None:
    pid, start, grants = row.get("pid"), row.get("start"), row.get("grants")
    if type(pid) is not int or type(start) is not int or not isinstance(grants, Iterable) or not start:
        return None
    since = row.get("since")
    kept = tuple(str(grant) for grant in grants)
    return JailedRun(
        pid, start, str(row.get("program", "")), kept, float(since) if isinstance(since, int | float) else 0.0
    )
