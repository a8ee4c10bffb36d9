"""★ One action in, one decision out: gathers facts, decides, performs the changes, and denies when anything goes wrong."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.analysis.assess import join_judgements
from interlock.analysis.operations.name_patterns import exemption
from interlock.analysis.read import BUDGET
from interlock.approvals import Resolution, TicketChange, resolve, tokens
from interlock.approvals.decision_text import block_words
from interlock.approvals.denials import may_meet
from interlock.approvals.quorum import NOBODY, apply_grant, is_answerable, suffices_alone
from interlock.approvals.standing_answers import with_overrides
from interlock.approvals.tickets import shows_action
from interlock.audit.decision_entries import short_entry
from interlock.engine.answer import DecisionDraft, decision_of
from interlock.engine.gathering import (
    Gathered,
    changed_targets,
    circumstances,
    effect_keys_of,
    gather,
    identify,
    inspect_impact,
)
from interlock.engine.performing import history_entry, perform
from interlock.engine.real_paths import resolve_paths
from interlock.engine.snapshotting import keep_changes, needs_snapshot, take_snapshot
from interlock.identity.isolation import request_isolation
from interlock.model import Kind, Level, Requirement
from interlock.policy.circumstances import Circumstances
from interlock.policy.decision import HELD, Decision
from interlock.policy.digest import DigestError
from interlock.policy.evaluate import SAME_EFFECT, PolicyResult, evaluate_policy
from interlock.policy.registry_controls import add_registry_findings
from interlock.ports import StoreError
from interlock.runtime import Judged, Overtaken, Request, with_step
from interlock.runtime.action_reader import AT_ONCE
from interlock.runtime.adapter_trust import ensure_known, is_known
from interlock.runtime.adapters import enrich
from interlock.runtime.declarations import find_difference
from interlock.runtime.state import State


def evaluate(state: State, request: Request) -> Decision:
    """The decision for one action; anything unexpected is a denial (the one place that turns an error into an answer)."""
    try:
        return _evaluate(state, request)
    except Overtaken:  # nothing was decided: the caller reads again, and asks again
        raise
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
        words = f"Denied: the state cannot be known ({error})."
        return Decision("deny", words, unknown=True, strength=request_isolation(state, request), code="INTERNAL_ERROR")
    except DigestError as error:
        return Decision(
            "deny",
            f"Denied: this action has no one meaning ({error}).",
            code="VALIDATION_INVALID_TYPE",
            strength=request_isolation(state, request),
        )
    except Exception as error:
        state.trouble(f"{type(error).__name__}: {error}")
        return Decision(
            "deny",
            "Denied: the action could not be judged.",
            unknown=True,
            strength=request_isolation(state, request),
            code="INTERNAL_ERROR",
        )


def quick(state: State, request: Request) -> Decision | None:
    """Answers everyday work at once, without the store; None where `evaluate` has to decide, and on any error."""
    try:
        if not is_known(state, request):
            return None
        judged = _judge(state, request, AT_ONCE, at_once=True)
        return _quick(with_overrides(state, judged), judged, at_once=True)
    except Exception:  # evaluate will meet it again, and deny
        return None


def _evaluate(state: State, request: Request) -> Decision:
    state.catch_up()
    if not is_known(state, request):
        ensure_known(state, request)
    judged = _judge(state, request)
    state = with_overrides(state, judged)
    everyday = _quick(state, judged)
    if everyday is not None:
        return everyday
    if (
        needs_snapshot(judged) and changed_targets(state, judged) is not None
    ):  # no snapshot was taken: the server's claim counts
        judged = _judge(state, replace(request, take_snapshot=None))
    judged = identify(state, judged)
    found = state.store.read(lambda tx: gather(tx, state, judged))
    grant, at = apply_grant(state, judged, found.grants, circumstances(state, judged, found))
    answer = _answer(state, judged, found, inspect_impact(state, judged, at))
    answer = take_snapshot(state, judged, answer, lambda at: _answer(state, judged, found, at))
    weighed, held = answer.weighed, answer.held
    uses_up = held.keep is TicketChange.SPEND or grant is not None or answer.at.snapshot is not None
    if not request.spend and held.outcome == "allow" and uses_up:
        return replace(decision_of(state, judged, weighed, held), unspent=True)
    free = not state.blocked(request.agent.principal)
    decision = state.store.write(lambda tx: perform(tx, state, judged, found, answer, grant))
    state.confirmations.remember(state.policy.restriction, judged, weighed, decision)
    if decision.ticket is not None and held.keep is TicketChange.OPEN:
        state.tell("held", decision.ticket)
    why = state.blocked(request.agent.principal)
    if free and why and request.step is None:  # the loop tells by its challenge
        state.tell("block", None, block_words(request.agent, why))
    return decision


def _judge(state: State, request: Request, budget: int = BUDGET, at_once: bool = False) -> Judged:
    now = state.clock.now()
    request = enrich(state, request, now)
    judgement, named = state.reader.read(request.action, request.files, budget)
    more = request.inherits(judgement) if request.inherits is not None else None
    judgement = judgement if more is None else join_judgements(judgement, more, state.rules)
    judgement, named = resolve_paths(state.rules, state.own_assets, request, judgement, named, at_once)
    name = request.action.text if request.action.kind in (Kind.OPERATION, Kind.TOOL) else ""
    matched = None
    if name and state.policy.registry:
        called = f"{name}_{request.resource}" if request.resource else name
        gate = state.policy.severities
        matched = state.registry.check(called, gate.max_cooling_off_ms, gate.block_on_match_failure)
        matched = matched.registered() if exemption(name, state.rules.patterns) else matched
    return Judged(request, add_registry_findings(judgement, matched, state.rules), named, matched, now)


def _quick(state: State, judged: Judged, at_once: bool = False) -> Decision | None:
    """Allows everyday work that requires nothing, where nothing in the store could require more; else None."""
    request, assessment = judged.request, judged.judgement.assessment
    if assessment.level > Level.REVERSIBLE or request.pending or request.token:
        return None
    if request.execution and request.step is None:
        return None
    if state.recorder.failing:  # an action that cannot be recorded is not allowed
        return None
    if not state.fresh():  # memory may be outdated
        return None
    if find_difference(state, judged) is not None:  # it is recorded in full
        return None
    if may_meet(state, replace(judged, effect_keys=effect_keys_of(state, judged))):
        return None
    changed = changed_targets(state, judged)
    if changed is not None and at_once:  # it is inspected, and may be copied first
        return None
    blocked = state.blocked(request.agent.principal)
    paused_by, paused_to = state.paused(judged.now)
    given = request.action, judged.judgement, judged.named, state.policy
    at = Circumstances(
        mode=state.mode,
        blocked=blocked,
        adapter_context=request.adapter_context,
        registry_match=judged.registry_match,
        claimed_risk=request.claimed_risk,
        claimed_level=request.claimed_level,
        paused_by=paused_by,
        paused_to=paused_to,
    )
    at = with_step(at, request)
    if paused_by and not suffices_alone(
        state, paused_by, state.reader.evaluate(*given, replace(at, paused_by="")).requirement
    ):
        return None
    weighed = state.reader.evaluate(*given, at)
    if weighed.requirement != Requirement() or (
        request.adapter_context and request.adapter_context.block and request.adapter_context.block.escalation
    ):
        return None
    found = keep_changes(state, judged, changed) if changed is not None and request.spend else None
    if found is not None and found.verified:
        judged, answer = identify(state, judged), DecisionDraft(at, weighed, Resolution("allow"), found)
        return state.store.write(lambda tx: perform(tx, state, judged, Gathered(), answer, None))
    if found is not None:  # something would be lost, so it is asked about
        return None
    decision, keep = decision_of(state, judged, weighed, Resolution("allow")), request.persist
    if keep is not None:
        write = state.store.write_soon if request.step and not request.step.starting else state.store.write
        write(lambda tx: keep(tx, judged, decision))
    state.recorder.later(history_entry(judged, "allow"), lambda: short_entry(state, judged, weighed, at))
    return decision


def _answer(state: State, judged: Judged, found: Gathered, at: Circumstances) -> DecisionDraft:
    """Evaluates the policy under these circumstances, and resolves the result."""
    weighed = evaluate_policy(judged.judgement.assessment, judged.named, state.policy, at)
    return DecisionDraft(at, weighed, _resolve(state, judged, found, weighed))


def _decides(weighed: PolicyResult) -> bool:
    """Whether an earlier denial of the same effect decides: no grant or mode lifted it, and nothing else blocks the action."""
    return not weighed.requirement.blocked and any(part.name == SAME_EFFECT for part in weighed.parts)


def _resolve(state: State, judged: Judged, found: Gathered, weighed: PolicyResult) -> Resolution:
    """Resolves the requirement against the ticket; a ticket for another action frees nothing."""
    ticket = found.ticket
    if weighed.requirement != Requirement():
        no = tokens.refusal_of(judged, ticket, weighed, found.wait)
        if no is not None:
            return no
    met = found.met
    if met is not None and (met.waits or (met.fresh and ticket is None)) and _decides(weighed):
        return Resolution("deny" if weighed.denies else weighed.requirement.word, met.words, ticket=met.ticket)
    agreed = ""
    if ticket is not None:
        session = judged.request.agent.session
        agreed = state.agreement(ticket, found.approvals, weighed.requirement, judged.now, session)
        if not agreed and not shows_action(ticket, judged):
            agreed = "the ticket shows something else than what would run"
    held = resolve(weighed.requirement, weighed.denies, ticket, agreed, judged.now, state.policy.denial_seconds)
    waits = held.keep is TicketChange.OPEN or held.outcome in HELD
    if found.nobody and waits and not is_answerable(state, judged, weighed):
        return Resolution("deny", f"{weighed.reason().rstrip('.')}. {NOBODY}", code="PERMISSION_DENIED")
    return held


NO_STORE = "the state cannot be known: the store cannot be used"


def evaluate_with_token(state: State, request: Request, token: str = "") -> Decision:
    """Evaluates with a token, if any; blocks, so an interface with an event loop runs it in a thread."""
    return evaluate(state, replace(request, token=token) if token else request)
