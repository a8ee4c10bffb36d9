"""Resolves a held call: asks the client's own user where that suffices, else waits for an operator and reports progress."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.proxy import ProxyGate, ProxyVerdict

_ERA = "io.modelcontextprotocol/protocolVersion"
_INFO = "io.modelcontextprotocol/clientInfo"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_NAME = 200


@dataclass(frozen=True, slots=True)
class McpClient:
    """Of a handshake, or of one request that carries it all."""

    name: str = ""
    asks: bool = False  # its user can be asked with a form
    modern: bool = False  # nothing can be asked in between: a question is an answer, and the call comes again

    @classmethod
    def greeting(cls, params: Any) -> McpClient:
        """Of `initialize`."""
        given = params if isinstance(params, Mapping) else {}
        return cls(_name(given.get("clientInfo")), _asks(given.get("capabilities")))

    def calling(self, params: Mapping[str, Any]) -> McpClient:
        """Of a request: what it says of its client, else what the handshake said."""
        meta = params.get("_meta")
        if not isinstance(meta, Mapping) or _ERA not in meta:
            return self
        return McpClient(_name(meta.get(_INFO)), _asks(meta.get(_CAPABILITIES)), True)


def carried_meta(params: Mapping[str, Any]) -> dict[str, Any]:
    """What a request of our own has to carry in the era without a handshake; nothing in the other."""
    meta = params.get("_meta")
    if not isinstance(meta, Mapping) or _ERA not in meta:
        return {}
    return {"_meta": {key: meta[key] for key in (_ERA, _INFO, _CAPABILITIES) if key in meta}}


def progress_token(params: Mapping[str, Any]) -> Any:
    meta = params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, Mapping) else None


def _name(info: Any) -> str:
    name = info.get("name") if isinstance(info, Mapping) else None
    return name[:_NAME] if isinstance(name, str) else ""


def _asks(capabilities: Any) -> bool:
    able = capabilities.get("elicitation") if isinstance(capabilities, Mapping) else None
    return isinstance(able, Mapping) and ("form" in able or "url" not in able)


KEY = "interlock"
STATE = "interlock:"  # how the state of a question begins that comes back with the call
EVERY = 5.0  # seconds between two signs of life
AGAIN = 4  # evaluations of one held call
NOT_YET = "Nobody has answered yet, and silence is not consent: do not try the same by other means."
NOT_ANSWERED = "The user was asked and did not answer."
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Go on", "description": "Whether this may be done, once."},
    },
    "required": ["approve"],
}
Prompt = Callable[[dict[str, Any]], Awaitable[Any]]
Notify = Callable[[str, dict[str, Any]], None]
Judge = Callable[[], Awaitable[ProxyVerdict]]


@dataclass(frozen=True, slots=True)
class HeldCallResult:
    """What becomes of a held call: it goes on, or its client gets this result."""

    forward: bool
    words: str = ""  # beside what the server answers, where it goes on
    result: Mapping[str, Any] | None = None


@dataclass(slots=True)
class HeldCalls:
    """How one relay holds calls."""

    gate: ProxyGate
    prompt: Prompt  # asks the client, and waits for its answer
    notify: Notify
    wait_seconds: float

    async def answer(
        self, verdict: ProxyVerdict, judge: Judge, client: McpClient, params: Mapping[str, Any], asked: bool
    ) -> HeldCallResult:
        """The end of a call that is not allowed by itself."""
        if verdict.token and client.asks and not asked:
            question = await self.gate.question(verdict.token)
            if question is not None:
                return await self._asked(verdict, judge, client, question)
        if not verdict.ticket:
            return HeldCallResult(False, verdict.words)
        return await self._waited(verdict, judge, progress_token(params))

    async def _asked(
        self, verdict: ProxyVerdict, judge: Judge, client: McpClient, question: Mapping[str, Any]
    ) -> HeldCallResult:
        form = {"message": str(question["message"]), "requestedSchema": _SCHEMA}
        ask = str(question["ask"])
        if client.modern:
            requests = {KEY: {"method": "elicitation/create", "params": {"mode": "form", **form}}}
            state = {"inputRequests": requests, "requestState": STATE + json.dumps([ask])}
            return HeldCallResult(False, result={"resultType": "input_required", **state})
        said = answer_in(await self.prompt(form))
        if said is None:
            return HeldCallResult(False, f"{verdict.words} {NOT_ANSWERED}")
        await self.gate.answered(ask, said)
        after = await judge()  # a no is answered as one
        return HeldCallResult(after.allowed, after.words)

    async def _waited(self, verdict: ProxyVerdict, judge: Judge, token: Any) -> HeldCallResult:
        loop = asyncio.get_running_loop()
        end, shown, again = loop.time() + self.wait_seconds, 0, 0
        while again < AGAIN and (left := end - loop.time()) > 0:
            if token is not None:
                shown += 1
                words = f"Interlock holds this call for a person: ticket {verdict.ticket}"
                self.notify("notifications/progress", {"progressToken": token, "progress": shown, "message": words})
            if not await self.gate.settled(verdict.ticket, min(EVERY, left)):
                continue
            again += 1
            verdict = await judge()
            if verdict.allowed:
                return HeldCallResult(True, verdict.words)
            if not verdict.ticket:
                return HeldCallResult(False, verdict.words)
        return HeldCallResult(False, f"{verdict.words} {NOT_YET}")


def take_answer(params: dict[str, Any]) -> tuple[dict[str, Any], str, bool | None]:
    """The params without our question's answer, the question, and the answer; no question where none of ours came back."""
    state = params.get("requestState")
    if not isinstance(state, str) or not state.startswith(STATE):
        return params, "", None
    try:
        (ask,) = json.loads(state.removeprefix(STATE))
    except (ValueError, TypeError):
        ask = "-"
    given = params.get("inputResponses")
    responses = dict(given) if isinstance(given, Mapping) else {}
    said = responses.pop(KEY, None)
    rest = {key: value for key, value in params.items() if key not in ("requestState", "inputResponses")}
    return (rest | {"inputResponses": responses} if responses else rest), str(ask), answer_in(said)


def answer_in(form: Any) -> bool | None:
    """Only an accepted form that says so is a yes; None where the question was put away unanswered."""
    action = form.get("action") if isinstance(form, Mapping) else None
    if action not in ("accept", "decline"):
        return None
    content = form.get("content")
    return action == "accept" and isinstance(content, Mapping) and content.get("approve") is True
