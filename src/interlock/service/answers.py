"""What people say about held actions: approve, reject, revoke; and what an agent reports back. Every answer is signed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from interlock.core.codes import Refused
from interlock.core.model import AgentRef, Level, TicketState
from interlock.core.records import Approval, Ticket
from interlock.core.redact import redact_text
from interlock.core.statement import agrees, may, needs_reauth, statement
from interlock.core.ticket import MoveRefused, moved, settled, spend_by
from interlock.ports import Tx
from interlock.service import denials, tokens
from interlock.service.record import Told, deed
from interlock.service.sessions import OperatorSession
from interlock.service.state import State
from interlock.service.tickets import seal_of, shown_hash


def approve(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    """Signs an approval; the ticket is approved once enough people who may have signed."""
    reason = redact_text(reason)

    def work(tx: Tx, ticket: Ticket, now: float) -> Ticket:
        if ticket.seal != seal_of(state, ticket) or ticket.shown_hash != shown_hash(ticket):
            raise Refused(f"ticket {id} was altered outside Interlock; nothing was signed")
        if needs_reauth(ticket.requirement) and not session.asked_anew(id, now):
            raise Refused(f"ticket {id} takes a fresh sign-in; enter your passphrase again")
        if session.proves_little and ticket.level >= Level.DANGEROUS and not session.asked_anew(id, now):
            who = "an unlocked terminal" if session.resumed else "a signed-in browser"
            raise Refused(f"ticket {id} is {ticket.level.word}: {who} alone does not approve it")
        lasts = spend_by(ticket, now) + 1
        approvals = [*tx.approvals(id), _signed(state, tx, session, ticket, "approve", now, lasts)]
        roster = state.sessions.roster
        found = agrees(ticket, approvals, now, roster.people, roster.verify) if roster else None
        if found is not None and session.operator not in found.by:
            raise Refused("your signature does not count: the ticket may have changed; look again")
        if found is None or not found.satisfied:
            return ticket  # one of several who are asked
        return moved(ticket, "approve", now, ", ".join(found.by), reason)

    return _answered(state, session, id, "approve", reason, work)


def reject(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    """Signs a rejection; the same effect on the same target stays rejected, whatever tool asks for it."""
    reason = redact_text(reason)

    def work(tx: Tx, ticket: Ticket, now: float) -> Ticket:
        _signed(state, tx, session, ticket, "reject", now, now + 3600)
        changed = moved(ticket, "reject", now, session.operator, reason)
        denials.reject(tx, state, ticket, now)
        return changed

    return _answered(state, session, id, "reject", reason, work)


def revoke(state: State, session: OperatorSession, id: str, reason: str = "") -> Ticket:
    """Takes an approval back before it was used."""
    reason = redact_text(reason)
    return _answered(
        state,
        session,
        id,
        "revoke",
        reason,
        lambda tx, ticket, now: moved(ticket, "revoke", now, session.operator, reason),
    )


def executed(state: State, agent: AgentRef, id: str, outcome: str) -> Ticket:
    """What became of an action that was let through; only the agent that spent the ticket can say."""

    def work(tx: Tx) -> Ticket:
        ticket = tx.ticket(id)
        if ticket is None or not same_agent(ticket.agent, agent):
            raise Refused(f"no ticket {id!r} of yours", "TOKEN_INVALID")
        if ticket.state is not TicketState.SPENT:
            raise Refused(f"ticket {id} was not used: it is {ticket.state.value}")
        return mark_executed(tx, state, ticket, agent.principal, outcome)

    return state.store.write(work)


def mark_executed(tx: Tx, state: State, ticket: Ticket, by: str, outcome: str) -> Ticket:
    """A spent ticket, with what became of its action; the first report counts."""
    if ticket.executed_at:
        return ticket
    now, said = state.clock.now(), redact_text(outcome[:4_000])[:500]
    changed = replace(ticket, executed_at=now, outcome=said, version=ticket.version + 1)
    if not tx.change_ticket(changed, ticket):
        raise Refused(f"ticket {ticket.id} was changed just now; try again")
    state.recorder.now(tx, "executed", deed(now, "executed", by, {"ticket": ticket.id, "outcome": said}))
    return changed


def same_agent(one: AgentRef, other: AgentRef) -> bool:
    return (one.principal, one.name) == (other.principal, other.name)


def _answered(
    state: State,
    session: OperatorSession,
    id: str,
    event: str,
    reason: str,
    work: Callable[[Tx, Ticket, float], Ticket],
) -> Ticket:
    """One answer in one transaction: the statement, the move and the record of it."""

    def whole(tx: Tx) -> Ticket:
        now = state.clock.now()
        before = tx.ticket(id)
        if before is None:
            raise Refused(f"no ticket {id!r}", "TOKEN_INVALID")
        person = state.sessions.person(session.operator)
        roster = state.sessions.roster
        services = {name for name, one in roster.people.items() if one.service} if roster else set()
        if person is None or not may(person, before.requirement.approvers, services):
            who = ", ".join(sorted(before.requirement.approvers)) or "any operator"
            raise Refused(f"{session.operator} may not answer ticket {id}: it asks for {who}")
        ticket = settled(before, now)
        try:
            changed = work(tx, ticket, now)
        except MoveRefused as error:
            raise Refused(str(error), "TOKEN_EXPIRED" if "expired" in str(error) else "PERMISSION_DENIED") from None
        if changed != before and not tx.change_ticket(replace(changed, version=before.version + 1), before):
            raise Refused(f"ticket {id} was changed just now; look again")
        details = {
            "ticket": id,
            "digest": before.digest,
            "channel": session.channel,
            "reason": reason,
            "state": changed.state.value,
            **_proof(session),
        }
        record: list[Told] = [(event, deed(now, event, session.operator, details))]
        if changed.state in (TicketState.APPROVED, TicketState.REJECTED):
            _end_pause(tx, before)
        if changed.state is TicketState.REJECTED:
            state.pins.ended(id)
            state.confirmed.forget(before.agent)
            record.append(tokens.revoked(state, before, session.operator, now))
        state.recorder.these(tx, record)
        return replace(changed, version=before.version + 1) if changed != before else before

    answered = state.store.write(whole)
    state.tell(event, answered)
    return answered


def _proof(session: OperatorSession) -> dict[str, str]:
    """What a passkey signed, for whoever proves the record later; in hex, which nobody takes for a secret."""
    made = session.prepared
    if made is None:
        return {}
    return {"key_id": made.key_id, "statement": made.statement.encode().hex(), "proof": made.signature}


def _end_pause(tx: Tx, ticket: Ticket) -> None:
    """Who waited for a code to this step has an answer now."""
    for one in tx.challenges(ticket.agent.principal):
        if one.kind == "verify" and one.digest == ticket.digest:
            tx.save_challenge(replace(one, state="answered", code_hash="", release=""))


def _signed(
    state: State, tx: Tx, session: OperatorSession, ticket: Ticket, verdict: str, now: float, lasts: float
) -> Approval:
    """The statement, signed and kept."""
    approval = signed(session, ticket, verdict, now, lasts)
    tx.add_approval(approval)
    return approval


def signed(session: OperatorSession, ticket: Ticket, verdict: str, now: float, lasts: float) -> Approval:
    """The statement, signed with the key that this operator's passphrase opened, or by a passkey that was touched for it."""
    made = session.prepared
    if made is not None and (made.ticket, made.verdict) == (ticket.id, verdict):
        return made
    reauth = session.asked_anew(ticket.id, now)
    text = statement(
        ticket, operator=session.operator, verdict=verdict, channel=session.channel, shown=ticket.shown_hash, issued_at=now,
        expires_at=lasts + 1, nonce=secrets.token_hex(16), reauth=reauth,
    )  # fmt: skip
    signature, key = session.unlocked.sign(text), session.unlocked.key_id
    return Approval(
        ticket.id, session.operator, verdict, text, signature, key, session.channel, now, lasts + 1, reauth
    )  # fmt: skip
