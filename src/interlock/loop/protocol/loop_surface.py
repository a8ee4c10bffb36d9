"""Binds the loop's operations to the engine: parameters in, `data` out, refusals in the registry's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.approvals.challenges import releasing
from interlock.approvals.tickets import TOKEN_FAILURES
from interlock.canonical_json import normal_name
from interlock.loop import confirmations, executions, steps
from interlock.loop.protocol import loop_operations
from interlock.loop.protocol.introspection import SurfaceInfo
from interlock.loop.protocol.surface import DataWithWarnings, Handler, OperationCall, ProtocolCaller, Surface
from interlock.loop.state import UNJUDGED
from interlock.loop.tightening import PLAIN_CONNECTION, Connection
from interlock.model import AgentRef
from interlock.runtime.state import State
from interlock.times import iso

NAME = "interlock"
_DISABLED = ({"code": "SAFETY_LOOP_DISABLED", "message": f"{UNJUDGED['disabled']}.", "severity": "high"},)


def surface(state: State, version: str, mode: str) -> Surface:
    operations = loop_operations.operations(state.policy, mode)
    bound = {name: _handler(name, state, mode) for name in _WORK if name in operations}
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


def _handler(name: str, state: State, mode: str) -> Handler:
    work, connected = _WORK[name]
    notices = _DISABLED if mode == "disabled" else ()

    def answer(call: OperationCall) -> DataWithWarnings:
        given, caller = {name: value for name, value in call.params.items() if name not in _ASIDE}, call.caller
        # the proved principal, the claimed name, and the interface's own session (ESL-14)
        agent = AgentRef(caller.principal, normal_name(call.params.get("element_name", "")), caller.session)
        if connected:
            given["via"] = caller.more if isinstance(caller.more, Connection) else PLAIN_CONNECTION
        if name == executions.EXECUTE:
            given["token"] = call.given.token()
        data = dict(work(state, agent, **given))
        return DataWithWarnings(data, (*data.pop("warnings", ()), *notices))

    return answer


def _step(state: State, agent: AgentRef, via: Connection, **params: Any) -> dict[str, Any]:
    step = steps.ReportedStep(**{_STEP_FIELDS.get(name, name): value for name, value in params.items()})
    return steps.record_step(state, agent, step, via)


_STEP_FIELDS = {"next_action_hint": "hint", "step_description": "description", "risk_score": "risk"}
_ASIDE = frozenset({"element_name", "fields", "tool_use_id"})
_WORK: Mapping[str, tuple[Callable[..., Mapping[str, Any]], bool]] = {
    "execute_agent": (executions.execute_agent, True),
    "record_execution_step": (_step, True),
    "complete_execution": (executions.complete_execution, False),
    "abort_execution": (executions.abort_execution, False),
    "confirm_operation": (confirmations.confirm_operation, False),
    "verify_challenge": (releasing.verify, False),
    "get_execution_state": (executions.execution_state, False),
    "continue_execution": (confirmations.continue_execution, False),
    "release_deadlock": (confirmations.release_deadlock, True),
    "get_pending_cli_approvals": (confirmations.get_pending_cli_approvals, False),
    "approve_cli_permission": (confirmations.approve_cli_permission, False),
    "permission_prompt": (confirmations.permission_prompt, True),
}


def _quotas(state: State, caller: ProtocolCaller) -> dict[str, Any]:
    """RL-01, RL-03: the rate limits, and this principal's use of them."""
    now, quotas = state.clock.now(), []
    metrics = {"verification_failures": releasing.FAILURES, "confirmation_failures": TOKEN_FAILURES}
    waits = state.store.read(lambda tx: [one.wait(tx, caller.principal, now) for one in metrics.values()])
    for (metric, attempts), wait in zip(metrics.items(), waits):
        resets = {"resets_at": iso(now + wait), "retry_after_seconds": wait} if wait else {}
        status = "exhausted" if wait else "ok"
        quotas.append({"metric": metric, "limit": attempts.most, "window": "minute", "status": status, **resets})
    return {"quotas": quotas}
