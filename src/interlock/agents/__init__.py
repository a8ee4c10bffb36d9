"""Which coding agents does Interlock know? The folder is the registry: a file here is an agent, named by its word."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from interlock.agents.contract import Agent, Call, Client, Event, Place, Reply, Verdict

_PARTS = frozenset("calls claude_form contract edit jsonc plugin reading results spoken toml_edit wire".split())


class UnknownAgent(LookupError):
    """A word that names no agent; the message lists those that are known."""


@cache
def words() -> tuple[str, ...]:
    """The words by which agents are named, in order."""
    return tuple(
        sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(__path__) if found.name not in _PARTS)
    )


@cache
def agent(word: str) -> Agent:
    """The agent of a word; refuses any other."""
    if word not in words():
        raise UnknownAgent(f"no agent {word!r}; known: {', '.join(words())}")
    found: Agent = importlib.import_module(f"interlock.agents.{word.replace('-', '_')}").AGENT
    return found


__all__ = ["Agent", "Call", "Client", "Event", "Place", "Reply", "UnknownAgent", "Verdict", "agent", "words"]
