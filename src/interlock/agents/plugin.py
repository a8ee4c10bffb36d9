"""JavaScript plugins for agents that load them: each call is put to the hook client, and none passes without its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import Files
from interlock.agents.hook_protocol import (
    AgentDialect,
    Kinds,
    answer,
)
from interlock.agents.jsonc import EditError

_SOURCES = Path(__file__).with_name("plugins")
MARK = "// interlock-hook: written by `interlock install`, taken out by `interlock uninstall`."


# What the plugin sends, whatever its agent calls it.
_FIELDS = CallFields(("tool",), ("args",), ("call_id",))


class Plugin(Struct, frozen=True):
    """An agent's plugin: its files; the code that the agent calls is in plugins/."""

    places: Files
    head: str = ""
    off: Callable[[Path, Path], list[str]] = lambda home, project: []


def plugin_agent(word: str, title: str, limit: float, kinds: Kinds, dialect: ToolNames, plugin: Plugin) -> AgentDialect:
    """The agent that loads this plugin."""

    def write(place: HookFile, text: str | None, client: HookClient) -> str:
        return _checked_text(text, plugin_text(word, limit, client, plugin))

    return AgentDialect(
        word,
        title,
        kinds,
        fill_calls(dialect, _FIELDS),
        _encode,
        plugin.places,
        write,
        _remove,
        plugin.off,
        limit_seconds=limit,
    )


def plugin_text(word: str, limit: float, client: HookClient, plugin: Plugin) -> str:
    """The plugin's source: the part that consults the client, and the part that the agent calls."""
    consult = (_SOURCES / "consult.js").read_text("utf-8")
    for key, value in (("CLIENT", client.path), ("WORD", word), ("LIMIT", int(limit * 1000))):
        consult = consult.replace(f"@{key}@", json.dumps(value))
    return f"{plugin.head}{MARK}\n{consult}\n{(_SOURCES / f'{word}.js').read_text('utf-8')}"


def _checked_text(old: str | None, new: str) -> str:
    """The plugin's text; refuses to write over a file that is not ours."""
    if old is not None and old.strip() and MARK not in old:
        raise EditError("the file is another plugin; move it away first", 1, 1)
    return new


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
