"""Browser sessions of the console, set-up links, and single-use passkey ceremonies."""

from __future__ import annotations

import hmac
import secrets
import threading
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals.statements import CONSOLE, VIEWER
from interlock.config.settings import ConsoleSettings
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.session_shelf import GroupLimit, MemorySessions, SessionShelf, decode, encode
from interlock.identity.sessions import OperatorSession, SignInRefused
from interlock.model import Confidential

T = TypeVar("T")
LOCAL = "localhost"  # a browser takes no passkeys for 127.0.0.1


class Site(Struct, frozen=True):
    rp_id: str
    origin: str

    @property
    def secure(self) -> bool:
        return self.origin.startswith("https://")

    def is_ours(self, origin: str | None) -> bool:
        """A request without an origin was not made by a page of this site."""
        return origin is not None and origin.lower() == self.origin


def site_of(public_url: str, host: str) -> Site:
    public = urlsplit(public_url.lower())
    if public_url and host.lower() == public.netloc:
        return Site(public.hostname or LOCAL, public_url.lower())
    port = host.rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return Site(LOCAL, f"http://{LOCAL}" + (f":{port}" if port else ""))


CEREMONY_SECONDS = 180.0
MOST_CEREMONIES = 500  # pending at once; the oldest is dropped first
CEREMONY, STRANGERS = "ceremony", "stranger's ceremony"


class Ceremony(Confidential, Struct, frozen=True):
    HIDDEN = ("challenge", "about")

    kind: str
    challenge: bytes
    visitor: str  # its id, or that of a known browser; empty for an unknown one
    about: bytes = b""

    def read(self, kind: type[T]) -> T:
        return decode(self.about, kind)


PASSKEY, PASSPHRASE, SET_UP = "passkey", "passphrase", "setup"
SECURE = "cos_"  # prefix of tokens that are accepted over TLS only
SIGN_INS = 2  # passphrases checked at a time: it is slow on purpose, and others need threads too
LINK_SECONDS = 600.0  # lifetime of a set-up link and of its session
MOST_BROWSERS = 200  # browsers that are signed in at once
MOST_LINKS = 100
BROWSER, LINK = "browser", "link"  # kinds of sealed sessions


class Visitor(Confidential, Struct, frozen=True):
    """One signed-in browser; a set-up session may only register a first credential."""

    HIDDEN = ("csrf", "cookie")
    id: str
    session: OperatorSession
    how: str
    csrf: str
    source: str = ""
    signed_in_at: float = 0.0
    role: str = VIEWER
    cookie: str = ""  # of this request; never kept

    @property
    def operator(self) -> str:
        return self.session.operator

    def sent_by(self, given: str) -> bool:
        """Whether a request carries this session's CSRF token, which other pages cannot know."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.csrf.encode())

    def fresh(self, now: float) -> bool:
        return self.session.stepped_up(now)


class Visitors:
    """At this process or at any replica that shares its shelf."""

    def __init__(self, settings: ConsoleSettings | None = None, shelf: SessionShelf | None = None) -> None:
        self.settings = settings or ConsoleSettings()
        own_key = secrets.token_bytes(32)
        self.shelf = shelf or SessionShelf(MemorySessions(), lambda: own_key)
        self.counters: dict[str, int] = {}  # last known counters of passkeys and authenticators
        self.checking = threading.BoundedSemaphore(SIGN_INS)

    @property
    def _limit(self) -> GroupLimit:
        return GroupLimit(MOST_BROWSERS, own_only=True, idle_seconds=self.settings.idle_minutes * 60)

    def enter(
        self, session: OperatorSession, how: str, source: str, now: float, secure: bool = False
    ) -> tuple[str, Visitor]:
        """An earlier cookie of the browser does not open it.

        Above the limit the operator's own oldest session ends, never another operator's.
        """
        lasts = LINK_SECONDS if how == SET_UP else self.settings.session_hours * 3600.0
        kept = replace(session, channel=CONSOLE, cookie=True, fresh_at=0.0, expires_at=now + lasts)
        visitor = Visitor(secrets.token_hex(8), kept, how, secrets.token_urlsafe(32), source, now)
        token = (SECURE if secure else "con_") + secrets.token_urlsafe(32)
        if not self.shelf.add(token, BROWSER, session.operator, visitor, now, now + lasts, self._limit):
            raise SignInRefused("too many browsers are signed in")
        return token, visitor

    def find(self, token: str, now: float, idles: bool = False) -> Visitor | None:
        """An operator's requests postpone idling, a page's own (`idles`) do not."""
        if (found := self.shelf.find(token, Visitor, BROWSER)) is None:
            return None
        row, visitor = found
        if not self._limit.lasts(row, now):
            self.shelf.drop(token)
            return None
        if not idles:
            self.shelf.note(token, now)
        return replace(visitor, cookie=token)

    def freshen(self, visitor: Visitor, now: float) -> None:
        if found := self.shelf.find(visitor.cookie, Visitor, BROWSER):
            _, kept = found
            self.shelf.change(visitor.cookie, replace(kept, session=replace(kept.session, fresh_at=now)))

    def link(self, session: OperatorSession, now: float) -> str:
        token, limit = "set_" + secrets.token_urlsafe(32), GroupLimit(MOST_LINKS)
        self.shelf.add(token, LINK, session.operator, session, now, now + LINK_SECONDS, limit)
        return token

    def take_link(self, token: str, now: float) -> OperatorSession | None:
        found = self.shelf.take(token, OperatorSession, LINK)
        return found[1] if found and found[0].ends_at > now else None

    def begin(self, kind: str, challenge: bytes, visitor: str, now: float, about: Any = None) -> str:
        """Those of visitors are counted apart, so that a flood of sign-ins blocks no approval."""
        id, begun = secrets.token_urlsafe(18), Ceremony(kind, challenge, visitor, encode(about))
        group = CEREMONY if visitor else STRANGERS
        self.shelf.add(id, group, "", begun, now, now + CEREMONY_SECONDS, GroupLimit(MOST_CEREMONIES))
        return id

    def take(self, id: str, kind: str, visitor: str, now: float) -> Ceremony:
        """Once; refuses another kind or visitor, and an expired one."""
        found = self.shelf.find(id, Ceremony, CEREMONY, STRANGERS)
        known = found is not None and (found[1].kind, found[1].visitor) == (kind, visitor)
        if not known or (found := self.shelf.take(id, Ceremony, CEREMONY, STRANGERS)) is None:
            raise PasskeyRefused("this was not requested, or was answered already; begin again")
        if found[0].ends_at <= now:
            raise PasskeyRefused("this took too long; begin again")
        return found[1]
