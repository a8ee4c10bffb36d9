"""Step-up: a passkey's touch, or passphrase and code, for one ticket, one code, one grant, or the next two minutes of changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from interlock.doors.console.asking import data, dictionary, text
from interlock.doors.console.visit import APPROVER, VIEWER, Invalid, NotHere, Route, Visit
from interlock.keys.credentials import PASSKEY
from interlock.service import credentials, stepping, stepping_codes, stepping_grants
from interlock.service.sessions import OperatorSession
from interlock.service.visitors import PASSPHRASE

Body = Mapping[str, Any]


def begin(visit: Visit) -> Body:
    """What a passkey is asked about a ticket; for somebody who has none, that passphrase and code are asked for."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return stepping.stepup_begin(visit.context.state, visit.who, visit.params["ticket"], visit.site)


def approve(visit: Visit) -> Body:
    from interlock.doors.console.pages.queue import typed

    state, id = visit.context.state, visit.params["ticket"]
    ticket = state.store.read(lambda tx: tx.ticket(id))
    if ticket is None:
        raise NotHere(f"there is no ticket {id[:80]}")
    typed(visit, ticket)
    reason = text(visit, "reason", needed=False)
    if _by_passphrase(visit):
        given = text(visit, "passphrase"), text(visit, "code")
        done = stepping.approve_with_passphrase(state, visit.who, id, *given, reason)
    else:
        touched = text(visit, "ceremony"), dictionary(visit, "response"), visit.site
        done = stepping.approve_with_assertion(state, visit.who, id, *touched, reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


def code_begin(visit: Visit) -> Body:
    """What is asked before a code is shown."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return stepping_codes.reveal_begin(visit.context.state, visit.who, visit.params["id"], visit.site)


def code_reveal(visit: Visit) -> Body:
    """A new code, shown once, to whoever was asked anew for it."""
    state, id = visit.context.state, visit.params["id"]
    if _by_passphrase(visit):
        given = text(visit, "passphrase"), text(visit, "code")
        shown = stepping_codes.reveal_with_passphrase(state, visit.who, id, *given)
    else:
        touched = text(visit, "ceremony"), dictionary(visit, "response"), visit.site
        shown = stepping_codes.reveal_finish(state, visit.who, id, *touched)
    return {"code": shown.code, "expiresAt": shown.expires_at}


def grant_begin(visit: Visit, given: Mapping[str, Any]) -> Body:
    """What is asked before a grant of these terms is signed."""
    if _by_passphrase(visit):
        return {"passphrase": True}
    return stepping_grants.begin(visit.context.state, visit.who, given, visit.site)


def grant_signed(visit: Visit, given: Mapping[str, Any]) -> OperatorSession:
    """The session for exactly this grant; the plain one where nobody was asked anew, which is enough for a lesser grant."""
    state = visit.context.state
    if visit.form.get("passphrase"):
        return stepping_grants.with_passphrase(state, visit.who, given, text(visit, "passphrase"), text(visit, "code"))
    if visit.form.get("ceremony"):
        return stepping_grants.finish(state, visit.who, text(visit, "ceremony"), _answer(visit), visit.site)
    return visit.who.session


def _answer(visit: Visit) -> Mapping[str, Any]:
    """A passkey's answer as a form carries it: JSON in a field."""
    try:
        found = json.loads(visit.form.get("response", ""))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Invalid("response is missing")
    return found


def fresh_begin(visit: Visit) -> Body:
    """What is asked before an operator, a key or the mode is changed."""
    if visit.who.fresh(visit.context.state.clock.now()):
        return {"fresh": True}
    if _by_passphrase(visit):
        return {"passphrase": True}
    return stepping.freshen_begin(visit.context.state, visit.who, visit.site)


def fresh_finish(visit: Visit) -> Body:
    state = visit.context.state
    if _by_passphrase(visit):
        stepping.freshen_with_passphrase(state, visit.who, text(visit, "passphrase"), text(visit, "code"))
    else:
        touched = text(visit, "ceremony"), dictionary(visit, "response"), visit.site
        stepping.freshen_finish(state, visit.who, *touched)
    return {"fresh": True}


def _by_passphrase(visit: Visit) -> bool:
    """Whether somebody signed in with passphrase and code, and has no passkey to touch."""
    has = credentials.active(visit.context.state, visit.who.operator, PASSKEY)
    return visit.who.how == PASSPHRASE and not has


ROUTES: tuple[Route, ...] = (
    Route("POST", "/console/step-up/{ticket}/begin", data(begin), APPROVER),
    Route("POST", "/console/step-up/{ticket}/approve", data(approve), APPROVER),
    Route("POST", "/console/codes/{id}/begin", data(code_begin), APPROVER),
    Route("POST", "/console/codes/{id}/reveal", data(code_reveal), APPROVER),
    Route("POST", "/console/fresh/begin", data(fresh_begin), VIEWER),
    Route("POST", "/console/fresh/finish", data(fresh_finish), VIEWER),
)
