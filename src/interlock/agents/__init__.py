"""The registry of coding agents: a section of `agents.toml` is an agent, named by its word; and the nouns of their hooks."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from interlock.agents.facts import AgentDialect, all_facts
from interlock.agents.hook_files import SCOPES, HookClient, HookFile
from interlock.agents.hook_protocol import (
    GATING,
    AgentCall,
    Event,
    HookOutput,
    HookVerdict,
    RewrittenCall,
)
from interlock.policy.real_paths import CLIENT, ROUTE

STATUS_LINE = "interlock.cli.guard.statusline"  # the module that a status line of ours runs


class UnknownAgent(LookupError):
    """A word that names no agent; the message lists the known ones."""


def words() -> tuple[str, ...]:
    return tuple(all_facts())


@cache
def agent(word: str) -> AgentDialect:
    if word not in words():
        raise UnknownAgent(f"no agent {word!r}; known: {', '.join(words())}")
    file = Path(__file__).with_name(f"{word.replace('-', '_')}.py")
    if not file.exists():
        return all_facts()[word]  # which say all of it
    found: AgentDialect = importlib.import_module(f"interlock.agents.{file.stem}").AGENT
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
