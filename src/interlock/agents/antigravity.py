"""Antigravity CLI: Claude-like groups in hooks.json; camel case in, one `decision` always, since silence is taken for a failure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import Event, Json, MalformedInput, required_text, table, text

FACTS = all_facts()["antigravity"]
# As the analysis knows them.
_FIELDS = {"TargetFile": "file_path", "AbsolutePath": "file_path", "CodeContent": "content"}


def _calls(given: Json, event: Event) -> Event:
    call = given.get("toolCall")
    if event.kind == "after" and call is None:
        return event
    if not isinstance(call, Mapping):
        raise MalformedInput("toolCall: expected an object")
    inner = {_FIELDS.get(key, key): value for key, value in table(call, "args").items()}
    folder = text(inner, "Cwd") or event.cwd
    if not folder:
        raise MalformedInput("workspacePaths: missing")
    calls = FACTS.tools.judged(required_text(call, "name"), inner, folder, text(call, "id"))
    return replace(event, calls=calls)


AGENT = FACTS.agent(_calls)
