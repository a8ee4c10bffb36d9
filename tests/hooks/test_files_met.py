"""How many files a reader meets on the way of one hook decision that asks; the number may only shrink."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import interlock
from gate import Gate
from interlock.agents import HookVerdict
from interlock.agents import agent as agent_of
from interlock.hooks.evaluation import HookCall, HookEvaluation
from interlock.hooks.memory import HookMemory
from interlock.identity.isolation import PLAIN
from interlock.model import AgentRef
from interlock.web.context import Context

MOST = 45  # as of now; whoever makes it fewer lowers it here
ROOT = f"{os.path.dirname(interlock.__file__)}/"
WARMING = (
    "ls",
    "rm -rf build",
    "git push --force origin main",
    "git branch -D topic",
)  # data is read when first needed
ME = f"uid:{os.getuid()}"


class SameThread:
    """A pool that works in the caller's thread, where a profile sees it."""

    async def run(self, work: Callable[..., Any], *given: Any) -> Any:
        return work(*given)


def hook_call(context: Context, command: str, cwd: Path) -> HookCall:
    """A call of a coding agent whose user sits before it."""
    agent = agent_of("claude-code")
    given = {"session_id": "s1", "cwd": str(cwd), "permission_mode": "default", "hook_event_name": "PreToolUse"}
    given |= {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": command, "transcript_path": "/x"}
    return HookCall(
        agent,
        agent.decode(json.dumps(given).encode(), "PreToolUse"),
        AgentRef(ME, "claude-code", "s1"),
        0.0,
        asyncio.Event().wait,  # type: ignore[arg-type]
        context.access(ME, True),
        PLAIN,
        here=True,
    )


def profile(gate: Gate, cwd: Path, command: str) -> tuple[HookVerdict, list[str]]:
    """The verdict on a command, and the files met from its decoded event on, in order, once other commands were judged."""
    hooks, met = HookMemory(), dict[str, None]()
    context = Context(gate.state, gate.config, "1", hooks)
    context.pool = SameThread()  # type: ignore[assignment]
    evaluation = HookEvaluation(context, hooks)

    def meet(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(ROOT):
            met[name.removeprefix(ROOT)] = None

    async def work() -> HookVerdict:
        for other in WARMING:
            await evaluation.verdict(hook_call(context, other, cwd))
        call = hook_call(context, command, cwd)
        sys.setprofile(meet)
        try:
            return await evaluation.verdict(call)
        finally:
            sys.setprofile(None)

    try:
        return asyncio.run(work()), list(met)
    finally:
        assert context.inspect is not None
        context.inspect.close()


def test_a_decision_that_asks_meets_no_more_files_than_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = Gate(tmp_path / "state")
    gate.enrol()
    (tmp_path / "app").mkdir()
    verdict, met = profile(gate, tmp_path / "app", "git reset --hard HEAD~3")
    gate.close()
    print(*met, sep="\n")
    assert verdict.word == "ask"
    assert len(met) <= MOST, capsys.readouterr().out
