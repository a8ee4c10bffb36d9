"""The registry of coding agents: a file here is an agent, named by its word; and the nouns of their hooks."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from interlock.agents.hook_files import SCOPES, HookClient, HookFile
from interlock.agents.hook_protocol import (
    GATING,
    AgentCall,
    AgentDialect,
    Event,
    HookOutput,
    HookVerdict,
    RewrittenCall,
)
from interlock.policy.real_paths import CLIENT, ROUTE

STATUS_LINE = "interlock.cli.guard.statusline"  # the module that a status line of ours runs
_PARTS = frozenset(
    "calls claude_permissions hook_files hook_protocol jsonc plugin rewriting toml_edit yaml_edit".split()
)


class UnknownAgent(LookupError):
    """A word that names no agent; the message lists the known ones."""


@cache
def words() -> tuple[str, ...]:
    """The words of all agents, in order."""
    names = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")} - _PARTS
    return tuple(sorted(name.replace("_", "-") for name in names))


@cache
def agent(word: str) -> AgentDialect:
    """The agent of a word; refuses any other."""
    if word not in words():
        raise UnknownAgent(f"no agent {word!r}; known: {', '.join(words())}")
    found: AgentDialect = importlib.import_module(f"interlock.agents.{word.replace('-', '_')}").AGENT
    return found


__all__ = [
    "CLIENT",
    "GATING",
    "ROUTE",
    "SCOPES",
    "AgentCall",
    "AgentDialect",
    "Event",
    "HookClient",
    "HookFile",
    "HookOutput",
    "HookVerdict",
    "RewrittenCall",
    "UnknownAgent",
    "agent",
    "words",
]
