"""Performs a decision: ticket, grant, snapshot, counters, record and a block (R-9) change in one transaction before the answer leaves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from interlock.adapters.levels import name_level_notice
from interlock.analysis.display_text import short_id
from interlock.approvals import Resolution, TicketChange, apply_move, settle, tickets
from interlock.approvals.answers import make_room
from interlock.approvals.confirmations import SESSION
from interlock.approvals.decision_text import sentence
from interlock.approvals.denials import agree, count_attempt, remember
from interlock.approvals.grants import grant_use_entry, use_grant
from interlock.audit.decision_entries import decision_entry
from interlock.engine.decide import Gathered, Outcome
from interlock.model import NOTHING, AgentRef, Decision, Kind, Level
from interlock.policy.declared_steps import MISMATCH, UNDECLARED
from interlock.policy.evaluate import DANGER_ZONE, TAMPERING, PolicyResult
from interlock.policy.registry_controls import matching_patterns
from interlock.ports import QueueFull, Tx
from interlock.records import Block, Counts, HistoryEntry, Snapshot, Ticket
from interlock.redaction import redact_text
from interlock.runtime import Judged, operation_name
from interlock.runtime.state import State
from interlock.snapshots import TakenSnapshot

FULL = (
    "the queue is full: {} actions of this session wait for an answer already. When an operator has answered one"
    " (`interlock pending`; `interlock reject --all` clears it), try again"
)


def perform(tx: Tx, state: State, judged: Judged, found: Gathered, answer: Outcome) -> Decision:
    """Saves everything before the answer leaves; denies what somebody else spent meanwhile."""
    weighed, held, grant = answer.weighed, answer.held, answer.grant
    now, ticket, issued = judged.now, held.ticket, False
    if held.keep is TicketChange.OPEN:
        _expire_replaced(tx, state, found.ticket, now)
        made, most = tickets.new_ticket(state, judged, weighed), judged.policy.open_tickets
        ticket = _open(tx, state, made, most)
        if ticket is None:
            held = Resolution("deny", FULL.format(most), code="RATE_LIMIT_EXCEEDED")
        else:
            issued = ticket.id == made.id
            if issued:
                state.baseline.opened(ticket)
                if ticket.agent.session.startswith(SESSION):
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
    polls = held.keep is TicketChange.NOTHING and held.ticket is not None and found.ticket is not None
    if not polls:  # one's own ticket: no new action
        tx.add_deeds([history_entry(judged, held.outcome)])
        blocked = block_for(tx, state, judged, found.counts, weighed, held)
    if tickets.is_failure(judged, held):
        tickets.TOKEN_FAILURES.failed(tx, judged.agent.principal, now)
    used = [grant_use_entry(grant, judged)] if grant is not None and held.outcome == "allow" else []
    answer = replace(answer, held=held)
    kept = _kept(answer)
    if kept is not None:
        tx.add_snapshot(snapshot_of(state, judged, kept))
    record = decision_entry(judged, weighed, answer.at, held, kept)
    state.recorder.these(tx, [record, *tickets.token_entries(state, judged, held, issued), *used])
    decision = replace(decision_of(state, judged, answer), promptable=found.promptable)
    if blocked:
        decision = replace(decision, reason=f"{decision.reason} This agent is blocked from now on: {blocked}.")
    return decision


def _kept(answer: Outcome) -> TakenSnapshot | None:
    return answer.kept if answer.held.outcome == "allow" else None


def _open(tx: Tx, state: State, made: Ticket, most: int) -> Ticket | None:
    """None where the queue is full of tickets with waiting callers."""
    with suppress(QueueFull):
        return tx.open_ticket(made, most)
    if make_room(tx, state, made.agent.principal, made.opened_at):
        with suppress(QueueFull):
            return tx.open_ticket(made, most)
    return None


def _expire_replaced(tx: Tx, state: State, ticket: Ticket | None, now: float) -> None:
    if ticket is not None and (after := settle(ticket, now)) != ticket and tx.change_ticket(after, ticket):
        state.recorder.event(tx, "expire", "time", {"ticket": ticket.id})


def _spend(
    tx: Tx, state: State, judged: Judged, ticket: Ticket, before: Ticket, held: Resolution
) -> tuple[Ticket, Resolution]:
    if ticket != before and not tx.change_ticket(ticket, before):  # changed by time alone
        found = tx.ticket(ticket.id)
        if found is None or replace(found, decided_at=ticket.decided_at, expires_at=ticket.expires_at) != ticket:
            words = f"ticket {short_id(ticket.id)} was answered just now; try again"
            return ticket, Resolution("deny", words, ticket=ticket)
        ticket = found  # maintenance has expired it meanwhile
    spent = apply_move(ticket, "spend", judged.now)
    if not tx.change_ticket(spent, ticket) or not state.baseline.spend(ticket.id, held):
        words = f"ticket {short_id(ticket.id)} was used already"
        return ticket, Resolution("deny", words, ticket=ticket, code="TOKEN_ALREADY_USED")
    agree(tx, state, ticket, judged.now)
    return spent, held


COMMAND = 2_000  # characters of a stored command


def snapshot_of(state: State, judged: Judged, found: TakenSnapshot) -> Snapshot:
    agent, action = judged.agent, judged.action
    command = redact_text(action.text[: COMMAND * 2])[:COMMAND]
    return Snapshot(
        found.id, judged.now, judged.request.owner, agent.name, agent.session, action.cwd, command, found.digest, found.files,
        found.bytes, machine=state.snapshots.machine,
    )  # fmt: skip


def history_entry(judged: Judged, outcome: str) -> HistoryEntry:
    assessment, matched = judged.assessment, judged.registry_match
    counts = assessment.level >= Level.DESTRUCTIVE or judged.request.execution  # everyday work adds no risk
    categories = matched.categories if matched else assessment.categories
    return HistoryEntry(
        judged.agent,
        operation_name(judged.request),
        assessment.level,
        assessment.score if counts else 0,
        outcome,
        judged.now,
        judged.request.execution,
        tuple(map(str, judged.effect_keys)),
        judged.severity,
        tuple(sorted(categories)),
    )


def decision_of(state: State, judged: Judged, answer: Outcome) -> Decision:
    weighed, held, kept = answer.weighed, answer.held, _kept(answer)
    token = tickets.pending_token(state, judged, held)
    code = tickets.code_of(held, weighed, token)
    return Decision(
        outcome=held.outcome,
        reason=sentence(judged, weighed, held, kept),
        assessment=judged.assessment,
        requirement=weighed.requirement,
        factors=(*judged.assessment.factors, *weighed.factors),
        ticket=held.ticket,
        wait_seconds=held.wait_seconds,
        patterns=_patterns(judged),
        code=code,
        message=held.message,
        strength=judged.isolation,
        token=token,
        details=tickets.token_details(state, judged, weighed, held, code, token) if code else NOTHING,
        warnings=notices_of(judged, held),
        parts=weighed.parts or weighed.would,
        weighed=weighed.factors,
        kept=kept.id if kept is not None else "",
    )


def _patterns(judged: Judged) -> tuple[dict[str, Any], ...]:
    if judged.registry_match is None:
        return ()
    found = matching_patterns(judged.assessment, judged.policy, judged.registry_match).patterns
    return tuple(pattern.wire for pattern in found)


INFERRED = "DANGER_LEVEL_INFERRED"


def notices_of(judged: Judged, held: Resolution) -> tuple[Mapping[str, Any], ...]:
    """None where it is held, since the reason says why."""
    request, level = judged.request, judged.assessment.level
    if held.outcome != "allow" or level < Level.DANGEROUS:
        return ()
    if request.adapter_context is not None:
        return tuple(notice for notice in request.adapter_context.warnings if notice["code"] == INFERRED)
    action = request.action
    name = request.operation or (action.text if action.kind in (Kind.OPERATION, Kind.TOOL) else "")
    crude, patterns = str(action.fields.get("crude") or ""), judged.in_force.rules.patterns
    found = name_level_notice(name, crude, level, patterns) if name else None
    return (found.as_json(),) if found is not None else ()


def block_for(tx: Tx, state: State, judged: Judged, counts: Counts, weighed: PolicyResult, held: Resolution) -> str:
    """Blocks the caller where this answer calls for it; only in enforcing mode, and never a person."""
    if held.outcome == "allow" or judged.in_force.mode != "enforcing" or judged.agent.person:
        return ""
    reason = _block_reason(judged, counts, weighed)
    return reason if reason and _block(tx, state, judged.agent, reason, judged.now) else ""


def _block(tx: Tx, state: State, agent: AgentRef, reason: str, now: float) -> bool:
    """False where the principal is blocked already."""
    if tx.block(agent.principal) is not None:
        return False
    block = Block(agent.principal, reason, now, "interlock", agent.name)
    tx.save_block(block)
    details = {"principal": agent.principal, "name": agent.name, "reason": reason}
    state.recorder.event(tx, "block", "interlock", details)
    state.remember_block(block)
    return True


def block_now(state: State, agent: AgentRef, reason: str, alert: Mapping[str, Any]) -> bool:
    """False where the principal is blocked already, or nothing is enforced."""

    def work(tx: Tx) -> bool:
        now = state.clock.now()
        state.recorder.event(tx, "alert", "interlock", alert)
        return state.mode == "enforcing" and _block(tx, state, agent, reason, now)

    return state.store.write(work)


def _block_reason(judged: Judged, counts: Counts, weighed: PolicyResult) -> str:
    parts = {part.name: part for part in weighed.parts}
    if TAMPERING in parts and judged.request.step is None:  # a step's agent is stopped by the loop's challenge
        return f"an action that {parts[TAMPERING].words}"
    for name in (UNDECLARED, MISMATCH):
        if name in parts and parts[name].requirement.blocked:
            return f"{name}: {parts[name].words}"
    if DANGER_ZONE in parts:
        return "an action in the danger zone"
    escalate = judged.policy.escalate
    most, window = escalate.forbidden_attempts, escalate.forbidden_window_seconds
    if most is None or judged.assessment.level < Level.FORBIDDEN or counts.forbidden + 1 < most:
        return ""
    minutes, rest = divmod(window, 60)
    time = f"{window} seconds" if rest else f"{minutes} minute{'' if minutes == 1 else 's'}"
    time = "ten minutes" if window == 600 else time
    return f"{_NUMBERS.get(most, str(most))} forbidden attempt{'' if most == 1 else 's'} in {time}"


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
