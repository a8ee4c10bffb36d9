"""Remembers held and rejected effects, so that the same effect on the same target meets the same answer (R-22)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interlock.approvals import settle
from interlock.model import Human, Level, Requirement
from interlock.policy.circumstances import EarlierDenial
from interlock.policy.remembered_answers import LASTS, MatchedDenial, binds, ended_denials, matching_denials
from interlock.records import Denial, Ticket
from interlock.runtime import session_of

if TYPE_CHECKING:
    from interlock.ports import Tx
    from interlock.runtime import Judged
    from interlock.runtime.state import State

_MOST_READ = 20  # denials whose tickets are read, the most binding first


def find_denial(tx: Tx, state: State, judged: Judged, own: Ticket | None) -> MatchedDenial | None:
    """The denial that matches an action, with its ticket; `own` is the ticket of this very action."""
    if not judged.effect_keys:
        return None
    principal = judged.request.agent.principal
    stored = {_key(one): one for one in tx.denials(judged.now, principal)}
    if not state.shared:  # an edited row lifts no rejection
        stored |= {_key(one): one for one in rejections(state, judged)}
    found = []
    for one in _met(state, judged, stored.values())[:_MOST_READ]:
        ticket = tx.ticket(one.denial.ticket)
        whole = replace(one, ticket=settle(ticket, judged.now) if ticket is not None else None)
        if binds(whole):
            found.append(whole)
    answered = settle(own, judged.now) if own is not None else None
    asked = answered is not None and (answered.open or bool(answered.decided_by))
    if asked or (is_everyday(judged) and all(one.waits for one in found)):
        found = [one for one in found if not one.waits]
    found.sort(key=lambda one: (not one.fresh, not one.waits))  # an open question before a new one
    return found[0] if found else None


def is_everyday(judged: Judged) -> bool:
    """Whether it would need no approval by itself: only a rejection binds it, since moving a held target aside is good advice."""
    return judged.judgement.assessment.level < Level.DESTRUCTIVE


def rejections(state: State, judged: Judged) -> list[Denial]:
    """Rejections of this principal's actions, as far as this process remembers."""
    return [one for one in state.baseline.denials(judged.request.agent.principal, judged.now) if one.rejected_at]


def may_meet(state: State, judged: Judged) -> bool:
    """Whether everyday work could match a remembered rejection; else the store need not be read."""
    return bool(judged.effect_keys) and bool(_met(state, judged, rejections(state, judged)))


def _met(state: State, judged: Judged, denials: Iterable[Denial]) -> list[MatchedDenial]:
    agent, folder = judged.request.agent, judged.request.action.cwd
    return matching_denials(
        denials, judged.effect_keys, session_of(agent), folder, judged.now, state.policy.denial_seconds
    )


def denial_requirement(one: MatchedDenial | None) -> EarlierDenial | None:
    """The requirement of a denial: the answer to its open ticket, else a new answer by a person."""
    if one is None:
        return None
    asked = one.ticket.requirement if one.waits and one.ticket is not None else Requirement(human=Human.APPROVE)
    return EarlierDenial(one.denial.ticket, one.words, asked, not one.waits, one.denial.tries + 1)


def remember(tx: Tx, state: State, judged: Judged, ticket: Ticket) -> None:
    """A ticket was opened: until somebody answers it, its effects are held in whatever words."""
    agent = judged.request.agent
    for key in judged.effect_keys:
        if key.known:
            _save(
                tx, state,
                Denial(
                    str(key), agent.principal, session_of(agent), ticket.id, judged.now, ticket.expires_at, judged.request.action.cwd
                ),
            )  # fmt: skip


def reject(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    """Saves a rejection; it stays in force in the agent's session until a person answers otherwise."""
    agent, folder = ticket.agent, str(ticket.action.get("cwd", ""))
    for text in ticket.effect_keys:
        _save(
            tx,
            state,
            Denial(text, agent.principal, session_of(agent), ticket.id, now, now + LASTS, folder, rejected_at=now),
        )


def agree(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    """Ends the denials of an approved action that runs."""
    live = {_key(one): one for one in tx.denials(now, ticket.agent.principal)}
    live |= {_key(one): one for one in state.baseline.denials(ticket.agent.principal, now)}
    own = [one for one in live.values() if one.ticket == ticket.id]
    for one in {_key(one): one for one in (*own, *ended_denials(live.values(), ticket.effect_keys))}.values():
        _save(tx, state, replace(one, until=now))


def release(tx: Tx, state: State, ticket: Ticket, now: float) -> None:
    """Ends the denials of a withdrawn ticket that nobody rejected."""
    for one in tx.denials(now, ticket.agent.principal):
        if one.ticket == ticket.id:
            _save(tx, state, replace(one, until=now))


def count_attempt(tx: Tx, state: State, denial: Denial) -> None:
    """Counts one more attempt in other words."""
    _save(tx, state, replace(denial, tries=denial.tries + 1))


def _save(tx: Tx, state: State, denial: Denial) -> None:
    tx.save_denial(denial)
    state.baseline.deny(denial)


def _key(one: Denial) -> tuple[str, str, str]:
    return one.effect_key, one.session, one.ticket
