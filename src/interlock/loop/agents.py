"""An agent's live executions and its principal's block: what they wait for, how they end; and the overview of all agents."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from interlock.approvals import challenges, settle
from interlock.canonical_json import normal_name
from interlock.error_codes import LoopProblem
from interlock.loop import notices
from interlock.loop.state import BLOCKED, Directive, Pause, move_execution, pause_of
from interlock.model import NOTHING, AgentRef, Human, Json, Tier
from interlock.ports import Tx
from interlock.records import AgentRow, AgentTotals, Block, Challenge, Execution
from interlock.runtime import InForce
from interlock.runtime.state import State
from interlock.times import iso

MOST_RUNS = 2_000  # live executions


def current_execution(tx: Tx, agent: AgentRef, among: list[Execution] | None = None) -> Execution | None:
    """The newest of this session that has not ended: each connection has its own."""
    found = tx.executions(agent, live=True) if among is None else among
    return next((one for one in found if one.agent.session == agent.session), None)


def pause_in_force(
    tx: Tx, agent: AgentRef, among: list[Execution], now: float
) -> tuple[Execution | None, Pause] | None:
    """C-19: of any of its executions; a verify pause also without one, while its challenge is open."""
    for one in among:
        pause = pause_of(one.pause)
        if pause and not is_lifted(tx, pause, now):
            return one, pause
    for challenge in tx.challenges(agent.principal):
        mine = challenge.kind == challenges.VERIFY and normal_name(challenge.agent.name) == normal_name(agent.name)
        if mine and now < challenge.expires_at:
            reason, since = challenge.reason, challenge.opened_at
            return None, Pause("verify", challenge.digest, int(Human.VERIFY), "", challenge.id, "", reason, since)
    return None


def is_lifted(tx: Tx, pause: Pause, now: float) -> bool:
    """Whether a pause ended by itself: with its challenge (R-10), or another name's ticket. Its own ticket has to resume it."""
    if pause.kind == "other":
        ticket = tx.ticket(pause.ticket)
        return ticket is None or not settle(ticket, now).open
    if pause.kind != "verify":
        return False
    return not challenges.is_open(tx.challenge(pause.challenge), now)


def resume(tx: Tx, execution: Execution, now: float) -> Execution:
    """The execution without its pause, with one more quota where steps had run out (C-20)."""
    pause = pause_of(execution.pause)
    if pause and pause.grants:
        notices.notify(tx, execution.agent, notices.STATUS, f"A person agreed: {execution.quota} more steps", now)
    return unpaused_execution(execution, now, pause is not None and pause.grants)


def resume_waiting(tx: Tx, agent: AgentRef, ticket: str, now: float, but: str = "") -> None:
    for one in tx.executions(agent, live=True):
        pause = pause_of(one.pause)
        if pause and pause.ticket == ticket and one.id != but:
            tx.save_execution(resume(tx, one, now), one)


def lift_ended_pause(tx: Tx, execution: Execution, now: float) -> Execution:
    """The execution without a pause that ended by itself, with one more quota where its challenge was verified."""
    pause = pause_of(execution.pause)
    if pause is None or not is_lifted(tx, pause, now):
        return execution
    found = tx.challenge(pause.challenge)
    return unpaused_execution(execution, now, pause.grants and found is not None and found.state == "verified")


def paused_execution(execution: Execution, pause: Pause, now: float) -> Execution:
    return replace(move_execution(execution, "pause", now), pause=to_builtins(pause))


def unpaused_execution(execution: Execution, now: float, more: bool) -> Execution:
    most = max(execution.max_steps, execution.steps) + execution.quota if more else execution.max_steps
    return replace(move_execution(execution, "resume", now), pause=NOTHING, max_steps=most)


def end_execution(tx: Tx, state: State, execution: Execution, move: str, ended: Json) -> Execution:
    """Raises LoopProblem where its state does not allow that."""
    now = state.clock.now()
    after = replace(move_execution(execution, move, now), ended=ended)
    tx.save_execution(after, execution)
    notices.clear(tx, execution.agent, now, execution=execution.id)
    state.declarations.closed(execution.agent)
    record_execution(tx, state, after, ended)
    return after


def record_execution(tx: Tx, state: State, execution: Execution, more: Json = NOTHING) -> None:
    details = {"execution": execution.id, "status": execution.status, "name": execution.agent.name, **more}
    state.recorder.event(tx, "execution", execution.agent.principal, details)


def no_execution_error(agent: AgentRef) -> LoopProblem:
    return LoopProblem(
        "NOT_FOUND_RESOURCE",
        "No execution of this agent runs in this session. Start one with execute_agent.",
        {"resource_type": "execution", "resource_id": agent.name},
    )


def enforced_block(state: State, by: InForce, principal: str) -> str:
    """Other modes only report (C-43)."""
    return state.blocked(principal) if by.mode == "enforcing" else ""


def refuse_blocked(state: State, by: InForce, agent: AgentRef) -> None:
    """C-15, OOB-09: PERMISSION_DENIED, whatever its name and execution (C-18)."""
    if why := enforced_block(state, by, agent.principal):
        challenge = challenge_of(state, agent, why)
        words = f"This agent is blocked until a person has verified. {notices.HOW} (challenge {challenge.id})."
        raise LoopProblem("PERMISSION_DENIED", words, {"reason": "blocked"})


def require_ready(state: State, agent: AgentRef) -> None:
    """C-15: catches up with other processes, and refuses a blocked principal."""
    state.catch_up()
    refuse_blocked(state, state.in_force, agent)


def challenge_of(state: State, agent: AgentRef, why: str) -> Challenge:
    """Within C-16's cap."""
    now = state.clock.now()
    found = state.store.read(lambda tx: challenges.live_challenge(tx, agent, challenges.BLOCK, now))
    return found or state.store.write(lambda tx: challenges.issue(tx, state, agent, challenges.BLOCK, why, now))


def stopped_step(state: State, agent: AgentRef, why: str) -> dict[str, Any]:
    """C-15: the answer to a blocked agent's step; nothing is evaluated or counted."""
    now, challenge = state.clock.now(), challenge_of(state, agent, why)
    notes, execution = state.store.read(lambda tx: (notices.pending(tx, agent, now), current_execution(tx, agent)))
    directive = Directive(
        go=False,
        factors=["Blocked: nothing is evaluated before a person has verified", f"Why: {why}"],
        stopped=True,
        reason=f"This agent is blocked: {why}. {notices.HOW} (challenge {challenge.id}).",
        steps_remaining=0,
        risk=Tier.DANGER_ZONE,
        notifications=with_danger_note(notes, agent, challenge, now),
    )
    data = {"status": BLOCKED, "autonomy": to_builtins(directive)}
    return {"execution_id": execution.id, "step": execution.steps, **data} if execution else data


def with_danger_note(
    notes: list[dict[str, Any]], agent: AgentRef, challenge: Challenge, now: float
) -> list[dict[str, Any]]:
    """OOB-05: the offender's own notice leads, with the live challenge's id."""
    metadata = {"level": Tier.DANGER_ZONE.value, "verificationId": challenge.id}
    message = notices.danger_words(agent.name)
    own = {"type": notices.DANGER, "message": message, "metadata": metadata, "timestamp": iso(now)}
    return [own, *(note for note in notes if note["type"] != notices.DANGER)]


def block(tx: Tx, state: State, agent: AgentRef, reason: str, now: float, *, digest: str, execution: str) -> Challenge:
    """OOB-02, OOB-10, OOB-11: with a challenge; stored, recorded, and every executing agent notified."""
    challenge = challenges.issue(tx, state, agent, challenges.BLOCK, reason, now, digest=digest, execution=execution)
    found = tx.block(agent.principal)
    made = Block(agent.principal, reason, now, "interlock", normal_name(agent.name), challenge.id)
    if found is None:
        tx.save_block(made)
        details = {"principal": agent.principal, "name": agent.name, "reason": reason, "challenge": challenge.id}
        state.recorder.event(tx, "block", "interlock", details)
    state.remember_block(found or made)
    notices.broadcast(tx, agent, challenge, Tier.DANGER_ZONE.value, now)
    return challenge


class AgentOverview(Struct, frozen=True):
    principal: str
    name: str
    row: AgentRow | None
    totals: AgentTotals | None
    block: str  # why it is blocked
    run: Execution | None  # one that has not ended

    @property
    def checked(self) -> int:
        return int(self.figures.get("total_checked", 0))

    @property
    def stopped(self) -> int:
        """Decisions that were not allowed at once."""
        decided = [(name, count) for name, count in self.figures.items() if name.startswith("decision:")]
        return sum(int(count) for name, count in decided if not name.startswith("decision:allow:"))

    @property
    def last_at(self) -> float:
        return max(self.totals.last_at if self.totals else 0.0, self.row.last_seen if self.row else 0.0)

    @property
    def figures(self) -> Json:
        return self.totals.figures if self.totals else NOTHING


def list_agents(state: State) -> list[AgentOverview]:
    """Every agent with a token, decision, live execution or block: the blocked first, then the last active."""
    state.recorder.flush()
    rows, totals, runs = state.store.read(
        lambda tx: (tx.agents(), tx.agent_totals(), tx.executions(live=True, most=MOST_RUNS))
    )
    row_of = {(row.principal, normal_name(row.name)): row for row in rows}
    total_of = {(one.principal, one.name): one for one in totals}
    run_of = {(run.agent.principal, normal_name(run.agent.name)): run for run in reversed(runs)}
    known = dict.fromkeys((*total_of, *row_of, *run_of))
    blocked, proved = dict(state.blocks), {principal for principal, _ in known}
    known |= dict.fromkeys((principal, "") for principal in blocked if principal not in proved)
    found = (
        AgentOverview(*who, row_of.get(who), total_of.get(who), blocked.get(who[0], ""), run_of.get(who))
        for who in known
    )
    return sorted(found, key=lambda one: (not one.block, -one.last_at, one.principal, one.name))
