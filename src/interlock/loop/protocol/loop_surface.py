"""Binds the loop's operations to the engine: parameters in, `data` out, refusals in the registry's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.approvals import challenges
from interlock.approvals.challenges import verifying
from interlock.approvals.tickets import TOKEN_FAILURES
from interlock.error_codes import LoopProblem
from interlock.loop import confirmations, deadlocks, executions, steps
from interlock.loop.protocol import loop_operations
from interlock.loop.protocol.envelope import AqlProblem
from interlock.loop.protocol.introspection import SurfaceInfo
from interlock.loop.protocol.surface import DataWithWarnings, Handler, OperationCall, ProtocolCaller, Surface
from interlock.loop.report import ReportedStep
from interlock.loop.state import UNJUDGED
from interlock.loop.tightening import PLAIN_CONNECTION, Connection
from interlock.model import AgentRef
from interlock.policy.digest import normal_name
from interlock.runtime.state import State
from interlock.times import iso

NAME = "interlock"
_DISABLED = ({"code": "SAFETY_LOOP_DISABLED", "message": f"{UNJUDGED['disabled']}.", "severity": "high"},)


def surface(state: State, version: str, mode: str) -> Surface:
    """The loop's surface in a mode; its server builds another one when the mode changes."""
    operations = loop_operations.operations(state.policy, mode)
    bound = {name: _handler(work, state, mode) for name, work in _WORK.items() if name in operations}
    about = SurfaceInfo(
        NAME,
        version,
        types=loop_operations.LOOP_TYPES,
        capabilities={"execution_safety_loop": mode},  # ESL-01, ESL-02
        protocol=loop_operations.protocol(state.policy, mode, state.in_force.challenge_seconds),
        info={"trust": None, "policy": state.policy.name, "strength": state.strength},
        quota=lambda caller: _quotas(state, caller),
    )
    return Surface(operations, bound, about)


def agent(call: OperationCall) -> AgentRef:
    """The principal that the interface proved, the claimed name, and the interface's own session (ESL-14)."""
    name = call.params.get("element_name", "")
    return AgentRef(call.caller.principal, normal_name(name), call.caller.session)


def connection(call: OperationCall) -> Connection:
    more = call.caller.more
    return more if isinstance(more, Connection) else PLAIN_CONNECTION


Work = Callable[[State, OperationCall], Mapping[str, Any]]


def _handler(work: Work, state: State, mode: str) -> Handler:
    notices = _DISABLED if mode == "disabled" else ()

    def answer(call: OperationCall) -> DataWithWarnings:
        try:
            data = dict(work(state, call))
        except LoopProblem as problem:
            raise AqlProblem(problem.code, problem.message, problem.details, problem.confirmation) from None
        return DataWithWarnings(data, (*data.pop("warnings", ()), *notices))

    return answer


def _execute(state: State, call: OperationCall) -> Mapping[str, Any]:
    params = call.params
    return executions.execute_agent(
        state,
        agent(call),
        connection(call),
        parameters=params.get("parameters"),
        max_autonomous_steps=params.get("max_autonomous_steps"),
        token=call.given.confirmation,
    )


def _step(state: State, call: OperationCall) -> Mapping[str, Any]:
    params = call.params
    step = ReportedStep(
        description=params.get("step_description", ""),
        outcome=params.get("outcome", ""),
        hint=params["next_action_hint"],
        findings=params.get("findings", ""),
        risk=params.get("risk_score"),
        cwd=params.get("cwd", ""),
    )
    return steps.record_step(state, agent(call), step, connection(call))


def _prompt(state: State, call: OperationCall) -> Mapping[str, Any]:
    params = call.params
    return confirmations.permission_prompt(
        state, agent(call), connection(call), tool_name=params["tool_name"], input=params["input"]
    )


_WORK: Mapping[str, Work] = {
    "execute_agent": _execute,
    "record_execution_step": _step,
    "complete_execution": lambda state, call: executions.complete_execution(
        state, agent(call), outcome=call.params["outcome"], summary=call.params.get("summary", "")
    ),
    "abort_execution": lambda state, call: executions.abort_execution(
        state, agent(call), reason=call.params.get("reason", "")
    ),
    "confirm_operation": lambda state, call: confirmations.confirm_operation(
        state, agent(call), token=call.params["confirmation_token"], operation=call.params["operation"]
    ),
    "verify_challenge": lambda state, call: challenges.verify(
        state, agent(call), call.params["challenge_id"], call.params["code"]
    ),
    "get_execution_state": lambda state, call: executions.execution_state(state, agent(call)),
    "continue_execution": lambda state, call: confirmations.continue_execution(
        state, agent(call), token=call.params.get("confirmation_token", "")
    ),
    "release_deadlock": lambda state, call: deadlocks.release_deadlock(
        state, agent(call), connection(call), reason=call.params.get("reason", "")
    ),
    "get_pending_cli_approvals": lambda state, call: confirmations.get_pending_cli_approvals(state, agent(call)),
    "approve_cli_permission": lambda state, call: confirmations.approve_cli_permission(
        state, agent(call), request_id=call.params["request_id"]
    ),
    "permission_prompt": _prompt,
}


def _quotas(state: State, caller: ProtocolCaller) -> dict[str, Any]:
    """RL-01, RL-03: the rate limits, and this principal's use of them."""
    now, who = state.clock.now(), caller.principal
    codes, confirmations = state.store.read(
        lambda tx: (verifying.lockout_seconds(tx, who, now), TOKEN_FAILURES.wait(tx, who, now))
    )
    return {
        "quotas": [
            _quota("verification_failures", verifying.MOST_FAILURES, codes, now),
            _quota("confirmation_failures", TOKEN_FAILURES.most, confirmations, now),
        ]
    }


def _quota(metric: str, limit: int, wait: int, now: float) -> dict[str, Any]:
    status = "exhausted" if wait else "ok"
    found: dict[str, Any] = {"metric": metric, "limit": limit, "window": "minute", "status": status}
    return found | ({"resets_at": iso(now + wait), "retry_after_seconds": wait} if wait else {})
