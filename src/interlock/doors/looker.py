"""Root's helper beside a daemon with a user of its own: `python -m interlock.doors.looker CONFIGURATION`, started by systemd."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from interlock.config import Config, load_config
from interlock.doors.hook.undumpable import undumpable
from interlock.keeper.as_user import KEEPING
from interlock.keeper.asked import KIND
from interlock.looker.as_user import agents_of, answer


def main(argv: Sequence[str]) -> int:
    """Serves the socket that systemd holds; 1 where there is none."""
    from interlock.doors.http.listening import inherited

    config = load_config(Path(argv[0]), {})
    given = inherited()
    if len(given) != 1 or not config.separate.on:
        print(
            "interlock looker: is started by systemd, with one socket and a [separate] in its configuration",
            file=sys.stderr,
        )
        return 1
    look(given[0], config, config.folder.stat().st_uid)
    return 0


def look(sock: socket.socket, config: Config, daemon: int, wanted: Callable[[], bool] = lambda: True) -> None:
    """Until it is not wanted any more: scripts and targets of these users, for this daemon."""
    import sqlite3  # noqa: F401  loaded now: whom it becomes may not be able to read it

    undumpable()
    os.chdir("/")
    os.environ.clear()  # nothing of root's goes along
    answer(sock, daemon, agents_of(config.separate.users), wanted, {KIND: KEEPING})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
