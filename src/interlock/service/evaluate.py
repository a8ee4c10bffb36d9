"""★ One action in, one decision out: gathers what the decision needs, keeps what it changes, and denies when anything goes wrong."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from interlock.core.circumstances import Circumstances
from interlock.core.danger import escalated
from interlock.core.decide import decide, joined
from interlock.core.decision import Decision
from interlock.core.digest import DigestError
from interlock.core.goals import UNKNOWN
from interlock.core.grants import covering
from interlock.core.hold import Held, Keep
from interlock.core.model import AgentRef, Kind, Level, Requirement
from interlock.core.records import NOTHING, AgentRow, Approval, Block, Counts, Deed, Grant, Refusal, Ticket
from interlock.core.ticket import moved, settled
from interlock.core.weigh import Weighed, weigh
from interlock.ports import QueueFull, StoreError, Tx
from interlock.service import orders, tokens
from interlock.service.adapter_trust import acquaint, known
from interlock.service.adapters import dressed
from interlock.service.blocking import attack, block_for
from interlock.service.declaring import differs
from interlock.service.granting import grant_used, holds, use
from interlock.service.identity import identified
from interlock.service.looking import looked
from interlock.service.record import deed
from interlock.service.request import Judged, Overtaken, Request, called, session_of, stepped
from interlock.service.state import State
from interlock.service.strength import strength_in
from interlock.service.telling import told, told_shortly
from interlock.service.tickets import new_ticket, shows
from interlock.service.warned import warnings_of


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the store knows that this decision needs."""

    ticket: Ticket | None = None
    approvals: tuple[Approval, ...] = ()
    block: Block | None = None
    agent: AgentRow | None = None
    refusal: Refusal | None = None
    vetoed: bool = False  # somebody rejected it
    refused: Ticket | None = None
    grants: tuple[Grant, ...] = ()
    counts: Counts = field(default_factory=Counts)
    wait: int = 0  # seconds until this principal may try a token again


def evaluate(state: State, request: Request) -> Decision:
    """The decision for one action; anything unexpected is a denial (the one place that turns an error into an answer)."""
    try:
        return _evaluate(state, request)
    except Overtaken:  # nothing was decided: whoever asks looks again, and asks again
        raise
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
        words = f"Denied: the state cannot be known ({error})."
        return Decision("deny", words, unknown=True, strength=strength_in(state, request), code="INTERNAL_ERROR")
    except DigestError as error:
        return Decision(
            "deny",
            f"Denied: this action has no one meaning ({error}).",
            code="VALIDATION_INVALID_TYPE",
            strength=strength_in(state, request),
        )
    except Exception as error:
        state.trouble(f"{type(error).__name__}: {error}")
        return Decision(
            "deny",
            "Denied: the action could not be judged.",
            unknown=True,
            strength=strength_in(state, request),
            code="INTERNAL_ERROR",
        )


def quick(state: State, request: Request) -> Decision | None:
    """The answer to everyday work, without the store; None where `evaluate` has to be asked, and where anything goes wrong."""
    try:
        if not known(state, request):
            return None
        return _quick(state, _judge(state, request))
    except Exception:  # evaluate will meet it again, and deny
        return None


def _evaluate(state: State, request: Request) -> Decision:
    state.catch_up()
    if not known(state, request):
        acquaint(state, request)
    judged = _judge(state, request)
    at_once = _quick(state, judged)
    if at_once is not None:
        return at_once
    judged = identified(state, judged)
    found = state.store.read(lambda tx: _gather(tx, state, judged))
    signed = (grant for grant in found.grants if holds(state, grant))
    grant = covering(signed, request.agent, judged.goals, judged.judgement.assessment, judged.digest, judged.now)
    at = looked(state, judged, _circumstances(state, judged, found, grant))
    weighed = weigh(judged.judgement.assessment, judged.named, state.policy, at)
    held = _hold(state, judged, found, weighed)
    if not request.spend and held.outcome == "allow" and (held.keep is Keep.SPEND or grant is not None):
        return replace(_decision(state, judged, weighed, held), unspent=True)
    kept = state.store.write(lambda tx: _keep(tx, state, judged, found, weighed, at, held, grant))
    state.confirmed.remember(state.policy.restriction, judged, weighed, kept)
    if kept.ticket is not None and held.keep is Keep.OPEN:
        state.tell("held", kept.ticket)
    return kept


def _judge(state: State, request: Request) -> Judged:
    now = state.clock.now()
    request = dressed(state, request, now)
    judgement, named = state.reader.read(request.action, request.files)
    more = request.inherits(judgement) if request.inherits is not None else None
    judgement = judgement if more is None else joined(judgement, more, state.rules)
    name = request.action.text if request.action.kind in (Kind.OPERATION, Kind.TOOL) else ""
    matched = None
    if name and state.policy.registry:
        spoken = f"{name}_{request.resource}" if request.resource else name
        gate = state.policy.severities
        matched = state.registry.check(spoken, gate.max_cooling_off_ms, gate.block_on_match_failure)
    return Judged(request, judgement, named, matched, now)


def _quick(state: State, judged: Judged) -> Decision | None:
    """Everyday work: nothing is asked for, and nothing the store knows could ask for more."""
    request, assessment = judged.request, judged.judgement.assessment
    if assessment.level > Level.REVERSIBLE or request.pending or request.token:
        return None
    if request.execution and request.step is None:
        return None
    if state.recorder.failing:  # what cannot be recorded is not allowed by the way
        return None
    if not state.fresh():  # what is remembered may be old
        return None
    if differs(state, judged) is not None:  # which goes on record in full
        return None
    blocked = state.blocked(request.agent.principal)
    paused_by, paused_to = state.paused(judged.now)
    at = Circumstances(
        mode=state.mode,
        blocked=blocked,
        adapted=request.adapted,
        matched=judged.matched,
        claimed_risk=request.claimed_risk,
        claimed_level=request.claimed_level,
        paused_by=paused_by,
        paused_to=paused_to,
    )
    at = stepped(at, request)
    weighed = state.reader.weighed(request.action, judged.judgement, judged.named, state.policy, at)
    if weighed.requirement != Requirement() or (
        request.adapted and request.adapted.block and request.adapted.block.escalation
    ):
        return None
    decision, keep = _decision(state, judged, weighed, Held("allow")), request.keep
    if keep is not None:
        write = state.store.write_soon if request.step and not request.step.starting else state.store.write
        write(lambda tx: keep(tx, judged, decision))
    state.recorder.later(_deed(judged, "allow"), lambda: told_shortly(state, judged, weighed, at))
    return decision


def _gather(tx: Tx, state: State, judged: Judged) -> Gathered:
    request = judged.request
    agent = request.agent
    if request.token:
        ticket = tokens.ticket_of(tx, request.token)
    else:
        ticket = tx.ticket(request.pending) if request.pending else tx.live_ticket(judged.digest, agent)
    refusal = (
        tx.refusal(_nameable(judged.goals), agent.principal, session_of(agent), judged.now) if judged.goals else None
    )
    vetoed = state.pins.refusal(agent.principal, (judged.digest, *_nameable(judged.goals)), judged.now)
    if vetoed is not None and (refusal is None or (ticket is not None and refusal.ticket == ticket.id)):
        refusal = vetoed
    return Gathered(
        ticket=ticket,
        approvals=tuple(tx.approvals(ticket.id)) if ticket else (),
        block=tx.block(agent.principal),
        agent=orders.tiered(state, tx, tx.agent(agent.principal, agent.name)),
        refusal=refusal,
        vetoed=vetoed is not None,
        refused=tx.ticket(refusal.ticket) if refusal else None,
        grants=tuple(tx.grants(judged.now)),
        counts=tx.counts(
            agent,
            called(request),
            request.execution,
            judged.now,
            state.policy.escalate.forbidden_window_seconds,
        ),
        wait=tokens.FAILURES.wait(tx, agent.principal, judged.now) if request.token else 0,
    )


def _circumstances(state: State, judged: Judged, found: Gathered, grant: Grant | None) -> Circumstances:
    request = judged.request
    blocked = found.block.reason if found.block else state.blocked(request.agent.principal)
    own = found.ticket is not None and not request.pending and not request.token
    own = own and not found.vetoed  # a no to one ticket is a no to all that want the same
    refused = (
        found.refusal
        if found.refusal and not own and found.refusal.ticket != (found.ticket.id if found.ticket else "")
        else None
    )
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
        denied_goal=refused.ticket if refused else "",
        tries=refused.tries + 1 if refused else 0,
        granted=grant.id if grant else "",
        grant_ceiling=grant.ceiling if grant else Level.SAFE,
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


def _hold(state: State, judged: Judged, found: Gathered, weighed: Weighed) -> Held:
    """The answer; a ticket that was made for something else frees nothing."""
    ticket = found.ticket
    if weighed.requirement != Requirement():
        no = tokens.refused(judged, ticket, weighed, found.wait)
        if no is not None:
            return no
    if found.refusal is not None and ticket is None and weighed.denies and (found.refused is not None or found.vetoed):
        words = f"the same effect on the same target is held or refused as {found.refusal.ticket}"
        return Held("deny", words, ticket=found.refused)
    agreed = ""
    if ticket is not None:
        session = judged.request.agent.session
        agreed = state.agreement(ticket, found.approvals, weighed.requirement, judged.now, session)
        if not agreed and not shows(ticket, judged):
            agreed = "the ticket shows something else than what would run"
    return decide(weighed, ticket, agreed, judged.now, state.policy)


def _keep(
    tx: Tx,
    state: State,
    judged: Judged,
    found: Gathered,
    weighed: Weighed,
    at: Circumstances,
    held: Held,
    grant: Grant | None,
) -> Decision:
    """Keeps what the decision changes, before the answer leaves; what was spent by somebody else is denied."""
    now, ticket, issued = judged.now, held.ticket, False
    if held.keep is Keep.OPEN:
        _let_go(tx, state, found.ticket, now)
        made = new_ticket(state, judged, weighed)
        try:
            ticket = tx.open_ticket(made, state.policy.open_tickets)
        except QueueFull:
            held = Held(
                "deny",
                f"the queue is full: {state.policy.open_tickets} actions of this agent wait for an answer",
                code="RATE_LIMIT_EXCEEDED",
            )
            ticket = None
        else:
            issued = ticket.id == made.id
            if issued:
                state.pins.opened(ticket)
                state.elicited.opened(ticket)
            _remember_goals(tx, state, judged, ticket)
    elif held.keep is Keep.SPEND and ticket is not None and found.ticket is not None:
        ticket, held = _spend(tx, state, judged, ticket, found.ticket, held)
    elif held.keep is Keep.CHANGE and ticket is not None and found.ticket is not None:
        tx.change_ticket(ticket, found.ticket)
    if grant is not None and held.outcome == "allow" and not (tx.use_grant(grant.id, now) and use(state, grant)):
        held = Held("deny", f"grant {grant.id} is used up")
    if found.refusal is not None and held.outcome == "deny" and found.ticket is None:
        tx.save_refusal(replace(found.refusal, tries=found.refusal.tries + 1))
    held, blocked = replace(held, ticket=ticket), ""
    if (
        held.keep is not Keep.NOTHING or held.ticket is None or found.ticket is None
    ):  # asking after one's own ticket is no deed
        tx.add_deeds([_deed(judged, held.outcome)])
        blocked = block_for(tx, state, judged, found.counts, weighed, held)
    if tokens.failed(judged, held):
        tokens.FAILURES.failed(tx, judged.request.agent.principal, now)
    used = [grant_used(grant, judged)] if grant is not None and held.outcome == "allow" else []
    state.recorder.these(tx, [told(state, judged, weighed, at, held), *tokens.told(state, judged, held, issued), *used])
    decision = _decision(state, judged, weighed, held)
    if blocked:
        decision = replace(decision, reason=f"{decision.reason} This agent is blocked from now on: {blocked}.")
    if judged.request.keep is not None:
        judged.request.keep(tx, judged, decision)
    return decision


def _let_go(tx: Tx, state: State, ticket: Ticket | None, now: float) -> None:
    """What expired before anybody noticed makes room for the ticket that takes its place."""
    after = settled(ticket, now) if ticket is not None else None
    if ticket is not None and after is not None and after != ticket and tx.change_ticket(after, ticket):
        state.recorder.now(tx, "expire", deed(now, "expire", "time", {"ticket": ticket.id}))


def _spend(tx: Tx, state: State, judged: Judged, ticket: Ticket, before: Ticket, held: Held) -> tuple[Ticket, Held]:
    now = judged.now
    if ticket != before and not tx.change_ticket(ticket, before):  # what time alone had changed
        found = tx.ticket(ticket.id)
        if found is None or replace(found, decided_at=ticket.decided_at, expires_at=ticket.expires_at) != ticket:
            return ticket, Held("deny", f"ticket {ticket.id} was answered just now; try again", ticket=ticket)
        ticket = found  # upkeep had seen the time before us
    spent = moved(ticket, "spend", now)
    if not tx.change_ticket(spent, ticket) or not state.pins.spend(ticket.id, held):
        return ticket, Held("deny", f"ticket {ticket.id} was used already", ticket=ticket, code="TOKEN_ALREADY_USED")
    agent = ticket.agent
    for goal in ticket.goals:  # somebody agreed: the goal is refused no more
        tx.save_refusal(Refusal(goal, agent.principal, session_of(agent), ticket.id, now, now))
    state.pins.agreed(ticket)
    return spent, held


def _nameable(after: tuple[str, ...]) -> list[str]:
    """The goals that can be told apart: two things that cannot be known need not be the same."""
    return [goal for goal in after if not goal.endswith(f":{UNKNOWN}")]


def _remember_goals(tx: Tx, state: State, judged: Judged, ticket: Ticket) -> None:
    agent = judged.request.agent
    for goal in _nameable(judged.goals):
        tx.save_refusal(Refusal(goal, agent.principal, session_of(agent), ticket.id, judged.now, ticket.expires_at))


def _deed(judged: Judged, outcome: str) -> Deed:
    assessment, matched = judged.judgement.assessment, judged.matched
    return Deed(
        judged.request.agent,
        called(judged.request),
        assessment.level,
        assessment.score
        if assessment.level >= Level.DESTRUCTIVE or judged.request.execution
        else 0,  # everyday work adds no risk
        outcome,
        judged.now,
        judged.request.execution,
        judged.goals,
        judged.severity,
        tuple(sorted(matched.categories))
        if matched
        else tuple(sorted({f.category for f in assessment.findings if f.category})),
    )


def _decision(state: State, judged: Judged, weighed: Weighed, held: Held) -> Decision:
    matched, token = judged.matched, tokens.offered(state, judged, held)
    code = tokens.code_of(held, weighed, token)
    return Decision(
        outcome=held.outcome,
        reason=state.words(judged, weighed, held),
        assessment=judged.judgement.assessment,
        requirement=weighed.requirement,
        factors=(*judged.judgement.assessment.factors, *weighed.factors),
        ticket=held.ticket,
        wait_seconds=held.wait_seconds,
        patterns=tuple(pattern.wire for pattern in matched.patterns) if matched else (),
        code=code,
        strength=strength_in(state, judged.request),
        token=token,
        details=tokens.details(state, judged, weighed, held, code, token) if code else NOTHING,
        warnings=warnings_of(state, judged, held),
        parts=weighed.parts or weighed.would,
        weighed=weighed.factors,
    )
