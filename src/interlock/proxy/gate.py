"""Puts each `tools/call` to the daemon with the tool's claims; without a daemon, destructive calls are denied. A held call waits for a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from interlock.analysis.display_text import short_id
from interlock.approvals.decision_text import NOT_YET, notice
from interlock.client.connection import CONSENT_FORM, LOST, DaemonLink, DaemonSession, consent_in
from interlock.config import Config
from interlock.model import Json
from interlock.proxy import UNTESTED, ProxyVerdict, ServerIdentity, ToolClaims
from interlock.proxy.messages import OwnRequests, Send, denial, request, response
from interlock.strict_json import table_in

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
        # A call was denied for lack of trust, so the trust may have changed for other requests too.
        self.doubted = False
        self._server = behind.wire
        self._starts = config.hooks.start_daemon

    @property
    def restricted(self) -> bool:
        return self.trust == UNTESTED or self.doubted

    async def decide(self, tool: str, arguments: Json, claims: ToolClaims) -> ProxyVerdict:
        """In this process where the daemon cannot be reached."""
        claimed = {key: value for key, value in asdict(claims).items() if value}
        body = {
            "tool": f"mcp__{self.behind.name}__{tool}",
            "input": arguments,
            "cwd": self._cwd,
            "agent": {"name": self.agent, "session": self.session.id},
            "server": {**self._server, **claimed},
        }
        try:
            reply = await self._link.post("/evaluate", body, start=self._starts)
        except UnicodeEncodeError:
            return ProxyVerdict(False, "Denied: a text holds half of a character (a lone surrogate).")
        except LOST:
            # All of the analysis, for a proxy that no daemon answers.
            from interlock.proxy.fallback import judge_locally

            return ProxyVerdict(*await asyncio.to_thread(judge_locally, body, self.behind, claims, self.config))
        if type(reply) is not dict or type(reply.get("allowed")) is not bool:
            return ProxyVerdict(False, "Denied: the daemon's answer cannot be read.")
        if reply["allowed"]:
            return ProxyVerdict(True, notice(str(reply["kept"])) if reply.get("kept") else "")
        self.doubted = self.doubted or reply.get("code") in DISTRUSTED
        words = str(reply.get("reason") or _message(reply))
        waits = reply.get("requiresApproval") or reply.get("waitMs")  # a rejection does not wait
        ticket = reply.get("pendingId") if waits and reply.get("decision") in _HELD else None
        return ProxyVerdict(False, words, str(ticket or ""), str(reply.get("confirmation_token") or ""))

    async def report_tools(self, tools: Mapping[str, str]) -> frozenset[str]:
        """Takes over the trust in force; returns the tools that differ from their pins."""
        self.doubted = False
        try:
            reply = await self._link.post("/servers", {"server": self._server, "tools": tools}, start=self._starts)
        except LOST:
            self.trust, self.note = self.behind.trust or UNTESTED, ""
            return frozenset()
        if type(reply) is not dict or type(reply.get("trust")) is not str:
            reply = {"trust": UNTESTED, "note": f"the daemon refused the server: {_message(reply)}"}
        self.trust, self.note = reply["trust"], str(reply.get("note", ""))
        return frozenset(map(str, reply.get("changed") or ()))

    async def wait_for_ticket(self, ticket: str, seconds: float) -> bool:
        """Whether it was resolved by then."""
        path = f"/tickets/{ticket}/wait?seconds={max(1, int(seconds))}"
        try:
            reply = await self._link.get(path, patience=seconds + 30)
        except LOST:
            await asyncio.sleep(min(1.0, seconds))
            return False
        return type(reply) is dict and reply.get("state") not in _PENDING


def _message(reply: Any) -> str:
    return f"Denied: {table_in(reply, 'error').get('message') or json.dumps(reply)[:200]}"


ERA = "io.modelcontextprotocol/protocolVersion"
_INFO = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_NAME = 200


class McpClient(Struct, frozen=True):
    """A client, as its handshake describes it, or one request in the era without a handshake."""

    name: str = ""
    asks: bool = False  # its user can be asked with a form
    # The era without requests to the client: a question is a response, and the client repeats the call.
    modern: bool = False

    @classmethod
    def of(
        cls, given: Any, info: str = "clientInfo", capabilities: str = "capabilities", modern: bool = False
    ) -> McpClient:
        """Reads the params of `initialize`, or in the other era the `_meta` of any request."""
        name, can = table_in(given, info).get("name"), table_in(given, capabilities)
        able = table_in(can, "elicitation")
        asks = isinstance(can.get("elicitation"), Mapping) and ("form" in able or "url" not in able)
        return cls(name[:_NAME] if isinstance(name, str) else "", asks, modern)

    def for_request(self, params: Json) -> McpClient:
        meta = table_in(params, "_meta")
        return self.of(meta, _INFO, _CAPABILITIES, True) if ERA in meta else self


def carried_meta(params: Json) -> dict[str, Any]:
    """The `_meta` that our own requests carry in the era without a handshake; empty in the other."""
    meta = table_in(params, "_meta")
    return {"_meta": {key: meta[key] for key in (ERA, _INFO, _CAPABILITIES) if key in meta}} if ERA in meta else {}


KEY = "interlock"
STATE = "interlock:"  # prefix of the state that comes back with a repeated call
EVERY = 5.0  # seconds between two progress notifications
AGAIN = 4  # evaluations of one held call at most
NOT_ANSWERED = "The user was asked and did not answer."
Judge = Callable[[], Awaitable[ProxyVerdict]]


class HeldCalls(Struct):
    gate: ProxyGate
    requests: OwnRequests  # to the client
    send: Send  # to the client
    wait_seconds: float

    async def answer(
        self, id: Any, verdict: ProxyVerdict, judge: Judge, client: McpClient, params: Json, asked: bool
    ) -> bytes | str:
        """Asks the client's user where that suffices, else waits for the ticket; denies a call that has neither.

        The response to the call; or, where it is forwarded, the notice to add to the server's response.
        """
        can_ask = verdict.token and client.asks and not asked
        if can_ask and (question := await self.gate.session.question(verdict.token)) is not None:
            ask, form = str(question["ask"]), {"message": str(question["message"]), "requestedSchema": CONSENT_FORM}
            if client.modern:
                requests = {KEY: {"method": "elicitation/create", "params": {"mode": "form", **form}}}
                state = {"inputRequests": requests, "requestState": STATE + json.dumps([ask])}
                return response(id, {"resultType": "input_required", **state})
            answer = consent_in(await self.requests.ask("elicitation/create", form))
            if answer is None:
                return denial(id, f"{verdict.words} {NOT_ANSWERED}")
            await self.gate.session.send_answer(ask, answer)
            verdict = await judge()  # a no becomes a denial
        elif verdict.ticket:
            verdict = await self._wait_for_operator(verdict, judge, table_in(params, "_meta").get("progressToken"))
        return verdict.words if verdict.allowed else denial(id, verdict.words)

    async def _wait_for_operator(self, verdict: ProxyVerdict, judge: Judge, token: Any) -> ProxyVerdict:
        loop = asyncio.get_running_loop()
        end, shown, again = loop.time() + self.wait_seconds, 0, 0
        while again < AGAIN and (left := end - loop.time()) > 0:
            if token is not None:
                shown += 1
                words = f"Interlock holds this call for a person: ticket {short_id(verdict.ticket)}"
                progress = {"progressToken": token, "progress": shown, "message": words}
                self.send(request("notifications/progress", progress))
            if await self.gate.wait_for_ticket(verdict.ticket, min(EVERY, left)):
                again += 1
                verdict = await judge()
                if verdict.allowed or not verdict.ticket:
                    return verdict
        return ProxyVerdict(False, f"{verdict.words} {NOT_YET}")


def take_answer(params: dict[str, Any]) -> tuple[dict[str, Any], str, bool | None]:
    """The other params, our question's id (empty without one) and its answer."""
    state = params.get("requestState")
    if not isinstance(state, str) or not state.startswith(STATE):
        return params, "", None
    try:
        (ask,) = json.loads(state.removeprefix(STATE))
    except (ValueError, TypeError):
        ask = "-"
    responses = dict(table_in(params, "inputResponses"))
    answer = responses.pop(KEY, None)
    rest = {key: value for key, value in params.items() if key not in ("requestState", "inputResponses")}
    return (rest | {"inputResponses": responses} if responses else rest), str(ask), consent_in(answer)
