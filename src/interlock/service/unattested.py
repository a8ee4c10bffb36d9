"""What does the word of a client's own user free? One confirm, up to level 2; nobody proved who spoke, so it is kept in memory alone."""

# Whoever holds the client's end of an MCP connection can give this answer, the agent included where it is the client. It stands for
# "somebody at that client said yes", is recorded as unattested, and never satisfies an approval or a verification. It counts in the session
# it was asked in and nowhere else: a client of an agent's own making frees nothing that a hook, a proxy or another client asks about.
# A no takes no proof: it rejects the ticket, and the same effect in that session.

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from interlock.core.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.core.records import Ticket
from interlock.core.statement import ANYBODY
from interlock.core.ticket import MoveRefused, moved, settled
from interlock.ports import Tx
from interlock.service import denials
from interlock.service.record import deed
from interlock.service.tokens import revoked, ticket_of

if TYPE_CHECKING:
    from interlock.service.state import State

CHANNEL = "elicitation"
PROMPT = "prompt"  # of a coding agent, which a hook told to ask
SESSION = "mcp_"  # how the sessions of MCP's doors begin
DECLINED = "the client's user was asked and said no"
PATIENCE = 600.0  # seconds in which a question can be answered
MOST = 1_000  # questions and answers that are remembered; the oldest go first


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a client's user."""

    ticket: str
    principal: str
    session: str
    until: float


@dataclass(slots=True)
class Elicited:
    """What was asked and agreed to since this process started."""

    sessions: dict[str, str] = field(default_factory=dict)  # ticket -> who opened it, whatever its row says by now
    questions: dict[str, Question] = field(default_factory=dict)
    agreed: dict[str, float] = field(default_factory=dict)  # ticket -> until when it counts

    def opened(self, ticket: Ticket) -> None:
        """A ticket was opened just now, in a session that has a client."""
        if ticket.agent.session.startswith(SESSION):
            _put(self.sessions, ticket.id, ticket.agent.session)

    def counts(self, ticket: Ticket, asked: Requirement, session: str, now: float) -> bool:
        """Whether a user's word is enough for this ticket, was given, and is used in the session that it was given in."""
        mine = bool(session) and self.sessions.get(ticket.id) == session
        return mine and now < self.agreed.get(ticket.id, 0.0) and enough(ticket, asked)

    def forget(self, session: str) -> None:
        """ESL-13: the connection has ended."""
        for id, one in list(self.questions.items()):  # others ask meanwhile
            if one.session == session:
                self.questions.pop(id, None)


def enough(ticket: Ticket, asked: Requirement | None = None) -> bool:
    """Whether nothing but a confirm is asked for, of anybody, at level 2 or below."""
    return confirms(ticket.requirement if asked is None else ticket.requirement.join(asked), ticket.level)


def confirms(asked: Requirement, level: Level) -> bool:
    """The same of what is asked for at a level."""
    return (
        asked.human is Human.CONFIRM
        and not asked.blocked
        and not asked.reauth
        and asked.quorum <= 1
        and asked.approvers <= {ANYBODY}
        and level <= Level.DESTRUCTIVE
    )


def question(state: State, principal: str, session: str, token: str) -> tuple[str, str] | None:
    """A question's id and its words; None where a user's word would not be enough for this token, or not for this caller."""
    now = state.clock.now()
    ticket = state.store.read(lambda tx: ticket_of(tx, token))
    if ticket is None or state.mode != "enforcing" or ticket.agent.principal != principal:
        return None
    if not session or state.elicited.sessions.get(ticket.id) != session:
        return None
    if settled(ticket, now).state is not TicketState.WAITING or not enough(ticket):
        return None
    ask = f"ask_{secrets.token_urlsafe(24)}"
    with state.lock:
        _put(state.elicited.questions, ask, Question(ticket.id, principal, session, now + PATIENCE))
    return ask, f"Interlock asks: may the agent do this once? {ticket.title}\n{ticket.reason}".strip()


def answered(state: State, principal: str, session: str, ask: str, approve: bool) -> bool:
    """Whether the answer freed its ticket; a question is answered once, and by the connection that it was put to."""
    with state.lock:
        asked = state.elicited.questions.get(ask)
        if asked is None or (asked.principal, asked.session) != (principal, session):
            return False
        del state.elicited.questions[ask]
    if state.clock.now() >= asked.until:
        return False
    changed = state.store.write(lambda tx: _answer(tx, state, asked, approve))
    if changed is not None:
        state.tell("approve" if approve else "reject", changed)
    return changed is not None and approve


def _answer(tx: Tx, state: State, asked: Question, approve: bool) -> Ticket | None:
    now, before = state.clock.now(), tx.ticket(asked.ticket)
    if before is None or not enough(before):
        return None
    details = {
        "ticket": before.id,
        "digest": before.digest,
        "channel": CHANNEL,
        "attested": False,
        "approved": approve,
        "session": asked.session,
    }
    state.recorder.now(tx, "elicited", deed(now, "elicited", asked.principal, details))
    by = f"{CHANNEL} (unattested)"
    try:
        if approve:
            changed = moved(settled(before, now), "approve", now, by)
        else:
            changed = moved(settled(before, now), "reject", now, by, DECLINED)
    except MoveRefused:
        return None
    changed = replace(changed, version=before.version + 1)
    if not tx.change_ticket(changed, before):
        return None
    if approve:
        with state.lock:
            _put(state.elicited.agreed, before.id, changed.expires_at)
        return changed
    denials.reject(tx, state, before, now)
    state.pins.ended(before.id)
    state.recorder.these(tx, [revoked(state, before, by, now)])
    return changed


def ran(state: State, agent: AgentRef, id: str) -> Ticket | None:
    """A client's own prompt was answered with yes, as the call ran: its ticket is used up, and the record says that nobody proved it."""
    changed = state.store.write(lambda tx: _ran(tx, state, agent, id))
    if changed is not None:
        state.tell("approve", changed)
    return changed


def _ran(tx: Tx, state: State, agent: AgentRef, id: str) -> Ticket | None:
    now, before = state.clock.now(), tx.ticket(id)
    if before is None or before.agent.principal != agent.principal or not enough(before):
        return None
    details = {"ticket": id, "digest": before.digest, "channel": PROMPT, "attested": False, "approved": True}
    state.recorder.now(tx, "elicited", deed(now, "elicited", agent.principal, {**details, "session": agent.session}))
    try:
        agreed = settled(before, now)
        if agreed.state is not TicketState.APPROVED:  # by an operator, meanwhile
            agreed = moved(agreed, "approve", now, f"{PROMPT} (unattested)")
        spent = replace(moved(agreed, "spend", now), executed_at=now, outcome="ran", version=before.version + 1)
    except MoveRefused:
        return None
    if not tx.change_ticket(spent, before) or not state.pins.spend(id, spent):
        return None
    denials.agree(tx, state, before, now)
    return spent


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    table[key] = value
    while len(table) > MOST:
        table.pop(next(iter(table)))
