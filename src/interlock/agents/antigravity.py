"""Antigravity CLI: Claude-like groups in hooks.json; camel case in, one `decision` always, since silence is taken for a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from interlock.agents import AgentCall, Event, HookOutput, HookVerdict
from interlock.agents.calls import judged_calls
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import MalformedInput, answer, required_text, table, text

FACTS = all_facts()["antigravity"]
# As the analysis knows them.
_FIELDS = {"TargetFile": "file_path", "AbsolutePath": "file_path", "CodeContent": "content"}


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    """An allow here leaves the call to Antigravity's own review."""
    if event.kind != "before":
        return answer({})
    if verdict.word == "allow":
        return answer({"decision": "allow"})
    return answer({"decision": "deny", "reason": verdict.reason})


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    folders = given.get("workspacePaths")
    cwd = next((path for path in folders if isinstance(path, str)), "") if isinstance(folders, list) else ""
    event = replace(event, session=text(given, "conversationId"), cwd=cwd, transcript=text(given, "transcriptPath"))
    call = given.get("toolCall")
    if event.kind == "after" and call is None:
        return event
    if not isinstance(call, Mapping):
        raise MalformedInput("toolCall: expected an object")
    return replace(event, calls=_calls(call, cwd))


def _calls(call: Mapping[str, Any], cwd: str) -> tuple[AgentCall, ...]:
    given = {_FIELDS.get(key, key): value for key, value in table(call, "args").items()}
    folder = text(given, "Cwd") or cwd
    if not folder:
        raise MalformedInput("workspacePaths: missing")
    return judged_calls(FACTS.tools, required_text(call, "name"), given, folder, text(call, "id"))


AGENT = FACTS.agent(_fill, _say, FACTS.write_groups("", "hooks"))
