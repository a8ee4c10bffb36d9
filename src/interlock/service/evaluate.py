"""★ One action in, one decision out: gathers what the decision needs, keeps what it changes, and denies when anything goes wrong."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.circumstances import Circumstances
from interlock.core.decide import joined
from interlock.core.decision import HELD, Decision
from interlock.core.digest import DigestError
from interlock.core.hold import Held, Keep, hold
from interlock.core.model import Kind, Level, Requirement
from interlock.core.read import BUDGET
from interlock.core.read.name_patterns import exemption
from interlock.core.registered import with_registered
from interlock.core.weigh import SAME_EFFECT, Weighed, weigh
from interlock.ports import StoreError
from interlock.service import tokens
from interlock.service.adapter_trust import acquaint, known
from interlock.service.adapters import dressed
from interlock.service.alone import NOBODY, alone, answerable, granted
from interlock.service.answered import Answer, decision_of
from interlock.service.declaring import differs
from interlock.service.denials import may_meet
from interlock.service.gathering import Gathered, circumstances, gather
from interlock.service.identity import identified, keys_of
from interlock.service.keeping import kept, only_copies, passes_if_kept, written_over
from interlock.service.looking import looked
from interlock.service.performing import deed_of, perform
from interlock.service.reading import AT_ONCE
from interlock.service.request import Judged, Overtaken, Request, stepped
from interlock.service.resolving import resolved
from interlock.service.standing import governed
from interlock.service.state import State
from interlock.service.strength import strength_in
from interlock.service.telling import told_shortly
from interlock.service.tickets import shows
from interlock.service.words import block_words


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
    """The answer to everyday work, without the store and at once; None where `evaluate` has to be asked, and where anything goes wrong."""
    try:
        if not known(state, request):
            return None
        judged = _judge(state, request, AT_ONCE, at_once=True)
        return _quick(governed(state, judged), judged, at_once=True)
    except Exception:  # evaluate will meet it again, and deny
        return None


def _evaluate(state: State, request: Request) -> Decision:
    state.catch_up()
    if not known(state, request):
        acquaint(state, request)
    judged = _judge(state, request)
    state = governed(state, judged)
    everyday = _quick(state, judged)
    if everyday is not None:
        return everyday
    if passes_if_kept(judged) and written_over(state, judged) is not None:  # and was not: its server's word counts
        judged = _judge(state, replace(request, keeper=None))
    judged = identified(state, judged)
    found = state.store.read(lambda tx: gather(tx, state, judged))
    grant, at = granted(state, judged, found.grants, circumstances(state, judged, found))
    answer = _answer(state, judged, found, looked(state, judged, at))
    answer = kept(state, judged, answer, lambda at: _answer(state, judged, found, at))
    weighed, held = answer.weighed, answer.held
    rests = held.keep is Keep.SPEND or grant is not None or answer.at.kept is not None
    if not request.spend and held.outcome == "allow" and rests:
        return replace(decision_of(state, judged, weighed, held), unspent=True)
    free = not state.blocked(request.agent.principal)
    decision = state.store.write(lambda tx: perform(tx, state, judged, found, answer, grant))
    state.confirmed.remember(state.policy.restriction, judged, weighed, decision)
    if decision.ticket is not None and held.keep is Keep.OPEN:
        state.tell("held", decision.ticket)
    why = state.blocked(request.agent.principal)
    if free and why and request.step is None:  # the loop tells by its challenge
        state.tell("block", None, block_words(request.agent, why))
    return decision


def _judge(state: State, request: Request, budget: int = BUDGET, at_once: bool = False) -> Judged:
    now = state.clock.now()
    request = dressed(state, request, now)
    judgement, named = state.reader.read(request.action, request.files, budget)
    more = request.inherits(judgement) if request.inherits is not None else None
    judgement = judgement if more is None else joined(judgement, more, state.rules)
    judgement, named = resolved(state.rules, state.guarded, request, judgement, named, at_once)
    name = request.action.text if request.action.kind in (Kind.OPERATION, Kind.TOOL) else ""
    matched = None
    if name and state.policy.registry:
        spoken = f"{name}_{request.resource}" if request.resource else name
        gate = state.policy.severities
        matched = state.registry.check(spoken, gate.max_cooling_off_ms, gate.block_on_match_failure)
        matched = matched.registered() if exemption(name, state.rules.patterns) else matched
    return Judged(request, with_registered(judgement, matched, state.rules), named, matched, now)


def _quick(state: State, judged: Judged, at_once: bool = False) -> Decision | None:
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
    if may_meet(state, replace(judged, effect_keys=keys_of(state, judged))):
        return None
    over = written_over(state, judged)
    if over is not None and at_once:  # which is looked at, and may be kept first
        return None
    blocked = state.blocked(request.agent.principal)
    paused_by, paused_to = state.paused(judged.now)
    given = request.action, judged.judgement, judged.named, state.policy
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
    if paused_by and not alone(state, paused_by, state.reader.weighed(*given, replace(at, paused_by="")).requirement):
        return None
    weighed = state.reader.weighed(*given, at)
    if weighed.requirement != Requirement() or (
        request.adapted and request.adapted.block and request.adapted.block.escalation
    ):
        return None
    found = only_copies(state, judged, over) if over is not None and request.spend else None
    if found is not None and found.verified:
        judged, answer = identified(state, judged), Answer(at, weighed, Held("allow"), found)
        return state.store.write(lambda tx: perform(tx, state, judged, Gathered(), answer, None))
    if found is not None and passes_if_kept(judged):
        return None
    decision, keep = decision_of(state, judged, weighed, Held("allow")), request.keep
    if keep is not None:
        write = state.store.write_soon if request.step and not request.step.starting else state.store.write
        write(lambda tx: keep(tx, judged, decision))
    state.recorder.later(deed_of(judged, "allow"), lambda: told_shortly(state, judged, weighed, at))
    return decision


def _answer(state: State, judged: Judged, found: Gathered, at: Circumstances) -> Answer:
    """What must happen first under these circumstances, and what that comes to."""
    weighed = weigh(judged.judgement.assessment, judged.named, state.policy, at)
    return Answer(at, weighed, _hold(state, judged, found, weighed))


def _decides(weighed: Weighed) -> bool:
    """Whether a denial of the same effect is what answers: no grant or mode took it away, and nothing forbids the action anyway."""
    return not weighed.requirement.blocked and any(part.name == SAME_EFFECT for part in weighed.parts)


def _hold(state: State, judged: Judged, found: Gathered, weighed: Weighed) -> Held:
    """The answer; a ticket that was made for something else frees nothing."""
    ticket = found.ticket
    if weighed.requirement != Requirement():
        no = tokens.refused(judged, ticket, weighed, found.wait)
        if no is not None:
            return no
    met = found.met
    if met is not None and (met.waits or (met.fresh and ticket is None)) and _decides(weighed):
        return Held("deny" if weighed.denies else weighed.requirement.word, met.words, ticket=met.ticket)
    agreed = ""
    if ticket is not None:
        session = judged.request.agent.session
        agreed = state.agreement(ticket, found.approvals, weighed.requirement, judged.now, session)
        if not agreed and not shows(ticket, judged):
            agreed = "the ticket shows something else than what would run"
    held = hold(weighed.requirement, weighed.denies, ticket, agreed, judged.now, state.policy.denial_seconds)
    waits = held.keep is Keep.OPEN or held.outcome in HELD
    if found.nobody and waits and not answerable(state, judged, weighed):
        return Held("deny", f"{weighed.reason().rstrip('.')}. {NOBODY}", code="PERMISSION_DENIED")
    return held
