"""A Pydantic AI agent whose tool calls pass the gate. The model is scripted, so that it runs without one."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from interlock import Gate
from interlock.sdk.frameworks.pydantic_ai import InterlockToolset

RAN: list[str] = []
ASKED = ("git status", "git push --force origin main")


def run_command(command: str) -> str:
    """Runs a shell command; this one only says that it would."""
    RAN.append(command)
    return f"ran {command}"


def scripted(*commands: str) -> FunctionModel:
    left = list(commands)

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part: Any = ToolCallPart("run_command", {"command": left.pop(0)}) if left else TextPart("That is all.")
        return ModelResponse(parts=[part])

    return FunctionModel(say)


def agent(gate: Gate, *commands: str, wait: float = 0.0) -> Agent[None, str]:
    tools = InterlockToolset(FunctionToolset([run_command]), gate, wait=wait)
    return Agent(scripted(*commands), toolsets=[tools])


if __name__ == "__main__":
    with Gate(agent="pydantic-ai-example") as gate:
        for message in agent(gate, *ASKED).run_sync("Publish it.").all_messages():
            for part in message.parts:
                print(f"{part.part_kind:12} {getattr(part, 'content', None) or getattr(part, 'args', '')}")
