"""How events and replies are written down in the golden files."""

from __future__ import annotations

import json
from typing import Any

from interlock.agents import AgentCall, Event, HookOutput, HookVerdict

WHY = "Overwrites commits on the remote (git.force_push)."
VERDICTS = {
    "allow": HookVerdict("allow"),
    "context": HookVerdict("allow", context="Ticket t1 is approved: run exactly `make clean`."),
    "ask": HookVerdict("ask", WHY),
    "deny": HookVerdict("deny", WHY),
    "hold": HookVerdict("deny", f"Held: {WHY} Approve ticket t1."),
}


def shown_event(event: Event) -> dict[str, Any]:
    """An event without what is empty."""
    fields = {
        name: getattr(event, name) for name in "kind name session cwd parent transcript asks problem pair".split()
    }
    shown: dict[str, Any] = {name: value for name, value in fields.items() if value}
    return {**shown, "calls": [_shown_call(call) for call in event.calls]}


def _shown_call(call: AgentCall) -> dict[str, Any]:
    action = {"kind": call.action.kind.value, **call.action.fields, "cwd": call.action.cwd}
    return {"tool": call.tool, "action": action, "judged": sorted(call.judged), **({"id": call.id} if call.id else {})}


def shown_reply(reply: HookOutput) -> dict[str, Any]:
    """A reply; stdout as the one JSON object that it is."""
    text = reply.stdout.decode()
    shown = {"exit": reply.exit, "stdout": json.loads(text) if text else "", "stderr": reply.stderr.decode()}
    return {name: value for name, value in shown.items() if value != "" or name == "stdout"}
