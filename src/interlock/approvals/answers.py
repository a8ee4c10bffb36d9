"""Resolves tickets: signed approvals, rejections and revocations, execution reports, and withdrawal once the caller is gone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from interlock.analysis.display_text import short_id
from interlock.approvals import (
    APPROVED,
    REJECTED,
    SPENT,
    MoveRefused,
    apply_move,
    denials,
    settle,
    spend_by,
    statements,
)
from interlock.approvals.tickets import is_altered, revocation_entry
from interlock.audit.chain import AuditEvent, event_body
from interlock.error_codes import AnswerRefused
from interlock.identity.passkey_proofs import proof_fields
from interlock.identity.sessions import OperatorSession
from interlock.model import AgentRef, Level
from interlock.ports import Tx
from interlock.records import OPEN_STATES, Approval, Ticket, TicketQuery
from interlock.redaction import redact_text
from interlock.runtime.state import State


def approve(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    """The ticket is approved once enough entitled people have signed."""

    def work(tx: Tx, ticket: Ticket, now: float, reason: str) -> Ticket:
        if is_altered(state, ticket):
            raise AnswerRefused(f"ticket {id} was altered outside Interlock; nothing was signed")
        anew = session.asked_anew(id, now)
        if statements.needs_reauth(ticket.requirement) and not anew:
            raise AnswerRefused(f"ticket {id} takes a fresh sign-in; enter your passphrase again")
        if session.proves_little and ticket.level >= Level.DANGEROUS and not anew:
            who = "an unlocked terminal" if session.resumed else "a signed-in browser"
            raise AnswerRefused(f"ticket {short_id(id)} is {ticket.level.word}: {who} alone does not approve it")
        signed = sign_statement(session, ticket, "approve", now, spend_by(ticket, now) + 1)
        tx.add_approval(signed)
        found = agreement(state, ticket, tx.approvals(id), now)
        if found and session.operator not in found.by:
            raise AnswerRefused("your signature does not count: the ticket may have changed; review it again")
        if found is None or not found.satisfied:
            return ticket  # one of several who are asked
        return apply_move(ticket, "approve", now, ", ".join(found.by), reason)

    return _answer(state, session, id, "approve", reason, work)


def reject(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    """The same effect on the same target stays rejected, whatever tool asks."""

    def work(tx: Tx, ticket: Ticket, now: float, reason: str) -> Ticket:
        tx.add_approval(sign_statement(session, ticket, "reject", now, now + 3600))
        changed = apply_move(ticket, "reject", now, session.operator, reason)
        denials.reject(tx, state, ticket, now)
        return changed

    return _answer(state, session, id, "reject", reason, work)


def revoke(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    def work(tx: Tx, ticket: Ticket, now: float, reason: str) -> Ticket:
        return apply_move(ticket, "revoke", now, session.operator, reason)

    return _answer(state, session, id, "revoke", reason, work)


def report_execution(state: State, agent: AgentRef, id: str, outcome: str) -> Ticket:
    """Reports the outcome of an allowed action; only the agent that spent the ticket may."""

    def work(tx: Tx) -> Ticket:
        ticket = tx.ticket(id)
        if ticket is None or (ticket.agent.principal, ticket.agent.name) != (agent.principal, agent.name):
            raise AnswerRefused(f"no ticket {id!r} of yours", "TOKEN_INVALID")
        if ticket.state is not SPENT:
            raise AnswerRefused(f"ticket {short_id(id)} was not used: it is {ticket.state.value}")
        return mark_executed(tx, state, ticket, agent.principal, outcome)

    return state.store.write(work)


def mark_executed(tx: Tx, state: State, ticket: Ticket, by: str, outcome: str) -> Ticket:
    """The first report counts."""
    if ticket.executed_at:
        return ticket
    now, said = state.clock.now(), redact_text(outcome[:4_000])[:500]
    changed = replace(ticket, executed_at=now, outcome=said, version=ticket.version + 1)
    if not tx.change_ticket(changed, ticket):
        raise AnswerRefused(f"ticket {short_id(ticket.id)} was changed just now; try again")
    state.recorder.event(tx, "executed", by, {"ticket": ticket.id, "outcome": said})
    return changed


Work = Callable[[Tx, Ticket, float, str], Ticket]


def _answer(state: State, session: OperatorSession, id: str, event: str, reason: str, work: Work) -> Ticket:
    """In one transaction: the statement, the move and its record."""
    reason = redact_text(reason)

    def whole(tx: Tx) -> Ticket:
        now = state.clock.now()
        if (before := tx.ticket(id)) is None:
            raise AnswerRefused(f"no ticket {id!r}", "TOKEN_INVALID")
        require_approver(state, session, before)
        ticket = settle(before, now)
        try:
            changed = work(tx, ticket, now, reason)
        except MoveRefused as error:
            code = "TOKEN_EXPIRED" if "expired" in str(error) else "PERMISSION_DENIED"
            raise AnswerRefused(str(error), code) from None
        if changed != before:
            changed = replace(changed, version=before.version + 1)
            if not tx.change_ticket(changed, before):
                raise AnswerRefused(f"ticket {id} was changed just now; review it again")
        details = {
            "ticket": id,
            "digest": before.digest,
            "channel": session.channel,
            "reason": reason,
            "state": changed.state.value,
            **(proof_fields(session.prepared) if session.prepared else {}),
        }
        record: list[AuditEvent] = [(event, event_body(now, event, session.operator, details))]
        for one in tx.challenges(before.agent.principal) if changed.state in (APPROVED, REJECTED) else ():
            if one.kind == "verify" and one.digest == before.digest:  # for the step that was answered
                tx.save_challenge(replace(one, state="answered", code_hash="", release=""))
        if changed.state is REJECTED:
            state.baseline.ended(id)
            state.confirmations.forget(before.agent)
            record.append(revocation_entry(state, before, session.operator, now))
        state.recorder.these(tx, record)
        return changed

    answered = state.store.write(whole)
    state.tell(event, answered)
    return answered


def require_approver(state: State, session: OperatorSession, ticket: Ticket) -> None:
    approvers = ticket.requirement.approvers
    if not statements.is_approver(state.sessions.people, session.operator, approvers):
        who = ", ".join(sorted(approvers)) or "any operator"
        raise AnswerRefused(f"{session.operator} may not answer ticket {ticket.id}: it asks for {who}")


def agreement(state: State, ticket: Ticket, approvals: Iterable[Approval], now: float) -> statements.Agreement | None:
    """None while nobody has unlocked the roster."""
    roster = state.sessions.roster
    return statements.check_agreement(ticket, approvals, now, roster.people, roster.verify) if roster else None


def sign_statement(session: OperatorSession, ticket: Ticket, verdict: str, now: float, lasts: float) -> Approval:
    """Signed with the operator's unlocked key, or by a passkey touched for it."""
    made = session.prepared
    if made and (made.ticket, made.verdict) == (ticket.id, verdict):
        return made
    reauth = session.asked_anew(ticket.id, now)
    text = statements.statement_text(
        ticket, operator=session.operator, verdict=verdict, channel=session.channel, issued_at=now,
        expires_at=lasts + 1, nonce=secrets.token_hex(16), reauth=reauth,
    )  # fmt: skip
    signed = text, session.unlocked.sign(text), session.unlocked.key_id
    return Approval(ticket.id, session.operator, verdict, *signed, session.channel, now, lasts + 1, reauth)


CALLER_GONE = "caller"  # `decided_by` where the caller has left
PATIENCE = 600.0  # seconds without a question after which a ticket makes room for another one
_MOST = 1_000


def abandon(state: State, id: str) -> None:
    def work(tx: Tx) -> None:
        ticket = tx.ticket(id)
        if ticket and ticket.open:
            _expire(tx, state, ticket, CALLER_GONE, "its caller went away before it was answered")

    state.store.write(work)


def make_room(tx: Tx, state: State, principal: str, now: float) -> bool:
    """Withdraws tickets whose callers stopped asking; whether the queue is shorter."""

    def is_abandoned(ticket: Ticket) -> bool:
        return now - state.baseline.last_asked_at(ticket) >= PATIENCE

    why = "nobody asked for it any more, and others waited for room"
    return withdraw(tx, state, principal, CALLER_GONE, is_abandoned, why) > 0


def withdraw(tx: Tx, state: State, principal: str, by: str, whose: Callable[[Ticket], bool], why: str = "") -> int:
    """Another attempt opens another ticket."""
    found = list(filter(whose, tx.tickets(TicketQuery(OPEN_STATES, principal, limit=_MOST))))
    return sum(_expire(tx, state, ticket, by, why) for ticket in found)


def _expire(tx: Tx, state: State, ticket: Ticket, by: str, why: str) -> bool:
    now = state.clock.now()
    if not tx.change_ticket(apply_move(ticket, "expire", now, by, why), ticket):
        return False
    denials.release(tx, state, ticket, now)
    state.recorder.event(tx, "expire", by, {"ticket": ticket.id})
    return True
