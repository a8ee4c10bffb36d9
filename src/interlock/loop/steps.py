"""★ One reported step -> one directive: evaluated once, stored in one transaction with all that it changes, answered in the words of 2.1."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import partial
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from interlock.analysis.confusables import plain
from interlock.analysis.lexicon import split_name, vocabulary
from interlock.analysis.operations.names import may_be_operation
from interlock.approvals import LIVE_STATES, REJECTED, challenges, settle
from interlock.approvals.pausing import monitored_while_paused
from interlock.approvals.tickets import token_of
from interlock.engine.evaluate import evaluate, evaluate_and_keep
from interlock.engine.gathering import identify
from interlock.error_codes import LoopProblem
from interlock.loop import agents, notices
from interlock.loop.executions import require_name
from interlock.loop.notices import HOW, approval_hint
from interlock.loop.state import (
    CONFIRM,
    GO,
    LIVE,
    PAUSED,
    REFUSE,
    SINGLE_USE,
    STEP_LIMIT,
    STOP,
    UNJUDGED,
    VERIFY,
    WAIT,
    Directive,
    LoopVerdict,
    Pause,
    pause_of,
    reason_of,
    stages,
    status_of,
    stops,
    tier_reached,
    verdict_of,
)
from interlock.loop.tightening import PLAIN_CONNECTION, Connection, Tightening, governing
from interlock.model import AgentRef, Decision, Human, Level, Tier, intent
from interlock.policy.match_names import MatchNames
from interlock.policy.policy import TOLERANCES
from interlock.ports import StoreError, Tx
from interlock.records import Challenge, Execution, Ticket
from interlock.redaction import redact_text
from interlock.runtime import InForce, Judged, Overtaken, Request, StepContext, declarations
from interlock.runtime.state import State
from interlock.times import iso

TRIES = 50  # of a step that others of the same agent overtake
MOST_COUNTED = 200  # operations of one execution
_WORD = re.compile(r"(?<![\w./-])[A-Za-z][\w.:/-]*\w")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,30}")  # no values: what is given to a command may be a secret
_OTHER = re.compile(r"[^a-z0-9]+")
_HINT_CHARS = 2_000  # that are searched for a name
_LONGEST = 100
RECORD = "record_execution_step"
TEXT_CHARS = 500  # of a description or finding that the record stores


def operation_name(hint: str, named: MatchNames) -> str:
    """Empty for mere prose."""
    if named.commands:
        program, *words = named.commands[0]
        return _form("_".join([program, *words[:1]]) if words and _SUBCOMMAND.fullmatch(words[0]) else program)
    for found in _WORD.finditer(plain(hint[:_HINT_CHARS], vocabulary())):
        if not may_be_operation(found[0]):
            continue
        name = _form("_".join(word for segment in split_name(found[0]) for word in segment))
        if any(f"{known}_".startswith(f"{name}_") for known in named.operations):
            return name
    return ""


def repetition_key(hint: str, named: MatchNames) -> str:
    """The operation, or the hint's verb and noun; hashed, for it is stored."""
    name = named.operations[0] if named.operations else hint.casefold()
    what = operation_name(hint, named) or "_".join(_form(name).split("_")[:2])
    return hashlib.sha256(what.encode()).hexdigest()[:16]


def _form(name: str) -> str:
    return _OTHER.sub("_", name.rpartition("/")[2].lower()).strip("_0123456789")[:_LONGEST]


class ReportedStep(Struct, frozen=True):
    hint: str
    description: str = ""
    outcome: str = ""
    findings: str = ""
    risk: int | None = None  # the agent's own estimate; it only raises (C-45)
    cwd: str = ""


class StepReport(Struct):
    state: State
    by: InForce  # that governs the agent
    agent: AgentRef
    step: ReportedStep
    execution: Execution
    pause: Pause | None  # what the agent waits for
    same: bool  # this is the held step
    blocked: str  # why its principal is, where that is enforced
    operation: str  # that the hint names
    repetition: str  # the key by which repetition is counted
    verdict: LoopVerdict = REFUSE
    tier: Tier = Tier.ADVISORY
    after: Execution | None = None
    challenge: Challenge | None = None
    awaited: Ticket | None = None  # the ticket of the pause
    confirmation: dict[str, str] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def allows(self) -> str:
        more = f"{self.execution.quota} more steps of execution" if self.execution.quota > 1 else "one more step of"
        return f"a yes allows {more} {self.execution.id}"

    @property
    def context(self) -> StepContext:
        step, run, pause = self.step, self.execution, self.pause
        human = Human(pause.human) if pause and self.same else Human.NONE
        cools = self.same and human is Human.NONE  # only that, which the policy asks for by itself
        words = f"{pause.reason or 'a step is held'} (waits for {pause.id})" if pause and not cools else ""
        given = {"outcome": step.outcome, "description": step.description, "findings": step.findings}
        texts = {key: redact_text(value)[:TEXT_CHARS] for key, value in given.items() if value}
        return StepContext(
            steps_left=run.max_steps - run.steps,
            previous=step.outcome,
            repeats=int(run.tally.get(self.repetition, 0)),
            cumulative=run.risk,
            pause=words,
            pause_human=human,
            more=run.quota,
            told={"number": run.steps + 1, **texts},
        )


def validate_step(step: ReportedStep) -> ReportedStep:
    """Refuses a hint without anything visible."""
    hint = step.hint.strip() if isinstance(step.hint, str) else ""
    if not any(unicodedata.category(char)[0] not in "CZ" for char in hint):
        words = "Missing required parameter 'next_action_hint': say in detail which action comes next"
        raise LoopProblem("VALIDATION_MISSING_PARAM", words, {"param_name": "next_action_hint", "operation": RECORD})
    return replace(step, hint=hint)


def read_report(state: State, by: InForce, agent: AgentRef, step: ReportedStep) -> StepReport:
    """Refuses an agent that runs nothing in this session."""
    now, action = state.clock.now(), intent(step.hint, step.cwd)
    enforcing = by.mode == "enforcing"

    def work(tx: Tx) -> tuple[Execution, Pause | None, str]:
        found = tx.executions(agent, live=True)
        if (mine := agents.current_execution(tx, agent, found)) is None:
            raise agents.no_execution_error(agent)
        held = agents.pause_in_force(tx, agent, found, now) if enforcing else None
        block = tx.block(agent.principal) if enforcing else None  # also one that another replica made just now
        pause = held[1] if held else None
        return agents.lift_ended_pause(tx, mine, now) if enforcing else mine, pause, block.reason if block else ""

    execution, pause, blocked = state.store.read(work)
    judgement, names = state.reader.read(action)
    judged = Judged(Request(action, agent, ""), judgement, names, None, now, by)
    same = pause is not None and pause.digest == identify(state, judged).digest
    name, key = operation_name(step.hint, names) or RECORD, repetition_key(step.hint, names)
    return StepReport(state, by, agent, step, execution, pause, same, blocked, name, key)


def record_step(
    state: State, agent: AgentRef, step: ReportedStep, via: Connection = PLAIN_CONNECTION
) -> dict[str, Any]:
    """Refuses an empty hint and an agent that runs nothing."""
    # 1. the report is valid                     3. the agent's execution and pause are read
    # 2. a blocked agent is told so (C-15)       4. one evaluation, stored with the step in one transaction
    step = validate_step(step)  # 1
    state.catch_up()
    by, action = governing(state, require_name(agent), via), intent(step.hint, step.cwd)
    by = monitored_while_paused(state, by, action)
    if why := agents.enforced_block(state, by, agent.principal):  # 2
        return agents.stopped_step(state, agent, why)
    asked = Request(action, agent, via.door, claimed_risk=step.risk, strength=via.strength, in_force=by)
    for _ in range(TRIES):
        try:
            report = read_report(state, by, agent, step)  # 3
        except LoopProblem:
            if by.mode != "disabled":
                raise
            evaluate(
                state, asked
            )  # a disabled loop also answers an agent that runs nothing; its report is recorded
            return {"autonomy": to_builtins(Directive(go=True, factors=[UNJUDGED[by.mode], *via.tight.ignored]))}
        if report.blocked:
            return agents.stopped_step(state, agent, report.blocked)
        request = replace(asked, execution=report.execution.id, operation=report.operation, step=report.context)
        try:
            decision, kept = evaluate_and_keep(state, request, partial(apply_decision, report))  # 4
        except Overtaken:
            continue
        report = kept or report
        blocked = any(part.name == "blocked" for part in decision.parts) and report.verdict is not STOP
        if blocked and by.mode == "enforcing":  # since it was read
            return agents.stopped_step(
                state, agent, agents.enforced_block(state, state.in_force, agent.principal) or "blocked"
            )
        declarations.report(state, agent, step.hint, step.cwd)
        return _answer(report, decision, via.tight)
    raise StoreError("too many steps of this agent were reported in the same moment")


def _answer(report: StepReport, decision: Decision, tight: Tightening) -> dict[str, Any]:
    """2.1, 2.11."""
    go = report.verdict is GO
    after = report.after or report.execution
    stopped = report.verdict is STOP
    status = PAUSED if report.verdict is WAIT else status_of(after, stopped)
    failed = report.state.declarations.failure(report.agent)  # as the hook observed it, whatever the agent reports
    failures = [f"A call failed since the last step: {failed}"] if failed else []
    directive = Directive(
        go=go,
        factors=[*_factors(report, decision), *failures, *tight.ignored],
        stopped=stopped,
        reason="" if go else _reason(report, decision),
        steps_remaining=after.steps_left,
        risk=report.tier if report.by.mode not in UNJUDGED and not decision.unknown else None,
        notifications=_notes(report, decision),
    )
    data: dict[str, Any] = {"execution_id": after.id, "status": status, "step": report.execution.steps + 1}
    data["autonomy"] = to_builtins(directive)
    if report.confirmation:
        data["confirmation"] = report.confirmation
    if go and decision.warnings:
        data["warnings"] = [dict(warning) for warning in decision.warnings]
    return data


def _factors(report: StepReport, decision: Decision) -> tuple[str, ...]:
    by, step = report.by, report.step
    if by.mode in UNJUDGED:
        return (UNJUDGED[by.mode],)
    if decision.unknown:
        return (decision.reason,)
    tolerance = by.policy.tolerance, TOLERANCES[by.policy.tolerance]
    factors = stages(decision, report.tier, report.execution, step.outcome, tolerance, step.risk)
    if decision.allowed and decision.ticket:
        return (*factors, decision.reason)  # who approved
    if by.mode != "monitoring":
        return factors
    why = report.state.blocked(report.agent.principal)
    if not why and not stops(decision.parts, report.tier):
        return factors
    would = [factor for factor in factors if not factor.startswith("would have:")]
    return (*would, f"would have: stop{f' (this agent is blocked: {why})' if why else ''}")


def _reason(report: StepReport, decision: Decision) -> str:
    verdict, challenge = report.verdict, report.challenge
    now, ticket = report.state.clock.now(), decision.ticket
    if verdict is WAIT and report.pause:
        return notices.paused_message(report.pause, report.awaited, now)
    reason = reason_of(verdict, decision, report.operation)
    if challenge:
        return f"{reason}. {HOW} (challenge {challenge.id})."
    if verdict is REFUSE and ticket and ticket.state is REJECTED:
        return f"{reason} {notices.ANEW if report.pause else notices.ANOTHER}"  # C-19: a pause lasts
    # The specification's own words, and nothing beside them.
    literal = report.by.policy.literal_globs and reason == STEP_LIMIT
    if verdict is not CONFIRM or ticket is None or literal:
        return reason
    if decision.outcome == "cool_off":
        return f"{reason}. {notices.cooling_message(ticket, now)}"
    wait = f" It cools off for {cools} s first." if (cools := notices.cooling_seconds(ticket, now)) else ""
    more = f": {report.allows}" if reason == STEP_LIMIT else ""
    return f"{reason}. {approval_hint(ticket.id)}{more}.{wait}"


def _notes(report: StepReport, decision: Decision) -> list[dict[str, Any]]:
    """AE-12: nothing is paused or stopped without one."""
    notes, now = report.notes, report.state.clock.now()
    if report.verdict is STOP and report.challenge:
        return agents.with_danger_note(notes, report.agent, report.challenge, now)
    if report.verdict is GO or any(note["type"] == notices.PAUSE for note in notes):
        return notes
    kind = notices.ERROR if decision.unknown else notices.PAUSE
    metadata = {"reason": report.verdict.value, "level": report.tier.value}
    if report.challenge:
        metadata["verificationId"] = report.challenge.id
    note = {"type": kind, "message": _reason(report, decision), "metadata": metadata, "timestamp": iso(now)}
    return [note, *notes]


def apply_decision(report: StepReport, tx: Tx, judged: Judged, decision: Decision) -> StepReport:
    """Raises Overtaken where the agent's state changed meanwhile."""
    report = replace(report)
    report.tier = tier_reached(decision, report.step.risk)
    report.verdict = verdict_of(decision, report.tier)
    found = tx.execution(report.execution.id)
    if found is None or found.status not in LIVE:
        raise Overtaken
    now = judged.now
    row = agents.lift_ended_pause(tx, found, now) if report.by.mode == "enforcing" else found
    if report.verdict is GO:
        row = _count_step(report, tx, judged, decision, row)
    elif report.verdict is STOP:
        reason = reason_of(report.verdict, decision, report.operation)
        report.challenge = agents.block(
            tx, report.state, report.agent, reason, now, digest=judged.digest, execution=row.id
        )
    elif report.verdict in (CONFIRM, VERIFY) and decision.ticket:
        row = _pause(report, tx, judged, decision, decision.ticket, row)
    elif report.verdict is REFUSE and decision.ticket and settle(decision.ticket, now).open:
        # ESL-08, C-19: the same step is held under another name; it waits until a person has answered that one.
        reason = f"The same is held for agent {decision.ticket.agent.name!r:.80}"
        row = agents.paused_execution(row, _pause_of("other", judged, decision, decision.ticket, reason), now)
    elif report.verdict is WAIT and report.pause and report.pause.ticket:
        ticket = report.awaited = tx.ticket(report.pause.ticket)
        if ticket and settle(ticket, report.state.clock.now()).state in LIVE_STATES:
            report.confirmation = _confirmation(ticket, token_of(report.state, ticket))  # once more
    if row != found and not tx.save_execution(row, found):
        raise Overtaken
    report.after = row
    report.notes = notices.deliver(tx, report.agent, now)
    return report


def _count_step(report: StepReport, tx: Tx, judged: Judged, decision: Decision, row: Execution) -> Execution:
    spent, state, now = decision.ticket, report.state, judged.now
    if spent is None and report.by.mode == "enforcing":
        if row.steps >= row.max_steps or agents.pause_in_force(tx, report.agent, [row], now):
            raise Overtaken  # another step of this agent was faster
    if spent:
        agents.resume_waiting(tx, report.agent, spent.id, now, but=row.id)
        pause = pause_of(row.pause)
        if pause and pause.ticket == spent.id:
            row = agents.resume(tx, row, now)
        challenges.end(tx, state, report.agent.principal, challenges.VERIFY, report.agent.name, challenges.ANSWERED)
        notices.clear(tx, report.agent, now, ticket=spent.id)
    assessment = decision.assessment
    risk = assessment.score if assessment and assessment.level >= Level.DESTRUCTIVE else 0
    tally = dict(row.tally)
    if report.repetition in tally or len(tally) < MOST_COUNTED:
        tally[report.repetition] = int(tally.get(report.repetition, 0)) + 1
    return replace(row, steps=row.steps + 1, risk=row.risk + risk, tally=tally)


def _pause(report: StepReport, tx: Tx, judged: Judged, decision: Decision, ticket: Ticket, row: Execution) -> Execution:
    state, agent, now = report.state, report.agent, judged.now
    reason = reason_of(report.verdict, decision, report.operation)
    report.confirmation = _confirmation(ticket, decision.token)
    if report.verdict is VERIFY:
        about = decision.reason, now, judged.digest, row.id
        report.challenge = challenges.issue(tx, state, agent, challenges.VERIFY, *about)
    challenge = report.challenge.id if report.challenge and challenges.is_open(report.challenge, now) else ""
    grants = any(part.name == "steps" for part in decision.parts)
    held = _pause_of("verify" if challenge else "confirm", judged, decision, ticket, reason)
    pause = replace(held, challenge=challenge, grants=grants)
    before = pause_of(row.pause)
    if before is None or (before.ticket, before.challenge) != (pause.ticket, pause.challenge):
        _notify_pause(report, tx, pause, ticket, now, row.id)
    return agents.paused_execution(row, pause, now)


def _pause_of(kind: str, judged: Judged, decision: Decision, ticket: Ticket, reason: str) -> Pause:
    human, operation = int(decision.requirement.human), ticket.operation
    return Pause(kind, judged.digest, human, ticket.id, operation=operation, reason=reason, since=judged.now)


def _notify_pause(report: StepReport, tx: Tx, pause: Pause, ticket: Ticket, now: float, execution: str) -> None:
    """AE-11, AE-12, C-23: of the pending permission and its action, and of the pause and its end."""
    agent, title = report.agent, notices.ticket_excerpt(ticket)
    about = {"ticket": pause.ticket, "execution": execution, "operation": pause.operation}
    notices.clear(tx, agent, now, execution=execution)
    if pause.kind == "confirm":
        what = f": {title}" if title != pause.operation else ""
        what = f": {report.allows}, '{title}' first" if pause.grants else what
        words = f"Operation '{pause.operation}' requires confirmation{what}"
        notices.notify(tx, agent, notices.PERMISSION, words, now, **about, level=SINGLE_USE)
    how = f"{HOW} (challenge {pause.challenge})" if pause.challenge else approval_hint(pause.ticket)
    about |= {"level": report.tier.value, "verificationId": pause.challenge}
    notices.notify(tx, agent, notices.PAUSE, f"{pause.reason.rstrip('.')}. {how}.", now, **about)


def _confirmation(ticket: Ticket, token: str) -> dict[str, str]:
    return {"token": token, "operation": ticket.operation, "expires_at": iso(ticket.expires_at)}
