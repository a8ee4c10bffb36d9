"""A gate in front of any MCP server: puts each `tools/call` to the daemon with the tool's claims; without a daemon, what destroys is denied."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from interlock.client import NoDaemon
from interlock.client.connection import DaemonLink
from interlock.config import Config

RAISED = 2  # destructive, in the daemon's numbers
UNLISTED = "the server does not list this tool"
CHANGED = "the tool's description is not the one that was pinned"
DESTRUCTIVE, READ_ONLY = "destructive", "read_only"  # what annotations can claim


@dataclass(frozen=True, slots=True)
class ListedTool:
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

    def joined(self, other: ListedTool) -> ListedTool:
        return ListedTool(self.marks | other.marks, self.destroys or other.destroys, self.reads and other.reads)


@dataclass(frozen=True, slots=True)
class ToolClaims:
    """What is said of one tool: the level that a call of it has at least and why, and its annotations."""

    level: int = 0
    why: str = ""
    hints: tuple[str, ...] = ()


@dataclass(slots=True)
class Catalog:
    """What a server has listed since it started; what is not in it is judged as if it destroyed."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
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


def _tool(one: Mapping[str, Any]) -> ListedTool:
    text = json.dumps({key: value for key, value in one.items() if key != "_meta"}, sort_keys=True)
    given = one.get("annotations")
    hints = given if isinstance(given, Mapping) else {}
    destroys, reads = hints.get("destructiveHint") is True, hints.get("readOnlyHint") is True
    return ListedTool(
        frozenset({hashlib.sha256(text.encode()).hexdigest()}), destroys and not reads, reads and not destroys
    )


AGAIN = 2.0  # seconds between two tries to hold the session
FAREWELL = 2.0
UNTESTED = "untested"
DISTRUSTED = frozenset({"PERMISSION_TRUST_LEVEL_INSUFFICIENT", "PERMISSION_DANGER_LEVEL_DENIED"})
LOST = (NoDaemon, OSError, asyncio.IncompleteReadError)


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """The server behind a proxy, as the daemon is told of it."""

    name: str
    words: str  # how it is started, or its address
    trust: str = ""  # that somebody said it deserves

    @property
    def mark(self) -> str:
        return hashlib.sha256(self.words.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def wire(self) -> dict[str, Any]:
        shown = self.words.encode("utf-8", "replace").decode()[:4_096]
        trust = {"trust": self.trust} if self.trust else {}
        return {"name": self.name, "mark": self.mark, "words": shown, **trust}


@dataclass(frozen=True, slots=True)
class ProxyVerdict:
    """What the gate says to one call."""

    allowed: bool
    words: str = ""  # why not; or, where something was kept first, that it was
    ticket: str = ""  # that it waits for
    token: str = ""


class ProxyGate:
    """Asks for one server; whatever goes wrong is a no."""

    def __init__(self, behind: ServerIdentity, link: DaemonLink, config: Config, cwd: str) -> None:
        self.behind, self._link, self.config, self._cwd = behind, link, config, cwd
        self.session = f"mcp_{secrets.token_hex(16)}"
        self.agent = ""  # what the client calls itself
        self.trust, self.note = behind.trust or UNTESTED, ""
        self.doubted = False  # a call was denied for want of trust, which may be another by now for the rest as well
        self._server = behind.wire
        self._starts = config.hooks.start_daemon

    @property
    def restricted(self) -> bool:
        """Whether nothing but lists is asked of the server, as far as is known."""
        return self.trust == UNTESTED or self.doubted

    def action(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The question, but for the claims."""
        return {
            "tool": f"mcp__{self.behind.name}__{tool}",
            "input": arguments,
            "cwd": self._cwd,
            "agent": {"name": self.agent, "session": self.session},
        }

    async def decide(self, tool: str, arguments: Mapping[str, Any], claims: ToolClaims) -> ProxyVerdict:
        """One evaluation."""
        level = {"level": claims.level, "why": claims.why} if claims.level else {}
        hints = {"hints": list(claims.hints)} if claims.hints else {}
        body = {**self.action(tool, arguments), "server": {**self._server, **level, **hints}}
        try:
            said = await self._link.post("/evaluate", body, start=self._starts)
        except UnicodeEncodeError:
            return ProxyVerdict(False, "Denied: a text holds half of a character (a lone surrogate).")
        except LOST:
            return await self._alone(body, claims)
        return self._verdict(said)

    def _verdict(self, said: Any) -> ProxyVerdict:
        if type(said) is not dict or type(said.get("allowed")) is not bool:
            return ProxyVerdict(False, "Denied: the daemon's answer cannot be read.")
        if said["allowed"]:
            return ProxyVerdict(True, _kept(str(said["kept"])) if said.get("kept") else "")
        self.doubted = self.doubted or said.get("code") in DISTRUSTED
        words = str(said.get("reason") or _message(said))
        waits = said.get("requiresApproval") or said.get("waitMs")  # a rejection is no question
        ticket = said.get("pendingId") if waits and said.get("decision") in _HELD else None
        return ProxyVerdict(False, words, str(ticket or ""), str(said.get("confirmation_token") or ""))

    async def _alone(self, body: Mapping[str, Any], claims: ToolClaims) -> ProxyVerdict:
        from interlock.proxy.fallback import judge_locally

        allowed, words = await asyncio.to_thread(judge_locally, body, self.behind, claims, self.config)
        return ProxyVerdict(allowed, words)

    async def standing(self, tools: Mapping[str, str]) -> frozenset[str]:
        """Tells the daemon what the server lists; the tools that are not what was pinned. The trust in force is remembered."""
        self.doubted = False
        try:
            said = await self._link.post("/servers", {"server": self._server, "tools": tools}, start=self._starts)
        except LOST:
            self.trust, self.note = self.behind.trust or UNTESTED, ""
            return frozenset()
        if type(said) is not dict or type(said.get("trust")) is not str:
            self.trust, self.note = UNTESTED, f"the daemon refused the server: {_message(said)}"
            return frozenset()
        self.trust, self.note = said["trust"], str(said.get("note", ""))
        return frozenset(map(str, said.get("changed") or ()))

    async def settled(self, ticket: str, seconds: float) -> bool:
        """Whether a ticket was answered within so many seconds."""
        path = f"/tickets/{ticket}/wait?seconds={max(1, int(seconds))}"
        try:
            said = await self._link.get(path, patience=seconds + 30)
        except LOST:
            await asyncio.sleep(min(1.0, seconds))
            return False
        return type(said) is dict and said.get("state") not in _PENDING

    async def question(self, token: str) -> Mapping[str, Any] | None:
        """`{ask, message}` where the word of the client's own user would be enough."""
        with suppress(*LOST):
            found = await self._link.post("/aql/ask", {"session": self.session, "token": token}, start=False)
            return found if isinstance(found, dict) and "ask" in found else None
        return None

    async def answered(self, ask: str, yes: bool) -> bool:
        with suppress(*LOST):
            body = {"session": self.session, "ask": ask, "approve": yes}
            found = await self._link.post("/aql/elicited", body, start=False)
            return isinstance(found, dict) and found.get("armed") is True
        return False

    async def hold(self) -> None:
        """Keeps the session while this process lives, so that nobody else speaks for its client's user."""
        while True:
            with suppress(*LOST):
                await self._link.post("/aql/hold", {"session": self.session}, patience=None, start=False)
            await asyncio.sleep(AGAIN)

    async def end(self) -> None:
        with suppress(*LOST):
            await self._link.post("/aql/end", {"session": self.session}, patience=FAREWELL, start=False)
        self._link.close()


_HELD = frozenset({"confirm", "approve", "verify", "cool_off", "deny"})
_PENDING = frozenset({"pending_cooling", "pending_approval"})


def _kept(id: str) -> str:
    from interlock.approvals.decision_text import notice

    return notice(id)


def _message(said: Any) -> str:
    error = said.get("error") if isinstance(said, dict) else None
    words = error.get("message") if isinstance(error, dict) else None
    return f"Denied: {words or json.dumps(said)[:200]}"
