"""Registers passkeys and signs operators in with them; the passkey vouches for a session key."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from typing import Any

from interlock.approvals.statements import CONSOLE
from interlock.identity import credentials
from interlock.identity.console_access import enter
from interlock.identity.keys import webauthn
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.operators import note_failure
from interlock.identity.passkey_proofs import PasskeyProof
from interlock.identity.session_shelf import SessionKey
from interlock.identity.sessions import OperatorSession, WrongSignIn
from interlock.identity.visitors import PASSKEY as BY_PASSKEY
from interlock.identity.visitors import Site, Visitor
from interlock.records import Credential
from interlock.runtime.state import State

REGISTER, SIGN_IN = "register", "sign-in"


def register_begin(state: State, visitor: Visitor, site: Site) -> dict[str, Any]:
    credentials.seal_key_of(state)
    credentials.effective_from(state, visitor)  # refuses before anybody touches a passkey
    challenge = secrets.token_bytes(32)
    own = (
        one.id for one in credentials.all_credentials(state) if one.operator == visitor.operator and one.kind == PASSKEY
    )
    options = webauthn.creation_options(site.rp_id, challenge, visitor.operator, own)
    return begin_ceremony(state, REGISTER, challenge, visitor.id, options)


def register_finish(
    state: State, visitor: Visitor, ceremony: str, response: Mapping[str, Any], name: str, site: Site
) -> Credential:
    begun = state.visitors.take(ceremony, REGISTER, visitor.id, state.clock.now())
    id, counter, public = webauthn.verify_registration(response, begun.challenge, site.rp_id, site.origin)
    return credentials.register(state, visitor, id, PASSKEY, public, counter, credentials.label(name, "passkey"))


def sign_in_begin(state: State, site: Site, browser: str = "") -> dict[str, Any]:
    """The passkey vouches for the session's key; `browser` is the id of a known one."""
    credentials.seal_key_of(state)
    key = SessionKey()
    options = webauthn.request_options(site.rp_id, key.challenge)
    return begin_ceremony(state, SIGN_IN, key.challenge, browser, options, key)


def sign_in_finish(
    state: State, ceremony: str, response: Mapping[str, Any], site: Site, source: str, browser: str = ""
) -> tuple[str, Visitor]:
    """Records a failure; passkeys cannot be guessed, so nobody is locked out."""
    now = state.clock.now()
    try:
        begun = state.visitors.take(ceremony, SIGN_IN, browser, now)
        row, proof = verify_answer(state, response, begun.challenge, site)
    except PasskeyRefused as error:
        refused = WrongSignIn(str(error))
        note_failure(state, CONSOLE, f"passkey\0{source}", refused)
        raise refused from None
    session = OperatorSession(row.operator, begun.read(SessionKey).delegate(proof), now, channel=CONSOLE)
    return enter(state, session, BY_PASSKEY, "passkey", source, site.secure)


def verify_answer(
    state: State, response: Mapping[str, Any], challenge: bytes, site: Site, operator: str = ""
) -> tuple[Credential, PasskeyProof]:
    """Refuses a passkey that is unknown, removed, waiting, disabled or another operator's."""
    credentials.seal_key_of(state)
    id, now = webauthn.credential_id(response), state.clock.now()
    known = next((one for one in credentials.all_credentials(state) if one.kind == PASSKEY and one.id == id), None)
    person = state.sessions.person(known.operator) if known else None
    if known is None or person is None or person.disabled or known.removed_at or operator not in ("", known.operator):
        raise PasskeyRefused("this passkey is not known here")
    if known.active_at > now:
        raise PasskeyRefused(f"this passkey counts in {math.ceil((known.active_at - now) / 3600)} h")
    if known.public.get("rp_id") != site.rp_id:
        raise PasskeyRefused("the passkey is of another site")
    row = state.store.read(lambda tx: credentials.with_latest_counter(state, tx, known))
    proof, counter = webauthn.verify_assertion(response, challenge, site.origin, row)
    state.store.write(lambda tx: credentials.use(state, tx, known, counter))
    return known, proof


def begin_ceremony(
    state: State, kind: str, challenge: bytes, visitor: str, options: dict[str, Any], about: Any = None
) -> dict[str, Any]:
    return {"ceremony": state.visitors.begin(kind, challenge, visitor, state.clock.now(), about), "publicKey": options}
