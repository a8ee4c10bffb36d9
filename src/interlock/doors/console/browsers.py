"""Was this browser signed in before? A mark that opens nothing: it counts a known browser's requests apart from strangers'."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from interlock.doors.console.cookies import Header, attributes, named
from interlock.doors.console.visit import Route, Visit

NAME = "browser"  # behind the console's own
SECONDS = 400 * 86_400  # browsers keep no cookie longer
_MARK = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{64})")


def known(visit: Visit) -> str:
    """The id of a browser that somebody signed in with here; empty for any other, and for a mark that is not ours."""
    found = _MARK.fullmatch(named(visit, NAME))
    return found[1] if found and hmac.compare_digest(found[2], _seal(visit, found[1])) else ""


def marked(visit: Visit) -> Header:
    """Gives a browser its mark, once somebody has signed in with it; it is sent along where a link leads here, too."""
    id = known(visit) or secrets.token_hex(8)
    return "set-cookie", f"{attributes(visit.site, NAME, f'{id}.{_seal(visit, id)}', 'Lax')}; Max-Age={SECONDS}"


def counted_as(visit: Visit, route: Route) -> str:
    """What requests are counted by. No flood of strangers, from this machine or through a proxy, keeps a known browser out."""
    if visit.visitor is not None:
        return f"console:{visit.visitor.operator}"
    if browser := known(visit):
        return f"console:browser {browser}"
    return f"console:{visit.peer}" + (f" {route.path}" if not route.role else "")  # each open page by itself


def _seal(visit: Visit, id: str) -> str:
    key = visit.context.state.installation.digest_key
    return hmac.new(key, f"interlock browser\0{id}".encode(), hashlib.sha256).hexdigest()
