"""What the proxy knows of an MCP server: its identity, its tools and their claims, and the verdict on a call."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from interlock.strict_json import list_in, table_in

SERVER_TABLES = ("mcpServers", "servers", "mcp_servers")  # where clients keep servers
RAISED = 2  # destructive, in the daemon's numbers
UNLISTED = "the server does not list this tool"
CHANGED = "the tool's description is not the one that was pinned"
DESTRUCTIVE, READ_ONLY = "destructive", "read_only"  # what annotations can claim
UNTESTED = "untested"


def plain_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", text)


class ListedTool(Struct, frozen=True):
    """Several of one name are joined into the most dangerous of their claims."""

    marks: frozenset[str]  # hashes of the whole listing entries
    destroys: bool
    reads: bool  # by its own claim only

    @property
    def mark(self) -> str:
        joined = "".join(sorted(self.marks))
        return joined if len(self.marks) == 1 else hashlib.sha256(joined.encode()).hexdigest()

    @property
    def hints(self) -> tuple[str, ...]:
        return (DESTRUCTIVE,) if self.destroys else (READ_ONLY,) if self.reads else ()

    def join_with(self, other: ListedTool) -> ListedTool:
        return ListedTool(self.marks | other.marks, self.destroys or other.destroys, self.reads and other.reads)


class ToolClaims(Struct, frozen=True):
    """The least level of a call and its reason, and the tool's annotations."""

    level: int = 0
    why: str = ""
    hints: tuple[str, ...] = ()


class Catalog(Struct):
    """Listed since the server started; a call of any other tool is judged as destructive."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()  # since they were pinned, as the daemon reports
    stale: bool = True  # the server announced a change, or was never asked
    _listing: set[str] = field(default_factory=set)  # the names of the listing that is under way

    def learn(self, result: Any, first: bool) -> None:
        """Joins entries of one name within a listing."""
        if first:
            self._listing.clear()
        for one in list_in(result, "tools"):
            if isinstance(one, Mapping) and isinstance(name := one.get("name"), str):
                found = _tool(one)
                self.tools[name] = self.tools[name].join_with(found) if name in self._listing else found
                self._listing.add(name)
        # Half of a listing may lack the worse of two entries: a call waits for the listing to be complete.
        self.stale = not (isinstance(result, Mapping) and not result.get("nextCursor"))

    @property
    def marks(self) -> dict[str, str]:
        return {name: tool.mark for name, tool in self.tools.items() if name and len(name) <= 200}

    def claims(self, name: str) -> ToolClaims:
        """Annotations never lower a tool that is not listed or has changed."""
        tool = self.tools.get(name)
        if tool is None:
            return ToolClaims(RAISED, UNLISTED)
        return ToolClaims(RAISED, CHANGED) if name in self.changed else ToolClaims(hints=tool.hints)


def _tool(one: Mapping[str, Any]) -> ListedTool:
    text = json.dumps({key: value for key, value in one.items() if key != "_meta"}, sort_keys=True)
    hints = table_in(one, "annotations")
    destroys, reads = hints.get("destructiveHint") is True, hints.get("readOnlyHint") is True
    return ListedTool(
        frozenset({hashlib.sha256(text.encode()).hexdigest()}), destroys and not reads, reads and not destroys
    )


class ServerIdentity(Struct, frozen=True):
    name: str
    words: str  # how it is started, or its address
    trust: str = ""  # claimed by the user

    @property
    def mark(self) -> str:
        return hashlib.sha256(self.words.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def wire(self) -> dict[str, Any]:
        shown = self.words.encode("utf-8", "replace").decode()[:4_096]
        trust = {"trust": self.trust} if self.trust else {}
        return {"name": self.name, "mark": self.mark, "words": shown, **trust}


class ProxyVerdict(Struct, frozen=True):
    allowed: bool
    words: str = ""  # the reason for a denial; or a notice of the snapshot taken first
    ticket: str = ""  # that the call waits for
    token: str = ""
