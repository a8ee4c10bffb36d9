"""Step-up authentication: a passkey or passphrase and code for one ticket, code or grant, or for two minutes of changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.approvals import step_up
from interlock.console.pages.queue import find_ticket, require_typed_name
from interlock.console.visit import APPROVER, Body, PageRoutes, Visit
from interlock.identity.sessions import OperatorSession

routes = PageRoutes()


def _begin(visit: Visit, begin: Callable[..., Body], *about: object) -> Body:
    """An operator without a passkey is asked for passphrase and code."""
    by_reentry = step_up.by_reentry(visit.state, visit.who)
    return {"passphrase": True} if by_reentry else begin(visit.state, visit.who, *about, visit.site)


def _proof(visit: Visit, by_reentry: bool | None = None) -> step_up.Proof:
    """Passphrase and code, or a passkey's answer to its challenge."""
    if step_up.by_reentry(visit.state, visit.who) if by_reentry is None else by_reentry:
        return step_up.Reentry(visit.field("passphrase"), visit.field("code"))
    return step_up.Touch(visit.field("ceremony"), visit.response, visit.site)


@routes.json("/console/step-up/{ticket}/begin", APPROVER)
def begin(visit: Visit) -> Body:
    return _begin(visit, step_up.approve_begin, visit.params["ticket"])


@routes.json("/console/step-up/{ticket}/approve", APPROVER)
def approve(visit: Visit) -> Body:
    id, reason = visit.params["ticket"], visit.field("reason", needed=False)
    require_typed_name(visit, find_ticket(visit, id))
    done = step_up.approve(visit.state, visit.who, id, _proof(visit), reason)
    return {"ticket": done.id, "state": done.state.value, "expiresAt": done.expires_at}


@routes.json("/console/codes/{id}/begin", APPROVER)
def code_begin(visit: Visit) -> Body:
    return _begin(visit, step_up.reveal_begin, visit.id)


@routes.json("/console/codes/{id}/reveal", APPROVER)
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


@routes.json("/console/fresh/begin")
def fresh_begin(visit: Visit) -> Body:
    fresh = visit.who.fresh(visit.state.clock.now())
    return {"fresh": True} if fresh else _begin(visit, step_up.freshen_begin)


@routes.json("/console/fresh/finish")
def fresh_finish(visit: Visit) -> Body:
    step_up.freshen(visit.state, visit.who, _proof(visit))
    return {"fresh": True}
