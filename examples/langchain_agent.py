"""A LangChain agent whose tool calls pass the gate. The model is scripted, so that it runs without one."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain.messages import AIMessage
from langchain.tools import tool
from langchain_core.language_models import FakeMessagesListChatModel

from interlock import Gate
from interlock.sdk.frameworks.langchain import InterlockMiddleware

RAN: list[str] = []
ASKED = ("git status", "git push --force origin main")


@tool
def run_command(command: str) -> str:
    """Runs a shell command; this one only says that it would."""
    RAN.append(command)
    return f"ran {command}"


class Scripted(FakeMessagesListChatModel):
    """Says what it was told to say."""

    def bind_tools(self, tools: Any, **more: Any) -> Scripted:
        return self


def scripted(*commands: str) -> Scripted:
    calls = [
        AIMessage("", tool_calls=[{"name": "run_command", "args": {"command": command}, "id": f"call{number}"}])
        for number, command in enumerate(commands)
    ]
    return Scripted(responses=[*calls, AIMessage("That is all.")])


def agent(gate: Gate, *commands: str, wait: float = 0.0) -> Any:
    return create_agent(scripted(*commands), tools=[run_command], middleware=[InterlockMiddleware(gate, wait=wait)])


if __name__ == "__main__":
    with Gate(agent="langchain-example") as gate:
        said = agent(gate, *ASKED).invoke({"messages": [{"role": "user", "content": "Publish it."}]})
        for message in said["messages"]:
            print(f"{message.type:6} {message.content or [call['args'] for call in message.tool_calls]}")
