"""Step-up for a grant: a passkey's touch over exactly its terms, or passphrase and code once more."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.assertion import Head, approval_challenge, key_id, to_hex
from interlock.core.records import Grant
from interlock.keys import passkeys
from interlock.service import stepping
from interlock.service.granting import ANEW, proposed, spoken, touch_of
from interlock.service.passkeys import answered, begun
from interlock.service.sessions import OperatorSession
from interlock.service.site import Site
from interlock.service.state import State
from interlock.service.visitors import Visitor

GRANT = "grant"


@dataclass(frozen=True, slots=True)
class Asked:
    """The grant that a passkey was asked to sign, with everything that it says."""

    grant: Grant
    statement: str
    head: Head


def begin(state: State, visitor: Visitor, given: Mapping[str, Any], site: Site) -> dict[str, Any]:
    """What a passkey is asked about a grant: SHA-256(its id ‖ audit head ‖ hash of its whole statement)."""
    grant = proposed(state, visitor.session, given)
    own = stepping.own_passkeys(state, visitor, site)
    touch = touch_of(grant, secrets.token_hex(16))
    text = spoken(grant, touch)
    head = state.store.read(lambda tx: stepping.head_of(state, tx))
    challenge = approval_challenge(str(touch["digest"]), head, text)
    options = passkeys.request(site.rp_id, challenge, own)
    return begun(state, GRANT, challenge, visitor.id, options, Asked(grant, text, head))


def finish(state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], site: Site) -> OperatorSession:
    """The session with the one grant that the passkey was touched for."""
    now = state.clock.now()
    asked = state.visitors.ceremonies.take(ceremony, GRANT, visitor.id, now)
    about: Asked = asked.about
    row, proof = answered(state, response, asked.challenge, site, visitor.operator)
    signature = to_hex(replace(proof, head=about.head))
    signed = replace(about.grant, statement=about.statement, signature=signature, key_id=key_id(row.id))
    return replace(visitor.session, granted=signed, fresh_at=now)


def with_passphrase(
    state: State, visitor: Visitor, given: Mapping[str, Any], passphrase: str, code: str
) -> OperatorSession:
    """The same with passphrase and code, entered anew for these terms, for somebody who has no passkey to touch."""
    session = stepping.stepup_with_passphrase(state, visitor, "", passphrase, code)
    grant = proposed(state, session, given)
    text = spoken(grant, ANEW)
    signed = replace(grant, statement=text, signature=session.unlocked.sign(text), key_id=session.unlocked.key_id)
    return replace(session, granted=signed)
