"""LangChain's own agent, with and without an event loop, its tool calls passed through the gate."""

from __future__ import annotations

import asyncio
from typing import Any

import langchain_agent
import pytest
from framework_contract import *  # noqa: F403

from interlock import Gate
from interlock.sdk.frameworks.langchain import InterlockMiddleware

ASK: Any = {"messages": [{"role": "user", "content": "Publish it."}]}


@pytest.fixture
def ran() -> list[str]:
    return langchain_agent.RAN


def said(answer: Any) -> str:
    return "\n".join(str(message.content) for message in answer["messages"] if message.type == "tool")


@pytest.fixture(params=["called", "awaited"])
def run(request: pytest.FixtureRequest) -> Any:
    def called(gate: Gate, *commands: str, wait: float = 0.0) -> str:
        return said(langchain_agent.agent(gate, *commands, wait=wait).invoke(ASK))

    def awaited(gate: Gate, *commands: str, wait: float = 0.0) -> str:
        return said(asyncio.run(langchain_agent.agent(gate, *commands, wait=wait).ainvoke(ASK)))

    return {"called": called, "awaited": awaited}[request.param]


def test_a_refusal_is_an_error_to_the_model(gate: Gate) -> None:
    answer = langchain_agent.agent(gate, "git push --force origin main").invoke(ASK)
    assert [message.status for message in answer["messages"] if message.type == "tool"] == ["error"]


def test_a_level_that_there_is_not_is_refused(gate: Gate) -> None:
    with pytest.raises(ValueError, match="expected one of safe"):
        InterlockMiddleware(gate, dangers={"run_command": "risky"})
