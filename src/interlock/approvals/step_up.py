"""Step-up authentication for dangerous approvals, grants and codes: a passkey touch for exactly this, or passphrase and code again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import settle, spend_by
from interlock.approvals.answers import approve
from interlock.approvals.challenges import VERIFY, normal_id, revealing
from interlock.approvals.grants import REAUTH, parse_grant, signed_terms, statement_of, touch_of
from interlock.approvals.statements import APPROVE, CONSOLE, needs_reauth, parse_statement, statement_text
from interlock.approvals.tickets import is_altered
from interlock.audit.chain import FIRST_SEQ, GENESIS
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, totp
from interlock.identity.keys import webauthn
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.passkey_proofs import Head, approval_challenge, key_id, to_hex
from interlock.identity.passkeys import begin_ceremony, verify_answer
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import CEREMONY_SECONDS, PASSPHRASE, Site, Visitor
from interlock.model import Level
from interlock.ports import Tx
from interlock.records import Approval, Challenge, Grant, Ticket
from interlock.runtime.state import State

ASK, FRESH, GRANT = "approve", "fresh", "grant"
_NO_HEAD = Head("", FIRST_SEQ - 1, GENESIS)


class SigningCeremony(Struct, frozen=True):
    """The statement that a passkey was asked to sign, and the ticket or the grant that it is about."""

    statement: str
    head: Head
    ticket: str = ""
    grant: Grant | None = None


def needs_stepup(ticket: Ticket) -> bool:
    return ticket.level >= Level.DANGEROUS or needs_reauth(ticket.requirement)


def own_passkeys(state: State, visitor: Visitor, site: Site) -> list[str]:
    """The ids of the visitor's passkeys for this site; refuses a visitor without one."""
    known = credentials.active_credentials(state, visitor.operator, PASSKEY)
    own = [one.id for one in known if one.public.get("rp_id") == site.rp_id]
    if not own:
        raise AnswerRefused("you have no passkey here: use passphrase and code, or `interlock` on the command line")
    return own


def chain_head(state: State, tx: Tx) -> Head:
    head = tx.audit_head(state.recorder.writer)
    return Head(head.writer, head.seq, head.hash) if head else Head(state.recorder.writer, FIRST_SEQ - 1, GENESIS)


def stepup_begin(
    state: State, visitor: Visitor, ticket: str, site: Site, verdict: str = APPROVE, until: float = 0.0
) -> dict[str, Any]:
    """Begins step-up for a ticket; the passkey's challenge is SHA-256(action digest ‖ audit head ‖ nonce). `until` is for later use."""
    now = state.clock.now()
    found = state.store.read(lambda tx: tx.ticket(ticket))
    if found is None:
        raise AnswerRefused(f"no ticket {ticket!r:.80}", "TOKEN_INVALID")
    if is_altered(state, found):
        raise AnswerRefused(f"ticket {ticket} was altered outside Interlock; nothing is to be signed")
    lasts = spend_by(settle(found, now), max(now + CEREMONY_SECONDS, until)) + 2
    text = statement_text(
        found, operator=visitor.operator, verdict=verdict, channel=CONSOLE, shown=found.shown_hash, issued_at=now, expires_at=lasts,
        nonce=secrets.token_hex(16), reauth=True,
    )  # fmt: skip
    return _begin(state, visitor, site, ASK, found.digest, SigningCeremony(text, _NO_HEAD, ticket=found.id))


def _begin(
    state: State, visitor: Visitor, site: Site, kind: str, digest: str, about: SigningCeremony
) -> dict[str, Any]:
    """Asks a passkey to sign a statement, bound to the current head of the chain."""
    own = own_passkeys(state, visitor, site)
    head = state.store.read(lambda tx: chain_head(state, tx))
    challenge = approval_challenge(digest, head, about.statement)
    options = webauthn.request_options(site.rp_id, challenge, own)
    return begin_ceremony(state, kind, challenge, visitor.id, options, replace(about, head=head))


def _finish(
    state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site, kind: str
) -> tuple[SigningCeremony, str, str]:
    """What the passkey signed, its signature, and its key; refuses an answer to anything else."""
    asked = state.visitors.ceremonies.take(ceremony, kind, visitor.id, state.clock.now())
    about = asked.read(SigningCeremony)
    row, proof = verify_answer(state, response, asked.challenge, site, visitor.operator)
    return about, to_hex(replace(proof, head=about.head)), key_id(row.id)


def stepup_finish(
    state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site
) -> OperatorSession:
    """The session, armed for the one ticket that the passkey was touched for."""
    about, signature, key = _finish(state, visitor, ceremony, response, site, ASK)
    now, said = state.clock.now(), parse_statement(about.statement)
    made = Approval(
        about.ticket, visitor.operator, said.verdict, about.statement, signature, key, CONSOLE, now, float(said.expires_at), True
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
        raise AnswerRefused("the passkey was touched for another ticket")
    return approve(state, session, ticket, reason)


def approve_with_passphrase(
    state: State, visitor: Visitor, ticket: str, passphrase: str, code: str, reason: str = ""
) -> Ticket:
    """Approves with passphrase and code, entered anew, for somebody who signed in like that."""
    session = stepup_with_passphrase(state, visitor, ticket, passphrase, code)
    return approve(state, session, ticket, reason)


def stepup_with_passphrase(state: State, visitor: Visitor, ticket: str, passphrase: str, code: str) -> OperatorSession:
    """The session, armed for one ticket by what was entered anew; refuses whoever has a passkey to touch."""
    opened = _sign_in_again(state, visitor, passphrase, code)
    return replace(visitor.session, unlocked=opened.unlocked, armed=ticket, fresh_at=state.clock.now())


def _sign_in_again(state: State, visitor: Visitor, passphrase: str, code: str) -> OperatorSession:
    if visitor.how != PASSPHRASE or credentials.active_credentials(state, visitor.operator, PASSKEY):
        raise AnswerRefused("touch your passkey for this")
    return totp.authenticate(state, visitor.operator, passphrase, code, visitor.source)


def freshen_begin(state: State, visitor: Visitor, site: Site) -> dict[str, Any]:
    """Begins step-up before an operator, a key or the mode is changed."""
    own = own_passkeys(state, visitor, site)
    challenge = secrets.token_bytes(32)
    return begin_ceremony(state, FRESH, challenge, visitor.id, webauthn.request_options(site.rp_id, challenge, own))


def freshen_finish(state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site) -> None:
    """Marks the session as freshly signed in for two minutes; approves nothing."""
    now = state.clock.now()
    asked = state.visitors.ceremonies.take(ceremony, FRESH, visitor.id, now)
    verify_answer(state, response, asked.challenge, site, visitor.operator)
    state.visitors.freshen(visitor, now)


def freshen_with_passphrase(state: State, visitor: Visitor, passphrase: str, code: str) -> None:
    """The same with passphrase and code, for a session that began with them."""
    _sign_in_again(state, visitor, passphrase, code)
    state.visitors.freshen(visitor, state.clock.now())


def grant_begin(state: State, visitor: Visitor, given: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """Begins step-up for a grant; the challenge is SHA-256(its id ‖ audit head ‖ hash of its whole statement)."""
    grant = parse_grant(state, visitor.session, given)
    touch = touch_of(grant, secrets.token_hex(16))
    about = SigningCeremony(statement_of(grant, touch), _NO_HEAD, grant=grant)
    return _begin(state, visitor, site, GRANT, str(touch["digest"]), about)


def grant_finish(
    state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site
) -> OperatorSession:
    """The session with the one grant that the passkey was touched for."""
    about, signature, key = _finish(state, visitor, ceremony, response, site, GRANT)
    assert about.grant is not None
    signed = replace(about.grant, statement=about.statement, signature=signature, key_id=key)
    return replace(visitor.session, granted=signed, fresh_at=state.clock.now())


def grant_with_passphrase(
    state: State, visitor: Visitor, given: Mapping[str, Any], passphrase: str, code: str
) -> OperatorSession:
    """The same with passphrase and code, entered anew for these terms, for somebody who has no passkey to touch."""
    session = stepup_with_passphrase(state, visitor, "", passphrase, code)
    grant = parse_grant(state, session, given)
    return replace(session, granted=signed_terms(grant, session, REAUTH))


def reveal_begin(state: State, visitor: Visitor, id: str, site: Site) -> dict[str, Any]:
    """Begins step-up before a code is shown: for the step that the code frees, or for a block a fresh sign-in."""
    challenge, ticket = _about(state, id)
    if ticket is None:
        return freshen_begin(state, visitor, site)
    return stepup_begin(state, visitor, ticket.id, site, until=challenge.expires_at)


def reveal_finish(
    state: State, visitor: Visitor, id: str, ceremony: str, response: Mapping[str, Any], site: Site
) -> revealing.RevealedCode:
    """The code, once the passkey was touched for it."""
    _, ticket = _about(state, id)
    if ticket is None:
        freshen_finish(state, visitor, ceremony, response, site)
        return revealing.reveal(state, replace(visitor.session, fresh_at=state.clock.now()), id)
    session = stepup_finish(state, visitor, ceremony, response, site)
    if session.armed != ticket.id:
        raise AnswerRefused("the passkey was touched for something else")
    return revealing.reveal(state, session, id)


def reveal_with_passphrase(
    state: State, visitor: Visitor, id: str, passphrase: str, code: str
) -> revealing.RevealedCode:
    """The same with passphrase and code, for a session that began with them."""
    _, ticket = _about(state, id)
    armed = stepup_with_passphrase(state, visitor, ticket.id if ticket else id, passphrase, code)
    return revealing.reveal(state, armed, id)


def _about(state: State, id: str) -> tuple[Challenge, Ticket | None]:
    """The challenge, and the held step that its code would free."""

    def work(tx: Tx) -> tuple[Challenge | None, Ticket | None]:
        found = tx.challenge(normal_id(id) or "-")
        held = tx.live_ticket(found.digest, found.agent) if found and found.kind == VERIFY and found.digest else None
        return found, held

    challenge, ticket = state.store.read(work)
    if challenge is None:
        raise AnswerRefused(f"no challenge {id!r:.80}", "NOT_FOUND_RESOURCE")
    return challenge, ticket
