"""Step-up authentication: a passkey or passphrase and code for one ticket, code or grant, or for two minutes of changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from interlock.approvals import step_up
from interlock.console.pages.queue import find_ticket, require_typed_name
from interlock.console.visit import APPROVER, Body, InvalidInput, PageRoutes, Visit
from interlock.identity import credentials
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import PASSPHRASE

T = TypeVar("T")
routes = PageRoutes()


def _begin(visit: Visit, begin: Callable[..., Body], *about: object) -> Body:
    """A passkey's challenge; an operator without a passkey is asked for passphrase and code."""
    return {"passphrase": True} if _by_passphrase(visit) else begin(visit.state, visit.who, *about, visit.site)


def _finish(
    visit: Visit, by_passphrase: Callable[..., T], by_passkey: Callable[..., T], *about: object, **more: str
) -> T:
    """By passphrase and code, or by a passkey's answer to its challenge."""
    if _by_passphrase(visit):
        given = visit.field("passphrase"), visit.field("code")
        return by_passphrase(visit.state, visit.who, *about, *given, **more)
    touched = visit.field("ceremony"), visit.response, visit.site
    return by_passkey(visit.state, visit.who, *about, *touched, **more)


def _by_passphrase(visit: Visit) -> bool:
    """Whether the visitor signed in with passphrase and code and has no passkey."""
    has = credentials.active_credentials(visit.state, visit.who.operator, PASSKEY)
    return visit.who.how == PASSPHRASE and not has


@routes.json("/console/step-up/{ticket}/begin", APPROVER)
def begin(visit: Visit) -> Body:
    return _begin(visit, step_up.stepup_begin, visit.params["ticket"])


@routes.json("/console/step-up/{ticket}/approve", APPROVER)
def approve(visit: Visit) -> Body:
    id, reason = visit.params["ticket"], visit.field("reason", needed=False)
    require_typed_name(visit, find_ticket(visit, id))
    ways = step_up.approve_with_passphrase, step_up.approve_with_assertion
    done = _finish(visit, *ways, id, reason=reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


@routes.json("/console/codes/{id}/begin", APPROVER)
def code_begin(visit: Visit) -> Body:
    return _begin(visit, step_up.reveal_begin, visit.id)


@routes.json("/console/codes/{id}/reveal", APPROVER)
def code_reveal(visit: Visit) -> Body:
    shown = _finish(visit, step_up.reveal_with_passphrase, step_up.reveal_finish, visit.id)
    return {"code": shown.code, "expiresAt": shown.expires_at}


def grant_begin(visit: Visit, given: Mapping[str, Any]) -> Body:
    return _begin(visit, step_up.grant_begin, given)


def grant_signed(visit: Visit, given: Mapping[str, Any]) -> OperatorSession:
    """The session re-authenticated for exactly this grant; the plain one where no answer was sent, which suffices for a lesser grant."""
    state = visit.state
    if visit.form.get("passphrase"):
        return step_up.grant_with_passphrase(state, visit.who, given, visit.field("passphrase"), visit.field("code"))
    if visit.form.get("ceremony"):
        return step_up.grant_finish(state, visit.who, visit.field("ceremony"), _answer(visit), visit.site)
    return visit.session


def _answer(visit: Visit) -> Mapping[str, Any]:
    try:
        found = json.loads(visit.form.get("response", ""))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("response is missing")
    return found


@routes.json("/console/fresh/begin")
def fresh_begin(visit: Visit) -> Body:
    """The challenge before an operator, a key or the mode is changed."""
    fresh = visit.who.fresh(visit.state.clock.now())
    return {"fresh": True} if fresh else _begin(visit, step_up.freshen_begin)


@routes.json("/console/fresh/finish")
def fresh_finish(visit: Visit) -> Body:
    _finish(visit, step_up.freshen_with_passphrase, step_up.freshen_finish)
    return {"fresh": True}
