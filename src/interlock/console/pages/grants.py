"""Grants page: narrow grants, tried on the audit log and on near misses before they are signed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from interlock.approvals import answers
from interlock.approvals.grant_coverage import narrow_grant
from interlock.approvals.grants import add_grant, is_signed, parse_grant, revoke_grant
from interlock.approvals.statements import suffices_alone
from interlock.approvals.step_up import needs_stepup
from interlock.console.cards import approves_too_fast, card_of
from interlock.console.pages.queue import find_ticket, require_typed_name
from interlock.console.pages.try_ import plain_text
from interlock.console.signin import grant_begin, grant_signed
from interlock.console.visit import ADMIN, APPROVER, InvalidInput, PageRoutes, Visit
from interlock.engine.trials import near_misses, recent_attempts, try_grant
from interlock.error_codes import AnswerRefused
from interlock.identity.console_access import may_visit
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.sessions import SignInRefused
from interlock.identity.totp import SignInBusy
from interlock.model import Level
from interlock.records import Grant, Ticket

HOME = "/console/grants"
routes = PageRoutes(HOME)
RECORDS = 500  # recorded actions that a grant is tested on
SHOWN = 50
SPANS: Mapping[str, int] = {"15 minutes": 900, "1 hour": 3_600, "8 hours": 28_800, "1 day": 86_400, "7 days": 604_800}
_BEGINNING: Mapping[str, str] = {
        "ticket": "", "effect": "", "targets": "", "digests": "", "ceiling": "destructive", "count": "1", "seconds": "3600",
        "environment": "", "principal": "", "name": "", "session": "", "why": "",
    }  # fmt: skip
_WHO = ("principal", "name", "session")


@routes.get()
def listing(visit: Visit) -> Response:
    state = visit.state
    found = state.store.read(lambda tx: tx.grants(state.clock.now()))
    each = [(grant, is_signed(state, grant)) for grant in reversed(found)]
    return visit.page("grants/grants.html", part="grants/_list.html", grants=each)


@routes.get("/new", APPROVER)
def new(visit: Visit) -> Response:
    id = visit.query.get("ticket")
    ticket = find_ticket(visit, id) if id else None
    return _form(visit, _suggestion(ticket) if ticket else dict(_BEGINNING), ticket)


def _form(visit: Visit, fields: Mapping[str, str], ticket: Ticket | None, error: str = "") -> Response:
    levels = [level for level in Level if level >= Level.DESTRUCTIVE or level.word == fields["ceiling"]]
    if not may_visit(visit.who, ADMIN):
        levels.remove(Level.FORBIDDEN)
    return visit.page(
        "grants/new.html",
        422 if error else 200,
        fields=fields,
        ticket=ticket,
        card=card_of(ticket) if ticket else None,
        too=ticket is not None and ticket.open and not needs_stepup(ticket) and not approves_too_fast(visit),
        levels=levels,
        spans=SPANS,
        error=error,
        limited=[name for name in _WHO if fields.get(name)],
    )


def _suggestion(ticket: Ticket) -> dict[str, str]:
    made: Mapping[str, Any] = narrow_grant(ticket)
    lists = {name: "\n".join(made[name]) for name in ("targets", "digests")}
    rest = {name: str(made[name]) for name in ("effect", "ceiling", "count", *_WHO)}
    return {**_BEGINNING, **rest, **lists, "ticket": ticket.id}


@routes.post("/test")
def test(visit: Visit) -> Response:
    """The recorded actions that it would have covered, and near misses; nothing is saved."""
    state = visit.state
    try:
        given = _terms(visit.form)
        grant = parse_grant(state, visit.session, {**given, "why": given["why"] or "a test"})
    except (AnswerRefused, InvalidInput) as error:
        return visit.page("grants/_tested.html", error=str(error), grant=None)
    past = try_grant(state, grant, recent_attempts(state, RECORDS))
    misses = near_misses(grant)
    return visit.page(
        "grants/_tested.html",
        error="",
        grant=grant,
        past=sorted(past, key=lambda one: not one.covered)[:SHOWN],
        count=len(past),
        fits=sum(one.covered for one in past),
        misses=misses,
        wide=[one for one in misses if one.covered],
        records=RECORDS,
    )


@routes.json("/begin")
def begin(visit: Visit) -> Mapping[str, Any]:
    return grant_begin(visit, _terms(visit.form))


@routes.post()
def save(visit: Visit) -> Response:
    """On request approves the ticket it began with, too, unless that takes a step-up."""
    id = visit.form.get("ticket")
    ticket = find_ticket(visit, id) if id else None
    try:
        if visit.form.get("too") and ticket is not None and not needs_stepup(ticket):
            require_typed_name(visit, ticket)
        if ticket is not None and not suffices_alone(
            visit.state.sessions.people, visit.who.operator, ticket.requirement
        ):
            raise AnswerRefused("you cannot approve this alone, so a grant of yours would have no effect")
        given = _terms(visit.form)
        grant = add_grant(visit.state, grant_signed(visit, given), given)
    except (AnswerRefused, InvalidInput, PasskeyRefused, SignInRefused, SignInBusy) as error:
        return _form(visit, _fields(visit.form), ticket, str(error))
    return visit.redirect(f"{HOME}?said={_approve_too(visit, ticket, grant)}")


def _approve_too(visit: Visit, ticket: Ticket | None, grant: Grant) -> str:
    """The id of the notice."""
    if not visit.form.get("too") or ticket is None or not ticket.open or needs_stepup(ticket):
        return "saved"
    try:
        answers.approve(*visit.by, ticket.id, f"with grant {grant.id}")
    except AnswerRefused:
        return "saved-alone"
    return "saved-too"


@routes.post("/{id}/revoke")
def revoke(visit: Visit) -> Response:
    revoke_grant(*visit.by, visit.id)
    return listing(visit) if visit.part else visit.redirect(f"{HOME}?said=revoked")


def _fields(form: Mapping[str, str]) -> dict[str, str]:
    return {name: plain_text(form.get(name, "" if name in _WHO else value)) for name, value in _BEGINNING.items()}


def _terms(form: Mapping[str, str]) -> dict[str, Any]:
    """The grant's terms; raises InvalidInput. An unticked box does not limit who may use it."""
    fields = _fields(form)
    made: dict[str, Any] = {
        name: [line.strip() for line in fields[name].split("\n") if line.strip()] for name in ("targets", "digests")
    }
    made |= {name: fields[name].strip() for name in ("effect", "ceiling", "environment", "why")}
    made |= {name: _whole(fields[name], name) for name in ("count", "seconds")}
    return made | {name: fields[name] if form.get(f"only-{name}") else "" for name in _WHO}


def _whole(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"{name}: expected a whole number") from None
