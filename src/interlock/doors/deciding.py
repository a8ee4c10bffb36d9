"""A question and the confirmation token that came with it -> the decision; the same for every door."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.decision import Decision
from interlock.service.evaluate import evaluate
from interlock.service.request import Request
from interlock.service.state import State

NO_STORE = "the state cannot be known: the store cannot be used"


def decided(state: State, request: Request, token: str = "") -> Decision:
    """Blocks; a door with an event loop runs it elsewhere."""
    return evaluate(state, replace(request, token=token) if token else request)
