"""What would really be lost? Asked for this very decision, and for no other; where nobody can look, nothing is known."""

from __future__ import annotations

from interlock.core import looking
from interlock.core.circumstances import Circumstances
from interlock.core.local_servers import on_files
from interlock.service.request import Judged, Request
from interlock.service.state import State

HOOK = "hook"


def looked(state: State, judged: Judged, at: Circumstances) -> Circumstances:
    """The circumstances, with what was seen of what happens on this machine."""
    request = judged.request
    if request.look is None or elsewhere(judged):
        return at
    own = own_tools(request)
    return looking.looked(at, request.action, judged.judgement, request.look, state.looking.relief, request.made, own)


def elsewhere(judged: Judged) -> bool:
    """Whether nobody here can see what it does: an adapter's operation, and what a server does beside writing this machine's files."""
    request = judged.request
    if request.server is not None:
        return not (request.server.here and on_files(judged.judgement.facts))
    return request.adapted is not None


def own_tools(request: Request) -> bool:
    """Whether its tools work on this machine's files: an agent's own, as far as they are, and those of a server that runs here."""
    return request.server is not None or (request.door == HOOK and looking.is_own_tool(request.action))
