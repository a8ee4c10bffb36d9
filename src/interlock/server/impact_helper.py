"""Starts a separate-user daemon without systemd; serves inspections and snapshots as root: `python -m interlock.server.impact_helper CONFIGURATION`."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from interlock.config import Config, load_config
from interlock.identity import make_undumpable
from interlock.impact.privileged_helper import UserTask, answer, target_users
from interlock.model import Json
from interlock.snapshots.client import REQUEST_KIND, request_seconds
from interlock.snapshots.snapshotter import answer_request, confine
from interlock.web.sockets import CannotServe, ListeningSockets, inherited_sockets, open_sockets, unix

STATE = ".local/state/interlock"  # below the user's home: Interlock's own, whatever the isolation


def main(argv: Sequence[str]) -> int:
    config = load_config(Path(argv[0]), {})
    given = inherited_sockets()
    if len(given) != 1 or not config.separate.on:
        words = "is started by systemd, with one socket and a [separate] in its configuration"
        print(f"interlock impact helper: {words}", file=sys.stderr)
        return 1
    serve_inspections(given[0], config, config.folder.stat().st_uid)
    return 0


def serve_inspections(
    sock: socket.socket, config: Config, daemon: int, wanted: Callable[[], bool] = lambda: True
) -> None:
    """Reads scripts and inspects targets of these users for this daemon, while `wanted` holds."""
    import sqlite3  # noqa: F401  loaded now: whom it becomes may not be able to read it

    make_undumpable()
    os.chdir("/")
    os.environ.clear()  # drops root's environment
    task = UserTask(answer_as_user, request_seconds)
    answer(sock, daemon, target_users(config.separate.users), wanted, {REQUEST_KIND: task})


def answer_as_user(question: Any, home: str) -> Json:
    """Answers in the child that has become the agent's user: in that user's folder, with their rights alone."""
    os.umask(0o022)
    make_undumpable()
    confine()
    own = os.path.join(home, STATE)
    return answer_request(question, home, os.path.join(own, "undo"), own)


PATIENCE = 10.0  # seconds


def bind_and_drop_root(config: Config) -> list[socket.socket]:
    """1. gives the sockets' folder to the daemon's user, 2. binds sockets, 3. starts the helper, 4. becomes that user; refuses without root or a setup."""
    if not config.separate.on:
        words = "no [separate] in it; first `interlock install --system`"
        raise CannotServe(f"{config.path or 'no configuration'}: {words}")
    if os.geteuid() != 0:
        raise CannotServe("--system takes root: it binds the sockets, and then becomes the daemon's own user")
    owner = _owner(config.folder)
    for path in {config.socket_path.parent, config.agents_socket.parent, Path(config.separate.inspector).parent}:
        _folder(path, owner)  # 1
    places = open_sockets(config)  # 2
    for sock in places.all:
        sock.listen(1024)
    if config.separate.inspector:
        _start_helper(config, owner.pw_uid, places)  # 3
    _become(owner)  # 4
    return places.all


def _owner(folder: Path) -> pwd.struct_passwd:
    try:
        found = pwd.getpwuid(folder.stat().st_uid)
    except (OSError, KeyError):
        words = "no state folder of a user of its own; `interlock install --system` makes it"
        raise CannotServe(f"{folder}: {words}") from None
    if found.pw_uid == 0:
        raise CannotServe(f"{folder} is root's; `interlock install --system` gives it to a user of its own")
    return found


def _folder(path: Path, owner: pwd.struct_passwd) -> None:
    path.mkdir(mode=0o755, parents=True, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid not in (0, owner.pw_uid):
        raise CannotServe(f"{path} belongs to somebody else")
    os.chown(path, owner.pw_uid, owner.pw_gid)
    path.chmod(0o755)


def _start_helper(config: Config, daemon: int, places: ListeningSockets) -> None:
    """Forks the helper, which stays root and ends soon after the daemon; it closes the daemon's sockets, so that the next daemon can bind them."""
    place = Path(config.separate.inspector)
    sock = _take_over(place)
    os.chown(place, daemon, -1)
    sock.listen(64)
    parent = os.getpid()
    if os.fork() != 0:
        sock.close()
        return
    for one in places.all:
        one.close()
    with contextlib.suppress(BaseException):
        serve_inspections(sock, config, daemon, lambda: os.getppid() == parent)
    os._exit(0)


def _take_over(place: Path) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return unix(place, 0o600)
        except CannotServe:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def _become(owner: pwd.struct_passwd) -> None:
    os.setgroups([])
    os.setresgid(*(owner.pw_gid,) * 3)
    os.setresuid(*(owner.pw_uid,) * 3)
    os.environ.clear()
    os.environ.update({"PATH": "/usr/bin:/bin", "HOME": owner.pw_dir, "LANG": "C.UTF-8"})
    os.chdir("/")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
