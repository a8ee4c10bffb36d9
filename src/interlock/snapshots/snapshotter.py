"""The child process that takes, restores and prunes snapshots, `python -I -m interlock.snapshots.snapshotter FD FOLDER GUARDED`; it starts nothing and can be killed."""

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

from interlock.impact.inspector import deny_tracing
from interlock.impact.warm_child import READY
from interlock.snapshots import (
    SnapshotLimits,
    parse_snapshot_id,
    prune_result_json,
    snapshot_json,
    summary_json,
    undo_plan_json,
    undo_result_json,
)
from interlock.snapshots.folder import SnapshotFolder
from interlock.snapshots.prune import list_snapshots, prune
from interlock.snapshots.restore import plan, settle, undo
from interlock.snapshots.take import take

MAX_REQUEST = 1 << 20  # bytes
MEMORY = 4 << 30
HANDLES = 1_024


def confine() -> None:
    """Limits the resources that a hostile tree could use up; it may write, and starts nothing."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_NOFILE, HANDLES),
        (resource.RLIMIT_NPROC, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def _take(request: Mapping[str, Any], folder: SnapshotFolder, home: str) -> Any:
    limits = SnapshotLimits(*(int(one) for one in request["limits"]))
    return snapshot_json(
        take(request["question"], folder, parse_snapshot_id(request["id"]), float(request["at"]), limits, home)
    )


def _plan(request: Mapping[str, Any], folder: SnapshotFolder, _: str) -> Any:
    return undo_plan_json(plan(folder, parse_snapshot_id(request["id"]), str(request["digest"]), bool(request["diff"])))


def _undo(request: Mapping[str, Any], folder: SnapshotFolder, _: str) -> Any:
    ids = parse_snapshot_id(request["id"]), parse_snapshot_id(request["as_id"])
    return undo_result_json(undo(folder, *ids, float(request["at"]), str(request["digest"]), bool(request["force"])))


def _settle(request: Mapping[str, Any], folder: SnapshotFolder, _: str) -> Any:
    return settle(folder, parse_snapshot_id(request["id"]))


def _prune(request: Mapping[str, Any], folder: SnapshotFolder, _: str) -> Any:
    return prune_result_json(prune(folder, float(request["now"]), float(request["days"]), int(request["bytes"])))


def _list(_: Mapping[str, Any], folder: SnapshotFolder, __: str) -> Any:
    return [summary_json(one) for one in list_snapshots(folder)]


_ANSWERS: dict[str, Callable[[Mapping[str, Any], SnapshotFolder, str], Any]] = {
    "take": _take,
    "plan": _plan,
    "undo": _undo,
    "settle": _settle,
    "prune": _prune,
    "list": _list,
}


def answer_request(line: bytes, folder: str, guarded: str, home: str) -> bytes:
    """The answer to one request; a failure is answered with a problem."""
    try:
        request = json.loads(line)
        answer = {"answer": _ANSWERS[request["do"]](request, SnapshotFolder.open(folder, guarded), home)}
    except Exception as error:
        answer = {"problem": f"the snapshot process failed ({type(error).__name__})"}
    return json.dumps(answer).encode() + b"\n"


def main(handle: int, folder: str, guarded: str) -> None:
    """Answers requests until the socket is closed."""
    os.chdir("/")
    os.umask(0o022)
    deny_tracing()
    confine()
    home = pwd.getpwuid(os.getuid()).pw_dir
    with socket.socket(fileno=handle) as sock, sock.makefile("rb") as requests:
        sock.sendall(READY)
        while line := requests.readline(MAX_REQUEST):
            sock.sendall(answer_request(line, folder, guarded, home))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
