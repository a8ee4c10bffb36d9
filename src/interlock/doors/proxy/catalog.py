"""The tools a server lists: what their annotations claim, and a mark that shows when one is no longer what it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RAISED = 2  # destructive, in the daemon's numbers
UNLISTED = "the server does not list this tool"
CHANGED = "the tool's description is not the one that was pinned"
DESTRUCTIVE, READ_ONLY = "destructive", "read_only"  # what annotations can claim


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as it is listed; of several under one name, the worst that any of them says."""

    marks: frozenset[str]  # a hash of everything that a listing says of it, for each that has its name
    destroys: bool
    reads: bool  # by its own word alone

    @property
    def mark(self) -> str:
        if len(self.marks) == 1:
            return next(iter(self.marks))
        return hashlib.sha256("".join(sorted(self.marks)).encode()).hexdigest()

    @property
    def hints(self) -> list[str]:
        return [DESTRUCTIVE] if self.destroys else [READ_ONLY] if self.reads else []

    def joined(self, other: Tool) -> Tool:
        return Tool(self.marks | other.marks, self.destroys or other.destroys, self.reads and other.reads)


@dataclass(frozen=True, slots=True)
class ToolClaims:
    """What is said of one tool: the level that a call of it has at least and why, and its annotations."""

    level: int = 0
    why: str = ""
    hints: tuple[str, ...] = ()


@dataclass(slots=True)
class Catalog:
    """What a server has listed since it started; what is not in it is judged as if it destroyed."""

    tools: dict[str, Tool] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()  # since they were pinned, by the daemon's word
    stale: bool = True  # the server said that its tools are others by now, or was never asked
    _listing: set[str] = field(default_factory=set)  # the names of the listing that is under way

    def learn(self, result: Any, first: bool) -> None:
        """Takes over a page of the listing; a name that the same listing had before is joined with what it was there."""
        listed = result.get("tools") if isinstance(result, Mapping) else None
        if first:
            self._listing.clear()
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping) and isinstance(name := one.get("name"), str):
                found = _tool(one)
                self.tools[name] = self.tools[name].joined(found) if name in self._listing else found
                self._listing.add(name)
        # Half of a listing may lack the worse of two: whoever calls has it listed to its end first.
        self.stale = not (isinstance(result, Mapping) and not result.get("nextCursor"))

    @property
    def marks(self) -> dict[str, str]:
        return {name: tool.mark for name, tool in self.tools.items() if name and len(name) <= 200}

    def claims(self, name: str) -> ToolClaims:
        """What counts for a call of this tool; nothing lowers a tool that is not listed, or not what it was."""
        tool = self.tools.get(name)
        if tool is None:
            return ToolClaims(RAISED, UNLISTED)
        return ToolClaims(RAISED, CHANGED) if name in self.changed else ToolClaims(hints=tuple(tool.hints))


def _tool(one: Mapping[str, Any]) -> Tool:
    text = json.dumps({key: value for key, value in one.items() if key != "_meta"}, sort_keys=True)
    given = one.get("annotations")
    hints = given if isinstance(given, Mapping) else {}
    destroys, reads = hints.get("destructiveHint") is True, hints.get("readOnlyHint") is True
    return Tool(frozenset({hashlib.sha256(text.encode()).hexdigest()}), destroys and not reads, reads and not destroys)
