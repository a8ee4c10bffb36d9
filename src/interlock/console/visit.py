"""A request to the console, the kinds of answer that a page gives, and the security headers of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, field

from interlock.identity.visitors import Site, site_of
from interlock.web.context import Context

if TYPE_CHECKING:
    from interlock.identity.sessions import OperatorSession
    from interlock.identity.visitors import Visitor
    from interlock.runtime.state import State


_NOTHING: Mapping[str, str] = MappingProxyType({})
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
