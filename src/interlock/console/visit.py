"""A request to the console with its cookies, the kinds of answer that a page gives, and the security headers of each."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import SECURE, Site, Visitor, site_of
from interlock.runtime.state import State
from interlock.web.context import Context

_NOTHING: Mapping[str, str] = {}
HOME = "/console"
OPEN, VIEWER, APPROVER, ADMIN = "", "viewer", "approver", "admin"


def _nothing() -> Mapping[str, str]:
    return _NOTHING


class Visit(Struct, frozen=True):
    """One request and its signed-in visitor."""

    context: Context
    method: str
    path: str
    visitor: Visitor | None = None  # who is signed in
    params: Mapping[str, str] = field(default_factory=_nothing)  # from the path
    query: Mapping[str, str] = field(default_factory=_nothing)
    form: Mapping[str, str] = field(default_factory=_nothing)  # text fields of a form or a JSON object
    json: Any = None  # a JSON body
    headers: Mapping[str, str] = field(default_factory=_nothing)  # names in lower case
    peer: str = ""  # the client's address
    site: Site = field(default_factory=lambda: site_of("", "localhost"))  # the host name it was sent to
    seen: str = ""  # the change counter at arrival

    @property
    def part(self) -> bool:
        """Whether htmx requests a part of a page."""
        return "hx-request" in self.headers and "hx-boosted" not in self.headers

    @property
    def state(self) -> State:
        return self.context.state

    @property
    def id(self) -> str:
        """The id in the path."""
        return self.params["id"]

    @property
    def session(self) -> OperatorSession:
        """The session of the signed-in visitor."""
        return self.who.session

    @property
    def who(self) -> Visitor:
        """The signed-in visitor, whom every route that is not open has."""
        assert self.visitor is not None
        return self.visitor


class Page(Struct, frozen=True):
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class RedirectTo(Struct, frozen=True):
    """A redirect within the console; never to an address from outside."""

    to: str
    headers: tuple[tuple[str, str], ...] = ()


class CanonicalRedirect(Struct, frozen=True):
    """A redirect to the same page under the host name that passkeys are bound to."""

    to: str


class JsonAnswer(Struct, frozen=True):
    """JSON for the console's own scripts."""

    body: Mapping[str, Any]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class Download(Struct, frozen=True):
    """A file to download."""

    body: bytes
    kind: str
    name: str


Answer = Page | RedirectTo | CanonicalRedirect | JsonAnswer | Download
Handler = Callable[[Visit], Answer]
H = TypeVar("H", bound=Handler)


class Route(Struct, frozen=True):
    """A path, its handler, and the role that may call it."""

    method: str
    path: str  # with {names}
    handler: Handler
    role: str = VIEWER


class PageRoutes:
    """The routes below one path, each declared beside its handler."""

    def __init__(self, home: str = "") -> None:
        self._home = home
        self.all: list[Route] = []

    def get(self, path: str = "", role: str = VIEWER) -> Callable[[H], H]:
        return self._add("GET", path, role)

    def post(self, path: str = "", role: str = VIEWER) -> Callable[[H], H]:
        return self._add("POST", path, role)

    def _add(self, method: str, path: str, role: str) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            self.all.append(Route(method, self._home + path, handler, role))
            return handler

        return declare


class PageNotFound(Exception):
    """There is no such page, or no object of that name."""


class InvalidInput(Exception):
    """A form's input cannot be used; the message is shown beside the form."""


Header = tuple[bytes, bytes]
_KEPT = (b"cache-control", b"no-store")
SAFE: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with no policy at all, a form's Origin is null
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)",
    ),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
)
OF_PAGES: tuple[Header, ...] = (_KEPT, *SAFE)


def header(name: str, value: str) -> Header:
    """A header without line breaks in its value, which would begin another header."""
    return name.encode("latin-1"), "".join(sign if sign.isprintable() else "?" for sign in value).encode(
        "latin-1", "replace"
    )


NAME, NAME_OF_TLS = "interlock", "__Host-interlock"
CookieHeader = tuple[str, str]


def cookie_of(visit: Visit) -> str:
    """The token in the cookie, or ""; a cookie made over TLS counts over TLS only, one made without it never does."""
    token = cookie_value(visit)
    return token if token.startswith(SECURE) is visit.site.secure else ""


def cookie_value(visit: Visit, more: str = "") -> str:
    """The value of the console's cookie `more`; empty where there is none."""
    return dict(_pairs(visit.headers.get("cookie", ""))).get(_name(visit.site, more), "")


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """Names and values; tolerates malformed pairs, as other programs on this device share the header."""
    for part in line.split(";"):
        name, _, value = part.partition("=")
        yield name.strip(), value.strip()


def session_cookie(token: str, site: Site) -> CookieHeader:
    """A session cookie that scripts and other sites cannot read."""
    return "set-cookie", attributes(site, "", token)


def expired_cookie(site: Site) -> CookieHeader:
    """The header that deletes the session cookie."""
    return "set-cookie", f"{attributes(site)}; Max-Age=0"


def same_origin(visit: Visit) -> bool:
    """Whether the request's Origin is the name it was sent to."""
    origin = visit.headers.get("origin", "").lower()
    return visit.site.is_ours(origin) or origin == f"http://{visit.headers.get('host', '').lower()}"


def attributes(site: Site, more: str = "", value: str = "", sites: str = "Strict") -> str:
    """A cookie with its attributes; the path keeps it from other servers on this device, as cookies ignore ports."""
    where = "Path=/; Secure" if site.secure else "Path=/console"
    return f"{_name(site, more)}={value}; {where}; HttpOnly; SameSite={sites}"


def _name(site: Site, more: str = "") -> str:
    return (NAME_OF_TLS if site.secure else NAME) + (f"-{more}" if more else "")


BROWSER_COOKIE = "browser"  # suffix of the console's cookie name
BROWSER_SECONDS = 400 * 86_400  # browsers accept no longer lifetime
_MARK = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{64})")


def known_browser(visit: Visit) -> str:
    """The id of a browser that an operator signed in with before; empty for any other, and for a forged mark."""
    found = _MARK.fullmatch(cookie_value(visit, BROWSER_COOKIE))
    return found[1] if found and hmac.compare_digest(found[2], _seal(visit, found[1])) else ""


def browser_cookie(visit: Visit) -> CookieHeader:
    """Marks a browser after a sign-in; the cookie is sent with links from other sites, too."""
    id = known_browser(visit) or secrets.token_hex(8)
    return (
        "set-cookie",
        f"{attributes(visit.site, BROWSER_COOKIE, f'{id}.{_seal(visit, id)}', 'Lax')}; Max-Age={BROWSER_SECONDS}",
    )


def rate_limit_key(visit: Visit, route: Route) -> str:
    """The rate-limit key; known browsers have their own, so that a flood of strangers cannot keep them out."""
    if visit.visitor is not None:
        return f"console:{visit.visitor.operator}"
    if browser := known_browser(visit):
        return f"console:browser {browser}"
    return f"console:{visit.peer}" + (f" {route.path}" if not route.role else "")  # a key for each open page


def _seal(visit: Visit, id: str) -> str:
    key = visit.state.installation.digest_key
    return hmac.new(key, f"interlock browser\0{id}".encode(), hashlib.sha256).hexdigest()
