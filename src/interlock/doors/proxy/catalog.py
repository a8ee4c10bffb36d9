"""Which tools does a server list, what do their annotations claim, and is each still what it was?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DESTRUCTIVE = 2  # a level, in the daemon's words
UNLISTED = "the server does not list this tool"
SAYS_SO = "the server's own annotations say that it destroys"
CHANGED = "the tool's description is not the one that was pinned"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as it is listed."""

    mark: str  # a hash of everything that the listing says of it
    destroys: bool


@dataclass(slots=True)
class Catalog:
    """What a server has listed since it started; what is not in it is judged as if it destroyed."""

    tools: dict[str, Tool] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()  # since they were pinned, by the daemon's word
    complete: bool = False
    stale: bool = True  # the server said that its tools are others by now, or was never asked

    def learn(self, result: Any, first: bool) -> bool:
        """Takes over a page of the listing; whether anything in it is new."""
        listed = result.get("tools") if isinstance(result, Mapping) else None
        before = dict(self.tools)
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("name"), str):
                self._put(one["name"], one)
        self.complete = isinstance(result, Mapping) and not result.get("nextCursor")
        if self.complete:
            self.stale = False
        return self.tools != before

    def _put(self, name: str, one: Mapping[str, Any]) -> None:
        text = json.dumps({key: value for key, value in one.items() if key != "_meta"}, sort_keys=True)
        hints = one.get("annotations")
        destroys = (
            isinstance(hints, Mapping)
            and hints.get("destructiveHint") is True
            and hints.get("readOnlyHint") is not True
        )
        self.tools[name] = Tool(hashlib.sha256(text.encode()).hexdigest(), destroys)

    @property
    def marks(self) -> dict[str, str]:
        return {name: tool.mark for name, tool in self.tools.items() if name and len(name) <= 200}

    def claims(self, name: str) -> tuple[int, str]:
        """The level that a call of this tool has at least, and why."""
        tool = self.tools.get(name)
        if tool is None:
            return DESTRUCTIVE, UNLISTED
        if name in self.changed:
            return DESTRUCTIVE, CHANGED
        return (DESTRUCTIVE, SAYS_SO) if tool.destroys else (0, "")
