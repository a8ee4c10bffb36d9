"""OpenAI Agents SDK: guardrails on function tools that ask the gate first (`pip install interlock[openai-agents]`)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agents import (
    FunctionTool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from interlock.model import Decision
from interlock.runtime import put_bounded
from interlock.sdk import NotAllowed, require_allowed
from interlock.sdk.frameworks import dangers_of, refusal_message, tool_call
from interlock.sdk.gate import Gate
from interlock.sdk.guard import RAN, ask_gate_async, report_outcome
from interlock.sdk.request import deny_call
from interlock.strict_json import unique_keys

NAME = "interlock"
_MOST = 1_000  # calls that are running


class Guardrails:
    """One pair for any number of tools: the first asks before a call, the second reports what became of it."""

    def __init__(self, gate: Gate, *, wait: float = 0.0, dangers: Mapping[str, str] | None = None) -> None:
        self._gate, self._wait, self._dangers = gate, wait, dangers_of(dangers)
        self._running: dict[str, Decision] = {}
        self.before: ToolInputGuardrail[Any] = ToolInputGuardrail(self._ask, NAME)
        self.after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._report, NAME)

    def guarded(self, tools: Iterable[Any]) -> list[FunctionTool]:
        """The tools with the guardrails behind those they have; refuses, with TypeError, what does not run in this process."""
        return [self._on(tool) for tool in tools]

    def _on(self, tool: Any) -> FunctionTool:
        if not isinstance(tool, FunctionTool):
            name = getattr(tool, "name", type(tool).__name__)
            raise TypeError(
                f"{name} is no function tool: the SDK runs no guardrail for it, so that the gate cannot hold it"
            )
        return replace(
            tool,
            tool_input_guardrails=[*(tool.tool_input_guardrails or ()), self.before],
            tool_output_guardrails=[self.after, *(tool.tool_output_guardrails or ())],
        )

    async def _ask(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        try:
            _, asked = tool_call(call.tool_name, _arguments(call.tool_name, call.tool_arguments), self._dangers)
            decision = require_allowed(await ask_gate_async(self._gate, self._wait, asked))
        except NotAllowed as no:
            return ToolGuardrailFunctionOutput.reject_content(refusal_message(no), {"decision": no.decision.outcome})
        if decision.ticket is not None:
            put_bounded(self._running, call.tool_call_id, decision, _MOST)
        return ToolGuardrailFunctionOutput.allow({"decision": decision.outcome})

    async def _report(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        decision = self._running.pop(data.context.tool_call_id, None)
        if decision is not None:
            await asyncio.to_thread(report_outcome, self._gate, decision, RAN)
        return ToolGuardrailFunctionOutput.allow()


def _arguments(name: str, text: str) -> Any:
    """The arguments as the tool reads them; a key that is given twice would be judged once."""
    try:
        return json.loads(text or "{}", object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        raise deny_call(f"the arguments of {name} cannot be read as JSON.") from None
