"""Resolves a console cookie to a visitor and its role; a set-up link only registers a first passkey."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.approvals.statements import ADMIN, CONSOLE, VIEWER, is_only_viewer
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession, SignInRefused
from interlock.identity.visitors import SET_UP, Visitor
from interlock.runtime.state import State

APPROVER = "approver"
_RANKS = (VIEWER, APPROVER, ADMIN)


def visitor_of(state: State, token: str, setting_up: bool = False, idles: bool = False) -> Visitor | None:
    if not token:
        return None
    state.catch_up()
    found = state.visitors.find(token, state.clock.now(), idles)
    if found is None or not state.sessions.is_valid(found.session) or (found.how == SET_UP) is not setting_up:
        return None
    return replace(found, role=role_of(state, found.operator))


def role_of(state: State, operator: str) -> str:
    person = state.sessions.person(operator)
    if person is None or person.disabled or person.service or is_only_viewer(person):
        return VIEWER
    return ADMIN if ADMIN in person.roles else APPROVER


def may_visit(visitor: Visitor, role: str) -> bool:
    return role in _RANKS and _RANKS.index(visitor.role) >= _RANKS.index(role)


def set_up_link(state: State, session: OperatorSession) -> str:
    if session.cookie or not session.stepped_up(state.clock.now()):
        raise AnswerRefused("a set-up link takes a fresh sign-in on the command line")
    if (person := state.sessions.person(session.operator)) is None or person.service:
        raise AnswerRefused(f"{session.operator} is a service: the console is for people")
    return state.visitors.link(session, state.clock.now())


def enter_by_link(state: State, token: str, source: str, secure: bool = False) -> tuple[str, Visitor]:
    if (session := state.visitors.take_link(token, state.clock.now())) is None or not state.sessions.is_valid(session):
        raise SignInRefused("this link was used already or has expired; `interlock operator link` makes another")
    return enter(state, session, SET_UP, "set-up link", source, secure)


def enter(
    state: State, session: OperatorSession, how: str, proof: str, source: str, secure: bool
) -> tuple[str, Visitor]:
    entered = state.visitors.enter(session, how, source, state.clock.now(), secure)
    state.recorder.event_alone("unlock", session.operator, {"channel": CONSOLE, "how": proof, "source": source})
    return entered
