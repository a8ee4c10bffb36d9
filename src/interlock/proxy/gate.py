"""A gate in front of any MCP server: puts each `tools/call` to the daemon with the tool's claims; without a daemon, destructive calls are denied."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from interlock.approvals.decision_text import notice
from interlock.client.connection import LOST, DaemonLink, DaemonSession
from interlock.config import Config
from interlock.proxy import UNTESTED, ProxyVerdict, ServerIdentity, ToolClaims

DISTRUSTED = frozenset({"PERMISSION_TRUST_LEVEL_INSUFFICIENT", "PERMISSION_DANGER_LEVEL_DENIED"})
_HELD = frozenset({"confirm", "approve", "verify", "cool_off", "deny"})
_PENDING = frozenset({"pending_cooling", "pending_approval"})


class ProxyGate:
    """Puts the calls of one server to the daemon; every failure is a denial."""

    def __init__(self, behind: ServerIdentity, link: DaemonLink, config: Config, cwd: str) -> None:
        self.behind, self._link, self.config, self._cwd = behind, link, config, cwd
        self.session = DaemonSession(link)
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
            "agent": {"name": self.agent, "session": self.session.id},
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
            return ProxyVerdict(True, notice(str(reply["kept"])) if reply.get("kept") else "")
        self.doubted = self.doubted or reply.get("code") in DISTRUSTED
        words = str(reply.get("reason") or _message(reply))
        waits = reply.get("requiresApproval") or reply.get("waitMs")  # a rejection does not wait
        ticket = reply.get("pendingId") if waits and reply.get("decision") in _HELD else None
        return ProxyVerdict(False, words, str(ticket or ""), str(reply.get("confirmation_token") or ""))

    async def _judge_locally(self, body: Mapping[str, Any], claims: ToolClaims) -> ProxyVerdict:
        from interlock.proxy.fallback import judge_locally  # all of the analysis, for a proxy that no daemon answers

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


def _message(reply: Any) -> str:
    error = reply.get("error") if isinstance(reply, dict) else None
    words = error.get("message") if isinstance(error, dict) else None
    return f"Denied: {words or json.dumps(reply)[:200]}"
