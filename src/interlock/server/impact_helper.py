"""Serves inspections and snapshots as root for a separate-user daemon: `python -m interlock.server.impact_helper CONFIGURATION`."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from interlock.config import Config, load_config
from interlock.identity import make_undumpable
from interlock.impact.inspector import deny_tracing
from interlock.impact.privileged_helper import UserTask, answer, target_users
from interlock.snapshots.client import LONG_SECONDS, REQUEST_KIND, SETTLE_SECONDS, take_seconds
from interlock.snapshots.snapshotter import answer_request, confine
from interlock.web.sockets import inherited_sockets

STATE = ".local/state/interlock"  # below the user's home: Interlock's own, whatever the isolation
_SECONDS = {"settle": SETTLE_SECONDS}


def main(argv: Sequence[str]) -> int:
    """Serves the socket that systemd passes; exits with 1 where there is none."""
    config = load_config(Path(argv[0]), {})
    given = inherited_sockets()
    if len(given) != 1 or not config.separate.on:
        print(
            "interlock impact helper: is started by systemd, with one socket and a [separate] in its configuration",
            file=sys.stderr,
        )
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


def request_seconds(question: Any) -> float:
    """The time limit of one snapshot request."""
    if question["do"] == "take":
        return take_seconds(int(question["limits"][2]))
    return _SECONDS.get(question["do"], LONG_SECONDS)


def answer_as_user(question: Any, home: str) -> bytes:
    """Answers one snapshot request in the child that has become the agent's user: in that user's folder, with their rights alone."""
    os.umask(0o022)
    deny_tracing()
    confine()
    own = os.path.join(home, STATE)
    return answer_request(json.dumps(question).encode(), os.path.join(own, "undo"), own, home)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
