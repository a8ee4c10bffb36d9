"""The console's cookie: read, given and taken back. Over TLS it has the name that no other host can set."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.doors.console.visit import Visit
from interlock.service.site import Site
from interlock.service.visitors import SECURE

NAME, NAME_OF_TLS = "interlock", "__Host-interlock"
Header = tuple[str, str]


def cookie_of(visit: Visit) -> str:
    """The token in the cookie, or nothing; what was made over TLS counts there alone, and what was made without it never there."""
    token = named(visit)
    return token if token.startswith(SECURE) is visit.site.secure else ""


def named(visit: Visit, more: str = "") -> str:
    """The value of our cookie, or of another one of ours; nothing where there is none."""
    return dict(_pairs(visit.headers.get("cookie", ""))).get(_name(visit.site, more), "")


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """Names and values; other programs on this device share the line, and not all of them write it well."""
    for part in line.split(";"):
        name, _, value = part.partition("=")
        yield name.strip(), value.strip()


def given(token: str, site: Site) -> Header:
    """Gives a browser its cookie, until it is closed; scripts and other sites cannot have it."""
    return "set-cookie", attributes(site, "", token)


def taken(site: Site) -> Header:
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
