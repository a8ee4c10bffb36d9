"""Step-up: what is dangerous takes a passkey's touch for exactly this action, or passphrase and code once more."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.assertion import Head, approval_challenge, key_id, to_hex
from interlock.core.audit import FIRST_SEQ, GENESIS
from interlock.core.codes import Refused
from interlock.core.model import Level
from interlock.core.records import Approval, Ticket
from interlock.core.statement import APPROVE, CONSOLE, needs_reauth, parse, statement
from interlock.core.ticket import settled, spend_by
from interlock.keys import passkeys
from interlock.keys.credentials import PASSKEY
from interlock.ports import Tx
from interlock.service import credentials, totp
from interlock.service.answers import approve
from interlock.service.ceremonies import SECONDS
from interlock.service.passkeys import answered, begun
from interlock.service.sessions import OperatorSession
from interlock.service.site import Site
from interlock.service.state import State
from interlock.service.tickets import seal_of, shown_hash
from interlock.service.visitors import PASSPHRASE, Visitor

ASK, FRESH = "approve", "fresh"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a passkey was asked to sign."""

    ticket: str
    statement: str
    head: Head


def needs_stepup(ticket: Ticket) -> bool:
    """Whether a signed-in browser alone does not approve it."""
    return ticket.level >= Level.DANGEROUS or needs_reauth(ticket.requirement)


def own_passkeys(state: State, visitor: Visitor, site: Site) -> list[str]:
    """The ids of the passkeys that somebody can touch here; refuses whoever has none."""
    known = credentials.active(state, visitor.operator, PASSKEY)
    own = [one.id for one in known if one.public.get("rp_id") == site.rp_id]
    if not own:
        raise Refused("you have no passkey here: use passphrase and code, or `interlock` on the command line")
    return own


def head_of(state: State, tx: Tx) -> Head:
    """Where this process's chain ends now."""
    head = tx.audit_head(state.recorder.writer)
    return Head(head.writer, head.seq, head.hash) if head else Head(state.recorder.writer, FIRST_SEQ - 1, GENESIS)


def stepup_begin(
    state: State, visitor: Visitor, ticket: str, site: Site, verdict: str = APPROVE, until: float = 0.0
) -> dict[str, Any]:
    """What a passkey is asked about a ticket: SHA-256(action digest ‖ audit head ‖ nonce). `until` is for what is used later."""
    now = state.clock.now()
    own = own_passkeys(state, visitor, site)

    def work(tx: Tx) -> tuple[Ticket, Head]:
        found = tx.ticket(ticket)
        if found is None:
            raise Refused(f"no ticket {ticket!r:.80}", "TOKEN_INVALID")
        return found, head_of(state, tx)

    found, head = state.store.read(work)
    if found.seal != seal_of(state, found) or found.shown_hash != shown_hash(found):
        raise Refused(f"ticket {ticket} was altered outside Interlock; nothing is to be signed")
    lasts = spend_by(settled(found, now), max(now + SECONDS, until)) + 2
    text = statement(
        found, operator=visitor.operator, verdict=verdict, channel=CONSOLE, shown=found.shown_hash, issued_at=now, expires_at=lasts,
        nonce=secrets.token_hex(16), reauth=True,
    )  # fmt: skip
    challenge = approval_challenge(found.digest, head, text)
    options = passkeys.request(site.rp_id, challenge, own)
    return begun(state, ASK, challenge, visitor.id, options, Asked(found.id, text, head))


def stepup_finish(
    state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site
) -> OperatorSession:
    """The session, armed for the one ticket that the passkey was touched for."""
    now = state.clock.now()
    asked = state.visitors.ceremonies.take(ceremony, ASK, visitor.id, now)
    about: Asked = asked.about
    row, proof = answered(state, response, asked.challenge, site, visitor.operator)
    said = parse(about.statement)
    made = Approval(
        about.ticket, visitor.operator, said.verdict, about.statement, to_hex(replace(proof, head=about.head)), key_id(row.id), CONSOLE,
        now, float(said.expires_at), True,
    )  # fmt: skip
    return replace(visitor.session, armed=about.ticket, prepared=made, fresh_at=now)


def approve_with_assertion(
    state: State,
    visitor: Visitor,
    ticket: str,
    ceremony: str,
    response: Mapping[str, Any],
    site: Site,
    reason: str = "",
) -> Ticket:
    """Approves the ticket that a passkey was touched for; refuses another one."""
    session = stepup_finish(state, visitor, ceremony, response, site)
    if session.armed != ticket:
        raise Refused("the passkey was touched for another ticket")
    return approve(state, session, ticket, reason)


def approve_with_passphrase(
    state: State, visitor: Visitor, ticket: str, passphrase: str, code: str, reason: str = ""
) -> Ticket:
    """Approves with passphrase and code, entered anew, for somebody who signed in like that."""
    session = stepup_with_passphrase(state, visitor, ticket, passphrase, code)
    return approve(state, session, ticket, reason)


def stepup_with_passphrase(state: State, visitor: Visitor, ticket: str, passphrase: str, code: str) -> OperatorSession:
    """The session, armed for one ticket by what was entered anew; refuses whoever has a passkey to touch."""
    if visitor.how != PASSPHRASE or credentials.active(state, visitor.operator, PASSKEY):
        raise Refused("touch your passkey for this")
    opened = totp.checked(state, visitor.operator, passphrase, code, visitor.source)
    now = state.clock.now()
    return replace(visitor.session, unlocked=opened.unlocked, armed=ticket, fresh_at=now)


def freshen_begin(state: State, visitor: Visitor, site: Site) -> dict[str, Any]:
    """What a passkey is asked before an operator, a key or the mode is changed."""
    own = own_passkeys(state, visitor, site)
    challenge = secrets.token_bytes(32)
    return begun(state, FRESH, challenge, visitor.id, passkeys.request(site.rp_id, challenge, own))


def freshen_finish(state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site) -> None:
    """Its operator was asked anew, for two minutes; that approves nothing."""
    now = state.clock.now()
    asked = state.visitors.ceremonies.take(ceremony, FRESH, visitor.id, now)
    answered(state, response, asked.challenge, site, visitor.operator)
    state.visitors.freshen(visitor.id, now)


def freshen_with_passphrase(state: State, visitor: Visitor, passphrase: str, code: str) -> None:
    """The same with passphrase and code, for somebody who signed in like that."""
    if visitor.how != PASSPHRASE or credentials.active(state, visitor.operator, PASSKEY):
        raise Refused("touch your passkey for this")
    totp.checked(state, visitor.operator, passphrase, code, visitor.source)
    state.visitors.freshen(visitor.id, state.clock.now())
