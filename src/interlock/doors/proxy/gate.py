"""May this tool be called? The daemon is asked; without one the call is judged here, and what destroys is denied."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from interlock.config import Config
from interlock.doors.client import NoDaemon
from interlock.doors.mcp.link import Link
from interlock.doors.proxy.catalog import ToolClaims

AGAIN = 2.0  # seconds between two tries to hold the session
FAREWELL = 2.0
UNTESTED = "untested"
DISTRUSTED = frozenset({"PERMISSION_TRUST_LEVEL_INSUFFICIENT", "PERMISSION_DANGER_LEVEL_DENIED"})
LOST = (NoDaemon, OSError, asyncio.IncompleteReadError)


@dataclass(frozen=True, slots=True)
class Behind:
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
class Verdict:
    """What the gate says to one call."""

    allowed: bool
    words: str = ""  # why not; or, where something was kept first, that it was
    ticket: str = ""  # that it waits for
    token: str = ""


class Gate:
    """Asks for one server; whatever goes wrong is a no."""

    def __init__(self, behind: Behind, link: Link, config: Config, cwd: str) -> None:
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

    async def decide(self, tool: str, arguments: Mapping[str, Any], claims: ToolClaims) -> Verdict:
        """One evaluation."""
        level = {"level": claims.level, "why": claims.why} if claims.level else {}
        hints = {"hints": list(claims.hints)} if claims.hints else {}
        body = {**self.action(tool, arguments), "server": {**self._server, **level, **hints}}
        try:
            said = await self._link.post("/evaluate", body, start=self._starts)
        except UnicodeEncodeError:
            return Verdict(False, "Denied: a text holds half of a character (a lone surrogate).")
        except LOST:
            return await self._alone(body, claims)
        return self._verdict(said)

    def _verdict(self, said: Any) -> Verdict:
        if type(said) is not dict or type(said.get("allowed")) is not bool:
            return Verdict(False, "Denied: the daemon's answer cannot be read.")
        if said["allowed"]:
            return Verdict(True, _kept(str(said["kept"])) if said.get("kept") else "")
        self.doubted = self.doubted or said.get("code") in DISTRUSTED
        words = str(said.get("reason") or _message(said))
        waits = said.get("requiresApproval") or said.get("waitMs")  # a rejection is no question
        ticket = said.get("pendingId") if waits and said.get("decision") in _HELD else None
        return Verdict(False, words, str(ticket or ""), str(said.get("confirmation_token") or ""))

    async def _alone(self, body: Mapping[str, Any], claims: ToolClaims) -> Verdict:
        from interlock.doors.proxy.alone import judged

        allowed, words = await asyncio.to_thread(judged, body, self.behind, claims, self.config)
        return Verdict(allowed, words)

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
    from interlock.service.words import notice

    return notice(id)


def _message(said: Any) -> str:
    error = said.get("error") if isinstance(said, dict) else None
    words = error.get("message") if isinstance(error, dict) else None
    return f"Denied: {words or json.dumps(said)[:200]}"
