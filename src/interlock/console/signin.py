"""Sign-in and sign-out, the set-up link, passkeys and authenticators, and step-up: for one ticket, code or grant, or for two minutes of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from starlette.responses import Response

from interlock.approvals import step_up
from interlock.console.pages.queue import find_ticket, require_typed_name
from interlock.console.replies import HOME
from interlock.console.visit import OPEN, VIEWER, Body, InvalidInput, PageRoutes, Visit
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, passkeys, totp
from interlock.identity.console_access import enter_by_link, visitor_of
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.sessions import OperatorSession, SignInRefused, TooManySignIns
from interlock.identity.visitors import Visitor
from interlock.records import Credential

routes = PageRoutes(HOME)
SIGN_IN = "/console/sign-in"


@routes.get("/sign-in", OPEN)
def sign_in_page(visit: Visit, error: str = "", status: int = 200) -> Response:
    """Lists the enrolments without their names."""
    state, site = visit.state, visit.site
    if visit.visitor is not None and not error and "again" not in visit.query:
        return visit.redirect(_next(visit))
    return visit.page(
        "signin/sign_in.html",
        status,
        error=error,
        next=_next(visit),
        name=visit.form.get("name", "")[:100],
        enrolments=credentials.enrolments(state),
        locked=state.sessions.roster is None,
        origin=site.origin,
        right_name=site.secure or visit.headers.get("host", "").startswith("localhost"),
    )


@routes.post("/sign-in", OPEN)
def sign_in(visit: Visit) -> Response:
    _own_page(visit)
    state, site = visit.state, visit.site
    given = visit.field("name"), visit.field("passphrase"), visit.field("code")
    try:
        token, visitor = totp.sign_in(state, *given, visit.peer, site.secure)
    except TooManySignIns as error:
        return sign_in_page(visit, str(error), 429)
    except (SignInRefused, totp.SignInBusy) as error:
        return sign_in_page(visit, str(error), 401)
    visit.enter(token)
    visit.mark_browser()
    return visit.redirect(f"{_next(visit)}#mark={visitor.csrf}")


@routes.json("/sign-in/passkey/begin", OPEN)
def passkey_begin(visit: Visit) -> Body:
    _own_page(visit)
    return passkeys.sign_in_begin(visit.state, visit.site, visit.known_browser)


@routes.json("/sign-in/passkey/finish", OPEN)
def passkey_finish(visit: Visit) -> Body:
    _own_page(visit)
    given = visit.field("ceremony"), visit.response, visit.site, visit.peer
    token, visitor = passkeys.sign_in_finish(visit.state, *given, visit.known_browser)
    visit.enter(token)
    visit.mark_browser()
    return {"next": _next(visit), "csrf": visitor.csrf}


@routes.get("/sign-in/who", OPEN, json=True)
def whoami(visit: Visit) -> Body:
    """Links from other sites arrive without the cookie, the console's own requests with it."""
    return {"signedIn": visit.visitor is not None}


@routes.post("/sign-out", VIEWER)
def sign_out(visit: Visit) -> Response:
    visit.state.visitors.shelf.drop(visit.token)
    return _signed_out(visit)


@routes.post("/sign-out/everywhere", VIEWER)
def sign_out_all(visit: Visit) -> Response:
    visit.state.visitors.shelf.drop_owned(visit.who.operator)
    return _signed_out(visit)


def _signed_out(visit: Visit) -> Response:
    visit.sign_out()
    return visit.redirect(SIGN_IN)


@routes.get("/set-up", OPEN)
def set_up_page(visit: Visit) -> Response:
    found = _setting_up(visit)
    return visit.page("signin/set_up.html", operator=found.operator if found else "")


@routes.json("/set-up", OPEN)
def set_up(visit: Visit) -> Body:
    """Exchanges a link's secret, once, for a cookie that may register a first credential and opens no page."""
    _own_page(visit)
    token, visitor = enter_by_link(visit.state, visit.field("token"), visit.peer, visit.site.secure)
    visit.enter(token)
    return {"operator": visitor.operator, "csrf": visitor.csrf}


@routes.get("/keys")
def keys_page(visit: Visit) -> Response:
    state, who = visit.state, visit.who
    return visit.page(
        "signin/keys.html",
        credentials=credentials.credentials_of(state, who.operator),
        enrolments=credentials.enrolments(state),
        has_passkey=bool(credentials.active_credentials(state, who.operator, PASSKEY)),
        signed_in_at=who.signed_in_at,
        how=who.how,
    )


@routes.json("/keys/passkey/begin", OPEN)
def register_begin(visit: Visit) -> Body:
    return passkeys.register_begin(visit.state, _anyone(visit), visit.site)


@routes.json("/keys/passkey/finish", OPEN)
def register_finish(visit: Visit) -> Body:
    given = visit.field("ceremony"), visit.response, visit.field("name", needed=False)
    return _registered(visit, passkeys.register_finish(visit.state, _anyone(visit), *given, visit.site))


def _registered(visit: Visit, made: Credential) -> Body:
    return {"name": made.name, "waits": made.active_at > visit.state.clock.now()}


@routes.json("/keys/totp/begin", OPEN)
def totp_begin(visit: Visit) -> Body:
    return totp.begin(visit.state, _anyone(visit))


@routes.json("/keys/totp/finish", OPEN)
def totp_finish(visit: Visit) -> Body:
    return _registered(visit, totp.finish(visit.state, _anyone(visit), visit.field("ceremony"), visit.field("code")))


@routes.post("/keys/{id}/remove", VIEWER)
def remove_key(visit: Visit) -> Response:
    try:
        credentials.remove(visit.state, visit.who, visit.id, visit.form.get("even_last") == "yes")
    except AnswerRefused as error:
        raise InvalidInput(str(error)) from None
    return visit.redirect("/console/keys")


def _anyone(visit: Visit) -> Visitor:
    found = visit.visitor or _setting_up(visit)
    if found is None:
        raise SignInRefused("sign in first, or open the link that `interlock operator link` shows")
    if not found.sent_by(visit.headers.get("x-csrf-token", "")):
        raise AnswerRefused("this page is out of date; load it again")
    return found


def _setting_up(visit: Visit) -> Visitor | None:
    return visitor_of(visit.state, visit.token, setting_up=True)


def _own_page(visit: Visit) -> None:
    """Refuses other origins: the only check before a sign-in."""
    origin, host = (visit.headers.get(name, "").lower() for name in ("origin", "host"))
    if not visit.site.is_ours(origin) and origin != f"http://{host}":
        raise AnswerRefused("this has to come from Interlock's own page")


def _next(visit: Visit) -> str:
    """Never a page outside the console."""
    wanted = visit.form.get("next") or visit.query.get("next", "")
    inside = wanted.startswith(f"{HOME}/") and not wanted.startswith(SIGN_IN)
    fine = inside and not any(sign in unquote(wanted) for sign in ("\\", "//", ".."))
    return wanted if fine and wanted.isprintable() and len(wanted) < 500 else HOME


def _begin(visit: Visit, begin: Callable[..., Body], *about: object) -> Body:
    """An operator without a passkey is asked for passphrase and code."""
    by_reentry = step_up.by_reentry(visit.state, visit.who)
    return {"passphrase": True} if by_reentry else begin(visit.state, visit.who, *about, visit.site)


def _proof(visit: Visit, by_reentry: bool | None = None) -> step_up.Proof:
    if step_up.by_reentry(visit.state, visit.who) if by_reentry is None else by_reentry:
        return step_up.Reentry(visit.field("passphrase"), visit.field("code"))
    return step_up.Touch(visit.field("ceremony"), visit.response, visit.site)


@routes.json("/step-up/{ticket}/begin")
def begin(visit: Visit) -> Body:
    return _begin(visit, step_up.approve_begin, visit.params["ticket"])


@routes.json("/step-up/{ticket}/approve")
def approve(visit: Visit) -> Body:
    id, reason = visit.params["ticket"], visit.field("reason", needed=False)
    require_typed_name(visit, find_ticket(visit, id))
    done = step_up.approve(visit.state, visit.who, id, _proof(visit), reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


@routes.json("/codes/{id}/begin")
def code_begin(visit: Visit) -> Body:
    return _begin(visit, step_up.reveal_begin, visit.id)


@routes.json("/codes/{id}/reveal")
def code_reveal(visit: Visit) -> Body:
    shown = step_up.reveal(visit.state, visit.who, visit.id, _proof(visit))
    return {"code": shown.code, "expiresAt": shown.expires_at}


def grant_begin(visit: Visit, given: Mapping[str, Any]) -> Body:
    return _begin(visit, step_up.grant_begin, given)


def grant_signed(visit: Visit, given: Mapping[str, Any]) -> OperatorSession:
    """Re-authenticated for exactly this grant; the plain session where no answer was sent, which suffices for a lesser grant."""
    by_reentry = bool(visit.form.get("passphrase"))
    if not by_reentry and not visit.form.get("ceremony"):
        return visit.session
    return step_up.granted(visit.state, visit.who, given, _proof(visit, by_reentry))


@routes.json("/fresh/begin", VIEWER)
def fresh_begin(visit: Visit) -> Body:
    fresh = visit.who.fresh(visit.state.clock.now())
    return {"fresh": True} if fresh else _begin(visit, step_up.freshen_begin)


@routes.json("/fresh/finish", VIEWER)
def fresh_finish(visit: Visit) -> Body:
    step_up.freshen(visit.state, visit.who, _proof(visit))
    return {"fresh": True}
