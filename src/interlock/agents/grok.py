"""Grok Build: Claude-like groups in a hooks file of our own; camel case in, a `decision` at the top and exit 2 out, and nothing asks."""

from __future__ import annotations

from interlock.agents import Event, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import answer

FACTS = all_facts()["grok"]


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    """Any exit but 0 and 2 lets the call run, so that a refusal says it twice."""
    if event.kind == "before" and verdict.word != "allow":
        return answer({"decision": "deny", "reason": verdict.reason}, verdict.reason, 2)
    return answer(None)


AGENT = FACTS.agent(FACTS.fill(), _say, FACTS.write_groups(None, "hooks"))
