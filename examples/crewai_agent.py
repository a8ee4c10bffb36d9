"""A CrewAI crew whose tool asks the gate first. The model is scripted, so that it runs without one."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from interlock import Gate

RAN: list[str] = []
ASKED = ("git status", "git push --force origin main")


class Scripted(BaseLLM):
    """Says what it was told to say, and keeps what it was told."""

    def __init__(self, *commands: str) -> None:
        super().__init__(model="scripted")
        self._left, self._heard = list(commands), []  # type: ignore[var-annotated]

    def call(self, messages: Any, *rest: Any, **more: Any) -> str:
        self._heard = messages
        if self._left:
            return f'Thought: next\nAction: run_command\nAction Input: {{"command": "{self._left.pop(0)}"}}'
        return "Thought: done\nFinal Answer: That is all."


def crew(gate: Gate, *commands: str, wait: float = 0.0) -> tuple[Crew, Scripted]:
    @tool
    @gate.guard(wait=wait, otherwise=str)  # CrewAI would try again what raises
    def run_command(command: str) -> str:
        """Runs a shell command; this one only says that it would."""
        RAN.append(command)
        return f"ran {command}"

    model = Scripted(*commands)
    agent = Agent(role="publisher", goal="publish", backstory="", llm=model, tools=[run_command], verbose=False)
    task = Task(description="Publish it.", expected_output="a word", agent=agent)
    return Crew(agents=[agent], tasks=[task], verbose=False), model


if __name__ == "__main__":
    with Gate(agent="crewai-example") as gate:
        made, model = crew(gate, *ASKED)
        made.kickoff()
        print(*(message["content"] for message in model._heard), sep="\n---\n")
