"""Codex CLI: Claude-like hooks.json; no ask and no bare allow, which it would take for a broken hook and go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import erase_hooks
from interlock.agents.hook_protocol import answer, specific, text
from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import parse_toml, with_block, without_block

FACTS = all_facts()["codex"]


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word, reason = verdict.word, verdict.reason
    if event.kind == "before" and word != "allow":
        return answer(specific("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason))
    if event.kind == "permission":
        denied = specific("PermissionRequest", decision={"behavior": "deny", "message": reason})
        return answer(denied if word == "deny" else None)
    if event.kind == "after" and word == "deny":
        return answer({"decision": "block", "reason": reason})
    if verdict.context and event.kind in ("before", "after"):
        name = "PreToolUse" if event.kind == "before" else "PostToolUse"
        return answer(specific(name, additionalContext=verdict.context))
    return answer(None)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    if place.form == "toml":
        return with_block(text, "\n".join(_table(event, client) for event in FACTS.hooked))
    return FACTS.write_groups(".*", "hooks")(place, text, client)


def _erase(place: HookFile, text: str) -> str | None:
    return without_block(text) if place.form == "toml" else erase_hooks(place, text)


def _off(home: Path, project: Path) -> list[str]:
    found = FACTS.disabled(home, project)
    for path in (home / ".codex" / "config.toml", project / ".codex" / "config.toml", Path("/etc/codex/config.toml")):
        try:
            features = parse_toml(path.read_text("utf-8")).get("features")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, EditError) as error:
            found.append(f"{path}: cannot be read ({error})")
            continue
        for key in ("hooks", "codex_hooks"):
            if isinstance(features, Mapping) and features.get(key) is False:
                found.append(f"{path}: features.{key} is false, so hooks do not run")
    return found


def _table(event: str, client: HookClient) -> str:
    handler = FACTS.handler(event, client)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in handler.items()]
    return "\n".join([f"[[hooks.{event}]]", 'matcher = ".*"', f"[[hooks.{event}.hooks]]", *lines])


_FILL = FACTS.fill(lambda given, event: event.kind == "permission")  # it comes only where Codex is about to ask


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    event = _FILL(given, event)
    return replace(event, parent=event.session if text(given, "agent_id") else "")


AGENT = FACTS.agent(_fill, _say, _write, removed=_erase, disablers=_off)
