"""One tool call -> allow or deny, in the words of a client's permission prompt (R-15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.model import AgentRef, tool
from interlock.service.evaluate import evaluate
from interlock.service.loop.tightened import NOT_TIGHTENED, Tightened, governing
from interlock.service.request import Request
from interlock.service.state import State


def permission_prompt(
    state: State,
    agent: AgentRef,
    door: str,
    *,
    tool_name: str,
    input: Mapping[str, Any],
    cwd: str = "",
    tight: Tightened = NOT_TIGHTENED,
) -> dict[str, Any]:
    """Whether a tool call may be made now; one that is held is denied, with its ticket, and passes once a person agreed."""
    state.catch_up()
    here = governing(state, agent, door, tight)
    decision = evaluate(here, Request(tool(tool_name, input, cwd), agent, door))
    if decision.allowed:
        return {"behavior": "allow", "updatedInput": dict(input)}
    return {"behavior": "deny", "message": decision.reason}
