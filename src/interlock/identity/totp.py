"""One-time codes of an authenticator: each code works once, and only together with the passphrase."""

from __future__ import annotations

import hmac
from typing import Any

from interlock.approvals.statements import CONSOLE
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials
from interlock.identity.console_access import enter
from interlock.identity.keys.roster import TOTP, unwrap_secret, wrap_secret
from interlock.identity.operators import attempt_sign_in
from interlock.identity.sessions import OperatorSession, SignInRefused, WrongSignIn
from interlock.identity.visitors import PASSPHRASE, Visitor
from interlock.ports import Tx
from interlock.records import Credential
from interlock.runtime.state import State

SET_UP = "totp"
STEP = 30  # seconds
WINDOW = 1  # steps that a clock may be off
WRONG = "the name, the passphrase or the code is wrong"


class SignInBusy(Exception):
    """Too many sign-ins at once; nothing was checked."""


def begin(state: State, visitor: Visitor) -> dict[str, Any]:
    """A new secret, shown once, that counts after its first code."""
    from pyotp import random_base32
    from pyotp.totp import TOTP

    credentials.seal_key_of(state)
    credentials.effective_from(state, visitor)
    secret = random_base32()
    id = state.visitors.begin(SET_UP, b"", visitor.id, state.clock.now(), secret)
    uri = TOTP(secret).provisioning_uri(name=visitor.operator, issuer_name="Interlock")
    return {"ceremony": id, "secret": secret, "uri": uri}


def finish(state: State, visitor: Visitor, ceremony: str, code: str) -> Credential:
    now = state.clock.now()
    secret = state.visitors.take(ceremony, SET_UP, visitor.id, now).read(str)
    if (step := _step_of(secret, code, now, 0)) is None:
        raise AnswerRefused("this is no code of your authenticator; begin again, and check its clock")
    id = state.new_id("totp_")
    public = {"box": wrap_secret(secret, visitor.operator, id, credentials.seal_key_of(state))}
    return credentials.register(state, visitor, id, TOTP, public, step, "authenticator")


def sign_in(
    state: State, name: str, passphrase: str, code: str, source: str, secure: bool = False
) -> tuple[str, Visitor]:
    """Never reveals which of the two was wrong."""
    session = authenticate(state, name, passphrase, code, source)
    return enter(state, session, PASSPHRASE, "passphrase and code", source, secure)


def authenticate(state: State, name: str, passphrase: str, code: str, source: str) -> OperatorSession:
    def work() -> OperatorSession:
        now = state.clock.now()
        # Only a few at a time, so that a flood does not block others.
        if not state.visitors.checking.acquire(blocking=False):
            raise SignInBusy("others are signing in just now; try again in a moment")
        try:
            session = state.store.read(lambda tx: state.sessions.open_with(tx, name, passphrase, now, CONSOLE))
        except WrongSignIn:
            raise WrongSignIn(WRONG) from None
        finally:
            state.visitors.checking.release()
        if not credentials.active_credentials(state, session.operator, TOTP):
            raise SignInRefused("no authenticator is set up for this name: run `interlock operator link`")
        if not state.store.write(lambda tx: _use_code(state, tx, session.operator, code)):
            raise WrongSignIn(WRONG)
        return session

    return attempt_sign_in(state, name, CONSOLE, f"console\0{source}", work)


def _use_code(state: State, tx: Tx, operator: str, code: str) -> bool:
    seal_key, now = credentials.seal_key_of(state), state.clock.now()
    for known in credentials.active_credentials(state, operator, TOTP):
        row = credentials.with_latest_counter(state, tx, known)
        secret = unwrap_secret(str(row.public.get("box", "")), operator, row.id, seal_key)
        step = _step_of(secret, code, now, row.counter) if secret else None
        if step is not None:
            credentials.use(state, tx, known, step)
            return True
    return False


def _step_of(secret: str, code: str, now: float, after: int) -> int | None:
    """Later than the last used one; compares every step, in constant time."""
    from pyotp.totp import TOTP

    typed, here, found = "".join(code.split()), int(now // STEP), None
    for step in range(here - WINDOW, here + WINDOW + 1):
        right = TOTP(secret).at(step * STEP)
        same = hmac.compare_digest(right.encode(), typed.encode("utf-8", "replace"))
        found = step if same and step > after else found
    return found
