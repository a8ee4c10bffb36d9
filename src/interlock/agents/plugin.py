"""JavaScript plugins for agents that load them: each call is put to the hook client, and none passes without its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents.facts import AgentDialect, AnswerForm, CallFields
from interlock.agents.hook_files import MARK, HookClient, HookFile
from interlock.agents.jsonc import EditError

_SOURCES = Path(__file__).with_name("plugins")
# What the plugin sends, whatever its agent calls it, and what it is told, which is never nothing.
_FIELDS = CallFields(("tool",), ("args",), ("call_id",))
_ANSWERS = (
    AnswerForm(to=frozenset({"allow"}), json={"decision": "allow", "context": "@context", "args": "@input"}),
    AnswerForm(json={"decision": "deny", "reason": "@reason", "context": "@context"}, exit=2),
)


def plugin_agent(facts: AgentDialect, **code: Any) -> AgentDialect:
    """The agent that loads the plugin whose code is in plugins/."""

    def write(place: HookFile, text: str | None, client: HookClient) -> str:
        if text is not None and text.strip() and MARK not in text:
            raise EditError("the file is another plugin; move it away first", 1, 1)
        return plugin_text(facts, facts.limit_seconds, client)

    return replace(facts, fields=_FIELDS, answers=_ANSWERS).agent(installed=write, **code)


def plugin_text(facts: AgentDialect, limit: float, client: HookClient) -> str:
    """The plugin's source: the part that consults the client, and the part that the agent calls."""
    consult = (_SOURCES / "consult.js").read_text("utf-8")
    for key, value in (("CLIENT", client.path), ("WORD", facts.word), ("LIMIT", int(limit * 1000))):
        consult = consult.replace(f"@{key}@", json.dumps(value))
    return f"{facts.plugin_head}// {MARK}\n{consult}\n{(_SOURCES / f'{facts.word}.js').read_text('utf-8')}"
