"""Performs a decision: ticket, grant, snapshot, counters and record change in one transaction before the answer leaves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from interlock.adapters.name_levels import name_level_notice
from interlock.analysis.display_text import short_id
from interlock.approvals import Resolution, TicketChange, apply_move, settle, tokens
from interlock.approvals.answers import make_room
from interlock.approvals.denials import agree, count_attempt, remember
from interlock.approvals.grants import grant_use_entry, use_grant
from interlock.approvals.tickets import new_ticket
from interlock.audit.chain import event_body
from interlock.audit.decision_entries import decision_entry
from interlock.engine.blocking import block_for
from interlock.engine.decide import Gathered, Outcome
from interlock.engine.snapshotting import snapshot_of
from interlock.identity.isolation import request_isolation
from interlock.model import Kind, Level
from interlock.policy.decision import Decision
from interlock.policy.evaluate import PolicyResult
from interlock.policy.registry_controls import matching_patterns
from interlock.ports import QueueFull, Tx
from interlock.records import NOTHING, HistoryEntry, Ticket
from interlock.runtime import Judged, operation_name
from interlock.runtime.state import State
from interlock.snapshots import TakenSnapshot


def perform(
    tx: Tx,
    state: State,
    judged: Judged,
    found: Gathered,
    answer: Outcome,
) -> Decision:
    """Saves all changes of a decision before the answer leaves; denies what somebody else spent meanwhile."""
    weighed, held, grant = answer.weighed, answer.held, answer.grant
    now, ticket, issued = judged.now, held.ticket, False
    if held.keep is TicketChange.OPEN:
        _expire_replaced(tx, state, found.ticket, now)
        made = new_ticket(state, judged, weighed)
        ticket = _open(tx, state, made)
        if ticket is None:
            held = Resolution("deny", _full(state.policy.open_tickets), code="RATE_LIMIT_EXCEEDED")
        else:
            issued = ticket.id == made.id
            if issued:
                state.baseline.opened(ticket)
                state.elicitations.opened(ticket)
            remember(tx, state, judged, ticket)
    elif held.keep is TicketChange.SPEND and ticket is not None and found.ticket is not None:
        ticket, held = _spend(tx, state, judged, ticket, found.ticket, held)
    elif held.keep is TicketChange.CHANGE and ticket is not None and found.ticket is not None:
        tx.change_ticket(ticket, found.ticket)
    if grant is not None and held.outcome == "allow" and not (tx.use_grant(grant.id, now) and use_grant(state, grant)):
        held = Resolution("deny", f"grant {grant.id} is used up")
    if found.met is not None and held.outcome != "allow" and found.ticket is None:
        count_attempt(tx, state, found.met.denial)
    held, blocked = replace(held, ticket=ticket), ""
    if ticket is not None and ticket.open:
        state.baseline.ask(ticket.id, now)
    if (
        held.keep is not TicketChange.NOTHING or held.ticket is None or found.ticket is None
    ):  # polling one's own ticket is not a new action
        tx.add_deeds([history_entry(judged, held.outcome)])
        blocked = block_for(tx, state, judged, found.counts, weighed, held)
    if tokens.is_failure(judged, held):
        tokens.FAILURES.failed(tx, judged.request.agent.principal, now)
    used = [grant_use_entry(grant, judged)] if grant is not None and held.outcome == "allow" else []
    kept = answer.kept if held.outcome == "allow" else None
    if kept is not None:
        tx.add_snapshot(snapshot_of(state, judged, kept))
    record = decision_entry(state, judged, weighed, answer.at, held, kept)
    state.recorder.these(tx, [record, *tokens.token_entries(state, judged, held, issued), *used])
    decision = decision_of(state, judged, weighed, held, kept)
    if blocked:
        decision = replace(decision, reason=f"{decision.reason} This agent is blocked from now on: {blocked}.")
    return decision


def _open(tx: Tx, state: State, made: Ticket) -> Ticket | None:
    """Opens the ticket; None where the queue is full of tickets with waiting callers."""
    most = state.policy.open_tickets
    with suppress(QueueFull):
        return tx.open_ticket(made, most)
    if make_room(tx, state, made.agent.principal, made.opened_at):
        with suppress(QueueFull):
            return tx.open_ticket(made, most)
    return None


def _full(most: int) -> str:
    return (
        f"the queue is full: {most} actions of this session wait for an answer already. When an operator has answered one"
        " (`interlock pending`; `interlock reject --all` clears it), try again"
    )


def _expire_replaced(tx: Tx, state: State, ticket: Ticket | None, now: float) -> None:
    """Expires an overdue ticket before a new one takes its place."""
    after = settle(ticket, now) if ticket is not None else None
    if ticket is not None and after is not None and after != ticket and tx.change_ticket(after, ticket):
        state.recorder.now(tx, "expire", event_body(now, "expire", "time", {"ticket": ticket.id}))


def _spend(
    tx: Tx, state: State, judged: Judged, ticket: Ticket, before: Ticket, held: Resolution
) -> tuple[Ticket, Resolution]:
    now = judged.now
    if ticket != before and not tx.change_ticket(ticket, before):  # changed by time alone
        found = tx.ticket(ticket.id)
        if found is None or replace(found, decided_at=ticket.decided_at, expires_at=ticket.expires_at) != ticket:
            return ticket, Resolution(
                "deny", f"ticket {short_id(ticket.id)} was answered just now; try again", ticket=ticket
            )
        ticket = found  # maintenance has expired it meanwhile
    spent = apply_move(ticket, "spend", now)
    if not tx.change_ticket(spent, ticket) or not state.baseline.spend(ticket.id, held):
        return ticket, Resolution(
            "deny", f"ticket {short_id(ticket.id)} was used already", ticket=ticket, code="TOKEN_ALREADY_USED"
        )
    agree(tx, state, ticket, now)
    return spent, held


def history_entry(judged: Judged, outcome: str) -> HistoryEntry:
    assessment, matched = judged.judgement.assessment, judged.registry_match
    return HistoryEntry(
        judged.request.agent,
        operation_name(judged.request),
        assessment.level,
        assessment.score
        if assessment.level >= Level.DESTRUCTIVE or judged.request.execution
        else 0,  # everyday work adds no risk
        outcome,
        judged.now,
        judged.request.execution,
        tuple(map(str, judged.effect_keys)),
        judged.severity,
        tuple(sorted(matched.categories))
        if matched
        else tuple(sorted({f.category for f in assessment.findings if f.category})),
    )


def decision_of(
    state: State, judged: Judged, weighed: PolicyResult, held: Resolution, kept: TakenSnapshot | None = None
) -> Decision:
    """Builds the decision; only an allow names its snapshot."""
    kept = kept if held.outcome == "allow" else None
    token = tokens.pending_token(state, judged, held)
    code = tokens.code_of(held, weighed, token)
    return Decision(
        outcome=held.outcome,
        reason=state.words(judged, weighed, held, kept),
        assessment=judged.judgement.assessment,
        requirement=weighed.requirement,
        factors=(*judged.judgement.assessment.factors, *weighed.factors),
        ticket=held.ticket,
        wait_seconds=held.wait_seconds,
        patterns=_patterns(state, judged),
        code=code,
        message=held.message,
        strength=request_isolation(state, judged.request),
        token=token,
        details=tokens.details(state, judged, weighed, held, code, token) if code else NOTHING,
        warnings=notices_of(state, judged, held),
        parts=weighed.parts or weighed.would,
        weighed=weighed.factors,
        kept=kept.id if kept is not None else "",
    )


def _patterns(state: State, judged: Judged) -> tuple[dict[str, Any], ...]:
    """The registry patterns that apply to this action."""
    if judged.registry_match is None:
        return ()
    found = matching_patterns(judged.judgement.assessment, state.policy, judged.registry_match)
    return tuple(pattern.wire for pattern in found.patterns)


INFERRED = "DANGER_LEVEL_INFERRED"


def notices_of(state: State, judged: Judged, held: Resolution) -> tuple[Mapping[str, Any], ...]:
    """The notices of an allowed operation; none where it is held, since the reason says why."""
    request, level = judged.request, judged.judgement.assessment.level
    if held.outcome != "allow" or level < Level.DANGEROUS:
        return ()
    if request.adapter_context is not None:
        return tuple(notice for notice in request.adapter_context.warnings if notice["code"] == INFERRED)
    action = request.action
    name = request.operation or (action.text if action.kind in (Kind.OPERATION, Kind.TOOL) else "")
    found = (
        name_level_notice(name, str(action.fields.get("crude") or ""), level, state.rules.patterns) if name else None
    )
    return (found.as_json(),) if found is not None else ()
