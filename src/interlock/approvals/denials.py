"""Earlier answers that still bind: denials of the same effect and target (R-22), kept with their tickets, and operators' standing patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.display_text import short_id
from interlock.approvals import REJECTED, settle
from interlock.model import Human, Level, Requirement
from interlock.policy.circumstances import EarlierDenial
from interlock.policy.effect_key import Relation, nearest, parse, relation
from interlock.policy.patterns import Glob, PatternSyntax
from interlock.ports import Tx
from interlock.records import Denial, Grant, Ticket
from interlock.runtime import Judged, session_of

if TYPE_CHECKING:
    from interlock.runtime.state import State

_INCLUDING = (Relation.SAME, Relation.AROUND)
LASTS = 30 * 86_400.0  # seconds that a rejection binds its own session; it binds others much shorter


class MatchedDenial(Struct, frozen=True):
    denial: Denial
    relation: Relation
    fresh: bool = False  # rejected so recently that no ticket is opened again
    ticket: Ticket | None = None

    @property
    def waits(self) -> bool:
        return self.ticket is not None and self.ticket.open

    @property
    def binds(self) -> bool:
        """Its ticket waits, or a person rejected it; an approval, a use or time ended the others."""
        rejected = self.ticket is not None and self.ticket.state is REJECTED
        return bool(self.denial.rejected_at) or self.waits or rejected

    @property
    def words(self) -> str:
        target = parse(self.denial.effect_key).target
        on = {
            Relation.SAME: "the same target",
            Relation.INSIDE: f"{target}, which this is a part of,",
            Relation.AROUND: f"{target}, which is a part of this,",
        }[self.relation]
        what, id, ticket = f"the same effect on {on}", short_id(self.denial.ticket), self.ticket
        if ticket and self.waits:
            return f"{what} waits for an answer as {id} ({ticket.title[:120]})"
        if ticket is None or not ticket.decided_by:
            return f"{what} was rejected as {id}"
        reason = f": {ticket.decision_reason}" if ticket.decision_reason else ""
        return f"{what} was rejected by {ticket.decided_by} as {id}{reason}"


def matching_denials(judged: Judged, denials: Iterable[Denial]) -> list[MatchedDenial]:
    """Those that bind in this session, the most binding first; a fresh no also reaches other sessions."""
    found, session, now = [], session_of(judged.agent), judged.now
    for one in denials:
        fresh = bool(one.rejected_at) and now < one.rejected_at + judged.policy.denial_seconds
        own = one.session == session
        if one.until <= now or not (own or fresh):
            continue
        denied = parse(one.effect_key)
        if not (own or one.folder == judged.action.cwd or denied.anchored):  # the same only in the same folder
            continue
        if (near := nearest((denied,), judged.effect_keys)) is not None:
            found.append(MatchedDenial(one, near, fresh))
    order = tuple(Relation)
    return sorted(found, key=lambda one: (not one.fresh, order.index(one.relation), -one.denial.at))


ALLOW, DENY = "allow", "deny"
STANDING = frozenset({ALLOW, DENY})  # the effects of grants that are such answers
FOREVER = 253_402_300_799.0  # the end of the year 9999
SETTING = "standing"  # announces a change to replicas
Answer = tuple[Grant, Glob]


class StandingAnswers(Struct):
    answers: Mapping[str, Answer] = {}  # by id

    def of(self, verdict: str, now: float) -> list[Answer]:
        return [one for one in self.answers.values() if one[0].effect == verdict and one[0].expires_at > now]

    def put(self, *grants: Grant) -> None:
        self.answers = {**self.answers, **parse_answers(grants)}

    def drop(self, id: str) -> None:
        self.answers = {known: one for known, one in self.answers.items() if known != id}


def parse_answers(grants: Iterable[Grant]) -> dict[str, Answer]:
    """By id; ignores a grant without a valid pattern, which Interlock never writes."""
    found = {}
    for grant in grants:
        origin = f"{grant.by}, `interlock {grant.effect}` {short_id(grant.id)}"
        try:
            found[grant.id] = (grant, Glob.of(grant.targets[0] if grant.targets else "", origin))
        except PatternSyntax:
            continue
    return found


_MOST_READ = 20  # denials whose tickets are read, the most binding first


def find_denial(tx: Tx, state: State, judged: Judged, own: Ticket | None) -> MatchedDenial | None:
    """`own` is the ticket of this very action."""
    if not judged.effect_keys:
        return None
    stored = {one.key: one for one in tx.denials(judged.now, judged.agent.principal)}
    if not state.shared:  # an edited row lifts no rejection
        stored |= {one.key: one for one in rejections(state, judged)}
    found = []
    for one in matching_denials(judged, stored.values())[:_MOST_READ]:
        ticket = tx.ticket(one.denial.ticket)
        whole = replace(one, ticket=settle(ticket, judged.now) if ticket else None)
        if whole.binds:
            found.append(whole)
    answered = settle(own, judged.now) if own else None
    asked = answered and (answered.open or answered.decided_by)
    # Only a rejection binds everyday work, since moving a held target aside is good advice.
    everyday = judged.assessment.level < Level.DESTRUCTIVE
    if asked or (everyday and all(one.waits for one in found)):
        found = [one for one in found if not one.waits]
    found.sort(key=lambda one: (not one.fresh, not one.waits))  # an open question before a new one
    return found[0] if found else None


def rejections(state: State, judged: Judged) -> list[Denial]:
    """Rejections of this principal's actions, as far as this process remembers."""
    return [one for one in state.baseline.denials(judged.agent.principal, judged.now) if one.rejected_at]


def may_meet(state: State, judged: Judged) -> bool:
    """Whether everyday work could match a rejection; else the store need not be read."""
    return bool(matching_denials(judged, rejections(state, judged)))


def denial_requirement(one: MatchedDenial | None) -> EarlierDenial | None:
    """The answer to its open ticket, else a new answer by a person."""
    if one is None:
        return None
    asked = one.ticket.requirement if one.waits and one.ticket is not None else Requirement(human=Human.APPROVE)
    return EarlierDenial(one.denial.ticket, one.words, asked, not one.waits, one.denial.tries + 1)


def remember(tx: Tx, state: State, judged: Judged, ticket: Ticket) -> None:
    """A ticket was opened: until somebody answers it, its effects are held in whatever words."""
    principal, session, folder = judged.agent.principal, session_of(judged.agent), judged.action.cwd
    for key in judged.effect_keys:
        if key.known:
            _save(tx, state, Denial(str(key), principal, session, ticket.id, judged.now, ticket.expires_at, folder))


def reject(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    """It binds the agent's session until a person answers otherwise."""
    for one in rejections_of(ticket, now):
        _save(tx, state, one)


def rejections_of(ticket: Ticket, at: float) -> list[Denial]:
    agent, folder = ticket.agent, str(ticket.action.get("cwd", ""))
    whose = agent.principal, session_of(agent), ticket.id
    return [Denial(text, *whose, at, at + LASTS, folder, rejected_at=at) for text in ticket.effect_keys]


def agree(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    """Ends the denials of the same effect, or of one that includes it."""
    principal = ticket.agent.principal
    live = {one.key: one for one in (*tx.denials(now, principal), *state.baseline.denials(principal, now))}
    keys = [parse(text) for text in ticket.effect_keys]
    for one in live.values():
        if one.ticket == ticket.id or any(relation(parse(one.effect_key), key) in _INCLUDING for key in keys):
            _save(tx, state, replace(one, until=now))


def release(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    for one in tx.denials(now, ticket.agent.principal):
        if one.ticket == ticket.id:
            _save(tx, state, replace(one, until=now))


def count_attempt(tx: Tx, state: State, denial: Denial) -> None:
    _save(tx, state, replace(denial, tries=denial.tries + 1))


def _save(tx: Tx, state: State, denial: Denial) -> None:
    tx.save_denial(denial)
    state.baseline.deny(denial)
