"""Agents in the execution safety loop on a real service, and the people who answer for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gate import Gate
from interlock.approvals.challenges import releasing
from interlock.error_codes import LoopProblem
from interlock.loop import confirmations, executions, steps
from interlock.loop.protocol.loop_surface import surface
from interlock.loop.protocol.surface import ProtocolCaller, call
from interlock.loop.steps import ReportedStep
from interlock.loop.tightening import NO_TIGHTENING, Connection, Tightening
from interlock.model import AgentRef
from interlock.records import Challenge, Ticket, TicketQuery

PRINCIPAL, SESSION, INTERFACE = "uid:1000", "mcp_one", "mcp"
READ = "reading src/app.py to understand the login flow"

FREE = """
[loop]
start = "allow"
max_autonomous_steps = {steps}
step_ceiling = {ceiling}
[levels]
safe = "allow"
reversible = "allow"
destructive = "confirm"
dangerous = "verify"
forbidden = {{ require = "verify", approvers = ["role:admin"], reauth = true }}
"""


def permissive_gate(folder: Path, steps: int = 10, ceiling: int = 100, more: str = "") -> Gate:
    """A gate whose policy lets executions start by themselves."""
    folder.mkdir(exist_ok=True)
    (folder / "free.toml").write_text(more + FREE.format(steps=steps, ceiling=ceiling))
    made = Gate(folder / "state", policy={"use": str(folder / "free.toml")})
    made.enrol()
    return made


class Agent:
    """One agent, as an interface acts for it."""

    def __init__(
        self,
        gate: Gate,
        name: str = "builder",
        principal: str = PRINCIPAL,
        session: str = SESSION,
        tight: Tightening = NO_TIGHTENING,
        door: str = INTERFACE,
    ) -> None:
        self.gate, self.via = gate, Connection(tight, door)
        self.ref = AgentRef(principal, name, session)

    def start(self, **more: Any) -> dict[str, Any]:
        return executions.execute_agent(self.gate.state, self.ref, self.via, **more)

    def started(self, **more: Any) -> Agent:
        """Running, with a person who agreed to the start where that is asked for."""
        problem = refusal_of(lambda: self.start(**more))
        if problem is not None:
            assert problem.code == "CONFIRMATION_REQUIRED", problem
            self.approve(next(one for one in self.tickets() if one.operation == executions.EXECUTE))
            self.start(**more)
        return self

    def step(self, hint: str = READ, **more: Any) -> dict[str, Any]:
        return steps.record_step(self.gate.state, self.ref, ReportedStep(hint, **more), self.via)

    def told(self, hint: str = READ, **more: Any) -> Mapping[str, Any]:
        """The directive of a step."""
        found: Mapping[str, Any] = self.step(hint, **more)["autonomy"]
        return found

    def complete(self, **more: Any) -> dict[str, Any]:
        return executions.complete_execution(self.gate.state, self.ref, **more)

    def abort(self, **more: Any) -> dict[str, Any]:
        return executions.abort_execution(self.gate.state, self.ref, **more)

    def standing(self) -> dict[str, Any]:
        return executions.execution_state(self.gate.state, self.ref)

    def confirm(self, token: str, operation: str) -> dict[str, Any]:
        return confirmations.confirm_operation(self.gate.state, self.ref, confirmation_token=token, operation=operation)

    def resume(self, **more: Any) -> dict[str, Any]:
        return confirmations.continue_execution(self.gate.state, self.ref, **more)

    def verify(self, challenge: str, code: str) -> dict[str, Any]:
        return releasing.verify(self.gate.state, self.ref, challenge, code)

    def tickets(self) -> list[Ticket]:
        """The open tickets of this agent, the newest first."""
        query = TicketQuery(principal=self.ref.principal, name=self.ref.name, limit=100)
        found = self.gate.store.read(lambda tx: tx.tickets(query))
        return sorted((one for one in found if one.open), key=lambda one: -one.opened_at)

    def approve(self, ticket: Ticket) -> Ticket:
        return self.gate.approve(ticket)

    def challenges(self) -> list[Challenge]:
        return self.gate.store.read(lambda tx: tx.challenges(self.ref.principal))

    def code(self, challenge: str) -> str:
        """Reveals a code, as an operator does."""
        return releasing.reveal(self.gate.state, self.gate.sign_in(), challenge).code


def refusal_of(work: Any) -> LoopProblem | None:
    """The refusal of a call; None where it was answered."""
    try:
        work()
    except LoopProblem as problem:
        return problem
    return None


def code_of(work: Any) -> str:
    """The code of a refusal."""
    problem = refusal_of(work)
    return problem.code if problem is not None else ""


def protocol_code(gate: Gate, endpoint: str, operation: str, **params: Any) -> str:
    """The code with which the protocol refuses a call of the loop's operations."""
    arguments = {"operation": operation, "params": {"element_name": "builder", **params}}
    reply = call(surface(gate.state, "1", "enforcing"), endpoint, arguments, ProtocolCaller(PRINCIPAL, SESSION))
    return str(reply.envelope.get("error", {}).get("code", ""))


def notes(directive: Mapping[str, Any], type: str) -> list[Mapping[str, Any]]:
    return [note for note in directive.get("notifications", ()) if note["type"] == type]
