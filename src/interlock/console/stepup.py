"""Step-up authentication: a passkey or passphrase and code for one ticket, code or grant, or for two minutes of changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interlock.approvals import step_up
from interlock.approvals import step_up as step_up_grants
from interlock.approvals import step_up as stepping_codes
from interlock.console.pages.queue import require_typed_name
from interlock.console.replies import form_field, json_field, json_handler
from interlock.console.visit import APPROVER, VIEWER, InvalidInput, PageNotFound, Route, Visit
from interlock.identity import credentials
from interlock.identity.keys.roster import PASSKEY
from interlock.identity.sessions import OperatorSession
from interlock.identity.visitors import PASSPHRASE

Body = Mapping[str, Any]


def begin(visit: Visit) -> Body:
    """The passkey challenge for a ticket; an operator without a passkey is asked for passphrase and code."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.stepup_begin(visit.context.state, visit.who, visit.params["ticket"], visit.site)


def approve(visit: Visit) -> Body:
    state, id = visit.context.state, visit.params["ticket"]
    ticket = state.store.read(lambda tx: tx.ticket(id))
    if ticket is None:
        raise PageNotFound(f"there is no ticket {id[:80]}")
    require_typed_name(visit, ticket)
    reason = form_field(visit, "reason", needed=False)
    if _by_passphrase(visit):
        given = form_field(visit, "passphrase"), form_field(visit, "code")
        done = step_up.approve_with_passphrase(state, visit.who, id, *given, reason)
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        done = step_up.approve_with_assertion(state, visit.who, id, *touched, reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


def code_begin(visit: Visit) -> Body:
    """The challenge before a code is shown."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return stepping_codes.reveal_begin(visit.context.state, visit.who, visit.params["id"], visit.site)


def code_reveal(visit: Visit) -> Body:
    """A new code, shown once, after re-authentication."""
    state, id = visit.context.state, visit.params["id"]
    if _by_passphrase(visit):
        given = form_field(visit, "passphrase"), form_field(visit, "code")
        shown = stepping_codes.reveal_with_passphrase(state, visit.who, id, *given)
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        shown = stepping_codes.reveal_finish(state, visit.who, id, *touched)
    return {"code": shown.code, "expiresAt": shown.expires_at}


def grant_begin(visit: Visit, given: Mapping[str, Any]) -> Body:
    """The challenge before a grant of these terms is signed."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up_grants.grant_begin(visit.context.state, visit.who, given, visit.site)


def grant_signed(visit: Visit, given: Mapping[str, Any]) -> OperatorSession:
    """The session re-authenticated for exactly this grant; the plain session where no answer was sent, which suffices for a lesser grant."""
    state = visit.context.state
    if visit.form.get("passphrase"):
        return step_up_grants.grant_with_passphrase(
            state, visit.who, given, form_field(visit, "passphrase"), form_field(visit, "code")
        )
    if visit.form.get("ceremony"):
        return step_up_grants.grant_finish(state, visit.who, form_field(visit, "ceremony"), _answer(visit), visit.site)
    return visit.who.session


def _answer(visit: Visit) -> Mapping[str, Any]:
    """A passkey's answer as a form carries it: JSON in a field."""
    try:
        found = json.loads(visit.form.get("response", ""))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("response is missing")
    return found


def fresh_begin(visit: Visit) -> Body:
    """The challenge before an operator, a key or the mode is changed."""
    if visit.who.fresh(visit.context.state.clock.now()):
        return {"fresh": True}
    if _by_passphrase(visit):
        return {"passphrase": True}
    return step_up.freshen_begin(visit.context.state, visit.who, visit.site)


def fresh_finish(visit: Visit) -> Body:
    state = visit.context.state
    if _by_passphrase(visit):
        step_up.freshen_with_passphrase(state, visit.who, form_field(visit, "passphrase"), form_field(visit, "code"))
    else:
        touched = form_field(visit, "ceremony"), json_field(visit, "response"), visit.site
        step_up.freshen_finish(state, visit.who, *touched)
    return {"fresh": True}


def _by_passphrase(visit: Visit) -> bool:
    """Whether the visitor signed in with passphrase and code and has no passkey."""
    has = credentials.active_credentials(visit.context.state, visit.who.operator, PASSKEY)
    return visit.who.how == PASSPHRASE and not has


ROUTES: tuple[Route, ...] = (
    Route("POST", "/console/step-up/{ticket}/begin", json_handler(begin), APPROVER),
    Route("POST", "/console/step-up/{ticket}/approve", json_handler(approve), APPROVER),
    Route("POST", "/console/codes/{id}/begin", json_handler(code_begin), APPROVER),
    Route("POST", "/console/codes/{id}/reveal", json_handler(code_reveal), APPROVER),
    Route("POST", "/console/fresh/begin", json_handler(fresh_begin), VIEWER),
    Route("POST", "/console/fresh/finish", json_handler(fresh_finish), VIEWER),
)
