"""An agent of the OpenAI Agents SDK whose tool calls pass the gate. The model is scripted, so that it runs without one."""

from __future__ import annotations

import json
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from interlock import Gate
from interlock.sdk.frameworks.openai_agents import Guardrails

RAN: list[str] = []
ASKED = ("git status", "git push --force origin main")
QUIET = RunConfig(tracing_disabled=True)


@function_tool
def run_command(command: str) -> str:
    """Runs a shell command; this one only says that it would."""
    RAN.append(command)
    return f"ran {command}"


class Scripted(Model):
    """Says what it was told to say, and keeps what it was told."""

    def __init__(self, *commands: str) -> None:
        self.commands, self.heard = list(commands), []  # type: ignore[var-annotated]

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        self.heard = input
        if self.commands:
            arguments = json.dumps({"command": self.commands.pop(0)})
            output: Any = ResponseFunctionToolCall(
                type="function_call", name="run_command", arguments=arguments, call_id=f"call{len(self.commands)}"
            )
        else:
            text = ResponseOutputText(type="output_text", text="That is all.", annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError


def agent(gate: Gate, *commands: str, wait: float = 0.0) -> Agent[Any]:
    guardrails = Guardrails(gate, wait=wait)
    return Agent("example", model=Scripted(*commands), tools=guardrails.guarded([run_command]))  # type: ignore[arg-type]


if __name__ == "__main__":
    with Gate(agent="openai-agents-example") as gate:
        made = agent(gate, *ASKED)
        Runner.run_sync(made, "Publish it.", run_config=QUIET)
        for item in made.model.heard:  # type: ignore[union-attr]
            print(item.get("output") or item.get("arguments") or item.get("content"))
