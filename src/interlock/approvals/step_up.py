"""Step-up authentication for dangerous approvals, grants and codes: a passkey touch for exactly this, or passphrase and code again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import answers, grants, settle, spend_by
from interlock.approvals.challenges import VERIFY, find_challenge, releasing
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
from interlock.model import Confidential, Level
from interlock.ports import Tx
from interlock.records import Approval, Challenge, Grant, Ticket
from interlock.runtime.state import State

ASK, FRESH, GRANT = "approve", "fresh", "grant"
_NO_HEAD = Head("", FIRST_SEQ - 1, GENESIS)


class Touch(Struct, frozen=True):
    ceremony: str
    response: Mapping[str, Any]
    site: Site


class Reentry(Confidential, Struct, frozen=True):
    HIDDEN = ("passphrase", "code")

    passphrase: str
    code: str


Proof = Touch | Reentry


class SigningCeremony(Struct, frozen=True):
    """The statement that a passkey was asked to sign, and the ticket or the grant that it is about."""

    statement: str
    head: Head = _NO_HEAD
    ticket: str = ""
    grant: Grant | None = None


def needs_stepup(ticket: Ticket) -> bool:
    return ticket.level >= Level.DANGEROUS or needs_reauth(ticket.requirement)


def by_reentry(state: State, visitor: Visitor) -> bool:
    """Whether they signed in by passphrase and code, and have no passkey to touch."""
    return visitor.how == PASSPHRASE and not credentials.active_credentials(state, visitor.operator, PASSKEY)


def _own_passkeys(state: State, visitor: Visitor, site: Site) -> list[str]:
    known = credentials.active_credentials(state, visitor.operator, PASSKEY)
    own = [one.id for one in known if one.public.get("rp_id") == site.rp_id]
    if not own:
        raise AnswerRefused("you have no passkey here: use passphrase and code, or `interlock` on the command line")
    return own


def approve_begin(state: State, visitor: Visitor, ticket: str, site: Site, until: float = 0.0) -> dict[str, Any]:
    """The passkey's challenge is SHA-256(action digest ‖ audit head ‖ nonce). `until` is for later use."""
    now = state.clock.now()
    if (found := state.store.read(lambda tx: tx.ticket(ticket))) is None:
        raise AnswerRefused(f"no ticket {ticket!r:.80}", "TOKEN_INVALID")
    if is_altered(state, found):
        raise AnswerRefused(f"ticket {ticket} was altered outside Interlock; nothing is to be signed")
    lasts = spend_by(settle(found, now), max(now + CEREMONY_SECONDS, until)) + 2
    text = statement_text(
        found, operator=visitor.operator, verdict=APPROVE, channel=CONSOLE, issued_at=now, expires_at=lasts,
        nonce=secrets.token_hex(16), reauth=True,
    )  # fmt: skip
    return _begin(state, visitor, site, ASK, found.digest, SigningCeremony(text, ticket=found.id))


def _begin(
    state: State, visitor: Visitor, site: Site, kind: str, digest: str, about: SigningCeremony
) -> dict[str, Any]:
    """Bound to the current head of the chain."""
    own, writer = _own_passkeys(state, visitor, site), state.recorder.writer
    row = state.store.read(lambda tx: tx.audit_head(writer))
    head = Head(writer, row.seq, row.hash) if row else replace(_NO_HEAD, writer=writer)
    challenge = approval_challenge(digest, head, about.statement)
    options = webauthn.request_options(site.rp_id, challenge, own)
    return begin_ceremony(state, kind, challenge, visitor.id, options, replace(about, head=head))


def _finish(state: State, visitor: Visitor, touch: Touch, kind: str) -> tuple[SigningCeremony, str, str]:
    """The statement, its signature and key; refuses an answer to anything else."""
    asked = state.visitors.take(touch.ceremony, kind, visitor.id, state.clock.now())
    about = asked.read(SigningCeremony)
    row, proof = verify_answer(state, touch.response, asked.challenge, touch.site, visitor.operator)
    return about, to_hex(replace(proof, head=about.head)), key_id(row.id)


def approve(state: State, visitor: Visitor, ticket: str, proof: Proof, reason: str = "") -> Ticket:
    return answers.approve(state, armed(state, visitor, ticket, proof), ticket, reason)


def armed(state: State, visitor: Visitor, ticket: str, proof: Proof) -> OperatorSession:
    """The session, armed for one ticket; refuses a touch that was for another one."""
    if isinstance(proof, Reentry):
        opened = _sign_in_again(state, visitor, proof)
        return replace(visitor.session, unlocked=opened.unlocked, armed=ticket, fresh_at=state.clock.now())
    about, signature, key = _finish(state, visitor, proof, ASK)
    if about.ticket != ticket:
        raise AnswerRefused("the passkey was touched for something else")
    now, said = state.clock.now(), parse_statement(about.statement)
    made = Approval(
        ticket, visitor.operator, said.verdict, about.statement, signature, key, CONSOLE, now, float(said.expires_at), True
    )  # fmt: skip
    return replace(visitor.session, armed=ticket, prepared=made, fresh_at=now)


def _sign_in_again(state: State, visitor: Visitor, given: Reentry) -> OperatorSession:
    if not by_reentry(state, visitor):
        raise AnswerRefused("touch your passkey for this")
    return totp.authenticate(state, visitor.operator, given.passphrase, given.code, visitor.source)


def freshen_begin(state: State, visitor: Visitor, site: Site) -> dict[str, Any]:
    """Begins step-up before an operator, a key or the mode is changed."""
    own = _own_passkeys(state, visitor, site)
    challenge = secrets.token_bytes(32)
    return begin_ceremony(state, FRESH, challenge, visitor.id, webauthn.request_options(site.rp_id, challenge, own))


def freshen(state: State, visitor: Visitor, proof: Proof) -> None:
    """Marks the session as freshly signed in for two minutes; approves nothing."""
    now = state.clock.now()
    if isinstance(proof, Reentry):
        _sign_in_again(state, visitor, proof)
    else:
        asked = state.visitors.take(proof.ceremony, FRESH, visitor.id, now)
        verify_answer(state, proof.response, asked.challenge, proof.site, visitor.operator)
    state.visitors.freshen(visitor, now)


def grant_begin(state: State, visitor: Visitor, given: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """The challenge is SHA-256(its id ‖ audit head ‖ hash of its whole statement)."""
    grant = grants.parse_grant(state, visitor.session, given)
    touch = grants.touch_of(grant, secrets.token_hex(16))
    about = SigningCeremony(grants.statement_of(grant, touch), grant=grant)
    return _begin(state, visitor, site, GRANT, str(touch["digest"]), about)


def granted(state: State, visitor: Visitor, given: Mapping[str, Any], proof: Proof) -> OperatorSession:
    """The session with the one grant that it was proved for: the touched one, or the one of these terms."""
    if isinstance(proof, Reentry):
        session = armed(state, visitor, "", proof)
        return replace(
            session, granted=grants.signed_terms(grants.parse_grant(state, session, given), session, grants.REAUTH)
        )
    about, signature, key = _finish(state, visitor, proof, GRANT)
    assert about.grant is not None
    signed = replace(about.grant, statement=about.statement, signature=signature, key_id=key)
    return replace(visitor.session, granted=signed, fresh_at=state.clock.now())


def reveal_begin(state: State, visitor: Visitor, id: str, site: Site) -> dict[str, Any]:
    """Begins step-up before a code is shown: for the step that the code frees, or for a block a fresh sign-in."""
    challenge, ticket = _about(state, id)
    if ticket:
        return approve_begin(state, visitor, ticket.id, site, until=challenge.expires_at)
    return freshen_begin(state, visitor, site)


def reveal(state: State, visitor: Visitor, id: str, proof: Proof) -> releasing.RevealedCode:
    _, ticket = _about(state, id)
    if ticket is None and isinstance(proof, Touch):
        freshen(state, visitor, proof)
        session = replace(visitor.session, fresh_at=state.clock.now())
    else:
        session = armed(state, visitor, ticket.id if ticket else id, proof)
    return releasing.reveal(state, session, id)


def _about(state: State, id: str) -> tuple[Challenge, Ticket | None]:
    def work(tx: Tx) -> tuple[Challenge, Ticket | None]:
        found = find_challenge(tx, id)
        return found, tx.challenged_ticket(found) if found.kind == VERIFY else None

    return state.store.read(work)
