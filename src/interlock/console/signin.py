"""Sign-in, sign-out, the set-up link, and an operator's passkeys and authenticators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from interlock.console.replies import form_field, json_field, json_handler
from interlock.console.visit import (
    OPEN,
    VIEWER,
    Answer,
    CookieHeader,
    InvalidInput,
    JsonAnswer,
    Page,
    PageRoutes,
    RedirectTo,
    Visit,
    browser_cookie,
    cookie_of,
    expired_cookie,
    known_browser,
    same_origin,
    session_cookie,
)
from interlock.error_codes import AnswerRefused
from interlock.identity import credentials, passkeys, totp
from interlock.identity.console_access import enter_by_link, sign_out_everywhere, visitor_of
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.sessions import SignInRefused, TooManySignIns
from interlock.identity.visitors import Visitor

HOME = "/console"
routes = PageRoutes()
SIGN_IN, SET_UP, KEYS = "/console/sign-in", "/console/set-up", "/console/keys"


@routes.get("/console/sign-in", OPEN)
def sign_in_page(visit: Visit, error: str = "", status: int = 200) -> Answer:
    """The sign-in form with the list of enrolments, without their names."""
    state, site = visit.state, visit.site
    if visit.visitor is not None and not error and "again" not in visit.query:
        return RedirectTo(_next(visit))
    values = {
        "error": error,
        "next": _next(visit),
        "name": visit.form.get("name", "")[:100],
        "enrolments": credentials.enrolments(state),
        "locked": state.sessions.roster is None,
        "origin": site.origin,
        "right_name": site.secure or visit.headers.get("host", "").startswith("localhost"),
    }
    return Page("signin/sign_in.html", values, status)


@routes.post("/console/sign-in", OPEN)
def sign_in(visit: Visit) -> Answer:
    """Signs in with passphrase and code; the session of a cookie sent along ends."""
    _own_page(visit)
    state, site = visit.state, visit.site
    given = form_field(visit, "name"), form_field(visit, "passphrase"), form_field(visit, "code")
    try:
        token, visitor = totp.sign_in(state, *given, visit.peer, site.secure)
    except TooManySignIns as error:
        return sign_in_page(visit, str(error), 429)
    except (SignInRefused, totp.SignInBusy) as error:
        return sign_in_page(visit, str(error), 401)
    _forget(visit)
    return RedirectTo(f"{_next(visit)}#mark={visitor.csrf}", (session_cookie(token, site), browser_cookie(visit)))


@routes.post("/console/sign-in/passkey/begin", OPEN)
@json_handler
def passkey_begin(visit: Visit) -> Mapping[str, Any]:
    _own_page(visit)
    return passkeys.sign_in_begin(visit.state, visit.site, known_browser(visit))


@routes.post("/console/sign-in/passkey/finish", OPEN)
def passkey_finish(visit: Visit) -> Answer:
    entered: list[str] = []

    @json_handler
    def work(visit: Visit) -> Mapping[str, Any]:
        _own_page(visit)
        given = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site, visit.peer
        token, visitor = passkeys.sign_in_finish(visit.state, *given, known_browser(visit))
        entered.append(token)
        return {"next": _next(visit), "csrf": visitor.csrf}

    return _with_cookie(visit, work(visit), entered, browser_cookie(visit))


@routes.get("/console/sign-in/who", OPEN)
@json_handler
def whoami(visit: Visit) -> Mapping[str, Any]:
    """Whether this browser is signed in: links from other sites arrive without the cookie, the console's own requests with it."""
    return {"signedIn": visit.visitor is not None}


@routes.post("/console/sign-out", VIEWER)
def sign_out(visit: Visit) -> Answer:
    visit.state.visitors.leave(cookie_of(visit))
    return RedirectTo(SIGN_IN, (expired_cookie(visit.site),))


@routes.post("/console/sign-out/everywhere", VIEWER)
def sign_out_all(visit: Visit) -> Answer:
    sign_out_everywhere(visit.state, visit.who.operator)
    return RedirectTo(SIGN_IN, (expired_cookie(visit.site),))


@routes.get("/console/set-up", OPEN)
def set_up_page(visit: Visit) -> Answer:
    """The page of a set-up link, whose secret is in the fragment and is not sent."""
    found = _setting_up(visit)
    return Page("signin/set_up.html", {"operator": found.operator if found else ""})


@routes.post("/console/set-up", OPEN)
def set_up(visit: Visit) -> Answer:
    """Exchanges a link's secret, once, for a cookie that may register a first credential and opens no page."""
    entered: list[str] = []

    @json_handler
    def work(visit: Visit) -> Mapping[str, Any]:
        _own_page(visit)
        site = visit.site
        token, visitor = enter_by_link(visit.state, form_field(visit, "token"), visit.peer, site.secure)
        entered.append(token)
        return {"operator": visitor.operator, "csrf": visitor.csrf}

    return _with_cookie(visit, work(visit), entered)


@routes.get("/console/keys", VIEWER)
def keys_page(visit: Visit) -> Answer:
    state, who = visit.state, visit.who
    values = {
        "credentials": credentials.credentials_of(state, who.operator),
        "enrolments": credentials.enrolments(state),
        "has_passkey": bool(credentials.active_credentials(state, who.operator, PASSKEY)),
        "signed_in_at": who.signed_in_at,
        "how": who.how,
    }
    return Page("signin/keys.html", values)


@routes.post("/console/keys/passkey/begin", OPEN)
@json_handler
def register_begin(visit: Visit) -> Mapping[str, Any]:
    return passkeys.register_begin(visit.state, _anyone(visit), visit.site)


@routes.post("/console/keys/passkey/finish", OPEN)
@json_handler
def register_finish(visit: Visit) -> Mapping[str, Any]:
    given = form_field(visit, "ceremony"), json_field(visit, "response"), form_field(visit, "name", needed=False)
    made = passkeys.register_finish(visit.state, _anyone(visit), *given, visit.site)
    return {"name": made.name, "waits": made.active_at > visit.state.clock.now()}


@routes.post("/console/keys/totp/begin", OPEN)
@json_handler
def totp_begin(visit: Visit) -> Mapping[str, Any]:
    return totp.begin(visit.state, _anyone(visit))


@routes.post("/console/keys/totp/finish", OPEN)
@json_handler
def totp_finish(visit: Visit) -> Mapping[str, Any]:
    made = totp.finish(visit.state, _anyone(visit), form_field(visit, "ceremony"), form_field(visit, "code"))
    return {"name": made.name, "waits": made.active_at > visit.state.clock.now()}


@routes.post("/console/keys/{id}/remove", VIEWER)
def remove_key(visit: Visit) -> Answer:
    try:
        credentials.remove(visit.state, visit.who, visit.id, visit.form.get("even_last") == "yes")
    except AnswerRefused as error:
        raise InvalidInput(str(error)) from None
    return RedirectTo(KEYS)


def _anyone(visit: Visit) -> Visitor:
    """The session that is signed in or sets up; refuses a request without its page's CSRF token."""
    found = visit.visitor or _setting_up(visit)
    if found is None:
        raise SignInRefused("sign in first, or open the link that `interlock operator link` shows")
    if not found.sent_by(visit.headers.get("x-csrf-token", "")):
        raise AnswerRefused("this page is out of date; load it again")
    return found


def _setting_up(visit: Visit) -> Visitor | None:
    state, token = visit.state, cookie_of(visit)
    return visitor_of(state, token, state.clock.now(), setting_up=True) if token else None


def _own_page(visit: Visit) -> None:
    """Refuses requests from other origins, the only check before a sign-in."""
    if not same_origin(visit):
        raise AnswerRefused("this has to come from Interlock's own page")


def _with_cookie(visit: Visit, answer: JsonAnswer, entered: list[str], *more: CookieHeader) -> Answer:
    """The answer with the new session's cookie; ends the session that the visitor had before."""
    if not entered:
        return answer
    _forget(visit)
    return JsonAnswer(answer.body, answer.status, (session_cookie(entered[0], visit.site), *more))


def _forget(visit: Visit) -> None:
    if before := cookie_of(visit):
        visit.state.visitors.leave(before)


def _next(visit: Visit) -> str:
    """The page to continue with; never one outside the console."""
    wanted = visit.form.get("next") or visit.query.get("next", "")
    inside = wanted.startswith(f"{HOME}/") and not wanted.startswith(SIGN_IN)
    fine = inside and not any(sign in unquote(wanted) for sign in ("\\", "//", ".."))
    return wanted if fine and wanted.isprintable() and len(wanted) < 500 else HOME
