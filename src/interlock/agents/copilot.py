"""GitHub Copilot CLI, its cloud agent, and VS Code: one hooks file for all, both shapes in one answer."""

from __future__ import annotations

from interlock.agents import GATING, Event, HookClient, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import Hook
from interlock.agents.hook_protocol import answer, specific
from interlock.agents.rewriting import ASKED, LEAVE, Rewriting, ShellCall, folders_above, only_our_hooks, read_tables

FACTS = all_facts()["copilot"]


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word, reason = verdict.word, verdict.reason
    if event.kind == "permission":
        return answer({"behavior": "deny", "message": reason} if word == "deny" else {})
    context = {"additionalContext": verdict.context} if verdict.context else {}
    if event.kind == "before" and word != "allow":
        decision = {"permissionDecision": word, "permissionDecisionReason": reason}
        return answer({**decision, **specific("PreToolUse", **decision)})
    if event.kind == "after" and word == "deny":
        context = {"additionalContext": reason}
    changed = {"modifiedArgs": verdict.rewrite.whole} if verdict.rewrite is not None and event.kind == "before" else {}
    if (context or changed) and event.kind in ("before", "after"):
        name = "PreToolUse" if event.kind == "before" else "PostToolUse"
        return answer({**context, **changed, **specific(name, **context)})
    return answer({})


def _hook(event: str, client: HookClient) -> Hook:
    handler = {"type": "command", "bash": client.shell(FACTS.word, event), "timeoutSec": FACTS.limit}
    return Hook(("hooks", event), handler)


def _passage(call: ShellCall) -> str:
    """The rules of Copilot CLI are on its command line; those of VS Code's terminal are in settings of its own."""
    if call.call.tool != "bash":
        return LEAVE
    folders = [call.home / ".copilot/hooks", *(folder / ".github/hooks" for folder in folders_above(call.event.cwd))]
    tables = read_tables(path for folder in folders for path in folder.glob("*.json"))
    return ASKED if tables is not None and only_our_hooks(tables, "preToolUse", "PreToolUse") else LEAVE


AGENT = FACTS.agent(
    FACTS.fill(lambda given, event: event.kind in GATING), _say, FACTS.write(_hook), disablers=FACTS.disabled,
    rewrites=Rewriting(_passage, persistent=True, flags=FACTS.flags),
)  # fmt: skip
