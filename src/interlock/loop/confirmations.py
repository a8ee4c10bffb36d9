"""An agent's use of a person's approval: confirm, continue, list, prompt again, be freed; none of it approves anything by itself (AE-14, C-14, R-15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import (
    APPROVED,
    EXPIRED,
    LIVE_STATES,
    REJECTED,
    SELF_APPROVAL,
    challenges,
    move_settled,
    settle,
)
from interlock.approvals.answers import withdraw
from interlock.approvals.statements import unmet
from interlock.approvals.tickets import TOKEN_FAILURES, new_ticket, sealed, ticket_of, token_of
from interlock.audit.chain import fingerprint, token_body
from interlock.engine.evaluate import evaluate
from interlock.engine.gathering import identify
from interlock.error_codes import INERT, LoopProblem, limit_details
from interlock.identity.attempts import Attempts
from interlock.identity.isolation import isolation_of
from interlock.loop import agents, notices
from interlock.loop.executions import execution_json
from interlock.loop.notices import ABORT, HOW, approval_hint, rejection_message
from interlock.loop.state import LIVE, SINGLE_USE, Pause, pause_of
from interlock.loop.tightening import PLAIN_CONNECTION, Connection, governing
from interlock.model import AgentRef, Human, Requirement, tool
from interlock.model import operation as operation_action
from interlock.policy.circumstances import Contribution
from interlock.policy.evaluate import PolicyResult
from interlock.ports import QueueFull, Tx
from interlock.records import Execution, Ticket, TicketQuery
from interlock.redaction import redact_text
from interlock.runtime import Judged, Request
from interlock.runtime.state import State
from interlock.times import iso

CONFIRMED = "confirmed"  # a ticket's outcome once its token was used to confirm
COOLING = "it is cooling off"
T = TypeVar("T")


def stored(state: State, work: Callable[[Tx], T | LoopProblem]) -> T:
    """A refusal is stored too, so that it counts, then raised."""
    found = state.store.write(work)
    if isinstance(found, LoopProblem):
        raise found
    return found


def confirm_operation(state: State, agent: AgentRef, *, confirmation_token: str, operation: str) -> dict[str, Any]:
    """Uses a token that a person armed: what waits for it resumes; the action, reported again, spends its ticket (2.11)."""
    agents.require_ready(state, agent)

    def work(tx: Tx) -> Ticket | LoopProblem:
        use = _TokenUse(tx, state, agent, confirmation_token, operation, state.clock.now())
        found = _own_armed(use, ticket_of(tx, confirmation_token))
        return found if isinstance(found, LoopProblem) else _use_token(use, found)

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
    """Resumes a paused execution after a person armed its ticket (R-15); any other stays as it is."""
    agents.require_ready(state, agent)

    def work(tx: Tx) -> Execution | LoopProblem:
        now, found = state.clock.now(), tx.executions(agent, live=True)
        if (running := agents.current_execution(tx, agent, found)) is None:
            return agents.no_execution_error(agent)
        if (held := agents.pause_in_force(tx, agent, found, now)) is None:
            return running
        pause = held[1]
        if (ticket := tx.ticket(pause.ticket) if pause.ticket else None) is None:
            words = f"This agent waits for challenge {pause.id}. {HOW}."
            return LoopProblem("PERMISSION_DENIED", words, {"reason": "a challenge is open"})
        use = _TokenUse(tx, state, agent, confirmation_token or token_of(state, ticket), ticket.operation, now)
        named = ticket_of(tx, use.token)
        mine = _armed(use, ticket if named and named.id == ticket.id else None)
        if isinstance(mine, LoopProblem):
            return _record_failure(use, ticket, mine)
        done = _use_token(use, ticket)
        return done if isinstance(done, LoopProblem) else tx.execution(running.id) or running

    execution = stored(state, work)
    return {**execution_json(execution, False), "steps_remaining": execution.steps_left}


def get_pending_cli_approvals(state: State, agent: AgentRef) -> dict[str, Any]:
    now = state.clock.now()
    query = TicketQuery(LIVE_STATES, agent.principal, agent.name, limit=100)
    found = [settle(ticket, now) for ticket in state.store.read(lambda tx: tx.tickets(query))]
    pending = [
        {
            "request_id": ticket.id,
            "operation": ticket.operation,
            "title": ticket.title,
            "danger_level": ticket.level.word,
            "requires": ticket.requirement.word,
            "reason": ticket.reason,
            "armed": ticket.state is APPROVED,
            "opened_at": iso(ticket.opened_at),
            "expires_at": iso(ticket.expires_at),
        }
        for ticket in found
        if ticket.state in LIVE_STATES
    ]
    return {"pending": pending}


def approve_cli_permission(state: State, agent: AgentRef, *, request_id: str) -> dict[str, Any]:
    """Reports that a person armed a held call, which spends its ticket when repeated. Refuses an unarmed one (R-15)."""
    agents.require_ready(state, agent)

    def work(tx: Tx) -> Ticket | LoopProblem:
        ticket = tx.ticket(request_id)
        mine = ticket if ticket and ticket.agent.principal == agent.principal else None
        named = (token_of(state, mine), mine.operation) if mine else (request_id, "")
        use = _TokenUse(tx, state, agent, *named, state.clock.now())
        found = _own_armed(use, mine, once=False)
        return found if isinstance(found, LoopProblem) else settle(found, use.now)

    ticket = stored(state, work)
    return {
        "approved": True,
        "request_id": ticket.id,
        "operation": ticket.operation,
        "expires_at": iso(ticket.expires_at),
        "message": "A person agreed. Make the same call again: it passes once.",
    }


class _TokenUse(Struct, frozen=True):
    tx: Tx
    state: State
    agent: AgentRef
    token: str
    operation: str
    now: float


def _own_armed(use: _TokenUse, ticket: Ticket | None, once: bool = True) -> Ticket | LoopProblem:
    if wait := TOKEN_FAILURES.wait(use.tx, use.agent.principal, use.now):
        return rate_limit_problem(wait, use.now, TOKEN_FAILURES)
    mine = ticket if ticket and ticket.agent.principal == use.agent.principal else None
    found = _armed(use, mine, once)
    return _record_failure(use, mine, found) if isinstance(found, LoopProblem) else found


def _armed(use: _TokenUse, ticket: Ticket | None, once: bool = True) -> Ticket | LoopProblem:
    """CT-05, C-14: the ticket, where a person, also the client's user in this session, armed it and it is unused; else why not."""
    now, shown = use.now, {"token": fingerprint(use.token)}
    if ticket is None:
        return LoopProblem("TOKEN_INVALID", details=shown)
    if use.operation != ticket.operation:
        named = {"token_operation": ticket.operation, "requested_operation": use.operation[:200]}
        words = "This confirmation token is for another operation"
        return LoopProblem("TOKEN_SCOPE_MISMATCH", words, shown | named)
    if ticket.spent_at or (once and ticket.outcome == CONFIRMED):
        used = {"consumed_at": iso(ticket.spent_at)} if ticket.spent_at else {}
        return LoopProblem("TOKEN_ALREADY_USED", details={**shown, **used})
    settled = settle(ticket, now)
    if settled.state is EXPIRED:
        when = {"expired_at": iso(ticket.expires_at), "current_time": iso(now)}
        return LoopProblem("TOKEN_EXPIRED", details={**shown, **when})
    if settled.state is REJECTED:
        held = any(one.pause.get("ticket") == ticket.id for one in use.tx.executions(ticket.agent, live=True))
        words = f"This was refused: {rejection_message(settled)} {notices.ANEW if held else notices.ANOTHER}"
        return LoopProblem("TOKEN_INVALID", words, shown)
    if settled.open and ticket.requirement.human is not Human.NONE:
        return LoopProblem("PERMISSION_DENIED", f"{INERT} {approval_hint(ticket.id)}.", {"reason": SELF_APPROVAL})
    if wait := notices.cooling_seconds(ticket, now):
        details = {"reason": COOLING, "retry_after_seconds": wait}
        return LoopProblem("PERMISSION_DENIED", f"It cools off for {wait} s more. Use the token after this.", details)
    proof = use.state.proof_of(settled, use.agent.session, now)
    why = unmet(proof, settled, use.tx.approvals(ticket.id), Requirement(), now)
    if why or settled.state is not APPROVED:
        return LoopProblem("PERMISSION_DENIED", "Nobody may use this token yet.", {"reason": why or COOLING})
    return ticket


def _record_failure(use: _TokenUse, ticket: Ticket | None, found: LoopProblem) -> LoopProblem:
    """C-14, CT-12, CT-13."""
    TOKEN_FAILURES.failed(use.tx, use.agent.principal, use.now)
    why = str(found.details.get("reason", found.code)) if found.code == "PERMISSION_DENIED" else found.code
    name, adapter = (ticket.operation, ticket.adapter) if ticket else (use.operation[:200], "loop")
    body = token_body(use.now, "TOKEN_REJECTED", use.token, name, adapter, why, use.agent.session)
    use.state.recorder.now(use.tx, "TOKEN_REJECTED", body)
    return found


def _use_token(use: _TokenUse, ticket: Ticket) -> Ticket | LoopProblem:
    tx, state, now, agent = use.tx, use.state, use.now, ticket.agent
    after = replace(settle(ticket, now), outcome=CONFIRMED, version=ticket.version + 1)
    if not tx.change_ticket(after, ticket):
        return LoopProblem("PERMISSION_DENIED", "The ticket was changed just now; try again")
    agents.resume_waiting(tx, agent, ticket.id, now)
    if any(one.kind == challenges.VERIFY and one.digest == ticket.digest for one in tx.challenges(agent.principal)):
        challenges.end(tx, state, agent.principal, challenges.VERIFY, agent.name, challenges.ANSWERED)
    notices.clear(tx, agent, now, ticket=ticket.id)
    token, user = token_of(state, ticket), ticket.decided_by
    body = token_body(now, "TOKEN_VALIDATED", token, ticket.operation, ticket.adapter, "", agent.session, user)
    state.recorder.now(tx, "TOKEN_VALIDATED", body)
    return after


def rate_limit_problem(seconds: int, now: float, attempts: Attempts) -> LoopProblem:
    words = f"Too many attempts; wait {seconds} s."
    return LoopProblem("RATE_LIMIT_EXCEEDED", words, limit_details(attempts.most, seconds, now))


def permission_prompt(
    state: State,
    agent: AgentRef,
    via: Connection = PLAIN_CONNECTION,
    *,
    tool_name: str,
    input: Mapping[str, Any],
    cwd: str = "",
) -> dict[str, Any]:
    """A held call is denied with its ticket, and passes once approved."""
    state.catch_up()
    by, action = governing(state, agent, via), tool(tool_name, input, cwd)
    decision = evaluate(state, Request(action, agent, via.door, strength=via.strength, in_force=by))
    if decision.allowed:
        return {"behavior": "allow", "updatedInput": dict(input)}
    return {"behavior": "deny", "message": decision.reason}


RELEASE = "release_deadlock"
ATTEMPTS = Attempts("loop.deadlocks", most=3, seconds=300.0)
REASON_CHARS, TITLE = 500, 300  # characters
_ASKED = "An operator was asked. Nothing was freed by asking."
_REQUIREMENT = Requirement(human=Human.APPROVE)


class _ReleaseOutcome(Struct, frozen=True):
    message: str
    released: bool = False
    opened: Ticket | None = None  # the ticket, where it was opened now


def release_deadlock(
    state: State, agent: AgentRef, via: Connection = PLAIN_CONNECTION, *, reason: str = ""
) -> dict[str, Any]:
    """Asks a person to end the agent's wait, and ends it once approved; approves no held step."""
    state.catch_up()
    reason = redact_text(reason)[:REASON_CHARS]
    done = stored(state, lambda tx: _request_release(tx, state, agent, via, reason))
    if done.opened:
        state.tell("held", done.opened)
    if not done.released:
        state.tell("deadlock", None, f"agent {agent.name!r:.80} ({agent.principal}) asks to be freed: {reason}")
    return {"requested": True, "released": done.released, "message": done.message}


def _request_release(
    tx: Tx, state: State, agent: AgentRef, via: Connection, reason: str
) -> _ReleaseOutcome | LoopProblem:
    now, found = state.clock.now(), tx.executions(agent, live=True)
    held = agents.pause_in_force(tx, agent, found, now)
    judged = _judged(state, agent, via, held, now) if held else None
    ticket = tx.live_ticket(judged.digest, agent) if judged else None
    settled = settle(ticket, now) if ticket else None
    if held and ticket and settled and settled.state is APPROVED:
        proof = state.proof_of(settled, agent.session, now)
        if not unmet(proof, settled, tx.approvals(ticket.id), ticket.requirement, now):
            return _release(tx, state, agent, held[1], ticket, now)
    if wait := ATTEMPTS.wait(tx, agent.principal, now):
        return rate_limit_problem(wait, now, ATTEMPTS)
    ATTEMPTS.failed(tx, agent.principal, now)
    if why := agents.enforced_block(state, state.in_force, agent.principal):
        challenges.issue(tx, state, agent, challenges.BLOCK, why, now)
    details = {"principal": agent.principal, "name": agent.name, "words": f"asks to be freed: {reason}"}
    state.recorder.event(tx, "alert", agent.principal, details)
    notices.notify(tx, agent, notices.STATUS, "An operator was asked to review it.", now)
    if why:
        return _ReleaseOutcome(f"{_ASKED} {HOW}.")
    if held is None or judged is None:
        return _ReleaseOutcome(f"An operator was told, but nothing holds this agent: report the next step, or {ABORT}.")
    if settled and settled.state is REJECTED:
        return _ReleaseOutcome(f"This was refused: {rejection_message(settled)} Wait for the answer, or {ABORT}.")
    return _open_ticket(tx, state, held[1], judged, reason)


def _judged(state: State, agent: AgentRef, via: Connection, held: tuple[Execution | None, Pause], now: float) -> Judged:
    execution, pause = held
    action = operation_action(RELEASE, {"element_name": agent.name, "waits_for": pause.id}, "EXECUTE")
    judgement, names = state.reader.read(action)
    id = execution.id if execution else ""
    request = Request(action, agent, via.door, operation=RELEASE, execution=id, strength=via.strength)
    isolation = via.strength or isolation_of(state, agent.principal)
    return identify(state, Judged(request, judgement, names, None, now, state.in_force, isolation))


def _open_ticket(tx: Tx, state: State, pause: Pause, judged: Judged, reason: str) -> _ReleaseOutcome:
    step = tx.ticket(pause.ticket) if pause.ticket else None
    what = f"'{notices.ticket_excerpt(step)}'" if step is not None else pause.reason
    why = f": {reason.rstrip('.')}" if reason else ""
    words = f"asks to be freed{why}. It waits for {pause.id} ({what}); a yes ends this wait, and approves nothing else"
    part = Contribution("deadlock", _REQUIREMENT, words)
    weighed = PolicyResult(_REQUIREMENT, (f"deadlock: {words}",), parts=(part,))
    title = f"Free agent {judged.agent.name!r:.80}, which waits for {what}"
    made = sealed(state, replace(new_ticket(state, judged, weighed), title=title[:TITLE]))
    try:
        ticket = tx.open_ticket(made, state.policy.open_tickets)
    except QueueFull:
        return _ReleaseOutcome(_ASKED)
    if fresh := ticket.id == made.id:
        state.baseline.opened(ticket)
    words = f"{_ASKED} {approval_hint(ticket.id)}; then call {RELEASE} once more, or {ABORT}."
    return _ReleaseOutcome(words, opened=ticket if fresh else None)


def _release(
    tx: Tx, state: State, agent: AgentRef, pause: Pause, ticket: Ticket, now: float
) -> _ReleaseOutcome | LoopProblem:
    spent = move_settled(tx, ticket, "spend", now)
    if spent is None or not state.baseline.spend(ticket.id, spent):
        return LoopProblem("TOKEN_ALREADY_USED")
    for one in tx.executions(agent, live=True):
        mine = pause_of(one.pause)
        if mine and mine.id == pause.id and one.status in LIVE:
            tx.save_execution(agents.unpaused_execution(one, now, False), one)
    challenges.end(tx, state, agent.principal, challenges.VERIFY, agent.name)
    if pause.kind != "other":  # another name's ticket is not this one's to take back
        withdraw(tx, state, agent.principal, RELEASE, lambda held: bool(pause.ticket) and held.id == pause.ticket)
    notices.clear(tx, agent, now, ticket=pause.ticket, verificationId=pause.challenge)
    words = "A person agreed: this agent waits no more. The held step was not approved."
    return _ReleaseOutcome(words, released=True)
