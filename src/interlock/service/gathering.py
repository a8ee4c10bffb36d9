"""What does a decision need to know? What the store says of the agent, its ticket and what it was denied, and the circumstances made of that."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.core.circumstances import Circumstances
from interlock.core.danger import escalated
from interlock.core.model import AgentRef
from interlock.core.records import AgentRow, Approval, Block, Counts, Grant, Ticket
from interlock.policy.denials import Met
from interlock.ports import Tx
from interlock.service import denials, orders, tokens
from interlock.service.blocking import attack
from interlock.service.declaring import differs
from interlock.service.request import Judged, called, stepped
from interlock.service.state import State


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the store knows that this decision needs."""

    ticket: Ticket | None = None
    approvals: tuple[Approval, ...] = ()
    block: Block | None = None
    agent: AgentRow | None = None
    met: Met | None = None  # the denial of the same effect on the same target
    grants: tuple[Grant, ...] = ()
    counts: Counts = field(default_factory=Counts)
    nobody: bool = False  # there is no operator who could agree to anything
    wait: int = 0  # seconds until this principal may try a token again


def gather(tx: Tx, state: State, judged: Judged) -> Gathered:
    request = judged.request
    agent = request.agent
    if request.token:
        ticket = tokens.ticket_of(tx, request.token)
    else:
        ticket = tx.ticket(request.pending) if request.pending else tx.live_ticket(judged.digest, agent)
    return Gathered(
        ticket=ticket,
        approvals=tuple(tx.approvals(ticket.id)) if ticket else (),
        block=tx.block(agent.principal),
        agent=orders.tiered(state, tx, tx.agent(agent.principal, agent.name)),
        met=denials.find(tx, state, judged, ticket),
        grants=tuple(tx.grants(judged.now)),
        counts=tx.counts(
            agent,
            called(request),
            request.execution,
            judged.now,
            state.policy.escalate.forbidden_window_seconds,
        ),
        nobody=state.sessions.roster is None and not any(not row.disabled_at for row in tx.operators()),
        wait=tokens.FAILURES.wait(tx, agent.principal, judged.now) if request.token else 0,
    )


def circumstances(state: State, judged: Judged, found: Gathered) -> Circumstances:
    request = judged.request
    blocked = found.block.reason if found.block else state.blocked(request.agent.principal)
    block = request.adapted.block if request.adapted else None
    step = escalated(block, found.counts.hourly) if block else None
    paused_by, paused_to = state.paused(judged.now)
    at = Circumstances(
        mode=state.mode,
        blocked=blocked,
        trust_tier=_tier(state, request.agent, found.agent),
        adapted=request.adapted,
        matched=judged.matched,
        repeats=found.counts.repeats,
        hourly=found.counts.hourly,
        cumulative=found.counts.cumulative,
        claimed_risk=request.claimed_risk,
        claimed_level=request.claimed_level,
        denied=denials.denied(found.met),
        escalated=(step.level, step.message) if step else None,
        confirmed=state.confirmed.patterns(request.agent, request.action, judged.now),
        tampering=attack(judged),
        differs=differs(state, judged),
        paused_by=paused_by,
        paused_to=paused_to,
    )
    return stepped(at, request)


def _tier(state: State, agent: AgentRef, row: AgentRow | None) -> str:
    """What an operator said; a row that somebody edited says nothing."""
    known = row if state.shared else state.pins.agent(agent.principal, agent.name)
    return known.trust_tier if known else ""
