"""Is a tool call one to the safety loop, and under which name does it speak? By it the session's other calls are known as that agent's."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.agents.contract import Call

_TOOL = "mcp_aql"  # in the name of every tool of the loop, whatever the client puts around it
_OPERATIONS = frozenset({"execute_agent", "record_execution_step", "continue_execution"})
_LONGEST = 200


def loop_name(call: Call) -> str:
    """The name an execution runs under; empty for every other call."""
    if _TOOL not in call.tool or call.input.get("operation") not in _OPERATIONS:
        return ""
    params = call.input.get("params")
    given = params if isinstance(params, Mapping) else call.input
    name = given.get("element_name")
    return name[:_LONGEST] if isinstance(name, str) else ""
