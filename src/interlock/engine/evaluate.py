"""★ One action in, one decision out: gathers facts, decides, performs the changes, and denies when anything goes wrong."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from interlock.analysis.assess import Judgement, join_judgements
from interlock.analysis.facts import Effect
from interlock.analysis.programs.load import program_set
from interlock.analysis.read import BUDGET
from interlock.analysis.targets.written_files import inherited_judgement
from interlock.approvals import TicketChange
from interlock.approvals.decision_text import block_words
from interlock.approvals.denials import may_meet
from interlock.audit.decision_entries import short_entry
from interlock.canonical_json import DigestError
from interlock.engine.decide import Outcome, World, decide, with_snapshot
from interlock.engine.gathering import (
    changed_targets,
    effect_keys_of,
    gather_world,
    identify,
    known_world,
    with_overrides,
)
from interlock.engine.performing import decision_of, history_entry, perform
from interlock.identity import home_of
from interlock.identity.isolation import isolation_of
from interlock.impact.inspection import Inspection
from interlock.model import Decision, Kind, Level, Loss, Requirement, TicketState
from interlock.policy.impact import Impact
from interlock.policy.real_paths import resolve_paths
from interlock.policy.registry_controls import add_registry_findings, match_registry
from interlock.ports import StoreError, Tx
from interlock.records import ALPHABET, LETTERS, PREFIX
from interlock.runtime import AT_ONCE, Judged, Overtaken, Request, Scripts, recall
from interlock.runtime.adapter_trust import ensure_known, is_known
from interlock.runtime.servers import declared_effects, enrich
from interlock.runtime.state import State
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot

Kept = TypeVar("Kept")
Keep = Callable[[Tx, Judged, Decision], Kept]


def evaluate(state: State, request: Request) -> Decision:
    """Anything unexpected is a denial (the one place that turns an error into an answer).

    Blocks, so an interface with an event loop runs it in a thread.
    """
    return evaluate_and_keep(state, request, _nothing)[0]


def _nothing(tx: Tx, judged: Judged, decision: Decision) -> None:
    """Keeps nothing beside the decision."""


def evaluate_and_keep(state: State, request: Request, keep: Keep[Kept]) -> tuple[Decision, Kept | None]:
    """`keep` writes in the transaction of the decision; its result is None where nothing was saved."""
    try:
        return _evaluate(state, request, keep)
    except Overtaken:  # nothing was decided: the caller reads again, and asks again
        raise
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
        words, unknown, code = f"Denied: the state cannot be known ({error}).", True, "INTERNAL_ERROR"
    except DigestError as error:
        words, unknown, code = f"Denied: this action has no one meaning ({error}).", False, "VALIDATION_INVALID_TYPE"
    except Exception as error:
        state.trouble(f"{type(error).__name__}: {error}")
        words, unknown, code = "Denied: the action could not be judged.", True, "INTERNAL_ERROR"
    strength = request.strength or isolation_of(state, request.agent.principal)
    return Decision("deny", words, unknown=unknown, strength=strength, code=code), None


def quick(state: State, request: Request) -> Decision | None:
    """Everyday work without the store; None where `evaluate` has to decide, and on any error."""
    try:
        if _has_adapter(request) and not is_known(state, request.server):
            return None
        judged = with_overrides(state, _judge(state, request, AT_ONCE, at_once=True))
        found = _everyday(state, judged, _nothing, at_once=True)
        return found[0] if found is not None else None
    except Exception:  # evaluate will meet it again, and deny
        return None


def _evaluate(state: State, request: Request, keep: Keep[Kept]) -> tuple[Decision, Kept | None]:
    state.catch_up()
    if _has_adapter(request) and not is_known(state, request.server):
        ensure_known(state, request.server)
    judged = with_overrides(state, _judge(state, request))
    everyday = _everyday(state, judged, keep)
    if everyday is not None:
        return everyday
    if needs_snapshot(judged) and changed_targets(judged) is not None:  # none was taken: the server's claim counts
        unkept = replace(request, access=replace(request.access, snapshot=None), in_force=judged.in_force)
        judged = _judge(state, unkept)
    judged = identify(state, judged)
    world = gather_world(state, judged)
    outcome = take_snapshot(state, judged, world, decide(judged, world))
    weighed, held = outcome.weighed, outcome.held
    uses_up = held.keep is TicketChange.SPEND or outcome.grant is not None or outcome.at.snapshot is not None
    if not request.spend and held.outcome == "allow" and uses_up:
        return replace(decision_of(state, judged, outcome), unspent=True), None
    free = not state.blocked(request.agent.principal)
    decision, kept = _save(state, judged, world, outcome, keep)
    if judged.policy.restriction.scope == "session":
        state.confirmations.remember(judged, weighed, decision)
    if decision.ticket is not None and held.keep is TicketChange.OPEN:
        state.tell("held", decision.ticket)
    why = state.blocked(request.agent.principal)
    if free and why and request.step is None:  # the loop tells by its challenge
        state.tell("block", None, block_words(request.agent, why))
    return decision, kept


def _has_adapter(request: Request) -> bool:
    return bool(request.adapter) or request.server is not None


def _judge(state: State, request: Request, budget: int = BUDGET, at_once: bool = False) -> Judged:
    now, by = state.clock.now(), request.in_force or state.in_force
    request = enrich(state, request, now) if _has_adapter(request) else request
    files = request.access.read
    scripts = Scripts(files) if files is not None and request.written else None
    judgement, named = state.reader.read(request.action, scripts or files, budget)
    more = None
    if request.server is not None:
        more = declared_effects(by, request.server, request.access, judgement)
    elif request.written:
        texts = scripts.texts if scripts is not None else {}
        more = inherited_judgement(request.written, request.action, judgement, texts)
    if more is not None:
        judgement = join_judgements(judgement, more, by.rules)
    here = request.local or request.owner.startswith("uid:")
    if here and judgement.once("machine", lambda: _reaches_machine(judgement)):
        home = request.action.home or home_of(request.owner)
        access = request.access if request.server is None and request.adapter_context is None else None
        judgement, named = resolve_paths(
            by.rules, by.own_assets, request.action, judgement, named, home, access, request.hook_files, at_once
        )  # fmt: skip
    matched = None
    if request.action.kind in (Kind.OPERATION, Kind.TOOL):
        matched = match_registry(request.action, by.registry, by.policy, by.rules, request.resource)
    if matched is not None:
        judgement = add_registry_findings(judgement, matched, by.rules)
    isolation = request.strength or isolation_of(state, request.agent.principal)
    return Judged(request, judgement, named, matched, now, by, isolation)


def _reaches_machine(judgement: Judgement) -> bool:
    """Whether it matters where links lead, and which processes are Interlock's."""
    kinds = ("signals_names", "signals_numbers", "signals_users")
    return any(
        isinstance(fact, Effect) or any(fact.program in program_set(kind) for kind in kinds) for fact in judgement.facts
    )


def _save(state: State, judged: Judged, world: World, outcome: Outcome, keep: Keep[Kept]) -> tuple[Decision, Kept]:
    def work(tx: Tx) -> tuple[Decision, Kept]:
        decision = perform(tx, state, judged, world.found, outcome)
        return decision, keep(tx, judged, decision)

    return state.store.write(work)


def _everyday(
    state: State, judged: Judged, keep: Keep[Kept], at_once: bool = False
) -> tuple[Decision, Kept | None] | None:
    """Allows everyday work where nothing in the store could require more; else None."""
    request = judged.request
    if judged.assessment.level > Level.REVERSIBLE or request.pending or request.token:
        return None
    if request.execution and request.step is None:
        return None
    if state.recorder.failing or not state.fresh():  # it could not be recorded, or memory may be outdated
        return None
    keys = effect_keys_of(state, judged)
    if keys and may_meet(state, replace(judged, effect_keys=keys)):
        return None
    block = request.adapter_context.block if request.adapter_context else None
    changed = changed_targets(judged)
    if (block is not None and block.escalation) or (changed is not None and at_once):  # to be inspected, perhaps copied
        return None
    world = known_world(state, judged)
    if world.at.mismatch is not None:  # it is recorded in full
        return None
    decide_now = partial(_decide_everyday, state, judged, world)
    outcome, decision = recall(judged.judgement, judged.policy, world.at, decide_now)
    if decision is None:
        return None
    found = keep_changes(state, judged, changed) if changed is not None and request.spend else None
    if found is not None:
        if not found.verified:  # something would be lost, so it is asked about
            return None
        judged, outcome = identify(state, judged), replace(outcome, kept=found)
        return _save(state, judged, world, outcome, keep)
    if decision.strength != judged.isolation:  # of another caller
        decision = replace(decision, strength=judged.isolation)
    kept = None
    if request.step is not None:  # only the loop keeps something of everyday work
        write = state.store.write if request.step.starting else state.store.write_soon
        kept = write(lambda tx: keep(tx, judged, decision))
    state.recorder.later(lambda: (history_entry(judged, "allow"), short_entry(judged, outcome.weighed, outcome.at)))
    return decision, kept


def _decide_everyday(state: State, judged: Judged, world: World) -> tuple[Outcome, Decision | None]:
    outcome = decide(judged, world)
    free = outcome.weighed.requirement == Requirement()
    return outcome, decision_of(state, judged, outcome) if free else None


NO_STORE = "the state cannot be known: the store cannot be used"
_GOES = (Loss.LOST, Loss.RECOVERABLE)
_LOSSES = (Loss.LOST, Loss.UNKNOWN)


def take_snapshot(state: State, judged: Judged, world: World, answer: Outcome) -> Outcome:
    """Takes a snapshot where that allows the action, and answers again; never for what stays held or denied, or a trial."""
    question, request = _copyable(judged, world, answer), judged.request
    if question is None:
        return answer
    if answer.held.outcome == "allow":  # it lowers nothing, and makes an undo possible
        found = _take(state, judged, question) if request.spend else None
        return replace(answer, kept=found) if found is not None and found.verified else answer
    supposed = with_snapshot(judged, world)
    if supposed.held.outcome != "allow" or _refused(answer):
        return answer
    if not request.spend:  # evaluated again before it runs, with the snapshot taken then
        return supposed
    found = _take(state, judged, question)
    made = with_snapshot(judged, world, found)
    return replace(made, kept=found) if found.verified else made


def keep_changes(state: State, judged: Judged, question: Inspection) -> TakenSnapshot | None:
    """Takes a snapshot where everyday work changes files that nothing proves to be elsewhere."""
    look = judged.request.access.inspect
    seen = look(question.body) if look is not None else None
    if seen is None or seen.missing or (seen.loss in (Loss.NONE, Loss.RECOVERABLE) and not seen.presumed):
        return None
    if not question.relieves or seen.repositories:
        return no_snapshot(fresh_id(), "which files it changes is not certain") if seen.loss in _LOSSES else None
    found = _take(state, judged, question)
    needed = tuple(deed for deed in question.deeds if not deed.get("maybe"))
    if not found.verified and len(needed) < len(question.deeds) and seen.loss in _LOSSES:
        found = _take(state, judged, replace(question, deeds=needed))
    return found if found.verified or seen.loss in _LOSSES else None


def needs_snapshot(judged: Judged) -> bool:
    """Whether a server declares the call destructive, so that only a snapshot allows it."""
    server = judged.request.server
    return server is not None and server.destroys and judged.assessment.level < Level.DESTRUCTIVE


def fresh_id() -> str:
    return PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(LETTERS))


def _copyable(judged: Judged, world: World, answer: Outcome) -> Inspection | None:
    """None where no snapshot can be taken, or would change nothing."""
    request, by, at, held = judged.request, judged.in_force, answer.at, answer.held
    if request.access.snapshot is None or at.mode != "enforcing" or at.paused_by or not by.undo.enabled:
        return None
    if not _worth(at.impact) and (held.keep is not TicketChange.SPEND or (at.impact is not None and at.impact.missing)):
        return None
    question = world.question
    if question is None or not question.copyable:
        return None
    lowers = question.excuses(at.impact) and by.impact.exempt
    return question if lowers or held.outcome == "allow" else None


def _worth(seen: Impact | None) -> bool:
    """Whether the inspection found something to lose; an empty file or a merged branch counts."""
    return seen is not None and (seen.loss in _GOES or (seen.loss is Loss.NONE and bool(seen.files or seen.commits)))


def _refused(answer: Outcome) -> bool:
    """Whether a person recently rejected this very action; a snapshot never overrides that."""
    held = answer.held
    return held.ticket is not None and held.ticket.state is TicketState.REJECTED and held.keep is not TicketChange.OPEN


def _take(state: State, judged: Judged, question: Inspection) -> TakenSnapshot:
    id, undo = fresh_id(), judged.in_force.undo
    limits = SnapshotLimits(undo.files, undo.bytes, undo.ms)
    whose = state.snapshots.owner_of(judged.request.owner)
    if state.snapshots.usage.bytes.get(whose, 0) >= undo.total_bytes:  # until maintenance has pruned
        return no_snapshot(id, "snapshots use all of their space (undo.total_bytes)")
    copy, body = judged.request.access.snapshot, question.body
    assert copy is not None
    found = copy({**body, "deeds": [*body["deeds"], *question.moved]}, id, judged.now, limits)
    state.snapshots.usage.bytes[whose] = state.snapshots.usage.bytes.get(whose, 0) + found.bytes
    return found
