"""An agent's use of a person's approval: confirm, continue, list, prompt again; none of it approves anything by itself (AE-14, C-14, R-15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from interlock.approvals import SELF_APPROVAL, challenges, settle
from interlock.approvals.statements import unmet
from interlock.approvals.tickets import TOKEN_FAILURES, ticket_of, token_of
from interlock.audit.chain import fingerprint, token_body
from interlock.engine.evaluate import evaluate
from interlock.error_codes import INERT, LoopProblem
from interlock.identity.attempts import Attempts
from interlock.loop import notices
from interlock.loop.agents import (
    current_execution,
    live_executions,
    no_execution_error,
    pause_in_force,
    refuse_blocked,
    resume_waiting,
)
from interlock.loop.executions import execution_json
from interlock.loop.notices import ANEW, ANOTHER, HOW, approval_hint, cooling_seconds, rejection_message
from interlock.loop.state import SINGLE_USE
from interlock.loop.tightening import PLAIN_CONNECTION, Connection, governing
from interlock.model import AgentRef, Human, Requirement, TicketState, tool
from interlock.ports import Tx
from interlock.records import Execution, Ticket, TicketQuery
from interlock.runtime import Request
from interlock.runtime.state import State
from interlock.times import iso

CONFIRMED = "confirmed"  # a ticket's outcome once its token was used to confirm
COOLING = "it is cooling off"
T = TypeVar("T")


def stored(state: State, work: Callable[[Tx], T | LoopProblem]) -> T:
    """The result of an attempt once it is stored; a refusal is stored too, so that it counts, and then raised."""
    found = state.store.write(work)
    if isinstance(found, LoopProblem):
        raise found
    return found


def confirm_operation(state: State, agent: AgentRef, *, confirmation_token: str, operation: str) -> dict[str, Any]:
    """Uses a token that a person armed: executions that wait for it resume; the action itself, reported again, spends its ticket (2.11)."""
    require_ready(state, agent)

    def work(tx: Tx) -> Ticket | LoopProblem:
        found = _own_armed(tx, state, agent, ticket_of(tx, confirmation_token), confirmation_token, operation)
        return found if isinstance(found, LoopProblem) else _use_token(tx, state, found, state.clock.now())

    ticket = stored(state, work)
    return {
        "confirmed": True,
        "operation": ticket.operation,
        "element_name": ticket.agent.name,
        "level": SINGLE_USE,
        "expires_at": iso(ticket.expires_at),
        "message": "Confirmed. Report the same step, or call the operation, once more: it passes once.",
    }


def continue_execution(state: State, agent: AgentRef, *, confirmation_token: str = "") -> dict[str, Any]:
    """Resumes a paused execution after a person armed its ticket (R-15); one that is not paused stays as it is."""
    require_ready(state, agent)

    def work(tx: Tx) -> Execution | LoopProblem:
        now, found = state.clock.now(), live_executions(tx, agent)
        running = current_execution(tx, agent, found)
        if running is None:
            return no_execution_error(agent)
        held = pause_in_force(tx, agent, found, now)
        if held is None:
            return running
        pause = held[1]
        ticket = tx.ticket(pause.ticket) if pause.ticket else None
        if ticket is None:
            words = f"This agent waits for challenge {pause.id}. {HOW}."
            return LoopProblem("PERMISSION_DENIED", words, {"reason": "a challenge is open"})
        given = confirmation_token or token_of(state, ticket)
        named = ticket_of(tx, given)
        mine = ticket if named is not None and named.id == ticket.id else None
        problem = _token_problem(tx, state, agent, mine, given, ticket.operation, now)
        if problem is not None:
            return _record_failure(tx, state, agent, ticket, given, ticket.operation, problem, now)
        done = _use_token(tx, state, ticket, now)
        return done if isinstance(done, LoopProblem) else tx.execution(running.id) or running

    execution = stored(state, work)
    return {**execution_json(execution, False), "steps_remaining": execution.steps_left}


def get_pending_cli_approvals(state: State, agent: AgentRef) -> dict[str, Any]:
    """The tickets of this agent that wait for a person, or were armed and not used yet."""
    now = state.clock.now()
    query = TicketQuery(notices.OPEN_TICKETS, agent.principal, agent.name, limit=100)
    found = [settle(ticket, now) for ticket in state.store.read(lambda tx: tx.tickets(query))]
    pending = [
        {
            "request_id": ticket.id,
            "operation": ticket.operation,
            "title": ticket.title,
            "danger_level": ticket.level.word,
            "requires": ticket.requirement.word,
            "reason": ticket.reason,
            "armed": ticket.state is TicketState.APPROVED,
            "opened_at": iso(ticket.opened_at),
            "expires_at": iso(ticket.expires_at),
        }
        for ticket in found
        if ticket.state in notices.OPEN_TICKETS
    ]
    return {"pending": pending}


def approve_cli_permission(state: State, agent: AgentRef, *, request_id: str) -> dict[str, Any]:
    """Reports that a person armed a held call; the call itself, repeated, spends its ticket. An unarmed one is refused (R-15)."""
    require_ready(state, agent)

    def work(tx: Tx) -> Ticket | LoopProblem:
        ticket = tx.ticket(request_id)
        mine = ticket if ticket is not None and ticket.agent.principal == agent.principal else None
        token, operation = (token_of(state, mine), mine.operation) if mine is not None else (request_id, "")
        found = _own_armed(tx, state, agent, mine, token, operation, once=False)
        return found if isinstance(found, LoopProblem) else settle(found, state.clock.now())

    ticket = stored(state, work)
    return {
        "approved": True,
        "request_id": ticket.id,
        "operation": ticket.operation,
        "expires_at": iso(ticket.expires_at),
        "message": "A person agreed. Make the same call again: it passes once.",
    }


def require_ready(state: State, agent: AgentRef) -> None:
    state.catch_up()
    refuse_blocked(state, state.in_force, agent)


def _own_armed(
    tx: Tx, state: State, agent: AgentRef, ticket: Ticket | None, token: str, operation: str, once: bool = True
) -> Ticket | LoopProblem:
    """The agent's own ticket, armed by a person; else the problem, counted: another's token is no token."""
    now = state.clock.now()
    wait = TOKEN_FAILURES.wait(tx, agent.principal, now)
    if wait:
        return rate_limit_problem(wait, now, TOKEN_FAILURES)
    mine = ticket if ticket is not None and ticket.agent.principal == agent.principal else None
    problem = _token_problem(tx, state, agent, mine, token, operation, now, once)
    if problem is None and mine is not None:
        return mine
    found = problem or LoopProblem("TOKEN_INVALID", details={"token": fingerprint(token)})
    return _record_failure(tx, state, agent, mine, token, operation, found, now)


def _token_problem(
    tx: Tx,
    state: State,
    agent: AgentRef,
    ticket: Ticket | None,
    token: str,
    operation: str,
    now: float,
    once: bool = True,
) -> LoopProblem | None:
    """CT-05, C-14: why a token is not valid; None where a person, also the client's own user in this session, armed it and it is unused."""
    shown = {"token": fingerprint(token)}
    if ticket is None:
        return LoopProblem("TOKEN_INVALID", details=shown)
    if operation != ticket.operation:
        named = {"token_operation": ticket.operation, "requested_operation": operation[:200]}
        return LoopProblem(
            "TOKEN_SCOPE_MISMATCH", "This confirmation token is for another operation", {**shown, **named}
        )
    if ticket.spent_at or (once and ticket.outcome == CONFIRMED):
        used = {"consumed_at": iso(ticket.spent_at)} if ticket.spent_at else {}
        return LoopProblem("TOKEN_ALREADY_USED", details={**shown, **used})
    settled = settle(ticket, now)
    if settled.state is TicketState.EXPIRED:
        when = {"expired_at": iso(ticket.expires_at), "current_time": iso(now)}
        return LoopProblem("TOKEN_EXPIRED", details={**shown, **when})
    if settled.state is TicketState.REJECTED:
        held = any(one.pause and one.pause.get("ticket") == ticket.id for one in live_executions(tx, ticket.agent))
        words = f"This was refused: {rejection_message(settled)} {ANEW if held else ANOTHER}"
        return LoopProblem("TOKEN_INVALID", words, shown)
    if settled.open and ticket.requirement.human is not Human.NONE:
        return LoopProblem("PERMISSION_DENIED", f"{INERT} {approval_hint(ticket.id)}.", {"reason": SELF_APPROVAL})
    wait = cooling_seconds(ticket, now)
    if wait:
        details = {"reason": COOLING, "retry_after_seconds": wait}
        return LoopProblem("PERMISSION_DENIED", f"It cools off for {wait} s more. Use the token after this.", details)
    why = unmet(state.proof_of(settled, agent.session, now), settled, tx.approvals(ticket.id), Requirement(), now)
    if why or settled.state is not TicketState.APPROVED:
        return LoopProblem("PERMISSION_DENIED", "Nobody may use this token yet.", {"reason": why or COOLING})
    return None


def _record_failure(
    tx: Tx,
    state: State,
    agent: AgentRef,
    ticket: Ticket | None,
    token: str,
    operation: str,
    found: LoopProblem,
    now: float,
) -> LoopProblem:
    """Counts an invalid token against the rate limit and records it (C-14, CT-12, CT-13)."""
    TOKEN_FAILURES.failed(tx, agent.principal, now)
    why = str(found.details.get("reason", found.code)) if found.code == "PERMISSION_DENIED" else found.code
    name = ticket.operation if ticket is not None else operation[:200]
    adapter = ticket.adapter if ticket is not None else "loop"
    body = token_body(now, "TOKEN_REJECTED", token, name, adapter, why, agent.session)
    state.recorder.now(tx, "TOKEN_REJECTED", body)
    return found


def _use_token(tx: Tx, state: State, ticket: Ticket, now: float) -> Ticket | LoopProblem:
    """Uses the token: executions that wait for it resume, and its challenge and notices end."""
    settled = settle(ticket, now)
    after = replace(settled, outcome=CONFIRMED, version=ticket.version + 1)
    if not tx.change_ticket(after, ticket):
        return LoopProblem("PERMISSION_DENIED", "The ticket was changed just now; try again")
    agent = ticket.agent
    resume_waiting(tx, agent, ticket.id, now)
    for challenge in tx.challenges(agent.principal):
        if challenge.kind == challenges.VERIFY and challenge.digest == ticket.digest:
            challenges.end(tx, state, agent.principal, challenges.VERIFY, agent.name, challenges.ANSWERED)
            break
    notices.clear(tx, agent, now, ticket=ticket.id)
    token, user = token_of(state, ticket), ticket.decided_by
    body = token_body(now, "TOKEN_VALIDATED", token, ticket.operation, ticket.adapter, "", agent.session, user)
    state.recorder.now(tx, "TOKEN_VALIDATED", body)
    return after


def rate_limit_problem(seconds: int, now: float, attempts: Attempts) -> LoopProblem:
    details: Mapping[str, Any] = {
        "limit": attempts.most,
        "remaining": 0,
        "window": "minute",
        "resets_at": iso(now + seconds),
        "retry_after_seconds": seconds,
    }
    return LoopProblem("RATE_LIMIT_EXCEEDED", f"Too many attempts; wait {seconds} s.", details)


def permission_prompt(
    state: State,
    agent: AgentRef,
    via: Connection = PLAIN_CONNECTION,
    *,
    tool_name: str,
    input: Mapping[str, Any],
    cwd: str = "",
) -> dict[str, Any]:
    """Whether a tool call may be made now; a held one is denied with its ticket, and passes once a person approved."""
    state.catch_up()
    by, action = governing(state, agent, via), tool(tool_name, input, cwd)
    decision = evaluate(state, Request(action, agent, via.door, strength=via.strength, in_force=by))
    if decision.allowed:
        return {"behavior": "allow", "updatedInput": dict(input)}
    return {"behavior": "deny", "message": decision.reason}
