"""A code in the console: revealed to an operator who was asked anew for exactly this agent or step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlock.core.codes import Refused
from interlock.core.records import Challenge, Ticket
from interlock.ports import Tx
from interlock.service import stepping
from interlock.service.loop import challenges
from interlock.service.loop.challenges import VERIFY, Revealed
from interlock.service.loop.standing import known
from interlock.service.sessions import OperatorSession
from interlock.service.site import Site
from interlock.service.state import State
from interlock.service.visitors import Visitor


def reveal_begin(state: State, visitor: Visitor, id: str, site: Site) -> dict[str, Any]:
    """What a passkey is asked before a code is shown: about the step that the code would free, or, for a block, anew."""
    challenge, ticket = _about(state, id)
    if ticket is None:
        return stepping.freshen_begin(state, visitor, site)
    return stepping.stepup_begin(state, visitor, ticket.id, site, until=challenge.expires_at)


def reveal_finish(
    state: State, visitor: Visitor, id: str, ceremony: str, response: Mapping[str, Any], site: Site
) -> Revealed:
    """The code, once the passkey was touched for it."""
    _, ticket = _about(state, id)
    if ticket is None:
        stepping.freshen_finish(state, visitor, ceremony, response, site)
        return challenges.reveal(state, _fresh(state, visitor), id)
    session = stepping.stepup_finish(state, visitor, ceremony, response, site)
    if session.armed != ticket.id:
        raise Refused("the passkey was touched for something else")
    return challenges.reveal(state, session, id)


def reveal_with_passphrase(state: State, visitor: Visitor, id: str, passphrase: str, code: str) -> Revealed:
    """The same with passphrase and code, for somebody who signed in like that."""
    _, ticket = _about(state, id)
    armed = stepping.stepup_with_passphrase(state, visitor, ticket.id if ticket else id, passphrase, code)
    return challenges.reveal(state, armed, id)


def _about(state: State, id: str) -> tuple[Challenge, Ticket | None]:
    """The challenge, and the held step that its code would free."""

    def work(tx: Tx) -> tuple[Challenge | None, Ticket | None]:
        found = tx.challenge(known(id) or "-")
        held = tx.live_ticket(found.digest, found.agent) if found and found.kind == VERIFY and found.digest else None
        return found, held

    challenge, ticket = state.store.read(work)
    if challenge is None:
        raise Refused(f"no challenge {id!r:.80}", "NOT_FOUND_RESOURCE")
    return challenge, ticket


def _fresh(state: State, visitor: Visitor) -> OperatorSession:
    return replace(visitor.session, fresh_at=state.clock.now())
