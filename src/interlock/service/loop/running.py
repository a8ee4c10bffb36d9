"""Which executions of an agent have not ended, what do they wait for, and how do they end?"""

from __future__ import annotations

from dataclasses import replace

from interlock.core.digest import normal_name
from interlock.core.loop import KEPT_LIVE, LifecycleError, Pause, moved, pause_of
from interlock.core.model import AgentRef, Human
from interlock.core.records import NOTHING, Challenge, Execution, Json
from interlock.core.ticket import settled
from interlock.ports import Tx
from interlock.service.loop import challenges, notices
from interlock.service.loop.problem import LoopProblem
from interlock.service.record import deed
from interlock.service.state import State


def live(tx: Tx, agent: AgentRef) -> list[Execution]:
    """The agent's executions that have not ended, in whatever session, the newest first."""
    return [one for status in KEPT_LIVE for one in tx.executions(agent, status)]


def current(tx: Tx, agent: AgentRef, among: list[Execution] | None = None) -> Execution | None:
    """The one of this session: each connection has its own."""
    found = live(tx, agent) if among is None else among
    mine = [one for one in found if one.agent.session == agent.session]
    return max(mine, key=lambda one: one.started_at, default=None)


def in_force(tx: Tx, agent: AgentRef, among: list[Execution], now: float) -> tuple[Execution | None, Pause] | None:
    """C-19: what the agent waits for, in any of its executions; a verify pause also without one, while its challenge lives."""
    for one in among:
        pause = pause_of(one.pause)
        if pause is not None and not lifted(tx, pause, now):
            return one, pause
    for challenge in tx.challenges(agent.principal):
        mine = challenge.kind == challenges.VERIFY and normal_name(challenge.agent.name) == normal_name(agent.name)
        if mine and now < challenge.expires_at:
            return None, _waiting(challenge)
    return None


def _waiting(challenge: Challenge) -> Pause:
    human = int(Human.VERIFY)
    return Pause("verify", challenge.digest, human, "", challenge.id, "", challenge.reason, challenge.opened_at)


def lifted(tx: Tx, pause: Pause, now: float) -> bool:
    """Whether a pause has ended by itself: its challenge is over (R-10), or another name's ticket is. What holds its own ticket is resumed."""
    if pause.kind == "other":
        ticket = tx.ticket(pause.ticket)
        return ticket is None or not settled(ticket, now).open
    if pause.kind != "verify":
        return False
    found = tx.challenge(pause.challenge)
    return found is None or found.state != "open" or now >= found.expires_at


def resumed(tx: Tx, execution: Execution, now: float) -> Execution:
    """The execution without its pause, with one more quota where the steps had run out (C-20)."""
    pause = pause_of(execution.pause)
    if pause is not None and pause.grants:
        words = f"A person agreed: {execution.quota} more steps"
        notices.notify(tx, execution.agent, notices.STATUS, words, now)
    return without_pause(execution, now, pause is not None and pause.grants)


def freed(tx: Tx, execution: Execution, now: float) -> Execution:
    """The execution as it stands: without a pause that ended by itself, and with one more quota where its code came back."""
    pause = pause_of(execution.pause)
    if pause is None or not lifted(tx, pause, now):
        return execution
    found = tx.challenge(pause.challenge)
    return without_pause(execution, now, pause.grants and found is not None and found.state == "verified")


def without_pause(execution: Execution, now: float, more: bool) -> Execution:
    """The execution as it goes on; `more` is whether one more quota of steps was agreed to."""
    most = max(execution.max_steps, execution.steps) + execution.quota if more else execution.max_steps
    return replace(moved(execution, "resume", now), pause=NOTHING, max_steps=most)


def end(tx: Tx, state: State, execution: Execution, move: str, ended: Json) -> Execution:
    """Ends an execution and tells the record; its notifications are over with it."""
    now = state.clock.now()
    try:
        after = replace(moved(execution, move, now), ended=ended)
    except LifecycleError as error:
        raise LoopProblem("PERMISSION_DENIED", str(error)) from None
    tx.save_execution(after, execution)
    notices.clear(tx, execution.agent, now, execution=execution.id)
    state.declared.closed(execution.agent)
    record(tx, state, after, ended)
    return after


def record(tx: Tx, state: State, execution: Execution, more: Json = NOTHING) -> None:
    details = {"execution": execution.id, "status": execution.status, "name": execution.agent.name, **more}
    state.recorder.now(tx, "execution", deed(state.clock.now(), "execution", execution.agent.principal, details))


def nothing_runs(agent: AgentRef) -> LoopProblem:
    return LoopProblem(
        "NOT_FOUND_RESOURCE",
        "No execution of this agent runs in this session. Start one with execute_agent.",
        {"resource_type": "execution", "resource_id": agent.name},
    )
