"""★ One reported step -> one directive: evaluated once, kept with what it changes, answered in the words of 2.1."""

from __future__ import annotations

from typing import Any

from interlock.core.decision import Decision
from interlock.core.loop import (
    PAUSED,
    STEP_LIMIT,
    UNJUDGED,
    Count,
    Directive,
    Verdict,
    directive_json,
    reason_of,
    stages,
    status_of,
    stops,
)
from interlock.core.model import AgentRef, TicketState, intent
from interlock.core.policy import TOLERANCES
from interlock.core.times import iso
from interlock.ports import StoreError
from interlock.service import declaring
from interlock.service.evaluate import evaluate
from interlock.service.loop import notices
from interlock.service.loop.blocked import danger_note, enforced, stopped_step
from interlock.service.loop.executions import named
from interlock.service.loop.keeping import keep
from interlock.service.loop.problem import LoopProblem
from interlock.service.loop.rendering import ANEW, ANOTHER, HOW, cooling, cools, paused, way
from interlock.service.loop.report import Report, Step, checked, seen
from interlock.service.loop.tightened import NOT_TIGHTENED, Tightened, governing
from interlock.service.pausing import for_step
from interlock.service.request import Overtaken, Request
from interlock.service.state import State

__all__ = ["Step", "record_step"]

TRIES = 50  # of a step that others of the same agent get ahead of
_GIVES_UP = "too many steps of this agent were reported in the same moment"


def record_step(
    state: State, agent: AgentRef, door: str, step: Step, tight: Tightened = NOT_TIGHTENED
) -> dict[str, Any]:
    """The directive for a step and how the execution stands; refuses an empty hint and an agent that runs nothing."""
    # 1. the report says something                3. how the agent stands: how far it is, what it waits for
    # 2. a blocked agent hears that it is (C-15)  4. one evaluation, kept with the step in one transaction
    step = checked(step)  # 1
    state.catch_up()
    here = governing(state, named(agent), door, tight)
    here = for_step(here, intent(step.hint, step.cwd))
    why = enforced(here, agent.principal)
    if why:  # 2
        return stopped_step(here, agent, why)
    for _ in range(TRIES):
        try:
            report = seen(here, agent, step)  # 3
        except LoopProblem:
            if here.mode != "disabled":
                raise
            return _unjudged(here, agent, door, step, tight)
        if report.blocked:
            return stopped_step(here, agent, report.blocked)
        try:
            decision = evaluate(here, _request(report, door))  # 4
        except Overtaken:
            continue
        blocked = any(part.name == "blocked" for part in decision.parts) and report.verdict is not Verdict.STOP
        if blocked and here.mode == "enforcing":  # since it was looked at
            return stopped_step(here, agent, enforced(state, agent.principal) or "blocked")
        declaring.report(state, agent, step.hint, step.cwd)
        return _answer(report, decision, tight)
    raise StoreError(_GIVES_UP)


def _unjudged(state: State, agent: AgentRef, door: str, step: Step, tight: Tightened) -> dict[str, Any]:
    """R-25: a disabled loop answers an agent that runs nothing as well; what it reported is on record."""
    evaluate(state, Request(intent(step.hint, step.cwd), agent, door, claimed_risk=step.risk))
    return {"autonomy": directive_json(Directive(go=True, factors=(UNJUDGED[state.mode], *tight.said)))}


def _request(report: Report, door: str) -> Request:
    step = report.step
    return Request(
        intent(step.hint, step.cwd),
        report.agent,
        door,
        execution=report.execution.id,
        claimed_risk=step.risk,
        operation=report.operation,
        step=report.stepping,
        keep=lambda tx, judged, decision: keep(report, tx, judged, decision),
    )


def _answer(report: Report, decision: Decision, tight: Tightened) -> dict[str, Any]:
    """The data of a step's reply (2.1, 2.11)."""
    state, go = report.state, report.verdict is Verdict.GO
    after = report.after or report.execution
    status = PAUSED if report.verdict is Verdict.WAIT else status_of(after, report.verdict is Verdict.STOP)
    left = Count(after.steps, after.max_steps).left
    directive = Directive(
        go=go,
        factors=(*_factors(report, decision), *_failed(report), *tight.said),
        stopped=report.verdict is Verdict.STOP,
        reason="" if go else _reason(report, decision),
        steps_remaining=left,
        risk=report.tier if state.mode not in UNJUDGED and not decision.unknown else None,
        notifications=tuple(_notes(report, decision)),
    )
    data: dict[str, Any] = {
        "execution_id": after.id,
        "status": status,
        "step": report.count.step,
        "autonomy": directive_json(directive),
    }
    if report.confirmation:
        data["confirmation"] = report.confirmation
    said = [dict(warning) for warning in decision.warnings] if go else []
    return data | ({"warnings": said} if said else {})


def _factors(report: Report, decision: Decision) -> tuple[str, ...]:
    state, step = report.state, report.step
    if state.mode in UNJUDGED:
        return (UNJUDGED[state.mode],)
    if decision.unknown:
        return (decision.reason,)
    policy = state.policy
    said = stages(
        decision, report.tier, report.count, step.outcome, (policy.tolerance, TOLERANCES[policy.tolerance]), step.risk
    )
    if decision.allowed and decision.ticket is not None:
        return (*said, decision.reason)  # who agreed
    if state.mode != "monitoring":
        return said
    would = [factor for factor in said if not factor.startswith("would have:")]
    why = state.blocked(report.agent.principal)
    if why:
        return (*would, f"would have: stop (this agent is blocked: {why})")
    if stops(decision.parts, report.tier):
        return (*would, "would have: stop")
    return said


def _failed(report: Report) -> list[str]:
    """What the hook saw, whatever outcome the agent reports."""
    found = report.state.declared.failure(report.agent)
    return [f"A call failed since the last step: {found}"] if found else []


def _reason(report: Report, decision: Decision) -> str:
    """Why it does not go on, and who can change that."""
    verdict, challenge = report.verdict, report.challenge
    now, ticket = report.state.clock.now(), decision.ticket
    if verdict is Verdict.WAIT and report.pause is not None:
        return paused(report.pause, report.waited, now)
    reason = reason_of(verdict, decision, report.operation)
    if challenge is not None:
        return f"{reason}. {HOW} (challenge {challenge.id})."
    if verdict is Verdict.REFUSE and ticket is not None and ticket.state is TicketState.REJECTED:
        return f"{reason} {ANEW if report.pause is not None else ANOTHER}"  # C-19: a pause lasts
    literal = (
        report.state.policy.literal_globs and reason == STEP_LIMIT
    )  # the specification's own words, and nothing beside
    if verdict is not Verdict.CONFIRM or ticket is None or literal:
        return reason
    if decision.outcome == "cool_off":
        return f"{reason}. {cooling(ticket, now)}"
    wait = f" It cools off for {cools(ticket, now)} s first." if cools(ticket, now) else ""
    more = f": {report.allows}" if reason == STEP_LIMIT else ""
    return f"{reason}. {way(ticket.id)}{more}.{wait}"


def _notes(report: Report, decision: Decision) -> list[dict[str, Any]]:
    """What is told; AE-12: nothing is paused or stopped without saying so."""
    told, now = report.notes, report.state.clock.now()
    if report.verdict is Verdict.STOP and report.challenge is not None:
        others = [note for note in told if note["type"] != notices.DANGER]
        return [danger_note(report.agent, report.challenge, now), *others]
    if report.verdict is Verdict.GO or any(note["type"] == notices.PAUSE for note in told):
        return told
    kind = notices.ERROR if decision.unknown else notices.PAUSE
    metadata = {"reason": report.verdict.value, "level": report.tier.value}
    if report.challenge is not None:
        metadata["verificationId"] = report.challenge.id
    note = {"type": kind, "message": _reason(report, decision), "metadata": metadata, "timestamp": iso(now)}
    return [note, *told]
