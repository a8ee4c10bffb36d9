"""Unattested confirmations, in memory only: a client's own user frees one confirm up to level 2, a session its confirmed patterns."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import APPROVED, BY_TIME, WAITING, MoveRefused, apply_move, denials, move_settled, settle
from interlock.approvals.tickets import revocation_entry, ticket_of
from interlock.canonical_json import normal_name
from interlock.model import Action, AgentRef, Decision, Kind, Level
from interlock.policy.exemptions import CONFIRM_PATTERN
from interlock.ports import Tx
from interlock.records import Ticket
from interlock.runtime import Judged, put_bounded

if TYPE_CHECKING:
    from interlock.policy.evaluate import PolicyResult
    from interlock.runtime.state import State


CHANNEL = "elicitation"
PROMPT = "prompt"  # of a coding agent, opened by a hook
SESSION = "mcp_"  # prefix of MCP sessions
PATIENCE = 600.0  # seconds in which a question can be answered
MOST = 1_000  # questions and answers in memory; the oldest go first


class ClientQuestion(Struct, frozen=True):
    ticket: str
    principal: str
    session: str
    until: float


class Elicitations(Struct):
    sessions: dict[str, str] = {}  # ticket -> the session that opened it, whatever its row says
    questions: dict[str, ClientQuestion] = {}
    agreed: dict[str, float] = {}  # ticket -> until when it counts

    def opened(self, ticket: Ticket) -> None:
        put_bounded(self.sessions, ticket.id, ticket.agent.session, MOST)

    def is_confirmed(self, ticket: Ticket, session: str, now: float) -> bool:
        """Whether a user confirmed it in this session; enough for a confirm only."""
        mine = bool(session) and self.sessions.get(ticket.id) == session
        return mine and now < self.agreed.get(ticket.id, 0.0)

    def forget(self, session: str) -> None:
        """ESL-13: drops the questions of an ended connection."""
        for id, one in list(self.questions.items()):  # others ask meanwhile
            if one.session == session:
                self.questions.pop(id, None)


def question(state: State, principal: str, session: str, token: str) -> tuple[str, str] | None:
    """Its id and text; None where a user's confirmation would not suffice for this token or caller."""
    now, ticket = state.clock.now(), state.store.read(lambda tx: ticket_of(tx, token))
    if ticket is None or state.mode != "enforcing" or ticket.agent.principal != principal:
        return None
    if not session or state.elicitations.sessions.get(ticket.id) != session:
        return None
    if settle(ticket, now).state is not WAITING or not ticket.requirement.is_plain_confirm(ticket.level):
        return None
    ask = f"ask_{secrets.token_urlsafe(24)}"
    asked = ClientQuestion(ticket.id, principal, session, now + PATIENCE)
    with state.lock:
        put_bounded(state.elicitations.questions, ask, asked, MOST)
    return ask, f"Interlock asks: may the agent do this once? {ticket.title}\n{ticket.reason}".strip()


def accept_answer(state: State, principal: str, session: str, ask: str, approve: bool) -> bool:
    """Whether it freed the ticket; each question is answered once, by its own connection."""
    with state.lock:
        asked = state.elicitations.questions.get(ask)
        if asked is None or (asked.principal, asked.session) != (principal, session):
            return False
        del state.elicitations.questions[ask]
    if state.clock.now() >= asked.until:
        return False
    if (changed := state.store.write(lambda tx: _answer(tx, state, asked, approve))) is None:
        return False
    state.tell("approve" if approve else "reject", changed)
    return approve


def _answer(tx: Tx, state: State, asked: ClientQuestion, approve: bool) -> Ticket | None:
    now, before = state.clock.now(), tx.ticket(asked.ticket)
    if before is None or not before.requirement.is_plain_confirm(before.level):
        return None
    details = {"ticket": before.id, "digest": before.digest, "channel": CHANNEL, "attested": False}
    details |= {"approved": approve, "session": asked.session}
    state.recorder.event(tx, "elicited", asked.principal, details)
    by = f"{CHANNEL} (unattested)"
    move, why = ("approve", "") if approve else ("reject", "the client's user was asked and said no")
    if (changed := move_settled(tx, before, move, now, by, why)) is None:
        return None
    if approve:
        with state.lock:
            put_bounded(state.elicitations.agreed, before.id, changed.expires_at, MOST)
        return changed
    denials.reject(tx, state, before, now)
    state.baseline.ended(before.id)
    state.recorder.these(tx, [revocation_entry(state, before, by, now)])
    return changed


def record_run(state: State, agent: AgentRef, id: str) -> Ticket | None:
    """Spends the ticket of a call that ran after the client's own prompt, as unattested."""
    changed = state.store.write(lambda tx: _record_run(tx, state, agent, id))
    if changed:
        state.tell("approve", changed)
    return changed


def _record_run(tx: Tx, state: State, agent: AgentRef, id: str) -> Ticket | None:
    now, before = state.clock.now(), tx.ticket(id)
    if before is None or before.agent.principal != agent.principal:
        return None
    if not before.requirement.is_plain_confirm(before.level):
        return None
    details = {"ticket": id, "digest": before.digest, "channel": PROMPT, "attested": False, "approved": True}
    state.recorder.event(tx, "elicited", agent.principal, {**details, "session": agent.session})
    try:
        agreed = settle(before, now)
        if agreed.state is not APPROVED:  # by an operator, meanwhile
            agreed = apply_move(agreed, "approve", now, f"{PROMPT} (unattested)")
        spent = replace(apply_move(agreed, "spend", now), executed_at=now, outcome="ran", version=before.version + 1)
    except MoveRefused:
        return None
    if not tx.change_ticket(spent, before) or not state.baseline.spend(id, spent):
        return None
    denials.agree(tx, state, before, now)
    return spent


CONFIRMED_SECONDS = 3_600  # where the policy names no time
MOST_CONFIRMED = 10_000
Session = tuple[str, str, str]  # principal, name, session


class SessionConfirmations:
    """Patterns confirmed for a session, in this process only; a restart, a rejection or a revocation forgets them."""

    def __init__(self) -> None:
        self._until: dict[tuple[Session, str, str], float] = {}  # pattern and tool
        self._lock = threading.Lock()

    def patterns(self, agent: AgentRef, action: Action, now: float) -> frozenset[str]:
        """Those that need not be confirmed again for this tool; none for an agent that claims no session."""
        if not self._until or not agent.session:
            return frozenset()
        who, tool = _session(agent), tool_of(action)
        with self._lock:
            live = [key for key, until in self._until.items() if now < until]
        return frozenset(pattern for session, pattern, of in live if (session, of) == (who, tool))

    def remember(self, judged: Judged, weighed: PolicyResult, decision: Decision) -> None:
        """Remembers the patterns of a spent ticket that a human approved, for the rest of the session."""
        agent, level, ticket = judged.agent, judged.assessment.level, decision.ticket
        if not agent.session or level > Level.DESTRUCTIVE:
            return
        if not decision.allowed or ticket is None or ticket.decided_by in ("", BY_TIME):
            return
        asked = [part.pattern for part in weighed.parts if part.name == CONFIRM_PATTERN and part.pattern]
        now, lasts = judged.now, judged.policy.restriction.ttl_seconds or CONFIRMED_SECONDS
        with self._lock:
            for pattern in asked:
                key = _session(agent), pattern, tool_of(judged.action)
                put_bounded(self._until, key, now + lasts, MOST_CONFIRMED)

    def forget(self, agent: AgentRef) -> None:
        who = _session(agent)
        with self._lock:
            self._until = {key: until for key, until in self._until.items() if key[0] != who}


def tool_of(action: Action) -> str:
    if action.kind is Kind.COMMAND:
        return "Bash"
    return action.text if action.kind in (Kind.TOOL, Kind.OPERATION) else action.kind.value


def _session(agent: AgentRef) -> Session:
    return agent.principal, normal_name(agent.name), agent.session
