"""CrewAI's own crew, whose tool is a guarded function."""

from __future__ import annotations

from typing import Any

import crewai_agent
import pytest
from framework_contract import *  # noqa: F403

from interlock import Gate


@pytest.fixture
def ran() -> list[str]:
    return crewai_agent.RAN


@pytest.fixture
def run() -> Any:
    def called(gate: Gate, *commands: str, wait: float = 0.0) -> str:
        crew, model = crewai_agent.crew(gate, *commands, wait=wait)
        crew.kickoff()
        return "\n".join(str(message["content"]) for message in model._heard)

    return called
