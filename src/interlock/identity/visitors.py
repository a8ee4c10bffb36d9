"""Browser sessions of the console: its site, sessions found by a cookie's hash, and single-use passkey ceremonies; in memory alone."""

from __future__ import annotations

import hmac
import secrets
import threading
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals.statements import CONSOLE
from interlock.config.settings import ConsoleSettings
from interlock.identity.keys import fingerprint
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.sessions import OperatorSession, SignInRefused
from interlock.model import Confidential

LOCAL = "localhost"  # a browser takes no passkeys for 127.0.0.1


class Site(Struct, frozen=True):
    """One origin, and the name that passkeys are made for."""

    rp_id: str
    origin: str

    @property
    def secure(self) -> bool:
        return self.origin.startswith("https://")

    def is_ours(self, origin: str | None) -> bool:
        """Whether a request was made by a page of this site; one without an origin was not."""
        return origin is not None and origin.lower() == self.origin


def site_of(public_url: str, host: str) -> Site:
    """The site that a request's Host names: the one of `console.public_url`, or else this device."""
    public = urlsplit(public_url.lower())
    if public_url and host.lower() == public.netloc:
        return Site(public.hostname or LOCAL, public_url.lower())
    port = host.rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return Site(LOCAL, f"http://{LOCAL}" + (f":{port}" if port else ""))


CEREMONY_SECONDS = 180.0
MOST_CEREMONIES = 500  # pending at once; the oldest is dropped first


class Ceremony(Confidential, Struct, frozen=True):
    """A pending passkey or authenticator request to a browser."""

    HIDDEN = ("challenge", "about")

    kind: str
    challenge: bytes
    visitor: str  # its id, or that of a known browser; empty for an unknown one
    expires_at: float
    about: Any = None


class Ceremonies:
    """Pending ceremonies, in memory. Those of visitors are separate, so that a flood of sign-ins blocks no approval."""

    def __init__(self) -> None:
        self._open: dict[bool, dict[str, Ceremony]] = {False: {}, True: {}}
        self._lock = threading.Lock()

    def begin(self, kind: str, challenge: bytes, visitor: str, now: float, about: Any = None) -> str:
        """Opens a ceremony and returns its id."""
        id = secrets.token_urlsafe(18)
        with self._lock:
            kept = self._open[bool(visitor)]
            for old in [old for old, one in kept.items() if one.expires_at <= now]:
                del kept[old]
            while len(kept) >= MOST_CEREMONIES:
                del kept[next(iter(kept))]
            kept[id] = Ceremony(kind, challenge, visitor, now + CEREMONY_SECONDS, about)
        return id

    def take(self, id: str, kind: str, visitor: str, now: float) -> Ceremony:
        """Takes a ceremony, once; refuses another kind or visitor, and an expired one."""
        with self._lock:
            found = self._open[bool(visitor)].get(id)
            if found is None or (found.kind, found.visitor) != (kind, visitor):
                raise PasskeyRefused("this was not requested, or was answered already; begin again")
            del self._open[bool(visitor)][id]
        if found.expires_at <= now:
            raise PasskeyRefused("this took too long; begin again")
        return found


PASSKEY, PASSPHRASE, SET_UP = "passkey", "passphrase", "setup"
VIEWER = "viewer"
SECURE = "cos_"  # prefix of tokens that are accepted over TLS only
SIGN_INS = 2  # passphrases checked at a time: it is slow on purpose, and others need threads too
LINK_SECONDS = 600.0  # lifetime of a set-up link and of its session
MOST_BROWSERS = 200  # browsers that are signed in at once
MOST_LINKS = 100


class Visitor(Confidential, Struct, frozen=True):
    """One signed-in browser; a set-up session may only register a first credential."""

    HIDDEN = ("csrf",)

    id: str
    session: OperatorSession
    how: str
    csrf: str
    source: str = ""
    signed_in_at: float = 0.0
    seen_at: float = 0.0
    ends_at: float = 0.0
    role: str = VIEWER

    @property
    def operator(self) -> str:
        return self.session.operator

    def sent_by(self, given: str) -> bool:
        """Whether a request carries this session's CSRF token, which other pages cannot know."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.csrf.encode())

    def fresh(self, now: float) -> bool:
        """Whether its operator stepped up within the last two minutes."""
        return self.session.stepped_up(now)


class Visitors:
    """The browsers that are signed in at one process; never stored, as a stored session could be stolen."""

    def __init__(self, settings: ConsoleSettings | None = None) -> None:
        self.settings = settings or ConsoleSettings()
        self.ceremonies = Ceremonies()
        self.counters: dict[str, int] = {}  # last known counters of passkeys and authenticators
        self.checking = threading.BoundedSemaphore(SIGN_INS)
        self._open: dict[str, Visitor] = {}  # by the cookie's fingerprint
        self._links: dict[str, tuple[OperatorSession, float]] = {}
        self._lock = threading.Lock()

    def enter(
        self, session: OperatorSession, how: str, source: str, now: float, secure: bool = False
    ) -> tuple[str, Visitor]:
        """A new session and its cookie; an earlier cookie of the browser does not open it."""
        lasts = LINK_SECONDS if how == SET_UP else self.settings.session_hours * 3600.0
        kept = replace(session, channel=CONSOLE, cookie=True, fresh_at=0.0, expires_at=now + lasts)
        visitor = Visitor(secrets.token_hex(8), kept, how, secrets.token_urlsafe(32), source, now, now, now + lasts)
        token = (SECURE if secure else "con_") + secrets.token_urlsafe(32)
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if self._lasts(one, now)}
            if len(self._open) >= MOST_BROWSERS:
                self._make_room(visitor.operator)
            self._open[fingerprint(token)] = visitor
        return token, visitor

    def find(self, token: str, now: float, idles: bool = False) -> Visitor | None:
        """The session of a cookie while it lasts; an operator's requests postpone idling, a page's own (`idles`) do not."""
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
        """Records a step-up of the visitor's operator."""
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
        """The secret of a single-use set-up link."""
        token = "set_" + secrets.token_urlsafe(32)
        with self._lock:
            live = {key: one for key, one in self._links.items() if one[1] > now}
            self._links = dict(list(live.items())[-(MOST_LINKS - 1) :])
            self._links[fingerprint(token)] = (session, now + LINK_SECONDS)
        return token

    def take_link(self, token: str, now: float) -> OperatorSession | None:
        """The session that a set-up link was made for; once, then None."""
        with self._lock:
            found = self._links.pop(fingerprint(token), None)
        return found[0] if found is not None and found[1] > now else None

    def _lasts(self, visitor: Visitor, now: float) -> bool:
        return now < visitor.ends_at and now - visitor.seen_at < self.settings.idle_minutes * 60

    def _make_room(self, operator: str) -> None:
        """Ends the operator's own oldest session above the limit, never another operator's."""
        oldest = next((key for key, one in self._open.items() if one.operator == operator), None)
        if oldest is None:
            raise SignInRefused("too many browsers are signed in")
        del self._open[oldest]
