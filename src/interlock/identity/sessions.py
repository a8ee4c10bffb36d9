"""Operators' sign-in sessions: keys in this process's memory alone, and the roster that approvals are checked against."""

from __future__ import annotations

import hmac
import math
import secrets
import threading
from collections.abc import Callable, Hashable, Mapping
from typing import Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals.statements import ADMIN, RosterEntry
from interlock.canonical_json import normal_name
from interlock.error_codes import AnswerRefused
from interlock.identity.keys.passphrases import WrongPassphrase, open_row
from interlock.identity.keys.roster import Roster, RosterError, StoredRoster
from interlock.model import Confidential
from interlock.ports import Tx
from interlock.records import Approval, Grant
from interlock.redaction import hash_token

STEP_UP_SECONDS = 120  # how long a fresh sign-in counts as one
MOST_SESSIONS = 200


class SignInRefused(Exception):
    """A refused sign-in; the message gives the reason, and never which part was wrong."""


class WrongSignIn(SignInRefused):
    def __init__(self, words: str = "the name or the passphrase is wrong") -> None:
        super().__init__(words)


class TooManySignIns(SignInRefused):
    """Too many failures under this name; does not reveal whether the name exists."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"too many failed sign-ins; wait {seconds} s")


@runtime_checkable
class Signer(Protocol):
    """Signs for an operator: with the key from a passphrase, or one that a passkey vouches for."""

    @property
    def key_id(self) -> str: ...

    def sign(self, statement: str) -> str:
        """The signature of a statement in hex."""


class OperatorSession(Confidential, Struct, frozen=True):
    """One signed-in operator. A browser's session is a `cookie`: that alone is never a fresh sign-in."""

    HIDDEN = ("unlocked", "prepared", "granted")

    operator: str
    unlocked: Signer
    signed_in_at: float = 0.0
    expires_at: float = 0.0
    channel: str = ""
    cookie: bool = False
    # At an unlocked terminal, without the passphrase: it answers tickets up to level 2, and nothing else.
    resumed: bool = False
    fresh_at: float = 0.0  # of a cookie: the last step-up
    armed: str = ""  # of a cookie: the one ticket of that step-up
    prepared: Approval | None = None  # signed by a passkey for that ticket
    granted: Grant | None = None  # of a cookie: the one grant of that step-up, signed

    def stepped_up(self, now: float) -> bool:
        return not self.resumed and now - (self.fresh_at if self.cookie else self.signed_in_at) <= STEP_UP_SECONDS

    def require_fresh(self, now: float) -> None:
        if not self.stepped_up(now):
            raise AnswerRefused("enter your passphrase again first")

    def asked_anew(self, ticket: str, now: float) -> bool:
        """A cookie counts only for the ticket that it is armed for."""
        return self.armed == ticket if self.cookie else self.stepped_up(now)

    @property
    def proves_little(self) -> bool:
        return self.cookie or self.resumed


class OperatorSessions:
    def __init__(self, minutes: int = 15, now: Callable[[], float] = lambda: math.inf) -> None:
        self.minutes, self._now = minutes, now
        self.roster: Roster | None = None
        self._seal_key: bytes | None = None
        self._pinned: tuple[str, str] | None = None  # digest of the operators, where no other process changes them
        self._next: tuple[str, str] | None = None
        self._open: dict[str, OperatorSession] = {}  # by the token's fingerprint
        self._unlocked: dict[Hashable, OperatorSession] = {}  # by terminal
        self._lock = threading.Lock()

    def sign_in(self, tx: Tx, name: str, passphrase: str, now: float, channel: str) -> tuple[str, OperatorSession]:
        session = self.open_with(tx, name, passphrase, now, channel)
        return self._begin(session, now), session

    def _begin(self, session: OperatorSession, now: float) -> str:
        token = "ses_" + secrets.token_urlsafe(32)
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one.expires_at > now}
            if len(self._open) >= MOST_SESSIONS:  # the operator's own oldest session ends, never another operator's
                own = [key for key, one in self._open.items() if one.operator == session.operator]
                if not own:
                    raise SignInRefused("too many operators are signed in")
                del self._open[own[0]]
            self._open[hash_token(token)] = session
        return token

    def unlock(self, place: Hashable, session: OperatorSession, until: float) -> None:
        """Lets this terminal resume the session, within the limits of `resumed`."""
        with self._lock:
            known = {key: one for key, one in self._unlocked.items() if one.expires_at > session.signed_in_at}
            self._unlocked = {**known, place: replace(session, resumed=True, expires_at=until)}

    def resume(self, place: Hashable, now: float, operator: str = "") -> tuple[str, OperatorSession] | None:
        if (found := self._unlocked.get(place)) is None or found.expires_at <= now or not self.is_valid(found):
            return None
        other = operator and normal_name(operator) != found.operator
        return None if other else (self._begin(found, now), found)

    def lock(self, place: Hashable) -> bool:
        with self._lock:
            return self._unlocked.pop(place, None) is not None

    def open_with(self, tx: Tx, name: str, passphrase: str, now: float, channel: str) -> OperatorSession:
        stored = StoredRoster.of(tx)
        row = next((row for row in stored.rows if row.name == normal_name(name)), None)
        try:
            unlocked = open_row(row, passphrase)
        except WrongPassphrase:
            raise WrongSignIn from None
        known = self._seal_key
        if not self.matches_pin(stored) or (known is not None and not hmac.compare_digest(known, unlocked.seal_key)):
            raise SignInRefused("the operators were changed behind Interlock's back while it runs")
        self._prove(stored, unlocked.seal_key)
        return OperatorSession(unlocked.operator, unlocked, now, now + self.minutes * 60, channel)

    def session(self, token: str, now: float) -> OperatorSession | None:
        found = self._open.get(hash_token(token))
        return found if found and found.expires_at > now and self.is_valid(found) else None

    def is_valid(self, session: OperatorSession) -> bool:
        return self.roster is not None and self.roster.holds(session.operator, session.unlocked.key_id)

    def has_signed(self, by: str, key: str, text: str, signature: str) -> bool:
        roster = self.roster
        return roster is not None and roster.holds(by, key) and roster.verify(key, text.encode(), signature)

    def sign_out(self, token: str) -> None:
        with self._lock:
            self._open.pop(hash_token(token), None)

    @property
    def people(self) -> Mapping[str, RosterEntry]:
        return self.roster.people if self.roster else {}

    def person(self, name: str) -> RosterEntry | None:
        return self.people.get(name)

    def is_admin(self, name: str) -> bool:
        person = self.person(name)
        return person is not None and ADMIN in person.roles

    def seal_key(self) -> bytes | None:
        return self._seal_key

    def pin(self, tx: Tx) -> None:
        """Pins the operators: from now on, only operator commands may change them."""
        self._pinned = StoredRoster.of(tx).digest

    def matches_pin(self, stored: StoredRoster) -> bool:
        return self._pinned is None or stored.digest == self._pinned

    def take_roster(self, tx: Tx) -> None:
        """Changed by an operator command; refuses an invalid one. Call `confirm_roster` when it is on disk."""
        stored = StoredRoster.of(tx)
        self._next = stored.digest
        if self._seal_key is not None:
            self._prove(stored, self._seal_key)

    def open_roster(self, tx: Tx, seal_key: bytes) -> None:
        self._prove(StoredRoster.of(tx), seal_key)

    def confirm_roster(self) -> None:
        """Once it is on disk."""
        if self._pinned is not None and self._next is not None:
            self._pinned = self._next

    def refresh(self, tx: Tx) -> None:
        """Changed by another replica; ignores an invalid one."""
        key = self._seal_key
        if self.roster and key is not None and (stored := StoredRoster.of(tx)).digest != self.roster.digest:
            self._prove(stored, key)

    def _prove(self, stored: StoredRoster, seal_key: bytes) -> None:
        try:
            self.roster = Roster.load(stored, seal_key, self._now)
        except RosterError as error:
            raise SignInRefused(str(error)) from None
        self._seal_key = seal_key
