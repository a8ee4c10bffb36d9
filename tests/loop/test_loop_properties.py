"""Whatever an agent does by itself, in whatever order: nothing that is held goes on, and nothing at all once it is blocked."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from effort import EFFORT
from interlock.error_codes import LoopProblem
from interlock.loop import confirmations
from interlock.loop.executions import end_session
from loop_agents import READ, Agent, permissive_gate

HELD = (
    "delete_user 42",
    "calling delete_user with id 42",
    "git push --force origin main",
    "git push origin main",
    "deploy_site to staging",
    "doing something",
)
STOPPED = ("rm -rf /", "drop_table users", "read_file x; rm -rf /")
QUIET = (READ, "listing the files under src", "calling write_file on docs/a.md to add a title")
Who = tuple[str, str]  # the name that is claimed, and the session
WHO = (("builder", "mcp_one"), ("Builder ", "mcp_two"), ("other", "mcp_one"))
PATTERNS = '[patterns]\ndeny = ["drop_*"]\napprove = ["git push*", "deploy_*"]\nallow = ["read_*"]\n'


class Alone(RuleBasedStateMachine):
    """An agent without anybody who answers for it; its policy lets it start as often as it likes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.gate = permissive_gate(self.folder, steps=4, more=PATTERNS)
        self.blocked = False
        self.paused: set[tuple[str, str]] = set()  # name and session of what a confirm pause holds
        self.tokens: list[tuple[str, str]] = [("conf_guess", "delete_user")]
        self.ids: list[str] = ["7d5c1a52-4b1c-4a53-9b0c-0f6f3a1c9e21"]

    def teardown(self) -> None:
        self.gate.close()
        shutil.rmtree(self.folder)

    def agent(self, name: str, session: str) -> Agent:
        return Agent(self.gate, name, session=session)

    def waits(self, name: str) -> bool:
        """Whether a confirm pause holds this agent, in whatever session."""
        return any(one == _key(name) for one, _ in self.paused)

    def tries(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except LoopProblem as problem:
            if problem.confirmation:
                self.tokens.append((problem.confirmation["token"], "execute_agent"))
            return None

    @initialize()
    def begin(self) -> None:
        for name, session in WHO:
            self.agent(name, session).start()

    @rule(who=st.sampled_from(WHO), steps=st.sampled_from((None, 0, 3, 1000)))
    def start(self, who: Who, steps: int | None) -> None:
        data = self.tries(lambda: self.agent(*who).start(max_autonomous_steps=steps))
        assert data is None or not self.blocked

    @rule(
        who=st.sampled_from(WHO),
        hint=st.sampled_from((*HELD, *QUIET)),
        outcome=st.sampled_from(("", "", "success", "failure")),
        risk=st.sampled_from((None, None, 0, 70)),
    )
    def step(self, who: Who, hint: str, outcome: str, risk: int | None) -> None:
        self._stepped(*who, hint, outcome=outcome, risk=risk)

    @rule(who=st.sampled_from(WHO), hint=st.sampled_from(QUIET))
    def quiet_step(self, who: Who, hint: str) -> None:
        self._stepped(*who, hint)

    @precondition(lambda self: len(self.tokens) > 1)  # not always at once
    @rule(who=st.sampled_from(WHO), hint=st.sampled_from(STOPPED))
    def stop(self, who: Who, hint: str) -> None:
        self._stepped(*who, hint)

    def _stepped(self, name: str, session: str, hint: str, **more: Any) -> None:
        data = self.tries(lambda: self.agent(name, session).step(hint, **more))
        if data is None:
            return
        directive, key = data["autonomy"], _key(name)
        assert not (directive["continue"] and (self.blocked or hint in HELD or hint in STOPPED)), hint
        assert not (directive["continue"] and self.waits(name)), hint
        assert directive["continue"] or directive.get("notifications"), "AE-12"
        if directive.get("stopped"):
            self.blocked = True
        if "confirmation" in data:
            self.tokens.append((data["confirmation"]["token"], data["confirmation"]["operation"]))
        pauses = [note for note in directive.get("notifications", ()) if note["type"] == "autonomy_pause"]
        self.ids += [note["metadata"]["verificationId"] for note in pauses if "verificationId" in note["metadata"]]
        held = data["status"] == "paused" and not directive.get("stopped")
        if held and not any("verificationId" in note["metadata"] for note in pauses):
            self.paused.add((key, session))

    @rule(data=st.data(), who=st.sampled_from(WHO), how=st.sampled_from(("confirm", "verify", "resume", "approve")))
    def help_itself(self, data: st.DataObject, who: Who, how: str) -> None:
        agent = self.agent(*who)
        if how == "confirm":
            token, operation = data.draw(st.sampled_from(self.tokens))
            assert self.tries(lambda: agent.confirm(token, operation)) is None
        elif how == "verify":
            id = data.draw(st.sampled_from(self.ids))
            assert self.tries(lambda: agent.verify(id, "ABCD-EFGH-JKLM-NPQR-STUV-WXYZ-23")) is None
        elif how == "resume":
            resumed = self.tries(agent.resume)
            assert resumed is None or not self.waits(who[0])
        else:
            self._asks(agent)

    def _asks(self, agent: Agent) -> None:
        for one in confirmations.get_pending_cli_approvals(self.gate.state, agent.ref)["pending"]:
            assert one["armed"] is False
            ask = {"request_id": one["request_id"]}
            assert self.tries(lambda: confirmations.approve_cli_permission(self.gate.state, agent.ref, **ask)) is None  # noqa: B023
        self.tries(lambda: confirmations.release_deadlock(self.gate.state, agent.ref, agent.via, reason="please"))
        self.tries(agent.standing)

    @rule(who=st.sampled_from(WHO), how=st.sampled_from(("abort", "complete", "end")))
    def end(self, who: Who, how: str) -> None:
        agent = self.agent(*who)
        if how == "abort":
            self.tries(agent.abort)
            self.paused = {one for one in self.paused if one[0] != _key(who[0])}
        elif how == "complete":
            data = self.tries(agent.complete)
            assert data is None or not self.blocked
            self.paused.discard((_key(who[0]), who[1]))
        else:
            end_session(self.gate.state, agent.ref.principal, who[1])
            self.paused = {one for one in self.paused if one[1] != who[1]}

    @rule(what=st.sampled_from(("restart", 1, 61, 301)))
    def meanwhile(self, what: Any) -> None:
        if what == "restart":
            self.gate.restart()
        else:
            self.gate.clock.forward(what)


def _key(name: str) -> str:
    return name.strip().lower()


Alone.TestCase.settings = settings(
    max_examples=25 * EFFORT,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAlone = pytest.mark.slow("dozens of lives of an agent, each on a store of its own")(Alone.TestCase)
