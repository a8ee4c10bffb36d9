"""The process that looks, `python -I -m interlock.looker.child FD`: one question a line, one answer a line; it holds no secret and can be killed."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import resource
import socket
import sys

from interlock.core.loss import seen_json, unseen
from interlock.looker.look import look
from interlock.looker.warm_child import READY

MOST_ASKED = 1 << 20  # bytes of a question
MEMORY = 2 << 30
HANDLES = 64
_PR_SET_DUMPABLE = 4


def confine() -> None:
    """What a hostile repository could make it use up."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_NOFILE, HANDLES),
        (resource.RLIMIT_FSIZE, 0),  # it writes nothing
        (resource.RLIMIT_NPROC, 0),  # and starts nothing
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def shut() -> None:
    """No other program of the same user looks into it or changes what it says."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def answered(line: bytes, home: str) -> bytes:
    """The answer to one question; one that cannot be read is answered too."""
    try:
        seen = look(json.loads(line), home)
    except Exception as error:
        seen = unseen(f"looking failed ({type(error).__name__})")
    return json.dumps(seen_json(seen)).encode() + b"\n"


def main(handle: int) -> None:
    """Until nobody asks any more."""
    os.chdir("/")
    shut()
    confine()
    home = pwd.getpwuid(os.getuid()).pw_dir
    with socket.socket(fileno=handle) as sock, sock.makefile("rb") as asked:
        sock.sendall(READY)
        while line := asked.readline(MOST_ASKED):
            sock.sendall(answered(line, home))


if __name__ == "__main__":
    main(int(sys.argv[1]))
