"""Operators' sign-in sessions: keys in this process's memory alone, and the roster that approvals are checked against."""

from __future__ import annotations

import hmac
import math
import secrets
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Protocol

from interlock.approvals.statements import RosterEntry
from interlock.identity.keys import (
    ROSTER_SETTING,
    Roster,
    RosterError,
    WrongPassphrase,
    fingerprint,
    open_row,
    roster_digest,
)
from interlock.identity.keys.roster import CREDENTIALS_SETTING, credentials_digest
from interlock.policy.digest import normal_name
from interlock.ports import Tx
from interlock.records import Approval, Credential, Grant, OperatorRow

STEP_UP_SECONDS = 120  # how long a fresh sign-in counts as one
MOST_SESSIONS = 200


class SignInRefused(Exception):
    """Nobody was signed in; the words say why, and never which part was wrong."""


class WrongSignIn(SignInRefused):
    """The name or the passphrase is wrong, or the code, or what a passkey answered."""

    def __init__(self, words: str = "the name or the passphrase is wrong") -> None:
        super().__init__(words)


class TooManySignIns(SignInRefused):
    """Too many failed under this name; whether there is such a name is not said."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"too many failed sign-ins; wait {seconds} s")


class Signer(Protocol):
    """What signs for an operator: the key that a passphrase opened, or that a passkey vouches for."""

    @property
    def key_id(self) -> str: ...

    def sign(self, statement: str) -> str:
        """The signature of a statement in hex."""


@dataclass(frozen=True, slots=True)
class OperatorSession:
    """One signed-in operator. A browser's session is a `cookie`: that alone is never a fresh sign-in."""

    operator: str
    unlocked: Signer = field(repr=False)
    signed_in_at: float = 0.0
    expires_at: float = 0.0
    channel: str = ""
    cookie: bool = False
    resumed: bool = (
        False  # at an unlocked terminal, without the passphrase: it answers tickets up to level 2, and nothing else
    )
    fresh_at: float = 0.0  # of a cookie: when its operator was asked anew
    armed: str = ""  # of a cookie: the one ticket that its operator was asked anew for
    prepared: Approval | None = field(default=None, repr=False)  # what a passkey signed about it
    granted: Grant | None = field(
        default=None, repr=False
    )  # of a cookie: the one grant that it was asked anew for, signed

    def stepped_up(self, now: float) -> bool:
        return not self.resumed and now - (self.fresh_at if self.cookie else self.signed_in_at) <= STEP_UP_SECONDS

    def asked_anew(self, ticket: str, now: float) -> bool:
        """Whether the operator was asked anew for this ticket: a cookie counts for the one that it is armed for alone."""
        return self.armed == ticket if self.cookie else self.stepped_up(now)

    @property
    def proves_little(self) -> bool:
        """Whether the passphrase or a passkey was not asked for just now."""
        return self.cookie or self.resumed


@dataclass(frozen=True, slots=True)
class StoredRoster:
    """The operators and their credentials as the store has them."""

    rows: list[OperatorRow]
    listed: str | None
    credentials: list[Credential]
    credentials_listed: str | None

    @classmethod
    def of(cls, tx: Tx) -> StoredRoster:
        return cls(tx.operators(), tx.setting(ROSTER_SETTING), tx.all_credentials(), tx.setting(CREDENTIALS_SETTING))

    @property
    def digest(self) -> tuple[str, str]:
        return roster_digest(self.rows), credentials_digest(self.credentials)


class OperatorSessions:
    """The sessions of one process; nothing of them is ever written down."""

    def __init__(self, minutes: int = 15, now: Callable[[], float] = lambda: math.inf) -> None:
        self.minutes, self._now = minutes, now
        self.roster: Roster | None = None
        self._seal_key: bytes | None = None
        self._pinned: tuple[str, str] | None = None  # the operators as they left them, where nobody else changes them
        self._next: tuple[str, str] | None = None
        self._open: dict[str, OperatorSession] = {}  # by the token's fingerprint
        self._unlocked: dict[Hashable, OperatorSession] = {}  # by the terminal that somebody signed in at
        self._lock = threading.Lock()

    def sign_in(self, tx: Tx, name: str, passphrase: str, now: float, channel: str) -> tuple[str, OperatorSession]:
        """A new session and its token; proves the roster with the key that the passphrase opens."""
        session = self.opened(tx, name, passphrase, now, channel)
        return self._begin(session, now), session

    def _begin(self, session: OperatorSession, now: float) -> str:
        token = "ses_" + secrets.token_urlsafe(32)
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one.expires_at > now}
            if len(self._open) >= MOST_SESSIONS:
                self._make_room(session.operator)
            self._open[fingerprint(token)] = session
        return token

    def unlock(self, place: Hashable, session: OperatorSession, until: float) -> None:
        """From now on whoever is at this terminal speaks for the operator who signed in there, as far as `resumed` reaches."""
        with self._lock:
            known = {key: one for key, one in self._unlocked.items() if one.expires_at > session.signed_in_at}
            self._unlocked = {**known, place: replace(session, resumed=True, expires_at=until)}

    def resume(self, place: Hashable, now: float, operator: str = "") -> tuple[str, OperatorSession] | None:
        """A session without the passphrase; None where nobody signed in at this terminal, or no longer counts."""
        found = self._unlocked.get(place)
        if found is None or found.expires_at <= now or not self.stands(found):
            return None
        if operator and normal_name(operator) != found.operator:
            return None
        return self._begin(found, now), found

    def lock(self, place: Hashable) -> bool:
        """Whether a terminal was unlocked, and is no more."""
        with self._lock:
            return self._unlocked.pop(place, None) is not None

    def opened(self, tx: Tx, name: str, passphrase: str, now: float, channel: str) -> OperatorSession:
        """What a passphrase opens, without a token for it."""
        kept = StoredRoster.of(tx)
        row = next((row for row in kept.rows if row.name == normal_name(name)), None)
        try:
            unlocked = open_row(row, passphrase)
        except WrongPassphrase:
            raise WrongSignIn from None
        self._same(kept, unlocked.seal_key)
        self._prove(kept, unlocked.seal_key)
        return OperatorSession(unlocked.operator, unlocked, now, now + self.minutes * 60, channel)

    def _make_room(self, operator: str) -> None:
        """Whoever signs in that often ends their own oldest session, and nobody else's."""
        oldest = next((key for key, one in self._open.items() if one.operator == operator), None)
        if oldest is None:
            raise SignInRefused("too many operators are signed in")
        del self._open[oldest]

    def session(self, token: str, now: float) -> OperatorSession | None:
        """The session of a token, while it lasts, its operator is not disabled and has the same key as then."""
        found = self._open.get(fingerprint(token))
        return found if found is not None and found.expires_at > now and self.stands(found) else None

    def stands(self, session: OperatorSession) -> bool:
        """Whether its operator is not disabled, and still has the key that it signs with."""
        person = self.person(session.operator)
        return person is not None and not person.disabled and session.unlocked.key_id in person.keys

    def sign_out(self, token: str) -> None:
        with self._lock:
            self._open.pop(fingerprint(token), None)

    def person(self, name: str) -> RosterEntry | None:
        return self.roster.people.get(name) if self.roster else None

    def seal_key(self) -> bytes | None:
        return self._seal_key

    def pin(self, tx: Tx) -> None:
        """From now on only operator commands change the operators."""
        self._pinned = StoredRoster.of(tx).digest

    def unaltered(self, kept: StoredRoster) -> bool:
        """Whether these are the operators that operators left."""
        return self._pinned is None or kept.digest == self._pinned

    def changed(self, tx: Tx) -> None:
        """Takes over a roster that an operator command changed; refuses one that does not prove. To be `kept` when it is on disk."""
        kept = StoredRoster.of(tx)
        self._next = kept.digest
        if self._seal_key is not None:
            self._prove(kept, self._seal_key)

    def kept(self) -> None:
        """The roster that was changed is on disk."""
        if self._pinned is not None and self._next is not None:
            self._pinned = self._next

    def refresh(self, tx: Tx) -> None:
        """Looks whether another replica changed the roster; one that does not prove changes nothing."""
        if self.roster is None or self._seal_key is None:
            return
        kept = StoredRoster.of(tx)
        if kept.digest != (self.roster.digest, self.roster.credentials_digest):
            self._prove(kept, self._seal_key)

    def _same(self, kept: StoredRoster, seal_key: bytes) -> None:
        """Refuses operators that prove each other and took the place of the real ones while this process runs."""
        known = self._seal_key
        if not self.unaltered(kept) or (known is not None and not hmac.compare_digest(known, seal_key)):
            raise SignInRefused("the operators were changed behind Interlock's back while it runs")

    def _prove(self, kept: StoredRoster, seal_key: bytes) -> None:
        try:
            self.roster = Roster.load(
                kept.rows, seal_key, kept.listed, kept.credentials, kept.credentials_listed, self._now
            )
        except RosterError as error:
            raise SignInRefused(f"the operators were changed behind Interlock's back: {error}") from None
        self._seal_key = seal_key
