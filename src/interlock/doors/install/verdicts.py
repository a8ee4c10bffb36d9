"""A hook's answer -> what the agent will make of it: allow, ask, deny, or something that it may take for a broken hook."""

from __future__ import annotations

import json
from typing import Any

from interlock.agents import Agent, Event, Reply, Verdict

_WORDS = frozenset(
    "permissionDecisionReason reason message user_message agent_message errorMessage systemMessage stopReason".split()
)
_CONTEXT = frozenset("additionalContext additional_context context contextModification".split())
BROKEN = "broken"


def verdict_of(agent: Agent, event: Event, reply: Reply) -> str:
    """The verdict whose shape this answer has, words aside; `broken` where it has none of them."""
    words = ("allow", "deny") if event.problem else ("allow", "ask", "deny")
    shapes = {word: _shape(agent.encode(event, Verdict(word, "because"))) for word in words}
    found = _shape(reply)
    for word in ("deny", "ask", "allow"):  # where an agent has one shape for two of them, the stricter one
        if shapes.get(word) == found:
            return word
    allowed = _shape(agent.encode(event, Verdict("allow", context="told")))
    return "allow" if not event.problem and found == allowed else BROKEN


def _shape(reply: Reply) -> tuple[int, Any, bool]:
    text = reply.stdout.decode("utf-8", "replace")
    try:
        said = _bare(json.loads(text)) if text.strip() else None
    except (ValueError, RecursionError):
        said = text
    return reply.exit, said, reply.exit != 0 and bool(reply.stderr.strip())


def _bare(value: Any) -> Any:
    """A value with its words blanked and its context taken out."""
    if isinstance(value, dict):
        return {
            key: "*" if key in _WORDS and isinstance(item, str) else _bare(item)
            for key, item in value.items()
            if key not in _CONTEXT
        }
    return [_bare(item) for item in value] if isinstance(value, list) else value
