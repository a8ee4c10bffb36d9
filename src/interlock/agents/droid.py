"""Factory Droid: Claude-like hooks; a deny by exit 2, since the first hook with a JSON decision wins there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import json_or_empty
from interlock.agents.hook_protocol import answer, refuse_by_exit_code, specific, text

FACTS = all_facts()["droid"]
_ASKING = frozenset({"default", "plan", "spec", "acceptEdits"})


def _asks(given: Mapping[str, Any], event: Event) -> bool:
    return event.kind == "before" and text(given, "permission_mode", "permissionMode") in _ASKING


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    if event.kind == "before" and verdict.word == "deny":
        return refuse_by_exit_code(event, verdict)
    if event.kind == "before" and verdict.word == "ask":
        return answer(specific("PreToolUse", permissionDecision="ask", permissionDecisionReason=verdict.reason))
    if event.kind == "after" and (verdict.context or verdict.word == "deny"):
        return answer(specific("PostToolUse", additionalContext=verdict.context or verdict.reason))
    return answer(None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    if scope not in ("user", "project"):
        return ()
    folder = (home if scope == "user" else project) / ".factory"
    # Some versions read settings.json alone, others hooks.json where there is one: making one would hide the settings' hooks.
    hooks = (HookFile(folder / "hooks.json"),) if (folder / "hooks.json").exists() else ()
    return (HookFile(folder / "settings.json"), *hooks)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    lead = ("hooks",) if place.path.name == "settings.json" or (text and '"hooks"' in text and _nested(text)) else ()
    return FACTS.write_groups("*", *lead)(place, text, client)


def _nested(text: str) -> bool:
    """True for a hooks.json that has its events under `hooks`, as the settings do."""
    return isinstance(json_or_empty(text).get("hooks"), dict)


AGENT = FACTS.agent(FACTS.fill(_asks), _say, _write, places=_places, disablers=FACTS.disabled)
