"""Reads and sets the console's cookies: the session's, and a browser mark that opens nothing and only separates rate limits."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator

from interlock.console.visit import Route, Visit
from interlock.identity.visitors import SECURE, Site

NAME, NAME_OF_TLS = "interlock", "__Host-interlock"
Header = tuple[str, str]


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


def session_cookie(token: str, site: Site) -> Header:
    """A session cookie that scripts and other sites cannot read."""
    return "set-cookie", attributes(site, "", token)


def expired_cookie(site: Site) -> Header:
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


def browser_cookie(visit: Visit) -> Header:
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
