"""GitHub Copilot CLI, its cloud agent, and VS Code: one hooks file for all, both shapes in one answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from interlock.agents import GATING, Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import Hook, erase_hooks, find_switches, is_ours, with_hooks
from interlock.agents.hook_protocol import answer
from interlock.agents.rewriting import ASKED, LEAVE, Rewriting, ShellCall, folders_above, read_tables

FACTS = all_facts()["copilot"]
_BASE = {"version": 1}


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word, reason = verdict.word, verdict.reason
    if event.kind == "permission":
        return answer({"behavior": "deny", "message": reason} if word == "deny" else {})
    context = {"additionalContext": verdict.context} if verdict.context else {}
    if event.kind == "before" and word != "allow":
        decision = {"permissionDecision": word, "permissionDecisionReason": reason}
        return answer({**decision, "hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}})
    if event.kind == "after" and word == "deny":
        context = {"additionalContext": reason}
    changed = {"modifiedArgs": verdict.rewrite.whole} if verdict.rewrite is not None and event.kind == "before" else {}
    if (context or changed) and event.kind in ("before", "after"):
        name = "PreToolUse" if event.kind == "before" else "PostToolUse"
        return answer({**context, **changed, "hookSpecificOutput": {"hookEventName": name, **context}})
    return answer({})


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    hooks = []
    for event in FACTS.hooked:
        handler = {"type": "command", "bash": client.shell(FACTS.word, event)}
        hooks.append(Hook(("hooks", event), {**handler, "timeoutSec": FACTS.limit}))
    return with_hooks(text, hooks, is_ours, base=_BASE)


def _off(home: Path, project: Path) -> list[str]:
    paths = [
        *(home / ".copilot" / name for name in ("settings.json", "config.json", "hooks/interlock.json")),
        *(project / ".github/copilot" / name for name in ("settings.json", "settings.local.json")),
        project / ".github/hooks/interlock.json",
    ]
    return find_switches(paths, {("disableAllHooks",): True})


def _passage(call: ShellCall) -> str:
    """The rules of Copilot CLI are on its command line; those of VS Code's terminal are in settings of its own."""
    if call.call.tool != "bash":
        return LEAVE
    folders = [call.home / ".copilot/hooks", *(folder / ".github/hooks" for folder in folders_above(call.event.cwd))]
    tables = read_tables(path for folder in folders for path in folder.glob("*.json"))
    return ASKED if tables is not None and all(map(_is_alone, tables)) else LEAVE


def _is_alone(table: Mapping[str, Any]) -> bool:
    """Whether no other hook than ours may rewrite a call."""
    hooks = table.get("hooks")
    found = [
        hook for name in ("preToolUse", "PreToolUse") if isinstance(hooks, Mapping) for hook in hooks.get(name) or ()
    ]
    return all(map(is_ours, found))


AGENT = FACTS.agent(
    FACTS.fill(lambda given, event: event.kind in GATING), _say, _write, removed=partial(erase_hooks, base=_BASE), disablers=_off,
    rewrites=Rewriting(_passage, persistent=True, flags=FACTS.flags),
)  # fmt: skip
