"""Binds the loop's operations to the engine: parameters in, `data` out, refusals in the registry's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.approvals import challenges, tokens
from interlock.approvals.challenges import verifying
from interlock.error_codes import LoopProblem
from interlock.loop import confirmations as confirming
from interlock.loop import deadlocks, executions, steps
from interlock.loop.protocol import loop_operations, loop_types
from interlock.loop.protocol.envelope import AqlProblem
from interlock.loop.protocol.introspection import SurfaceInfo
from interlock.loop.protocol.surface import DataWithWarnings, Handler, OperationCall, ProtocolCaller, Surface
from interlock.loop.state import UNJUDGED
from interlock.loop.tightening import NO_TIGHTENING, Tightening
from interlock.model import AgentRef
from interlock.policy.digest import normal_name
from interlock.runtime.state import State
from interlock.times import iso

INTERFACE = "mcp"
NAME = "interlock"
_DISABLED = ({"code": "SAFETY_LOOP_DISABLED", "message": f"{UNJUDGED['disabled']}.", "severity": "high"},)


@dataclass(frozen=True, slots=True)
class Connection:
    """What a connection brings besides its calls: what it tightens, and how scripts are read for it."""

    tight: Tightening = NO_TIGHTENING
    door: str = INTERFACE
    strength: str = ""


def surface(state: State, version: str, mode: str) -> Surface:
    """The dongle's surface in a mode; whoever serves it makes another one when the mode changes."""
    operations = loop_operations.operations(state.policy, mode)
    bound = {name: _handler(work, state, mode) for name, work in _WORK.items() if name in operations}
    about = SurfaceInfo(
        NAME,
        version,
        types=loop_types.TYPES,
        capabilities={"execution_safety_loop": mode},  # ESL-01, ESL-02
        protocol=loop_operations.protocol(state.policy, mode, state.challenge_seconds),
        info={"trust": None, "policy": state.policy.name, "strength": state.strength},
        quota=lambda caller: _quotas(state, caller),
    )
    return Surface(operations, bound, about)


def agent(asked: OperationCall) -> AgentRef:
    """The principal that the door proved, the name that was claimed, the session that the door made (ESL-14)."""
    name = asked.params.get("element_name", "")
    return AgentRef(asked.caller.principal, normal_name(name), asked.caller.session)


def connection(asked: OperationCall) -> Connection:
    more = asked.caller.more
    return more if isinstance(more, Connection) else Connection()


Work = Callable[[State, OperationCall], Mapping[str, Any]]


def _handler(work: Work, state: State, mode: str) -> Handler:
    notices = _DISABLED if mode == "disabled" else ()

    def answer(asked: OperationCall) -> DataWithWarnings:
        try:
            data = dict(work(state.within(connection(asked).strength), asked))
        except LoopProblem as problem:
            raise AqlProblem(problem.code, problem.message, problem.details, problem.confirmation) from None
        return DataWithWarnings(data, (*data.pop("warnings", ()), *notices))

    return answer


def _execute(state: State, asked: OperationCall) -> Mapping[str, Any]:
    wants = asked.params
    return executions.execute_agent(
        state,
        agent(asked),
        connection(asked).door,
        parameters=wants.get("parameters"),
        max_autonomous_steps=wants.get("max_autonomous_steps"),
        token=asked.given.confirmation,
        tight=connection(asked).tight,
    )


def _step(state: State, asked: OperationCall) -> Mapping[str, Any]:
    wants = asked.params
    step = steps.ReportedStep(
        description=wants.get("step_description", ""),
        outcome=wants.get("outcome", ""),
        hint=wants["next_action_hint"],
        findings=wants.get("findings", ""),
        risk=wants.get("risk_score"),
        cwd=wants.get("cwd", ""),
    )
    return steps.record_step(state, agent(asked), connection(asked).door, step, connection(asked).tight)


def _complete(state: State, asked: OperationCall) -> Mapping[str, Any]:
    wants = asked.params
    return executions.complete_execution(
        state, agent(asked), outcome=wants["outcome"], summary=wants.get("summary", "")
    )


def _abort(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return executions.abort_execution(state, agent(asked), reason=asked.params.get("reason", ""))


def _confirm(state: State, asked: OperationCall) -> Mapping[str, Any]:
    wants = asked.params
    return confirming.confirm_operation(
        state, agent(asked), token=wants["confirmation_token"], operation=wants["operation"]
    )


def _verify(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return challenges.verify(state, agent(asked), asked.params["challenge_id"], asked.params["code"])


def _state(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return executions.execution_state(state, agent(asked))


def _continue(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return confirming.continue_execution(state, agent(asked), token=asked.params.get("confirmation_token", ""))


def _release(state: State, asked: OperationCall) -> Mapping[str, Any]:
    reason, door = asked.params.get("reason", ""), connection(asked).door
    return deadlocks.release_deadlock(state, agent(asked), door, reason=reason)


def _pending(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return confirming.get_pending_cli_approvals(state, agent(asked))


def _approve(state: State, asked: OperationCall) -> Mapping[str, Any]:
    return confirming.approve_cli_permission(state, agent(asked), request_id=asked.params["request_id"])


def _prompt(state: State, asked: OperationCall) -> Mapping[str, Any]:
    wants, here = asked.params, connection(asked)
    return confirming.permission_prompt(
        state, agent(asked), here.door, tool_name=wants["tool_name"], input=wants["input"], tight=here.tight
    )


_WORK: Mapping[str, Work] = {
    "execute_agent": _execute,
    "record_execution_step": _step,
    "complete_execution": _complete,
    "abort_execution": _abort,
    "confirm_operation": _confirm,
    "verify_challenge": _verify,
    "get_execution_state": _state,
    "continue_execution": _continue,
    "release_deadlock": _release,
    "get_pending_cli_approvals": _pending,
    "approve_cli_permission": _approve,
    "permission_prompt": _prompt,
}


def _quotas(state: State, caller: ProtocolCaller) -> dict[str, Any]:
    """RL-01, RL-03: what is limited here, and how it stands for this principal."""
    now, who = state.clock.now(), caller.principal
    codes, confirmations = state.store.read(
        lambda tx: (verifying.lockout_seconds(tx, who, now), tokens.FAILURES.wait(tx, who, now))
    )
    return {
        "quotas": [
            _quota("verification_failures", verifying.MOST_FAILURES, codes, now),
            _quota("confirmation_failures", tokens.FAILURES.most, confirmations, now),
        ]
    }


def _quota(metric: str, limit: int, wait: int, now: float) -> dict[str, Any]:
    status = "exhausted" if wait else "ok"
    found: dict[str, Any] = {"metric": metric, "limit": limit, "window": "minute", "status": status}
    return found | ({"resets_at": iso(now + wait), "retry_after_seconds": wait} if wait else {})
