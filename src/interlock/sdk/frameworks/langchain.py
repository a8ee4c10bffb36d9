"""LangChain and LangGraph: middleware that asks the gate before each tool call (`pip install interlock[langchain]`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain.messages import ToolMessage
from langgraph.types import Command

from interlock.sdk import NotAllowed, require_allowed
from interlock.sdk.frameworks import dangers_of, refusal_message, tool_call
from interlock.sdk.gate import Gate
from interlock.sdk.guard import RAN, OutcomeReport, ask_gate, ask_gate_async
from interlock.sdk.request import ActionArguments

Answer: TypeAlias = ToolMessage | Command[Any]
FAILED = "failed"


class InterlockMiddleware(AgentMiddleware):
    """Runs what is allowed, with the arguments that were judged; the model is told why the rest did not run.

    Put it last in `middleware=`, so that nothing changes a call after it was judged.
    """

    def __init__(self, gate: Gate, *, wait: float = 0.0, dangers: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._gate, self._wait, self._dangers = gate, wait, dangers_of(dangers)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]) -> Answer:
        try:
            kept, asked = self._asked(request)
            decision = require_allowed(ask_gate(self._gate, self._wait, asked))
        except NotAllowed as no:
            return _refusal(request, no)
        with OutcomeReport(self._gate, decision) as report:
            answer = handler(kept)
            report.outcome = _outcome(answer)
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        try:
            kept, asked = self._asked(request)
            decision = require_allowed(await ask_gate_async(self._gate, self._wait, asked))
        except NotAllowed as no:
            return _refusal(request, no)
        async with OutcomeReport(self._gate, decision) as report:
            answer = await handler(kept)
            report.outcome = _outcome(answer)
        return answer

    def _asked(self, request: ToolCallRequest) -> tuple[ToolCallRequest, ActionArguments]:
        """The call that runs if allowed, and the question."""
        call = request.tool_call
        kept, asked = tool_call(call["name"], call["args"], self._dangers)
        return request.override(tool_call={**call, "args": kept}), asked


def _refusal(request: ToolCallRequest, no: NotAllowed) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(refusal_message(no), tool_call_id=call["id"] or "", name=call["name"], status="error")


def _outcome(answer: Answer) -> str:
    """A tool that failed says so in its message."""
    return FAILED if isinstance(answer, ToolMessage) and answer.status == "error" else RAN
