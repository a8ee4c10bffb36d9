"""What root's helper does once it has become an agent's user: keeps, brings back and throws away, in a folder of that user's own and with their rights alone."""

from __future__ import annotations

import json
import os
from typing import Any

from interlock.keeper.asked import LONG, SETTLING, taking
from interlock.keeper.child import answered, confine
from interlock.looker.as_user import Answering
from interlock.looker.child import shut

STATE = ".local/state/interlock"  # below the user's home: Interlock's own, whatever the strength
_SECONDS = {"settle": SETTLING}


def seconds(question: Any) -> float:
    """How long it may take."""
    if question["do"] == "take":
        return taking(int(question["limits"][2]))
    return _SECONDS.get(question["do"], LONG)


def kept(question: Any, home: str) -> bytes:
    """The answer to one question of a keeper's."""
    os.umask(0o022)
    shut()
    confine()
    own = os.path.join(home, STATE)
    return answered(json.dumps(question).encode(), os.path.join(own, "undo"), own, home)


KEEPING = Answering(kept, seconds)
