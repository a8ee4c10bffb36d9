"""A gate in front of any MCP server: puts each `tools/call` to the daemon with the tool's claims; without a daemon, destructive calls are denied."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from interlock.client import NoDaemon
from interlock.client.connection import DaemonLink
from interlock.config import Config

RAISED = 2  # destructive, in the daemon's numbers
UNLISTED = "the server does not list this tool"
CHANGED = "the tool's description is not the one that was pinned"
DESTRUCTIVE, READ_ONLY = "destructive", "read_only"  # what annotations can claim
AGAIN = 2.0  # seconds between two tries to hold the session
FAREWELL = 2.0
UNTESTED = "untested"
DISTRUSTED = frozenset({"PERMISSION_TRUST_LEVEL_INSUFFICIENT", "PERMISSION_DANGER_LEVEL_DENIED"})
LOST = (NoDaemon, OSError, asyncio.IncompleteReadError)
_HELD = frozenset({"confirm", "approve", "verify", "cool_off", "deny"})
_PENDING = frozenset({"pending_cooling", "pending_approval"})


class ListedTool(Struct, frozen=True):
    """One listed tool; several of one name are joined into the most dangerous of their claims."""

    marks: frozenset[str]  # a hash of the whole listing entry, for each of this name
    destroys: bool
    reads: bool  # by its own claim only

    @property
    def mark(self) -> str:
        if len(self.marks) == 1:
            return next(iter(self.marks))
        return hashlib.sha256("".join(sorted(self.marks)).encode()).hexdigest()

    @property
    def hints(self) -> list[str]:
        return [DESTRUCTIVE] if self.destroys else [READ_ONLY] if self.reads else []

    def join_with(self, other: ListedTool) -> ListedTool:
        return ListedTool(self.marks | other.marks, self.destroys or other.destroys, self.reads and other.reads)


class ToolClaims(Struct, frozen=True):
    """The least level of a call of one tool and the reason for it, and the tool's annotations."""

    level: int = 0
    why: str = ""
    hints: tuple[str, ...] = ()


class Catalog(Struct):
    """The tools that a server has listed since it started; a call of any other is judged as destructive."""

    tools: dict[str, ListedTool] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()  # since they were pinned, as the daemon reports
    stale: bool = True  # the server announced a change, or was never asked
    _listing: set[str] = field(default_factory=set)  # the names of the listing that is under way

    def learn(self, result: Any, first: bool) -> None:
        """Adds a page of the listing; joins entries of the same name within one listing."""
        listed = result.get("tools") if isinstance(result, Mapping) else None
        if first:
            self._listing.clear()
        for one in listed if isinstance(listed, list) else ():
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
        """The claims for a call of this tool; annotations never lower a tool that is not listed or has changed."""
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


class ServerIdentity(Struct, frozen=True):
    """The server behind a proxy, as it is reported to the daemon."""

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
    """The gate's decision on one call."""

    allowed: bool
    words: str = ""  # the reason for a denial; or a notice of the snapshot taken first
    ticket: str = ""  # that the call waits for
    token: str = ""


class ProxyGate:
    """Puts the calls of one server to the daemon; every failure is a denial."""

    def __init__(self, behind: ServerIdentity, link: DaemonLink, config: Config, cwd: str) -> None:
        self.behind, self._link, self.config, self._cwd = behind, link, config, cwd
        self.session = f"mcp_{secrets.token_hex(16)}"
        self.agent = ""  # the client's name for itself
        self.trust, self.note = behind.trust or UNTESTED, ""
        self.doubted = (
            False  # a call was denied for lack of trust, so the trust may have changed for other requests too
        )
        self._server = behind.wire
        self._starts = config.hooks.start_daemon

    @property
    def restricted(self) -> bool:
        """Whether the server is only asked for its listings, by the latest known trust."""
        return self.trust == UNTESTED or self.doubted

    def action(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The body of an evaluation, without the claims."""
        return {
            "tool": f"mcp__{self.behind.name}__{tool}",
            "input": arguments,
            "cwd": self._cwd,
            "agent": {"name": self.agent, "session": self.session},
        }

    async def decide(self, tool: str, arguments: Mapping[str, Any], claims: ToolClaims) -> ProxyVerdict:
        """Evaluates one call, in this process where the daemon cannot be reached."""
        level = {"level": claims.level, "why": claims.why} if claims.level else {}
        hints = {"hints": list(claims.hints)} if claims.hints else {}
        body = {**self.action(tool, arguments), "server": {**self._server, **level, **hints}}
        try:
            reply = await self._link.post("/evaluate", body, start=self._starts)
        except UnicodeEncodeError:
            return ProxyVerdict(False, "Denied: a text holds half of a character (a lone surrogate).")
        except LOST:
            return await self._judge_locally(body, claims)
        return self._verdict(reply)

    def _verdict(self, reply: Any) -> ProxyVerdict:
        if type(reply) is not dict or type(reply.get("allowed")) is not bool:
            return ProxyVerdict(False, "Denied: the daemon's answer cannot be read.")
        if reply["allowed"]:
            return ProxyVerdict(True, _snapshot_notice(str(reply["kept"])) if reply.get("kept") else "")
        self.doubted = self.doubted or reply.get("code") in DISTRUSTED
        words = str(reply.get("reason") or _message(reply))
        waits = reply.get("requiresApproval") or reply.get("waitMs")  # a rejection does not wait
        ticket = reply.get("pendingId") if waits and reply.get("decision") in _HELD else None
        return ProxyVerdict(False, words, str(ticket or ""), str(reply.get("confirmation_token") or ""))

    async def _judge_locally(self, body: Mapping[str, Any], claims: ToolClaims) -> ProxyVerdict:
        from interlock.proxy.fallback import judge_locally

        allowed, words = await asyncio.to_thread(judge_locally, body, self.behind, claims, self.config)
        return ProxyVerdict(allowed, words)

    async def report_tools(self, tools: Mapping[str, str]) -> frozenset[str]:
        """Reports the server's tools to the daemon, takes over the trust in force, and returns the tools that differ from their pins."""
        self.doubted = False
        try:
            reply = await self._link.post("/servers", {"server": self._server, "tools": tools}, start=self._starts)
        except LOST:
            self.trust, self.note = self.behind.trust or UNTESTED, ""
            return frozenset()
        if type(reply) is not dict or type(reply.get("trust")) is not str:
            self.trust, self.note = UNTESTED, f"the daemon refused the server: {_message(reply)}"
            return frozenset()
        self.trust, self.note = reply["trust"], str(reply.get("note", ""))
        return frozenset(map(str, reply.get("changed") or ()))

    async def wait_for_ticket(self, ticket: str, seconds: float) -> bool:
        """Waits for a ticket, at most this long; whether it was resolved."""
        path = f"/tickets/{ticket}/wait?seconds={max(1, int(seconds))}"
        try:
            reply = await self._link.get(path, patience=seconds + 30)
        except LOST:
            await asyncio.sleep(min(1.0, seconds))
            return False
        return type(reply) is dict and reply.get("state") not in _PENDING

    async def question(self, token: str) -> Mapping[str, Any] | None:
        """`{ask, message}` where the client's own user may answer; None otherwise."""
        with suppress(*LOST):
            found = await self._link.post("/aql/ask", {"session": self.session, "token": token}, start=False)
            return found if isinstance(found, dict) and "ask" in found else None
        return None

    async def send_answer(self, ask: str, yes: bool) -> bool:
        with suppress(*LOST):
            body = {"session": self.session, "ask": ask, "approve": yes}
            found = await self._link.post("/aql/elicited", body, start=False)
            return isinstance(found, dict) and found.get("armed") is True
        return False

    async def hold_session(self) -> None:
        """Holds the session open while this process lives, so that nobody else answers for its client's user."""
        while True:
            with suppress(*LOST):
                await self._link.post("/aql/hold", {"session": self.session}, patience=None, start=False)
            await asyncio.sleep(AGAIN)

    async def end(self) -> None:
        with suppress(*LOST):
            await self._link.post("/aql/end", {"session": self.session}, patience=FAREWELL, start=False)
        self._link.close()


def _snapshot_notice(id: str) -> str:
    from interlock.approvals.decision_text import notice

    return notice(id)


def _message(reply: Any) -> str:
    error = reply.get("error") if isinstance(reply, dict) else None
    words = error.get("message") if isinstance(error, dict) else None
    return f"Denied: {words or json.dumps(reply)[:200]}"
