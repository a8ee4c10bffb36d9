"""Pydantic AI: wraps a toolset so that it asks the gate before each call (`pip install interlock[pydantic-ai]`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset

from interlock.sdk import NotAllowed, require_allowed
from interlock.sdk.frameworks import dangers_of, refusal_message, tool_call
from interlock.sdk.gate import Gate
from interlock.sdk.guard import OutcomeReport, ask_gate_async


@dataclass
class InterlockToolset(WrapperToolset[AgentDepsT]):
    """Runs what is allowed, with the arguments that were judged; the model is told why the rest did not run."""

    gate: Gate
    _: KW_ONLY
    wait: float = 0.0
    dangers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dangers = dangers_of(self.dangers)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        try:
            kept, asked = tool_call(name, tool_args, self.dangers)
            async with OutcomeReport(self.gate, require_allowed(await ask_gate_async(self.gate, self.wait, asked))):
                return await super().call_tool(name, kept, ctx, tool)
        except NotAllowed as no:
            raise ToolFailed(refusal_message(no)) from no
