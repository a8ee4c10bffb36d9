"""A request to the console: its visitor, fields and cookies, its routes, and the answers that a page gives."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from jinja2 import Environment
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from interlock.console.replies import HOME, NAVIGATION, waiting_count
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import SECURE, Visitor, site_of
from interlock.runtime.state import State
from interlock.web.context import Context
from interlock.web.errors import HttpProblem
from interlock.web.guards import Scope

if TYPE_CHECKING:
    from interlock.console.events import Events

T = TypeVar("T")
OPEN, VIEWER, APPROVER, ADMIN = "", "viewer", "approver", "admin"
MOST = 2_000  # characters of a field
BROWSER_COOKIE = "browser"  # suffix of the console's cookie name
BROWSER_SECONDS = 400 * 86_400  # browsers accept no longer lifetime
_MARK = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{64})")


class PageNotFound(HttpProblem):
    def __init__(self, words: str = "there is no such page") -> None:
        super().__init__("NOT_FOUND_RESOURCE", words)


def existing(found: T | None, words: str) -> T:
    """Raises PageNotFound, in these words, where nothing was found."""
    if found is None:
        raise PageNotFound(words)
    return found


class InvalidInput(HttpProblem):
    """A form's input cannot be used; the message is shown beside the form."""

    def __init__(self, words: str) -> None:
        super().__init__("VALIDATION_INVALID_VALUE", words, 422)


class Visit:
    def __init__(self, context: Context, templates: Environment, events: Events, scope: Scope) -> None:
        self.context, self._templates, self.events = context, templates, events
        self.seen = events.seen  # the change counter at arrival
        self.method = "GET" if scope["method"] == "HEAD" else str(scope["method"])
        self.path, self.headers = str(scope["path"]), Headers(scope=scope)
        self.peer = str(scope["client"][0]) if scope.get("client") else ""
        self.site = site_of(context.config.console.public_url, self.headers.get("host", ""))
        self.visitor: Visitor | None = None  # who is signed in
        self.params: Mapping[str, str] = {}  # from the path
        self.query: Mapping[str, str] = {}
        self.form: Mapping[str, str] = {}  # text fields of a form or a JSON object
        self.json: Any = None  # a JSON body
        self.new_cookies: list[str] = []  # to be set with the answer

    @property
    def part(self) -> bool:
        """Whether htmx requests a part of a page."""
        return "hx-request" in self.headers and "hx-boosted" not in self.headers

    @property
    def state(self) -> State:
        return self.context.state

    @property
    def id(self) -> str:
        return self.params["id"]

    @property
    def who(self) -> Visitor:
        """The signed-in visitor, whom every route that is not open has."""
        assert self.visitor is not None
        return self.visitor

    @property
    def session(self) -> OperatorSession:
        return self.who.session

    @property
    def by(self) -> tuple[State, OperatorSession]:
        """The first arguments of everything that an operator does."""
        return self.state, self.session

    def page(self, template: str, status: int = 200, /, part: str = "", **values: Any) -> Response:
        state, signed_in = self.state, self.visitor is not None
        around = {
            "visitor": self.visitor,
            "csrf": "",  # console.js fills it in: the cookie alone does not reveal it
            "navigation": NAVIGATION if signed_in else (),
            "path": self.path,
            "seen": self.seen,
            "waiting": state.store.read(waiting_count) if signed_in and not self.part else "",
            "mode": state.mode,
            "isolation": state.strength,
            "policy_name": state.policy.name,
            "now": state.clock.now(),
            "part": self.part,
            "version": self.context.version,
        }
        return HTMLResponse(
            self._templates.get_template(part if part and self.part else template).render(values | around), status
        )

    def problem(self, status: int, words: str) -> Response:
        return self.page("problem.html", status, status=status, words=words[:1].upper() + words[1:])

    def redirect(self, to: str) -> Response:
        """Never to an address from outside."""
        inside = to.startswith("/") and to[1:2] not in ("/", "\\")
        answer = RedirectResponse(to if inside else HOME, 303)
        return Response(status_code=204, headers={"hx-redirect": answer.headers["location"]}) if self.part else answer

    def field(self, name: str, needed: bool = True, most: int = MOST) -> str:
        value = self.form.get(name, "")
        if (needed and not value) or len(value) > most:
            raise InvalidInput(f"{name} is {'missing' if not value else 'too long'}")
        return value

    def choice(self, name: str, known: Collection[str], plain: str = "") -> str:
        """The plain word where the query has none of those known."""
        found = self.query.get(name, "")
        return found if found in known else plain

    def moment(self, name: str) -> float:
        """0 for anything but a time that a page wrote."""
        try:
            found = float(self.query.get(name) or 0)
        except ValueError:
            return 0.0
        return found if 0 <= found < 1e12 else 0.0

    def reason(self, words: str) -> str:
        """Refuses an over-long reason, and an empty one in these words."""
        reason = self.field("reason", needed=False).strip()
        if not reason:
            raise InvalidInput(words)
        return reason

    @property
    def response(self) -> Mapping[str, Any]:
        """A passkey's answer, in a JSON body or as JSON in a field of a form."""
        value = self.json.get("response") if isinstance(self.json, dict) else None
        with suppress(ValueError, RecursionError):
            value = value or json.loads(self.form.get("response", ""))
        if not isinstance(value, dict):
            raise InvalidInput("response is missing")
        return value

    @property
    def token(self) -> str:
        """The token in the cookie, or ""; a cookie made over TLS counts over TLS only, one made without it never does."""
        token = self._cookie()
        return token if token.startswith(SECURE) is self.site.secure else ""

    def _cookie(self, more: str = "") -> str:
        return cookie_parser(self.headers.get("cookie", "")).get(self._cookie_name(more), "")

    def _cookie_name(self, more: str) -> str:
        return ("__Host-interlock" if self.site.secure else "interlock") + (f"-{more}" if more else "")

    def _set_cookie(self, value: str, more: str = "", sites: str = "Strict", seconds: int | None = None) -> None:
        """Scripts cannot read it; the path keeps it from other servers on this device, as cookies ignore ports."""
        where = "Path=/; Secure" if self.site.secure else "Path=/console"
        age = f"; Max-Age={seconds}" if seconds is not None else ""
        self.new_cookies.append(f"{self._cookie_name(more)}={value}; {where}; HttpOnly; SameSite={sites}{age}")

    def enter(self, token: str) -> None:
        """The session of a cookie sent along ends."""
        self._set_cookie(token)
        if before := self.token:
            self.state.visitors.shelf.drop(before)

    def sign_out(self) -> None:
        self._set_cookie("", seconds=0)

    @property
    def known_browser(self) -> str:
        """Its id, where an operator signed in with it; empty for any other, and for a forged mark."""
        found = _MARK.fullmatch(self._cookie(BROWSER_COOKIE))
        return found[1] if found and hmac.compare_digest(found[2], self._seal(found[1])) else ""

    def mark_browser(self) -> None:
        """Marks a browser after a sign-in; the cookie is sent with links from other sites, too."""
        id = self.known_browser or secrets.token_hex(8)
        self._set_cookie(f"{id}.{self._seal(id)}", BROWSER_COOKIE, "Lax", BROWSER_SECONDS)

    def _seal(self, id: str) -> str:
        key = self.state.installation.digest_key
        return hmac.new(key, f"interlock browser\0{id}".encode(), hashlib.sha256).hexdigest()


Body = Mapping[str, Any]
H = TypeVar("H", bound=Callable[[Visit], Response | Body])


class PageRoute(Route):
    def __init__(self, method: str, path: str, handler: Callable[[Visit], Any], role: str, json: bool) -> None:
        super().__init__(path, handler, methods=[method])
        self.method, self.role, self.json = method, role, json


class PageRoutes(list[PageRoute]):
    """Each is declared beside its handler; a change takes an approver unless it says otherwise; `json` answers the console's own scripts."""

    def __init__(self, home: str = "") -> None:
        self._home = home

    def get(self, path: str = "", role: str = VIEWER, json: bool = False) -> Callable[[H], H]:
        return self._add("GET", path, role, json)

    def post(self, path: str = "", role: str = APPROVER) -> Callable[[H], H]:
        return self._add("POST", path, role)

    def json(self, path: str, role: str = APPROVER) -> Callable[[H], H]:
        return self._add("POST", path, role, True)

    def _add(self, method: str, path: str, role: str, json: bool = False) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            self.append(PageRoute(method, self._home + path, handler, role, json))
            return handler

        return declare


def json_response(body: Body, status: int = 200) -> Response:
    return Response(json.dumps(dict(body)), status, media_type="application/json")
