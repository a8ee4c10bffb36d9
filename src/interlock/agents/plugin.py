"""JavaScript plugins for agents that load them: each call is put to the hook client, and none passes without its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import ToolNames, judged_calls
from interlock.agents.hook_protocol import (
    JsonAgent,
    Kinds,
    answer,
    reason_of,
    reason_text,
    required_text,
    table,
    text,
    tidy,
    word_of,
)
from interlock.agents.jsonc import EditError

_SOURCES = Path(__file__).with_name("plugins")
MARK = "// interlock-hook: written by `interlock install`, taken out by `interlock uninstall`."


class Plugin(Struct, frozen=True):
    """An agent's plugin: its files; the code that the agent calls is in plugins/."""

    places: Callable[[str, Path, Path], tuple[HookFile, ...]]
    head: str = ""
    off: Callable[[Path, Path], list[str]] = lambda home, project: []


def plugin_agent(word: str, title: str, limit: float, kinds: Kinds, dialect: ToolNames, plugin: Plugin) -> JsonAgent:
    """The agent that loads this plugin."""

    def fill(given: Mapping[str, Any], event: Event) -> Event:
        return _fill(dialect, given, event)

    def write(place: HookFile, text: str | None, client: HookClient) -> str:
        return _checked_text(text, plugin_text(word, limit, client, plugin))

    return JsonAgent(word, title, kinds, fill, _encode, plugin.places, write, _remove, plugin.off, limit_seconds=limit)


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


def _fill(dialect: ToolNames, given: Mapping[str, Any], event: Event) -> Event:
    """Decodes the plugin's input: `tool`, `args`, `session_id`, `call_id`, `cwd`."""
    event = replace(event, session=text(given, "session_id"), cwd=text(given, "cwd"))
    if event.kind not in ("before", "after"):
        return event
    calls = judged_calls(
        dialect, required_text(given, "tool"), table(given, "args"), required_text(given, "cwd"), text(given, "call_id")
    )
    return replace(event, calls=calls)


def _encode(event: Event, verdict: HookVerdict) -> HookOutput:
    """Encodes the decision for the plugin, which is never omitted."""
    context = {"context": tidy(verdict.context)} if verdict.context else {}
    if word_of(event, verdict) == "allow":
        args = {"args": verdict.rewrite.input} if verdict.rewrite is not None and event.kind == "before" else {}
        return answer({"decision": "allow", **context, **args})
    reason = reason_text(reason_of(event, verdict))
    return answer({"decision": "deny", "reason": reason, **context}, reason, 2)
