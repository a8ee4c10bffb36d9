"""Step-up authentication: a passkey or passphrase and code for one ticket, code or grant, or for two minutes of changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interlock.approvals import step_up
from interlock.console.pages.queue import find_ticket, require_typed_name
from interlock.console.replies import form_field, json_field, json_handler
from interlock.console.visit import APPROVER, VIEWER, InvalidInput, PageRoutes, Visit
from interlock.identity import credentials
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import PASSPHRASE

Body = Mapping[str, Any]
routes = PageRoutes()


@routes.post("/console/step-up/{ticket}/begin", APPROVER)
@json_handler
def begin(visit: Visit) -> Body:
    """The passkey challenge for a ticket; an operator without a passkey is asked for passphrase and code."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.stepup_begin(visit.state, visit.who, visit.params["ticket"], visit.site)


@routes.post("/console/step-up/{ticket}/approve", APPROVER)
@json_handler
def approve(visit: Visit) -> Body:
    state, id = visit.state, visit.params["ticket"]
    require_typed_name(visit, find_ticket(visit, id))
    reason = form_field(visit, "reason", needed=False)
    if _by_passphrase(visit):
        given = form_field(visit, "passphrase"), form_field(visit, "code")
        done = step_up.approve_with_passphrase(state, visit.who, id, *given, reason)
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        done = step_up.approve_with_assertion(state, visit.who, id, *touched, reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


@routes.post("/console/codes/{id}/begin", APPROVER)
@json_handler
def code_begin(visit: Visit) -> Body:
    """The challenge before a code is shown."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.reveal_begin(visit.state, visit.who, visit.id, visit.site)


@routes.post("/console/codes/{id}/reveal", APPROVER)
@json_handler
def code_reveal(visit: Visit) -> Body:
    """A new code, shown once, after re-authentication."""
    state, id = visit.state, visit.id
    if _by_passphrase(visit):
        given = form_field(visit, "passphrase"), form_field(visit, "code")
        shown = step_up.reveal_with_passphrase(state, visit.who, id, *given)
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        shown = step_up.reveal_finish(state, visit.who, id, *touched)
    return {"code": shown.code, "expiresAt": shown.expires_at}


def grant_begin(visit: Visit, given: Mapping[str, Any]) -> Body:
    """The challenge before a grant of these terms is signed."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.grant_begin(visit.state, visit.who, given, visit.site)


def grant_signed(visit: Visit, given: Mapping[str, Any]) -> OperatorSession:
    """The session re-authenticated for exactly this grant; the plain session where no answer was sent, which suffices for a lesser grant."""
    state = visit.state
    if visit.form.get("passphrase"):
        return step_up.grant_with_passphrase(
            state, visit.who, given, form_field(visit, "passphrase"), form_field(visit, "code")
        )
    if visit.form.get("ceremony"):
        return step_up.grant_finish(state, visit.who, form_field(visit, "ceremony"), _answer(visit), visit.site)
    return visit.session


def _answer(visit: Visit) -> Mapping[str, Any]:
    """A passkey's answer as a form carries it: JSON in a field."""
    try:
        found = json.loads(visit.form.get("response", ""))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("response is missing")
    return found


@routes.post("/console/fresh/begin", VIEWER)
@json_handler
def fresh_begin(visit: Visit) -> Body:
    """The challenge before an operator, a key or the mode is changed."""
    if visit.who.fresh(visit.state.clock.now()):
        return {"fresh": True}
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.freshen_begin(visit.state, visit.who, visit.site)


@routes.post("/console/fresh/finish", VIEWER)
@json_handler
def fresh_finish(visit: Visit) -> Body:
    state = visit.state
    if _by_passphrase(visit):
        step_up.freshen_with_passphrase(state, visit.who, form_field(visit, "passphrase"), form_field(visit, "code"))
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        step_up.freshen_finish(state, visit.who, *touched)
    return {"fresh": True}


def _by_passphrase(visit: Visit) -> bool:
    """Whether the visitor signed in with passphrase and code and has no passkey."""
    has = credentials.active_credentials(visit.state, visit.who.operator, PASSKEY)
    return visit.who.how == PASSPHRASE and not has
