"""Starts executions once a person approved, completes, aborts and shows them, and ends them with their connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from interlock.analysis.display_text import short_id
from interlock.approvals import REJECTED, SELF_APPROVAL, challenges
from interlock.approvals.answers import withdraw
from interlock.approvals.pausing import monitored_while_paused
from interlock.engine.evaluate import evaluate_and_keep
from interlock.error_codes import INERT, LoopProblem, confirmation_hint
from interlock.loop import agents, notices
from interlock.loop.state import LIVE, RUNNING, pause_of, status_of
from interlock.loop.tightening import PLAIN_CONNECTION, Connection, governing
from interlock.model import NOTHING, AgentRef, Decision, operation
from interlock.policy.overrides import step_quota
from interlock.policy.wire import failure_json
from interlock.ports import Tx
from interlock.records import Execution
from interlock.redaction import redact, redact_text
from interlock.runtime import Judged, Request, StepContext
from interlock.runtime.state import State
from interlock.times import iso

EXECUTE = "execute_agent"
LONGEST_GOAL = 4_000  # characters
SUMMARY_CHARS = 500  # of a summary or a reason that are stored


def execute_agent(
    state: State,
    agent: AgentRef,
    via: Connection = PLAIN_CONNECTION,
    *,
    parameters: Mapping[str, Any] | None = None,
    max_autonomous_steps: int | None = None,
    token: str = "",
) -> dict[str, Any]:
    """Once a person approved it (R-11), CONFIRMATION_REQUIRED until then; refuses a blocked principal."""
    state.catch_up()
    by = governing(state, require_name(agent), via)
    agents.refuse_blocked(state, by, agent)
    given = dict(parameters or {})
    by = monitored_while_paused(state, by, operation(EXECUTE, given, "EXECUTE"))
    steps, goal = step_quota(by.policy, max_autonomous_steps), dict(redact(given))
    made = Execution(
        id=state.new_id("exec_"),
        agent=agent,
        status=RUNNING,
        started_at=state.clock.now(),
        max_steps=steps,
        goal=goal if len(json.dumps(goal, default=str)) <= LONGEST_GOAL else {"note": "too long to keep"},
        quota=steps,
    )
    params = {"element_name": agent.name, "parameters": given, "max_autonomous_steps": steps}
    action, step = operation(EXECUTE, params, "EXECUTE"), StepContext(starting=True)
    start = Request(action, agent, via.door, token=token, execution=made.id, step=step)
    request = replace(start, strength=via.strength, in_force=by)
    decision, _ = evaluate_and_keep(state, request, partial(_begin, state, made))
    if not decision.allowed:
        raise refusal(decision, state.clock.now())
    state.declarations.opened(agent)
    return {
        "execution_id": made.id,
        "status": RUNNING,
        "started_at": iso(made.started_at),
        "element_name": agent.name,
        "safety_loop": by.mode,
        "max_autonomous_steps": steps,
        "steps_remaining": steps,
        "applied": {"max_autonomous_steps": steps},
        **({"warnings": via.tight.warnings} if via.tight.ignored else {}),
    }


def complete_execution(state: State, agent: AgentRef, *, outcome: str = "success", summary: str = "") -> dict[str, Any]:
    """Refuses a blocked principal (C-15)."""
    agents.require_ready(state, agent)

    def work(tx: Tx) -> Execution:
        if (found := agents.current_execution(tx, require_name(agent))) is None:
            raise agents.no_execution_error(agent)
        ended = {"outcome": outcome or "success", "summary": redact_text(summary)[:SUMMARY_CHARS]}
        pause = pause_of(found.pause)
        if pause is None or not pause.challenge:  # what is to be verified waits on
            withdraw(tx, state, agent.principal, "complete", lambda ticket: ticket.execution == found.id)
        return agents.end_execution(tx, state, found, "fail" if outcome == "failure" else "complete", ended)

    return execution_json(state.store.write(work), False)


def abort_execution(state: State, agent: AgentRef, *, reason: str = "") -> dict[str, Any]:
    """Ends an execution early, in any state, and this agent's pauses elsewhere; lifts no block (C-15, R-10)."""

    def work(tx: Tx) -> Execution | None:
        mine, ended = (
            agents.current_execution(tx, require_name(agent)),
            {"summary": redact_text(reason)[:SUMMARY_CHARS]},
        )
        challenges.end(tx, state, agent.principal, challenges.VERIFY, agent.name)
        others = [one for one in tx.executions(agent, live=True) if one.pause and (mine is None or one.id != mine.id)]
        cancelled = [agents.end_execution(tx, state, one, "cancel", ended) for one in (mine, *others) if one]
        ids = {one.id for one in cancelled}
        withdraw(tx, state, agent.principal, "abort", lambda ticket: ticket.execution in ids)
        return cancelled[0] if cancelled else None

    if (done := state.store.write(work)) is None:
        raise agents.no_execution_error(agent)
    return execution_json(done, False)


def execution_state(state: State, agent: AgentRef) -> dict[str, Any]:
    """The newest where several ran (LC-02)."""
    now = state.clock.now()

    def work(tx: Tx) -> dict[str, Any]:
        recent = tx.executions(agent, most=20)
        mine = (one for one in recent if one.agent.session == agent.session)
        found = agents.current_execution(tx, agent) or next(mine, next(iter(recent), None))
        if found is None:
            raise agents.no_execution_error(agent)
        row = tx.block(agent.principal)  # one deleted outside Interlock lifts nothing, another replica's counts
        block = row.reason if row else state.blocked(agent.principal)
        pause = agents.pause_in_force(tx, agent, [found], now) if found.status in LIVE else None
        shown = replace(found, status=RUNNING) if found.pause and pause is None and found.status in LIVE else found
        body = execution_json(shown, bool(block)) | {
            "steps": shown.steps,
            "max_autonomous_steps": shown.quota,
            "steps_remaining": shown.steps_left,
            "progress": {"current": shown.steps, "total": shown.max_steps},
            "safety_loop": state.mode,
        }
        if found.goal:
            body["goal"] = dict(found.goal)
        if pause:
            _, held = pause
            body["pause"] = {"waits_for": held.id, "reason": held.reason, "since": iso(held.since)}
        if block and found.status in LIVE:
            body["blocked"] = block
            if one := challenges.live_challenge(tx, agent, challenges.BLOCK, now):
                body["challenge"] = one.id
        if notes := notices.pending(tx, agent, now):
            body["notifications"] = notes
        return body

    return state.store.read(work)


def end_session(state: State, principal: str, session: str) -> None:
    """ESL-13: with its executions and tokens. Blocks stay."""
    if not session:
        return

    def work(tx: Tx) -> None:
        for one in tx.executions(live=True):
            if (one.agent.principal, one.agent.session) == (principal, session):
                agents.end_execution(tx, state, one, "cancel", {"summary": "the connection ended"})
        withdraw(tx, state, principal, "session", lambda ticket: ticket.agent.session == session)

    state.store.write(work)


def refusal(decision: Decision, now: float) -> LoopProblem:
    """It says who can change it."""
    failure, ticket = failure_json(decision), decision.ticket
    error = failure.get("error", {})
    details = error.get("details") or ({"reason": decision.reason} if decision.code == "PERMISSION_DENIED" else NOTHING)
    message = str(error.get("message", ""))
    if details.get("reason") == SELF_APPROVAL:
        message = f"{INERT} {notices.approval_hint(ticket.id)}." if ticket else INERT
    elif ticket and ticket.state is REJECTED:
        message = f"This was refused: {notices.rejection_message(ticket)} Tell the user, and ask for something else."
    elif ticket and decision.outcome == "cool_off":
        message = notices.cooling_message(ticket, now)
    elif ticket and decision.code == "CONFIRMATION_REQUIRED":
        message = confirmation_hint(short_id(ticket.id))
    return LoopProblem(decision.code, message, details, failure.get("confirmation"))


def require_name(agent: AgentRef) -> AgentRef:
    if not agent.name:
        words = "Missing required parameter 'element_name'"
        raise LoopProblem("VALIDATION_MISSING_PARAM", words, {"param_name": "element_name"})
    return agent


def _begin(state: State, made: Execution, tx: Tx, judged: Judged, decision: Decision) -> None:
    """It takes over the pause of the one it replaces."""
    if not decision.allowed:
        return
    if before := agents.current_execution(tx, made.agent):
        pause = pause_of(before.pause)
        agents.end_execution(tx, state, before, "cancel", {"summary": f"execution {made.id} took its place"})
        if pause and not agents.is_lifted(tx, pause, judged.now):
            made = agents.paused_execution(made, pause, judged.now)
    tx.save_execution(made, None)
    agents.record_execution(tx, state, made, {"goal": made.goal, "max_steps": made.max_steps})


def execution_json(execution: Execution, blocked: bool) -> dict[str, Any]:
    """LC-02's fields, and how it ended."""
    body: dict[str, Any] = {
        "execution_id": execution.id,
        "status": status_of(execution, blocked),
        "element_name": execution.agent.name,
        "started_at": iso(execution.started_at),
    }
    if execution.finished_at:
        body["finished_at"] = iso(execution.finished_at)
    return body | {key: value for key, value in execution.ended.items() if value}
