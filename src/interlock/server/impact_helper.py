"""Serves inspections and snapshots as root for a separate-user daemon: `python -m interlock.server.impact_helper CONFIGURATION`."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from interlock.config import Config, load_config
from interlock.identity import make_undumpable
from interlock.impact.privileged_helper import answer, target_users
from interlock.snapshots.client import REQUEST_KIND
from interlock.snapshots.helper_task import SNAPSHOT_TASK


def main(argv: Sequence[str]) -> int:
    """Serves the socket that systemd holds; 1 where there is none."""
    from interlock.web.sockets import inherited_sockets

    config = load_config(Path(argv[0]), {})
    given = inherited_sockets()
    if len(given) != 1 or not config.separate.on:
        print(
            "interlock looker: is started by systemd, with one socket and a [separate] in its configuration",
            file=sys.stderr,
        )
        return 1
    serve_inspections(given[0], config, config.folder.stat().st_uid)
    return 0


def serve_inspections(
    sock: socket.socket, config: Config, daemon: int, wanted: Callable[[], bool] = lambda: True
) -> None:
    """Until it is not wanted any more: scripts and targets of these users, for this daemon."""
    import sqlite3  # noqa: F401  loaded now: whom it becomes may not be able to read it

    make_undumpable()
    os.chdir("/")
    os.environ.clear()  # nothing of root's goes along
    answer(sock, daemon, target_users(config.separate.users), wanted, {REQUEST_KIND: SNAPSHOT_TASK})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
