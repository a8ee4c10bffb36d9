"""Phrases a decision in two sentences: what would happen and why it is held, then what to do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from interlock.analysis.display_text import mid_sentence, short_id
from interlock.approvals import BY_TIME, REJECTED, Resolution, TicketChange
from interlock.model import ADMIN, AgentRef, Decision, Level
from interlock.notify import request_line, who
from interlock.policy import impact
from interlock.policy.exemptions import SNAPSHOT
from interlock.policy.policy import DEFAULT_APPROVERS
from interlock.records import Ticket

if TYPE_CHECKING:
    from interlock.policy.evaluate import PolicyResult
    from interlock.runtime import Judged
    from interlock.snapshots import TakenSnapshot

NOT_YET = "Nobody has answered yet, and silence is not consent: do not try the same by other means."
_LEVELS = frozenset(level.word for level in Level)


def sentence(judged: Judged, weighed: PolicyResult, held: Resolution, kept: TakenSnapshot | None = None) -> str:
    """Under a policy of the specification, only its own words."""
    if judged.policy.literal_globs and held.outcome != "allow":
        return held.reason or weighed.reason()
    if held.outcome == "allow":
        return _allowed(weighed, held) + (f" {notice(kept.id)}" if kept else "")
    lead = "Denied" if held.outcome in ("block", "deny") else "Held"
    why = impact.undo_words_after(held.reason or weighed.reason(), weighed.factors)
    word, found, rest = why.partition(": ")
    if found and word in _LEVELS:  # `Held as dangerous: replaces …`
        lead, why = f"{lead} as {word}", mid_sentence(rest)
    if stopped := _unblock_words(judged.agent.principal, weighed) if held.outcome == "block" else "":
        return f"{lead}: {_end(why)}{stopped}"  # a blocked agent's alternatives are denied as well
    instead = next((f.instead for f in judged.assessment.findings if f.instead), "")
    final = held.ticket is not None and held.ticket.state is REJECTED  # alternatives are refused as well
    raised = [words[:1].upper() + words[1:] for words in impact.escalation_reasons(weighed.factors) if why not in words]
    more = {
        "Impact: ": impact.impact_words(weighed.factors),
        "No snapshot was taken: ": impact.snapshot_problem(weighed.factors),
        "Instead: ": "" if final else instead,
    }
    parts = [f"{lead}: {why}", *raised, *(f"{name}{words}" for name, words in more.items() if words)]
    said = " ".join(map(_end, parts))
    return said if held.ticket is None or held.outcome == "block" else said + _next(judged, held, held.ticket)


def notice(id: str) -> str:
    return f"Interlock took a snapshot of what this changes: `interlock undo {id}` brings it back."


def _allowed(weighed: PolicyResult, held: Resolution) -> str:
    if held.keep is TicketChange.SPEND and held.ticket:
        by = held.ticket.decided_by
        who = "it cooled off and nobody objected" if by == BY_TIME else f"{by} approved it"
        return f"Allowed once: {who} ({short_id(held.ticket.id)})."
    if not weighed.factors:
        return "Allowed."
    seen = impact.impact_words(weighed.factors)
    if any(factor.startswith(f"{impact.RELIEF_PREFIX}{SNAPSHOT}") for factor in weighed.factors):
        return f"Allowed, for it can be undone: {_end(seen)}" if seen else "Allowed, for it can be undone."
    if f"{impact.RELIEF_PREFIX}{impact.JOURNAL}" in weighed.factors:
        return "Allowed, for it can be undone: `interlock undo` brings back what it changes."
    if seen and any(factor.startswith(impact.RELIEF_PREFIX) for factor in weighed.factors):
        return f"Allowed, for nothing would be lost: {_end(seen)}"
    return f"Allowed: {_end(weighed.reason() or weighed.factors[-1])}"


def block_words(agent: AgentRef, why: str) -> str:
    return f"{who(agent)} is blocked: {_end(why)} To lift it: interlock unblock {agent.principal} --reason …"


def _unblock_words(principal: str, weighed: PolicyResult) -> str:
    if not any(part.name == "blocked" for part in weighed.parts):
        return ""
    lifts = f" Stop here, and tell the user: an operator can lift it (`interlock unblock {principal} --reason …`)."
    if not principal.startswith("uid:"):
        return lifts
    return f"{lifts} It stops every agent of this user; one with a token of its own (`interlock agents add NAME`) is told apart."


def _next(judged: Judged, held: Resolution, ticket: Ticket) -> str:
    if ticket.state is REJECTED:
        way = f"`interlock grants add --from {short_id(ticket.id)} --why …`"
        return f" Other words for the same thing meet the same answer; an operator can still allow it ({way})."
    if ticket.digest != judged.digest:  # the ticket of the same effect in other words
        return f"{_answerable(ticket)}, which frees what it shows and no other words." if ticket.open else ""
    if held.outcome == "cool_off":
        wait = math.ceil(held.wait_seconds)
        return f" Ask again in {wait} s (ticket {short_id(ticket.id)}); an operator can veto it until then."
    soonest = f" It runs no sooner than in {math.ceil(held.wait_seconds)} s." if held.wait_seconds else ""
    return soonest + _way(ticket) if ticket.open else ""


def prompt_reason(decision: Decision) -> str:
    """For a person at the agent's own prompt, without the way to the ticket."""
    return decision.reason.removesuffix(_way(decision.ticket)) if decision.ticket else decision.reason


def waiting_line(ticket: Ticket) -> str:
    return f"Interlock: {request_line(ticket)}. To answer it: interlock approve {short_id(ticket.id)}, or the console."


def _way(ticket: Ticket) -> str:
    return f"{_answerable(ticket)}; then try again."


def _answerable(ticket: Ticket) -> str:
    """Who may answer (`An operator`, `An admin`, `team:data or ben`), and with which command."""
    named, id = sorted(ticket.requirement.approvers - DEFAULT_APPROVERS), short_id(ticket.id)
    who = "An admin" if named == [ADMIN] else " or ".join(named) or "An operator"
    return f" {who} can answer ticket {id} (`interlock approve {id}`)"


def _end(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
