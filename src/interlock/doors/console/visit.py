"""One request to the console and the three kinds of answer: what every page is written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from interlock.doors.http.context import Context
from interlock.service.site import Site, site_of

if TYPE_CHECKING:
    from interlock.service.visiting import Visitor

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
class Redirect:
    """Go there next; a path of ours, never an address that somebody gave us."""

    to: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The same page under the name that passkeys are bound to."""

    to: str


@dataclass(frozen=True, slots=True)
class Data:
    """JSON, for our own scripts."""

    body: Mapping[str, Any]
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class File:
    """Bytes to keep: an export."""

    body: bytes
    kind: str
    name: str


Answer = Page | Redirect | Elsewhere | Data | File
Handler = Callable[[Visit], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """Which handler answers which path, and who may ask."""

    method: str
    path: str  # with {names}
    handler: Handler
    role: str = VIEWER


class NotHere(Exception):
    """There is no such page, or nothing of that name."""


class Invalid(Exception):
    """What was entered cannot be used; the words are shown beside the form."""
