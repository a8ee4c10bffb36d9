"""What would really be lost? Asked for this very decision, and for no other; where nobody can look, nothing is known."""

from __future__ import annotations

from interlock.core import looking
from interlock.core.circumstances import Circumstances
from interlock.service.request import Judged
from interlock.service.state import State

HOOK = "hook"


def looked(state: State, judged: Judged, at: Circumstances) -> Circumstances:
    """The circumstances, with what was seen; what an adapter or a proxied server does is done elsewhere."""
    request = judged.request
    if request.look is None or request.server is not None or request.adapted is not None:
        return at
    hook = request.door == HOOK  # whose tools are the agent's own
    return looking.looked(at, request.action, judged.judgement, request.look, state.looking.relief, request.made, hook)
