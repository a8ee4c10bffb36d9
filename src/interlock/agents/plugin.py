"""JavaScript plugins for agents that load them: each call is put to the hook client, and none passes without its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.agents.calls import CallFields, fill_calls
from interlock.agents.facts import AgentFacts
from interlock.agents.hook_files import HookClient, HookFile
from interlock.agents.hook_protocol import AgentDialect, Event, HookOutput, HookVerdict, answer
from interlock.agents.jsonc import EditError

_SOURCES = Path(__file__).with_name("plugins")
MARK = "// interlock-hook: written by `interlock install`, taken out by `interlock uninstall`."


# What the plugin sends, whatever its agent calls it.
_FIELDS = CallFields(("tool",), ("args",), ("call_id",))


def plugin_agent(facts: AgentFacts, **more: Any) -> AgentDialect:
    """The agent that loads the plugin whose code is in plugins/; `more` are fields of AgentDialect."""

    def write(place: HookFile, text: str | None, client: HookClient) -> str:
        if text is not None and text.strip() and MARK not in text:
            raise EditError("the file is another plugin; move it away first", 1, 1)
        return plugin_text(facts, facts.limit, client)

    return facts.agent(fill_calls(facts.tools, _FIELDS), _encode, write, removed=_remove, **more)


def plugin_text(facts: AgentFacts, limit: float, client: HookClient) -> str:
    """The plugin's source: the part that consults the client, and the part that the agent calls."""
    consult = (_SOURCES / "consult.js").read_text("utf-8")
    for key, value in (("CLIENT", client.path), ("WORD", facts.word), ("LIMIT", int(limit * 1000))):
        consult = consult.replace(f"@{key}@", json.dumps(value))
    return f"{facts.plugin_head}{MARK}\n{consult}\n{(_SOURCES / f'{facts.word}.js').read_text('utf-8')}"


def _remove(place: HookFile, text: str) -> str | None:
    """None for our own file, else the text unchanged."""
    return None if MARK in text else text


def _encode(event: Event, verdict: HookVerdict) -> HookOutput:
    """Encodes the decision for the plugin, which is never omitted."""
    context = {"context": verdict.context} if verdict.context else {}
    if verdict.word == "allow":
        args = {"args": verdict.rewrite.input} if verdict.rewrite is not None and event.kind == "before" else {}
        return answer({"decision": "allow", **context, **args})
    return answer({"decision": "deny", "reason": verdict.reason, **context}, verdict.reason, 2)
