"""GitHub Copilot CLI, its cloud agent, and VS Code: one hooks file for all, both shapes in one answer."""

from __future__ import annotations

from interlock.agents.facts import all_facts
from interlock.agents.rewriting import ASKED, LEAVE, ShellCall, only_our_hooks, read_tables


def _passage(call: ShellCall) -> str:
    """Its rules are on the command line; those of VS Code's terminal in settings of its own."""
    if call.call.tool != "bash":
        return LEAVE
    folders = [call.home / ".copilot/hooks", *(folder / ".github/hooks" for folder in call.folders)]
    tables = read_tables(path for folder in folders for path in folder.glob("*.json"))
    return ASKED if tables is not None and only_our_hooks(tables, "preToolUse", "PreToolUse") else LEAVE


AGENT = all_facts()["copilot"].agent(passage=_passage)
