"""The OpenAI Agents SDK's own runner, its tool calls passed through the gate."""

from __future__ import annotations

from typing import Any

import openai_agents_agent
import pytest
from agents import Runner, WebSearchTool
from framework_contract import *  # noqa: F403

from interlock import Denied, Gate
from interlock.sdk.frameworks.openai_agents import Guardrails, _arguments


@pytest.fixture
def ran() -> list[str]:
    return openai_agents_agent.RAN


@pytest.fixture
def run() -> Any:
    def called(gate: Gate, *commands: str, wait: float = 0.0) -> str:
        made = openai_agents_agent.agent(gate, *commands, wait=wait)
        Runner.run_sync(made, "Publish it.", run_config=openai_agents_agent.QUIET)
        return "\n".join(str(item.get("output", "")) for item in made.model.heard)  # type: ignore[union-attr]

    return called


def test_a_tool_that_runs_elsewhere_is_refused(gate: Gate) -> None:
    with pytest.raises(TypeError, match="is no function tool"):
        Guardrails(gate).guarded([WebSearchTool()])


def test_arguments_that_could_be_read_in_two_ways_are_denied() -> None:
    for text in ('{"command":"ls","command":"rm -rf /"}', "{", "[" * 100_000):
        with pytest.raises(Denied):
            _arguments("run_command", text)
