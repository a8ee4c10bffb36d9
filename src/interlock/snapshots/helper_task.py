"""Takes and restores snapshots inside root's helper, once it has become the agent's user: in that user's folder, with their rights alone."""

from __future__ import annotations

import json
import os
from typing import Any

from interlock.impact.inspector import deny_tracing
from interlock.impact.privileged_helper import UserTask
from interlock.snapshots.client import LONG_SECONDS, SETTLE_SECONDS, take_seconds
from interlock.snapshots.snapshotter import answer_request, confine

STATE = ".local/state/interlock"  # below the user's home: Interlock's own, whatever the strength
_SECONDS = {"settle": SETTLE_SECONDS}


def request_seconds(question: Any) -> float:
    """How long it may take."""
    if question["do"] == "take":
        return take_seconds(int(question["limits"][2]))
    return _SECONDS.get(question["do"], LONG_SECONDS)


def answer_as_user(question: Any, home: str) -> bytes:
    """The answer to one question of a keeper's."""
    os.umask(0o022)
    deny_tracing()
    confine()
    own = os.path.join(home, STATE)
    return answer_request(json.dumps(question).encode(), os.path.join(own, "undo"), own, home)


SNAPSHOT_TASK = UserTask(answer_as_user, request_seconds)
