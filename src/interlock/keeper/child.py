"""The process that keeps and brings back, `python -I -m interlock.keeper.child FD FOLDER GUARDED`: one question a line, one answer a line; it starts nothing and can be killed."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import resource
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.undo import (
    Limits,
    held_json,
    id_of,
    kept_json,
    plan_json,
    pruned_json,
    undone_json,
)
from interlock.keeper.folder import Folder
from interlock.keeper.prune import listed, prune
from interlock.keeper.restore import plan, settle, undo
from interlock.keeper.snapshot import take
from interlock.looker.child import shut
from interlock.looker.warm_child import READY

MOST_ASKED = 1 << 20  # bytes of a question
MEMORY = 4 << 30
HANDLES = 1_024


def confine() -> None:
    """What a hostile tree could make it use up; it writes, and starts nothing."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_NOFILE, HANDLES),
        (resource.RLIMIT_NPROC, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def _take(asked: Mapping[str, Any], folder: Folder, home: str) -> Any:
    limits = Limits(*(int(one) for one in asked["limits"]))
    return kept_json(take(asked["question"], folder, id_of(asked["id"]), float(asked["at"]), limits, home))


def _plan(asked: Mapping[str, Any], folder: Folder, _: str) -> Any:
    return plan_json(plan(folder, id_of(asked["id"]), str(asked["digest"]), bool(asked["diff"])))


def _undo(asked: Mapping[str, Any], folder: Folder, _: str) -> Any:
    ids = id_of(asked["id"]), id_of(asked["as_id"])
    return undone_json(undo(folder, *ids, float(asked["at"]), str(asked["digest"]), bool(asked["force"])))


def _settle(asked: Mapping[str, Any], folder: Folder, _: str) -> Any:
    return settle(folder, id_of(asked["id"]))


def _prune(asked: Mapping[str, Any], folder: Folder, _: str) -> Any:
    return pruned_json(prune(folder, float(asked["now"]), float(asked["days"]), int(asked["bytes"])))


def _list(_: Mapping[str, Any], folder: Folder, __: str) -> Any:
    return [held_json(one) for one in listed(folder)]


_ANSWERS: dict[str, Callable[[Mapping[str, Any], Folder, str], Any]] = {
    "take": _take,
    "plan": _plan,
    "undo": _undo,
    "settle": _settle,
    "prune": _prune,
    "list": _list,
}


def answered(line: bytes, folder: str, guarded: str, home: str) -> bytes:
    """The answer to one question; one that cannot be answered is said to be so."""
    try:
        asked = json.loads(line)
        answer = {"answer": _ANSWERS[asked["do"]](asked, Folder.opened(folder, guarded), home)}
    except Exception as error:
        answer = {"problem": f"keeping failed ({type(error).__name__})"}
    return json.dumps(answer).encode() + b"\n"


def main(handle: int, folder: str, guarded: str) -> None:
    """Until nobody asks any more."""
    os.chdir("/")
    os.umask(0o022)
    shut()
    confine()
    home = pwd.getpwuid(os.getuid()).pw_dir
    with socket.socket(fileno=handle) as sock, sock.makefile("rb") as asked:
        sock.sendall(READY)
        while line := asked.readline(MOST_ASKED):
            sock.sendall(answered(line, folder, guarded, home))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
