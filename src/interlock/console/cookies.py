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
    """The token in the cookie, or nothing; what was made over TLS counts there alone, and what was made without it never there."""
    token = cookie_value(visit)
    return token if token.startswith(SECURE) is visit.site.secure else ""


def cookie_value(visit: Visit, more: str = "") -> str:
    """The value of our cookie, or of another one of ours; nothing where there is none."""
    return dict(_pairs(visit.headers.get("cookie", ""))).get(_name(visit.site, more), "")


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """Names and values; other programs on this device share the line, and not all of them write it well."""
    for part in line.split(";"):
        name, _, value = part.partition("=")
        yield name.strip(), value.strip()


def session_cookie(token: str, site: Site) -> Header:
    """Gives a browser its cookie, until it is closed; scripts and other sites cannot have it."""
    return "set-cookie", attributes(site, "", token)


def expired_cookie(site: Site) -> Header:
    """Takes it back."""
    return "set-cookie", f"{attributes(site)}; Max-Age=0"


def same_origin(visit: Visit) -> bool:
    """Whether a request was made by a page under the name that it came by."""
    origin = visit.headers.get("origin", "").lower()
    return visit.site.is_ours(origin) or origin == f"http://{visit.headers.get('host', '').lower()}"


def attributes(site: Site, more: str = "", value: str = "", sites: str = "Strict") -> str:
    """A cookie and who gets it: on this device it goes to every port of the name, and the path keeps it from what else is served there."""
    where = "Path=/; Secure" if site.secure else "Path=/console"
    return f"{_name(site, more)}={value}; {where}; HttpOnly; SameSite={sites}"


def _name(site: Site, more: str = "") -> str:
    return (NAME_OF_TLS if site.secure else NAME) + (f"-{more}" if more else "")


BROWSER_COOKIE = "browser"  # behind the console's own
BROWSER_SECONDS = 400 * 86_400  # browsers keep no cookie longer
_MARK = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{64})")


def known_browser(visit: Visit) -> str:
    """The id of a browser that somebody signed in with here; empty for any other, and for a mark that is not ours."""
    found = _MARK.fullmatch(cookie_value(visit, BROWSER_COOKIE))
    return found[1] if found and hmac.compare_digest(found[2], _seal(visit, found[1])) else ""


def browser_cookie(visit: Visit) -> Header:
    """Gives a browser its mark, once somebody has signed in with it; it is sent along where a link leads here, too."""
    id = known_browser(visit) or secrets.token_hex(8)
    return (
        "set-cookie",
        f"{attributes(visit.site, BROWSER_COOKIE, f'{id}.{_seal(visit, id)}', 'Lax')}; Max-Age={BROWSER_SECONDS}",
    )


def rate_limit_key(visit: Visit, route: Route) -> str:
    """What requests are counted by. No flood of strangers, from this machine or through a proxy, keeps a known browser out."""
    if visit.visitor is not None:
        return f"console:{visit.visitor.operator}"
    if browser := known_browser(visit):
        return f"console:browser {browser}"
    return f"console:{visit.peer}" + (f" {route.path}" if not route.role else "")  # each open page by itself


def _seal(visit: Visit, id: str) -> str:
    key = visit.context.state.installation.digest_key
    return hmac.new(key, f"interlock browser\0{id}".encode(), hashlib.sha256).hexdigest()
