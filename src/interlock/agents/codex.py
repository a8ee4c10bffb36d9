"""Codex CLI: Claude-like hooks.json; no ask and no bare allow, which it would take for a broken hook and go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import erase_hooks, hook_group, is_ours, one_file, read_json_files, with_hooks
from interlock.agents.hook_protocol import (
    AgentDialect,
    answer,
    text,
)
from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import parse_toml, with_block, without_block

WORD = "codex"
LIMIT = 300.0  # seconds
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PermissionRequest": "permission",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse")
_DIALECT = ToolNames(
    frozenset("Bash shell shell_command exec_command local_shell unified_exec container.exec".split()),
    incidental=frozenset({"justification", "login", "tty"}),
)
_SYSTEM = Path("/etc/codex")
_TRUST = "Codex skips hooks until you trust them: run /hooks in Codex once, and again after every reinstall."
_PATH = ".codex/hooks.json"
_FILES = one_file(
    note=_TRUST,
    user=_PATH,
    project=HookFile(Path(_PATH), note=f"Trust the project in Codex. {_TRUST}"),
    system=HookFile(_SYSTEM / "requirements.toml", "toml"),
)


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word, reason = verdict.word, verdict.reason
    if event.kind == "before" and word != "allow":
        denied = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", **denied}})
    if event.kind == "permission":
        decision = {"behavior": "deny", "message": reason}
        output = {"hookEventName": "PermissionRequest", "decision": decision}
        return answer({"hookSpecificOutput": output} if word == "deny" else None)
    if event.kind == "after" and word == "deny":
        return answer({"decision": "block", "reason": reason})
    if verdict.context and event.kind in ("before", "after"):
        name = "PreToolUse" if event.kind == "before" else "PostToolUse"
        return answer({"hookSpecificOutput": {"hookEventName": name, "additionalContext": verdict.context}})
    return answer(None)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    if place.form == "toml":
        return with_block(text, "\n".join(_table(event, client) for event in HOOKED))
    hooks = [hook_group(("hooks", event), _handler(event, client), ".*") for event in HOOKED]
    return with_hooks(text, hooks, is_ours)


def _erase(place: HookFile, text: str) -> str | None:
    return without_block(text) if place.form == "toml" else erase_hooks(place, text)


def _off(home: Path, project: Path) -> list[str]:
    found: list[str] = []
    read_json_files([home / _PATH, project / _PATH], found)
    for path in (home / ".codex" / "config.toml", project / ".codex" / "config.toml", _SYSTEM / "config.toml"):
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


def _handler(event: str, client: HookClient) -> dict[str, Any]:
    return {"type": "command", "command": client.shell(WORD, event), "timeout": int(LIMIT)}


def _table(event: str, client: HookClient) -> str:
    handler = _handler(event, client)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in handler.items()]
    return "\n".join([f"[[hooks.{event}]]", 'matcher = ".*"', f"[[hooks.{event}.hooks]]", *lines])


_FILL = fill_calls(
    _DIALECT,
    CallFields(transcript=("transcript_path",)),
    lambda given, event: event.kind == "permission",  # it comes only where Codex is about to ask
)


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    event = _FILL(given, event)
    return replace(event, parent=event.session if text(given, "agent_id") else "")


AGENT = AgentDialect(
    WORD, "Codex CLI", KINDS, _fill, _say, _FILES, _write, _erase, _off, limit_seconds=LIMIT,
    state=(".codex/log", ".codex/sessions"),
)  # fmt: skip
