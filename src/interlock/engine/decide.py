"""★ Decides: a judged action and the world in, one outcome out; the only place where policy, grants and tickets meet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.display_text import short_id
from interlock.approvals import SELF_APPROVAL, Resolution, TicketChange, is_withdrawn, settle
from interlock.approvals.denials import MatchedDenial
from interlock.approvals.grant_coverage import has_reauth
from interlock.approvals.statements import RosterEntry, TicketProof, needs_reauth, suffices_alone, unmet
from interlock.canonical_json import normal_name
from interlock.model import HELD, Action, Human, Kind, Loss, Requirement, TicketState
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import SAME_EFFECT, PolicyResult, evaluate_policy
from interlock.records import AgentRow, Approval, Block, Counts, Grant, Ticket
from interlock.runtime import Judged, counted_name, operation_name
from interlock.snapshots import TakenSnapshot
from interlock.times import seconds_left

if TYPE_CHECKING:
    from interlock.impact.inspection import Inspection

NOBODY = (
    "Nobody can approve this yet: the user runs `interlock operator add` in a terminal of their own, then try again"
)
_OVER = (TicketState.EXPIRED, TicketState.SPENT)
HYPOTHETICAL = TakenSnapshot("u_aaaaaaaaaa", "0" * 64)  # a snapshot as it would be taken


class Gathered(Struct, frozen=True):
    ticket: Ticket | None = None
    approvals: tuple[Approval, ...] = ()
    shown: bool = True  # the ticket shows the action that would spend it
    block: Block | None = None
    agent: AgentRow | None = None
    met: MatchedDenial | None = None  # the denial of the same effect on the same target
    grants: tuple[Grant, ...] = ()
    counts: Counts = Counts()
    nobody: bool = False  # no operator exists who could approve, and no code can be shown
    promptable: bool = False  # the agent's own prompt can ask its user
    user: bool = False  # its user can be asked: by that prompt, or through an MCP client
    proof: TicketProof | None = None
    wait: int = 0  # seconds until this principal may try a token again


NOTHING_GATHERED = Gathered()


class World(Struct, frozen=True):
    """Everything else that a decision depends on; by default nobody was asked and nothing happened before."""

    at: Circumstances
    found: Gathered = NOTHING_GATHERED
    people: Mapping[str, RosterEntry] | None = None  # who may answer; None where the circumstances say what they free
    question: Inspection | None = None  # that inspected its targets


class Outcome(Struct, frozen=True):
    """A decision before it is performed, and what it uses up."""

    at: Circumstances
    weighed: PolicyResult
    held: Resolution
    grant: Grant | None = None
    kept: TakenSnapshot | None = None  # taken first


def decide(judged: Judged, world: World) -> Outcome:
    """Policy, then grants and pauses, then the ticket."""
    at, grant = world.at, None
    if world.people is not None and (world.found.grants or at.paused_by):
        at, grant = _apply_grant(judged, world, world.people)
    weighed = evaluate_policy(judged.assessment, judged.named, judged.policy, at)
    return Outcome(at, weighed, _resolve(judged, world, weighed), grant)


def with_snapshot(judged: Judged, world: World, snapshot: TakenSnapshot = HYPOTHETICAL) -> Outcome:
    return decide(judged, replace(world, at=replace(world.at, snapshot=snapshot)))


def _apply_grant(judged: Judged, world: World, people: Mapping[str, RosterEntry]) -> tuple[Circumstances, Grant | None]:
    """The grant whose operator could have approved alone, and the circumstances with it and a pause."""
    at = world.at
    bare = replace(
        at, paused_by="", loss=Loss.UNKNOWN, impact=None, ephemeral=False, unkept="", snapshot=None, journaled=False
    )
    asked = evaluate_policy(judged.assessment, judged.named, judged.policy, bare).requirement
    anew = needs_reauth(asked)
    sufficing = (one for one in world.found.grants if suffices_alone(people, one.by, asked))
    grant = next((one for one in sufficing if has_reauth(one) or not anew), None)
    if at.paused_by and not suffices_alone(people, at.paused_by, asked):
        at = replace(at, paused_short=f"{at.paused_by} could not approve it alone")
    if grant is not None:
        at = replace(at, granted=grant.id, grant_ceiling=grant.ceiling)
    return at, grant


def _resolve(judged: Judged, world: World, weighed: PolicyResult) -> Resolution:
    """Resolves the requirement against the ticket; a ticket for another action frees nothing."""
    found, asked = world.found, weighed.requirement
    ticket, met = found.ticket, found.met
    if asked != Requirement() and (no := _refuse_token(judged, ticket, weighed, found.wait)) is not None:
        return no
    binds = met is not None and (met.waits or (met.fresh and ticket is None)) and not asked.blocked
    if met is not None and binds and any(part.name == SAME_EFFECT for part in weighed.parts):
        return Resolution("deny" if weighed.denies else asked.word, met.words, ticket=met.ticket)
    agreed = _agreement(judged, world, weighed, ticket) if ticket is not None else ""
    held = resolve(asked, weighed.denies, ticket, agreed, judged.now, judged.policy.denial_seconds)
    waits = held.keep is TicketChange.OPEN or held.outcome in HELD
    if found.nobody and waits and not _is_answerable(judged, found, weighed):
        return Resolution("deny", f"{weighed.reason().rstrip('.')}. {NOBODY}", code="PERMISSION_DENIED")
    return held


def resolve(
    requirement: Requirement, denies: bool, ticket: Ticket | None, agreed: str, now: float, denial_seconds: int
) -> Resolution:
    """`agreed` is empty where the ticket's signed approvals satisfy the requirement, else why not."""
    if requirement.blocked:  # 1. nobody can allow it
        return Resolution("block")
    if requirement == Requirement():  # 2. nothing is asked for
        return Resolution("allow")
    asked, cooling = "deny" if denies else requirement.word, requirement.cooling_seconds
    before, ticket = ticket, settle(ticket, now) if ticket is not None else None
    if ticket is None or ticket.state in _OVER or is_withdrawn(ticket):  # 3. nobody was asked yet, or too long ago
        return Resolution(asked, keep=TicketChange.OPEN, ticket=before, wait_seconds=cooling)
    changed = TicketChange.CHANGE if ticket != before else TicketChange.NOTHING
    if ticket.state is TicketState.REJECTED:  # 4. a no lasts
        if now < ticket.decided_at + denial_seconds:
            return Resolution("deny", _rejection_words(ticket), changed, ticket)
        return Resolution(asked, keep=TicketChange.OPEN, ticket=ticket, wait_seconds=cooling)
    wait = seconds_left(ticket.cooling_ends_at, now)
    if ticket.state is TicketState.APPROVED and not wait:  # 5. the state is an index; what was signed decides
        if agreed:
            return Resolution("deny", f"the approval does not hold: {agreed}", changed, ticket)
        return Resolution("allow", keep=TicketChange.SPEND, ticket=ticket)
    if wait and (ticket.state is TicketState.APPROVED or requirement.human is Human.NONE):  # 6. still cooling
        return Resolution("cool_off", f"cooling off for {math.ceil(wait)} s more", changed, ticket, wait)
    return Resolution(asked, "", changed, ticket, wait)  # 7. still waiting for its human


def _rejection_words(ticket: Ticket) -> str:
    return f"rejected by {ticket.decided_by}" + (f": {ticket.decision_reason}" if ticket.decision_reason else "")


def _agreement(judged: Judged, world: World, weighed: PolicyResult, ticket: Ticket) -> str:
    if (proof := world.found.proof) is None:
        return "nobody can check what was signed"
    why = unmet(proof, ticket, world.found.approvals, weighed.requirement, judged.now)
    return why or ("" if world.found.shown else "the ticket shows something else than what would run")


def _is_answerable(judged: Judged, found: Gathered, weighed: PolicyResult) -> bool:
    asked = weighed.requirement
    plain = asked.is_plain_confirm(judged.assessment.level) and not weighed.denies
    return asked.human is Human.NONE or (found.user and plain)


def _refuse_token(judged: Judged, ticket: Ticket | None, weighed: PolicyResult, wait: int) -> Resolution | None:
    """Why the named token or ticket does not count (CT-05); None where the ticket itself decides."""
    request, named = judged.request, "the confirmation token"
    if not request.token and not request.pending:
        return None
    if wait:
        words = f"too many confirmation tokens failed; wait {wait} s"
        return Resolution("deny", words, code="RATE_LIMIT_EXCEEDED", wait_seconds=wait)
    if ticket is None:  # 1. it exists
        words = "there is no such confirmation token" if request.token else f"no ticket {request.pending!r}"
        return Resolution("deny", words, code="TOKEN_INVALID")
    if not request.token:
        named = f"ticket {short_id(ticket.id)}"
    if ticket.digest != judged.digest or request.pending not in ("", ticket.id):  # 2. for this action of this agent
        return _mismatch(judged, ticket)
    if ticket.spent_at:  # 3. nobody used it
        return Resolution("deny", f"{named} was used already", code="TOKEN_ALREADY_USED", ticket=ticket)
    now = settle(ticket, judged.now)
    if now.state is TicketState.EXPIRED:  # 4. it is in time
        return Resolution("deny", f"{named} expired; ask again without it", code="TOKEN_EXPIRED", ticket=now)
    return _unarmed(now, weighed) if request.token else None


def _mismatch(judged: Judged, ticket: Ticket) -> Resolution:
    """What it is for instead, without any value of a parameter (CT-13); nothing of it to another agent."""
    request, agent, asked = judged.request, ticket.agent, operation_name(judged.request)
    details = {"requested_operation": asked, "token_operation": _operation(ticket)}
    if (agent.principal, normal_name(agent.name)) != (request.agent.principal, normal_name(request.agent.name)):
        words = "another agent"
        del details["token_operation"]
    elif ticket.digest == judged.digest:
        words = "another ticket than the one that is named beside it"
    elif details["token_operation"] != asked:
        words = "another operation"
    else:
        words = "this operation with other parameters"
    words = f"{'confirmation token' if request.token else 'ticket'} is for {words}"
    return Resolution("deny", f"this {words}", code="TOKEN_SCOPE_MISMATCH", message=f"This {words}", details=details)


def _operation(ticket: Ticket) -> str:
    kind = ticket.action.get("kind")
    return counted_name(Action(Kind(kind), ticket.action)) if kind == ticket.operation else ticket.operation


def _unarmed(ticket: Ticket, weighed: PolicyResult) -> Resolution | None:
    """C-14: a token is inert until a human armed it; whoever holds it cannot."""
    if ticket.state is TicketState.REJECTED:
        return Resolution("deny", _rejection_words(ticket), code="TOKEN_INVALID", ticket=ticket)
    if ticket.open and ticket.requirement.join(weighed.requirement).human is not Human.NONE:
        words = f"{SELF_APPROVAL}: a token frees nothing until an operator has answered"
        return Resolution("deny", words, code="PERMISSION_DENIED", ticket=ticket)
    return None
