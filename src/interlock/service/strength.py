"""★ How strong is the wall between a caller and this gate? The one place that decides: separate, jailed or plain."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.service.request import Request
    from interlock.service.state import State

PLAIN, JAILED, SEPARATE = "plain", "jailed", "separate"
_ROOT = 0


def strength_of(state: State, principal: str, pid: int = 0) -> str:
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


def strength_in(state: State, request: Request) -> str:
    """Of one request: what its door found out, else what its principal shows."""
    return request.strength or state.wall or strength_of(state, request.agent.principal)
