"""Who is signed in: operators' keys in this process's memory, and the roster that their approvals are checked against."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from interlock.core.digest import normal_name
from interlock.core.records import OperatorRow
from interlock.core.statement import Person
from interlock.keys import (
    ROSTER_SETTING,
    Roster,
    RosterError,
    Unlocked,
    WrongPassphrase,
    fingerprint,
    open_row,
    roster_digest,
)
from interlock.ports import Tx

STEP_UP_SECONDS = 120  # how long a fresh sign-in counts as one
MOST_SESSIONS = 200


class SignInRefused(Exception):
    """Nobody was signed in; the words say why, and never which part was wrong."""


class WrongSignIn(SignInRefused):
    """The name or the passphrase is wrong."""

    def __init__(self) -> None:
        super().__init__("the name or the passphrase is wrong")


class TooManySignIns(SignInRefused):
    """Too many failed under this name; whether there is such a name is not said."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"too many failed sign-ins; wait {seconds} s")


@dataclass(frozen=True, slots=True)
class OperatorSession:
    """One signed-in operator."""

    operator: str
    unlocked: Unlocked = field(repr=False)
    signed_in_at: float = 0.0
    expires_at: float = 0.0
    channel: str = ""

    def stepped_up(self, now: float) -> bool:
        return now - self.signed_in_at <= STEP_UP_SECONDS


class Sessions:
    """The sessions of one process; nothing of them is ever written down."""

    def __init__(self, minutes: int = 15) -> None:
        self.minutes = minutes
        self.roster: Roster | None = None
        self._seal_key: bytes | None = None
        self._pinned: str | None = None  # the operators as operators left them, where nobody else changes them
        self._next: str | None = None
        self._open: dict[str, OperatorSession] = {}  # by the token's fingerprint
        self._lock = threading.Lock()

    def sign_in(self, tx: Tx, name: str, passphrase: str, now: float, channel: str) -> tuple[str, OperatorSession]:
        """A new session and its token; proves the roster with the key that the passphrase opens."""
        rows = tx.operators()
        row = next((row for row in rows if row.name == normal_name(name)), None)
        try:
            unlocked = open_row(row, passphrase)
        except WrongPassphrase:
            raise WrongSignIn from None
        self._same(rows, unlocked.seal_key)
        self._prove(rows, unlocked.seal_key, tx.setting(ROSTER_SETTING))
        token = "ses_" + secrets.token_urlsafe(32)
        session = OperatorSession(unlocked.operator, unlocked, now, now + self.minutes * 60, channel)
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one.expires_at > now}
            if len(self._open) >= MOST_SESSIONS:
                self._make_room(session.operator)
            self._open[fingerprint(token)] = session
        return token, session

    def _make_room(self, operator: str) -> None:
        """Whoever signs in that often ends their own oldest session, and nobody else's."""
        oldest = next((key for key, one in self._open.items() if one.operator == operator), None)
        if oldest is None:
            raise SignInRefused("too many operators are signed in")
        del self._open[oldest]

    def session(self, token: str, now: float) -> OperatorSession | None:
        """The session of a token, while it lasts, its operator is not disabled and has the same key as then."""
        found = self._open.get(fingerprint(token))
        if found is None or found.expires_at <= now:
            return None
        person = self.person(found.operator)
        same = person is not None and not person.disabled and found.unlocked.key.key_id in person.keys
        return found if same else None

    def sign_out(self, token: str) -> None:
        with self._lock:
            self._open.pop(fingerprint(token), None)

    def person(self, name: str) -> Person | None:
        return self.roster.people.get(name) if self.roster else None

    def seal_key(self) -> bytes | None:
        return self._seal_key

    def pin(self, rows: Iterable[OperatorRow]) -> None:
        """From now on only operator commands change the operators."""
        self._pinned = roster_digest(rows)

    def unaltered(self, rows: Iterable[OperatorRow]) -> bool:
        """Whether these are the operators that operators left."""
        return self._pinned is None or roster_digest(rows) == self._pinned

    def changed(self, rows: Iterable[OperatorRow], listed: str | None) -> None:
        """Takes over a roster that an operator command changed; refuses one that does not prove. To be `kept` when it is on disk."""
        self._next = roster_digest(rows := list(rows))
        if self._seal_key is not None:
            self._prove(rows, self._seal_key, listed)

    def kept(self) -> None:
        """The roster that was changed is on disk."""
        if self._pinned is not None and self._next is not None:
            self._pinned = self._next

    def refresh(self, tx: Tx) -> None:
        """Looks whether another replica changed the roster; one that does not prove changes nothing."""
        if self.roster is None or self._seal_key is None:
            return
        rows = tx.operators()
        if roster_digest(rows) != self.roster.digest:
            self._prove(rows, self._seal_key, tx.setting(ROSTER_SETTING))

    def _same(self, rows: list[OperatorRow], seal_key: bytes) -> None:
        """Refuses operators that prove each other and took the place of the real ones while this process runs."""
        known = self._seal_key
        if not self.unaltered(rows) or (known is not None and not hmac.compare_digest(known, seal_key)):
            raise SignInRefused("the operators were changed behind Interlock's back while it runs")

    def _prove(self, rows: list[OperatorRow], seal_key: bytes, listed: str | None) -> None:
        try:
            self.roster, self._seal_key = Roster.load(rows, seal_key, listed), seal_key
        except RosterError as error:
            raise SignInRefused(f"the operators were changed behind Interlock's back: {error}") from None
