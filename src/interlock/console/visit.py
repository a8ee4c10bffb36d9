"""A request to the console, the kinds of answer that a page gives, and the security headers of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from interlock.identity.visitors import Site, site_of
from interlock.web.context import Context

if TYPE_CHECKING:
    from interlock.identity.console_access import Visitor


_NOTHING: Mapping[str, str] = MappingProxyType({})
HOME = "/console"
OPEN, VIEWER, APPROVER, ADMIN = "", "viewer", "approver", "admin"


def _nothing() -> Mapping[str, str]:
    return _NOTHING


@dataclass(frozen=True, slots=True)
class Visit:
    """One request: what was asked, and who is signed in."""

    context: Context
    method: str
    path: str
    visitor: Visitor | None = None  # whoever is signed in
    params: Mapping[str, str] = field(default_factory=_nothing)  # of the path
    query: Mapping[str, str] = field(default_factory=_nothing)
    form: Mapping[str, str] = field(default_factory=_nothing)  # of a form or of a JSON object's texts
    json: Any = None  # of a JSON body
    headers: Mapping[str, str] = field(default_factory=_nothing)  # names in lower case
    peer: str = ""  # the address that it comes from
    site: Site = field(default_factory=lambda: site_of("", "localhost"))  # the name that it was reached by
    seen: str = ""  # how far the changes were when it came

    @property
    def part(self) -> bool:
        """Whether htmx asks for a part of a page."""
        return "hx-request" in self.headers and "hx-boosted" not in self.headers

    @property
    def who(self) -> Visitor:
        """Whoever is signed in; routes that are not open have somebody."""
        assert self.visitor is not None
        return self.visitor


@dataclass(frozen=True, slots=True)
class Page:
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RedirectTo:
    """Go there next; a path of ours, never an address that somebody gave us."""

    to: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CanonicalRedirect:
    """The same page under the name that passkeys are bound to."""

    to: str


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """JSON, for our own scripts."""

    body: Mapping[str, Any]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Download:
    """Bytes to keep: an export."""

    body: bytes
    kind: str
    name: str


Answer = Page | RedirectTo | CanonicalRedirect | JsonAnswer | Download
Handler = Callable[[Visit], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """Which handler answers which path, and who may ask."""

    method: str
    path: str  # with {names}
    handler: Handler
    role: str = VIEWER


class PageNotFound(Exception):
    """There is no such page, or nothing of that name."""


class InvalidInput(Exception):
    """What was entered cannot be used; the words are shown beside the form."""


Header = tuple[bytes, bytes]
_KEPT = (b"cache-control", b"no-store")
SAFE: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with none at all, a form says that it comes from nowhere
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
    """One line, whatever stands in the value: what ends a line would begin another header."""
    return name.encode("latin-1"), "".join(sign if sign.isprintable() else "?" for sign in value).encode(
        "latin-1", "replace"
    )
