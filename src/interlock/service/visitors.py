"""Whose browser is this? Sessions of the console: in memory alone, found by a hash of their cookie, ended by idleness and age."""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass, field, replace

from interlock.core.console_rules import ConsoleSettings
from interlock.core.statement import CONSOLE
from interlock.keys import fingerprint
from interlock.service.ceremonies import Ceremonies
from interlock.service.sessions import OperatorSession, SignInRefused

PASSKEY, PASSPHRASE, SET_UP = "passkey", "passphrase", "setup"
VIEWER = "viewer"
SECURE = "cos_"  # how tokens begin that are only taken from a cookie of TLS
SIGN_INS = 2  # passphrases that are checked at a time: it is slow on purpose, and everybody else needs threads too
LINK_SECONDS = 600.0  # that a set-up link, and what it opens, lasts
MOST = 200  # browsers that are signed in at once
MOST_LINKS = 100


@dataclass(frozen=True, slots=True)
class Visitor:
    """One signed-in browser; `setup` may register a first way in, and nothing else."""

    id: str
    session: OperatorSession
    how: str
    csrf: str = field(repr=False)
    source: str = ""
    signed_in_at: float = 0.0
    seen_at: float = 0.0
    ends_at: float = 0.0
    role: str = VIEWER

    @property
    def operator(self) -> str:
        return self.session.operator

    def sent_by(self, given: str) -> bool:
        """Whether a request carries this session's own mark: another page cannot know it."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.csrf.encode())

    def fresh(self, now: float) -> bool:
        """Whether its operator was asked anew within the last two minutes."""
        return self.session.stepped_up(now)


class Visitors:
    """The browsers that are signed in at one process; nothing of them is written down, for a row would be a way in."""

    def __init__(self, settings: ConsoleSettings | None = None) -> None:
        self.settings = settings or ConsoleSettings()
        self.ceremonies = Ceremonies()
        self.counters: dict[str, int] = {}  # of passkeys and authenticators, as this process saw them last
        self.checking = threading.BoundedSemaphore(SIGN_INS)
        self._open: dict[str, Visitor] = {}  # by the cookie's fingerprint
        self._links: dict[str, tuple[OperatorSession, float]] = {}
        self._lock = threading.Lock()

    def enter(
        self, session: OperatorSession, how: str, source: str, now: float, secure: bool = False
    ) -> tuple[str, Visitor]:
        """A new session and its cookie; whatever cookie the browser had before is worth nothing for it."""
        lasts = LINK_SECONDS if how == SET_UP else self.settings.session_hours * 3600.0
        kept = replace(session, channel=CONSOLE, cookie=True, fresh_at=0.0, expires_at=now + lasts)
        visitor = Visitor(secrets.token_hex(8), kept, how, secrets.token_urlsafe(32), source, now, now, now + lasts)
        token = (SECURE if secure else "con_") + secrets.token_urlsafe(32)
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if self._lasts(one, now)}
            if len(self._open) >= MOST:
                self._make_room(visitor.operator)
            self._open[fingerprint(token)] = visitor
        return token, visitor

    def find(self, token: str, now: float, idles: bool = False) -> Visitor | None:
        """The session of a cookie while it lasts; what its operator asks for keeps it from idling, what a page asks by itself not."""
        key = fingerprint(token)
        with self._lock:
            found = self._open.get(key)
            if found is None:
                return None
            if not self._lasts(found, now):
                del self._open[key]
                return None
            if not idles:
                self._open[key] = found = replace(found, seen_at=now)
            return found

    def freshen(self, id: str, now: float) -> None:
        """Its operator was asked anew."""
        with self._lock:
            for key, one in self._open.items():
                if one.id == id:
                    self._open[key] = replace(one, session=replace(one.session, fresh_at=now))

    def leave(self, token: str) -> None:
        with self._lock:
            self._open.pop(fingerprint(token), None)

    def leave_all(self, operator: str) -> None:
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one.operator != operator}
            self._links = {key: one for key, one in self._links.items() if one[0].operator != operator}

    def link(self, session: OperatorSession, now: float) -> str:
        """The secret of a set-up link, good once."""
        token = "set_" + secrets.token_urlsafe(32)
        with self._lock:
            live = {key: one for key, one in self._links.items() if one[1] > now}
            self._links = dict(list(live.items())[-(MOST_LINKS - 1) :])
            self._links[fingerprint(token)] = (session, now + LINK_SECONDS)
        return token

    def linked(self, token: str, now: float) -> OperatorSession | None:
        """Whoever was given this link, the first time it is asked for."""
        with self._lock:
            found = self._links.pop(fingerprint(token), None)
        return found[0] if found is not None and found[1] > now else None

    def _lasts(self, visitor: Visitor, now: float) -> bool:
        return now < visitor.ends_at and now - visitor.seen_at < self.settings.idle_minutes * 60

    def _make_room(self, operator: str) -> None:
        """Whoever signs in that often ends their own oldest session, and nobody else's."""
        oldest = next((key for key, one in self._open.items() if one.operator == operator), None)
        if oldest is None:
            raise SignInRefused("too many browsers are signed in")
        del self._open[oldest]
