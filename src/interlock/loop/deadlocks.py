"""Asks a person to end the wait of a stuck agent: one ticket in the queue, nothing released before it is approved (R-15)."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import apply_move, challenges, settle
from interlock.approvals.answers import withdraw
from interlock.approvals.statements import unmet
from interlock.approvals.tickets import new_ticket, seal_of, shown_hash
from interlock.engine.gathering import identify
from interlock.error_codes import LoopProblem
from interlock.identity.attempts import Attempts
from interlock.identity.isolation import isolation_of
from interlock.loop import notices
from interlock.loop.agents import enforced_block, live_executions, pause_in_force, unpaused_execution
from interlock.loop.confirmations import rate_limit_problem, stored
from interlock.loop.notices import ABORT, HOW, approval_hint, rejection_message, ticket_excerpt
from interlock.loop.state import LIVE, Pause, pause_of
from interlock.loop.tightening import PLAIN_CONNECTION, Connection
from interlock.model import AgentRef, Human, Requirement, TicketState, operation
from interlock.policy.circumstances import Contribution
from interlock.policy.evaluate import PolicyResult
from interlock.ports import QueueFull, Tx
from interlock.records import Execution, Ticket
from interlock.redaction import redact_text
from interlock.runtime import Judged, Request
from interlock.runtime.state import State

RELEASE = "release_deadlock"
ATTEMPTS = Attempts("loop.deadlocks", most=3, seconds=300.0)
REASON_CHARS, TITLE = 500, 300  # characters
_ASKED = "An operator was asked. Nothing was freed by asking."
_RELEASED = "A person agreed: this agent waits no more. The held step was not approved."
_REQUIREMENT = Requirement(human=Human.APPROVE)


class _ReleaseOutcome(Struct, frozen=True):
    """The outcome of a request for release, answered once it is stored."""

    message: str
    released: bool = False
    opened: Ticket | None = None  # the ticket, where it was opened now


def release_deadlock(
    state: State, agent: AgentRef, via: Connection = PLAIN_CONNECTION, *, reason: str = ""
) -> dict[str, Any]:
    """Asks a person to end the agent's wait, and ends it once they approved; the held step is not approved by that."""
    state.catch_up()
    reason = redact_text(reason)[:REASON_CHARS]
    done = stored(state, lambda tx: _request_release(tx, state, agent, via, reason))
    if done.opened is not None:
        state.tell("held", done.opened)
    if not done.released:
        state.tell("deadlock", None, f"agent {agent.name!r:.80} ({agent.principal}) asks to be freed: {reason}")
    return {"requested": True, "released": done.released, "message": done.message}


def _request_release(
    tx: Tx, state: State, agent: AgentRef, via: Connection, reason: str
) -> _ReleaseOutcome | LoopProblem:
    now, found = state.clock.now(), live_executions(tx, agent)
    held = pause_in_force(tx, agent, found, now)
    judged = _judged(state, agent, via, held, now) if held is not None else None
    ticket = tx.live_ticket(judged.digest, agent) if judged is not None else None
    settled = settle(ticket, now) if ticket is not None else None
    if held is not None and ticket is not None and settled is not None and settled.state is TicketState.APPROVED:
        proof = state.proof_of(settled, agent.session, now)
        if not unmet(proof, settled, tx.approvals(ticket.id), ticket.requirement, now):
            return _release(tx, state, agent, held[1], ticket, now)
    wait = ATTEMPTS.wait(tx, agent.principal, now)
    if wait:
        return rate_limit_problem(wait, now, ATTEMPTS)
    ATTEMPTS.failed(tx, agent.principal, now)
    why = enforced_block(state, state.in_force, agent.principal)
    if why:
        challenges.issue(tx, state, agent, challenges.BLOCK, why, now)
    details = {"principal": agent.principal, "name": agent.name, "words": f"asks to be freed: {reason}"}
    state.recorder.event(tx, "alert", agent.principal, details)
    notices.notify(tx, agent, notices.STATUS, "An operator was asked to review it.", now)
    if why:
        return _ReleaseOutcome(f"{_ASKED} {HOW}.")
    if held is None or judged is None:
        words = f"An operator was told, but nothing holds this agent: report the next step, or {ABORT}."
        return _ReleaseOutcome(words)
    if settled is not None and settled.state is TicketState.REJECTED:
        return _ReleaseOutcome(f"This was refused: {rejection_message(settled)} Wait for the answer, or {ABORT}.")
    return _open_ticket(tx, state, held[1], judged, reason)


def _judged(state: State, agent: AgentRef, via: Connection, held: tuple[Execution | None, Pause], now: float) -> Judged:
    """The release as an action, with the same digest for as long as the agent waits for the same."""
    execution, pause = held
    action = operation(RELEASE, {"element_name": agent.name, "waits_for": pause.id}, "EXECUTE")
    judgement, names = state.reader.read(action)
    id = execution.id if execution else ""
    request = Request(action, agent, via.door, operation=RELEASE, execution=id, strength=via.strength)
    isolation = via.strength or isolation_of(state, agent.principal)
    return identify(state, Judged(request, judgement, names, None, now, state.in_force, isolation))


def _open_ticket(tx: Tx, state: State, pause: Pause, judged: Judged, reason: str) -> _ReleaseOutcome:
    """Opens the ticket for people; where their queue is full, only the alert reaches them."""
    step = tx.ticket(pause.ticket) if pause.ticket else None
    what = f"'{ticket_excerpt(step)}'" if step is not None else pause.reason
    why = f": {reason.rstrip('.')}" if reason else ""
    words = f"asks to be freed{why}. It waits for {pause.id} ({what}); a yes ends this wait, and approves nothing else"
    weighed = PolicyResult(
        _REQUIREMENT, (f"deadlock: {words}",), parts=(Contribution("deadlock", _REQUIREMENT, words),)
    )
    title = f"Free agent {judged.request.agent.name!r:.80}, which waits for {what}"
    made = replace(new_ticket(state, judged, weighed), title=title[:TITLE])
    made = replace(made, shown_hash=shown_hash(made))
    made = replace(made, seal=seal_of(state, made))
    try:
        ticket = tx.open_ticket(made, state.policy.open_tickets)
    except QueueFull:
        return _ReleaseOutcome(_ASKED)
    fresh = ticket.id == made.id
    if fresh:
        state.baseline.opened(ticket)
    words = f"{_ASKED} {approval_hint(ticket.id)}; then call {RELEASE} once more, or {ABORT}."
    return _ReleaseOutcome(words, opened=ticket if fresh else None)


def _release(
    tx: Tx, state: State, agent: AgentRef, pause: Pause, ticket: Ticket, now: float
) -> _ReleaseOutcome | LoopProblem:
    """Spends the approval and withdraws what the agent waited for; nothing of that is approved."""
    spent = replace(apply_move(settle(ticket, now), "spend", now), version=ticket.version + 1)
    if not tx.change_ticket(spent, ticket) or not state.baseline.spend(ticket.id, spent):
        return LoopProblem("TOKEN_ALREADY_USED")
    for one in live_executions(tx, agent):
        mine = pause_of(one.pause)
        if mine is not None and mine.id == pause.id and one.status in LIVE:
            tx.save_execution(unpaused_execution(one, now, False), one)
    challenges.end(tx, state, agent.principal, challenges.VERIFY, agent.name)
    if pause.kind != "other":  # another name's ticket is not this one's to take back
        withdraw(tx, state, agent.principal, RELEASE, lambda held: bool(pause.ticket) and held.id == pause.ticket)
    notices.clear(tx, agent, now, ticket=pause.ticket, challenge=pause.challenge)
    return _ReleaseOutcome(_RELEASED, released=True)
