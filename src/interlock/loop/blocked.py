"""Blocks principals and refuses every loop operation of a blocked one, naming the challenge that a person can lift it with."""

from __future__ import annotations

from typing import Any

from interlock.approvals import challenges
from interlock.audit.chain import event_body
from interlock.error_codes import LoopProblem
from interlock.loop import notices
from interlock.loop.agents import current_execution
from interlock.loop.notices import HOW
from interlock.loop.state import BLOCKED, Directive, directive_json
from interlock.model import AgentRef, Tier
from interlock.policy.digest import normal_name
from interlock.ports import Tx
from interlock.records import Block, Challenge
from interlock.runtime.state import State
from interlock.times import iso


def blocked_by(state: State, tx: Tx, principal: str) -> str:
    """Why a principal is blocked; a row deleted outside Interlock lifts nothing, and one of another replica counts."""
    found = tx.block(principal)
    return found.reason if found is not None else state.blocked(principal)


def enforced_block(state: State, principal: str) -> str:
    """Why a principal is blocked, where blocks are enforced: other modes only report them (C-43)."""
    return state.blocked(principal) if state.mode == "enforcing" else ""


def refuse_blocked(state: State, agent: AgentRef) -> None:
    """C-15, OOB-09: raises PERMISSION_DENIED for a blocked principal, whatever name it takes and execution it starts (C-18)."""
    why = enforced_block(state, agent.principal)
    if why:
        challenge = challenge_of(state, agent, why)
        words = f"This agent is blocked until a person has verified. {HOW} (challenge {challenge.id})."
        raise LoopProblem("PERMISSION_DENIED", words, {"reason": "blocked"})


def challenge_of(state: State, agent: AgentRef, why: str) -> Challenge:
    """The live challenge of a block, or a new one where there is none, within C-16's cap."""
    now = state.clock.now()
    found = state.store.read(lambda tx: challenges.live_challenge(tx, agent, challenges.BLOCK, now))
    if found is not None:
        return found
    return state.store.write(lambda tx: challenges.issue(tx, state, agent, challenges.BLOCK, why, now))


def stopped_step(state: State, agent: AgentRef, why: str) -> dict[str, Any]:
    """C-15: the answer to a step of a blocked agent; nothing is evaluated, and nothing counted."""
    now, challenge = state.clock.now(), challenge_of(state, agent, why)
    notes, execution = state.store.read(lambda tx: (notices.pending(tx, agent, now), current_execution(tx, agent)))
    others = [note for note in notes if note["type"] != notices.DANGER]
    directive = Directive(
        go=False,
        factors=("Blocked: nothing is evaluated before a person has verified", f"Why: {why}"),
        stopped=True,
        reason=f"This agent is blocked: {why}. {HOW} (challenge {challenge.id}).",
        steps_remaining=0,
        risk=Tier.DANGER_ZONE,
        notifications=(danger_note(agent, challenge, now), *others),
    )
    data = {"status": BLOCKED, "autonomy": directive_json(directive)}
    return {"execution_id": execution.id, "step": execution.steps, **data} if execution is not None else data


def danger_note(agent: AgentRef, challenge: Challenge, now: float) -> dict[str, Any]:
    """OOB-05: the notice for the offender itself, with the id of the live challenge."""
    metadata = {"level": Tier.DANGER_ZONE.value, "verificationId": challenge.id}
    message = notices.danger_words(agent.name)
    return {"type": notices.DANGER, "message": message, "metadata": metadata, "timestamp": iso(now)}


def block(tx: Tx, state: State, agent: AgentRef, reason: str, now: float, *, digest: str, execution: str) -> Challenge:
    """OOB-02, OOB-10, OOB-11: blocks the principal, stored and recorded, with a challenge, and notifies every executing agent."""
    challenge = challenges.issue(tx, state, agent, challenges.BLOCK, reason, now, digest=digest, execution=execution)
    found = tx.block(agent.principal)
    made = Block(agent.principal, reason, now, "interlock", normal_name(agent.name), challenge.id)
    if found is None:
        tx.save_block(made)
        details = {"principal": agent.principal, "name": agent.name, "reason": reason, "challenge": challenge.id}
        state.recorder.now(tx, "block", event_body(now, "block", "interlock", details))
    state.remember_block(found or made)
    notices.broadcast(tx, agent, challenge, Tier.DANGER_ZONE.value, now)
    return challenge
