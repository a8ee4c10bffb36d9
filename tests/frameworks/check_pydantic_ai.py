"""Pydantic AI's own agent, its tool calls passed through the gate."""

from __future__ import annotations

from typing import Any

import pydantic_ai_agent
import pytest
from framework_contract import *  # noqa: F403
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import FunctionToolset

from interlock import Gate
from interlock.sdk.frameworks.pydantic_ai import InterlockToolset


@pytest.fixture
def ran() -> list[str]:
    return pydantic_ai_agent.RAN


@pytest.fixture
def run() -> Any:
    def called(gate: Gate, *commands: str, wait: float = 0.0) -> str:
        answer = pydantic_ai_agent.agent(gate, *commands, wait=wait).run_sync("Publish it.")
        parts = [part for message in answer.all_messages() for part in message.parts]
        return "\n".join(str(part.content) for part in parts if part.part_kind == "tool-return")

    return called


def test_the_models_of_the_package_that_call_everything_are_held_too(gate: Gate, ran: list[str]) -> None:
    tools = InterlockToolset(
        FunctionToolset([pydantic_ai_agent.run_command]), gate, dangers={"run_command": "dangerous"}
    )
    answer = Agent(TestModel(), toolsets=[tools]).run_sync("Go.")
    assert ran == [] and "its caller says that it is dangerous" in str(answer.all_messages())
