"""Saved workflows: named commands, reviewed and run step by step, or frozen by one yes to all as they are; stops at the first failure."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.approvals.grants import add_grant, is_signed
from interlock.engine.gathering import identify
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.model import NOTHING, PERSON, Json, Level
from interlock.plans import INVALID, planning, request_of, review_again
from interlock.plans.releasing import STALE, PlanConsent, PlanHeld, own_principal, pre_release, release, require_yes
from interlock.plans.running import spawn, why_not_here
from interlock.policy.plan_review import same_mark
from interlock.ports import Tx
from interlock.records.plans import DAEMON, FAILURE, INTERRUPTED, PLANNED, RUNNING, SUCCESS, Workflow
from interlock.redaction import redact_text
from interlock.runtime import Judged
from interlock.runtime.plan_desk import ReviewedPlan
from interlock.runtime.state import State

MOST_STEPS = 20
MOST_WORKFLOWS = 200
FREEZE_DAYS = 7
MISSING = "NOT_FOUND_RESOURCE"
Answers = Sequence[tuple[str, PlanConsent]]  # to the plan of each step


class OpenWorkflow(Struct, frozen=True):
    workflow: Workflow
    plans: tuple[ReviewedPlan, ...]
    mark: str
    frozen: bool
    drifted: bool  # it was frozen, and is not what it was then


def save(
    state: State, by: OperatorSession, name: str, steps: Sequence[Mapping[str, str]], stop_on_failure: bool = True
) -> Workflow:
    """Refuses a command with a secret in it, for a workflow is stored as it is."""
    name = " ".join(name.split())
    if not name or len(name) > 80 or not name.isprintable():
        raise AnswerRefused("a workflow has a name of 1 to 80 characters", INVALID)
    if not 1 <= len(steps) <= MOST_STEPS:
        raise AnswerRefused(f"a workflow has 1 to {MOST_STEPS} steps", INVALID)
    workflow = Workflow(
        state.new_id("flow_"), redact_text(name), tuple(_step(step) for step in steps), stop_on_failure, by.operator, state.clock.now()
    )  # fmt: skip

    def work(tx: Tx) -> None:
        known = tx.workflows()
        if len(known) >= MOST_WORKFLOWS:
            raise AnswerRefused("too many workflows", INVALID)
        if any(one.name.casefold() == name.casefold() for one in known):
            raise AnswerRefused(f"there is a workflow {name!r} already", INVALID)
        _save(tx, state, by, workflow, {"saved": len(workflow.steps)})

    state.store.write(work)
    return workflow


def find(state: State, id: str) -> Workflow:
    def work(tx: Tx) -> Workflow | None:
        return tx.workflow(id) or next((one for one in tx.workflows() if one.name.casefold() == id.casefold()), None)

    if (found := state.store.read(work)) is None:
        raise AnswerRefused(f"no workflow {id!r:.100}", MISSING)
    return found


def list_workflows(state: State) -> list[Workflow]:
    return state.store.read(lambda tx: tx.workflows())


def remove(state: State, by: OperatorSession, id: str) -> Workflow:
    """Its runs stay in the history."""
    found = replace(find(state, id), removed_at=state.clock.now(), frozen=NOTHING)
    state.store.write(lambda tx: _save(tx, state, by, found, {"removed": True}))
    return found


def open_steps(state: State, by: OperatorSession, id: str) -> OpenWorkflow:
    flow = find(state, id)
    plans = []
    for at, step in enumerate(flow.steps, 1):
        command, cwd, intent = str(step["command"]), str(step["cwd"]), str(step.get("intent") or flow.name)
        plans.append(planning.plan_command(state, by, command, cwd, intent, flow.id, at))
    mark = _mark(state, flow, plans)
    counts = _is_frozen(state, by, flow, plans, mark)
    return OpenWorkflow(flow, tuple(plans), mark, counts, bool(flow.frozen) and not counts)


def freeze(state: State, by: OperatorSession, id: str, answers: Answers, runs: int, days: int) -> OpenWorkflow:
    """Approves all steps as they are, for so many runs; each was reviewed, its box ticked. Drift ends it."""
    flow, plans, terms = to_freeze(state, by, id, answers, runs, days)
    grant = add_grant(state, by, terms).id if terms else ""
    until, mark = str(state.clock.now() + days * 86_400), _mark(state, flow, plans)
    frozen = {"mark": mark, "grant": grant, "by": by.operator, "until": until, "runs": str(runs)}
    after = replace(flow, frozen=frozen)
    state.store.write(lambda tx: _save(tx, state, by, after, {"frozen": runs, "grant": grant}))
    return open_steps(state, by, flow.id)


def to_freeze(
    state: State, by: OperatorSession, id: str, answers: Answers, runs: int, days: int
) -> tuple[Workflow, tuple[ReviewedPlan, ...], dict[str, Any] | None]:
    """The workflow, its reviewed steps, and the terms of the grant to sign before; none where no step needs approval."""
    if not 1 <= runs <= 50 or not 1 <= days <= FREEZE_DAYS:
        raise AnswerRefused(f"freeze it for 1 to 50 runs and 1 to {FREEZE_DAYS} days", INVALID)
    flow = find(state, id)
    plans = reviewed_steps(state, by, flow, answers)
    if not (held := _held_steps(plans)):
        return flow, plans, None
    worst = max(plan.reviewed.assessment.level for plan in held)
    digests, now = set(), state.clock.now()
    for request in (request_of(state, plan) for plan in held):
        read = state.reader.read(request.action, request.access.read)
        digests.add(identify(state, Judged(request, *read, None, now, state.in_force)).digest)
    terms = {
        "digests": sorted(digests), "ceiling": worst.word, "count": runs * len(held),
        "seconds": days * 86_400, "principal": f"{PERSON}{by.operator}", "why": f"workflow {flow.name} as it is now",
    }  # fmt: skip
    return flow, plans, terms


def reviewed_steps(state: State, by: OperatorSession, flow: Workflow, answers: Answers) -> tuple[ReviewedPlan, ...]:
    """All steps in order, each with consent to exactly its text; refuses any other set."""
    plans: list[ReviewedPlan] = []
    for id, yes in answers:
        plan = require_yes(state, by, id, yes)
        if plan.workflow != flow.id or plan.step != len(plans) + 1 or not _same_step(flow, plan):
            raise AnswerRefused("these are not the steps of this workflow as it is; open it again", STALE)
        plans.append(plan)
    if len(plans) != len(flow.steps):
        raise AnswerRefused("a yes is needed to every step; open it again", STALE)
    return tuple(plans)


def frozen_steps(
    state: State, by: OperatorSession, flow: Workflow, ids: Sequence[str], mark: str
) -> tuple[ReviewedPlan, ...]:
    """They need no box; refuses where anything changed."""
    plans = tuple(state.plans.of(by.operator, id) for id in ids)
    right = [(plan.workflow, plan.step) for plan in plans] == [(flow.id, at) for at in range(1, len(flow.steps) + 1)]
    for plan in plans:
        if not same_mark(review_again(state, plan).mark, plan.reviewed.mark):
            words = f"what step {plan.step} would do has changed since it was shown; review every step again"
            raise AnswerRefused(words, STALE)
    now = _mark(state, flow, plans) if right and all(_same_step(flow, plan) for plan in plans) else ""
    if not now or not same_mark(now, mark) or not _is_frozen(state, by, flow, plans, now):
        raise AnswerRefused("this workflow is not what was frozen; review every step again", STALE)
    return plans


def take_run(state: State, by: OperatorSession, flow: Workflow) -> None:
    def work(tx: Tx) -> None:
        kept, left = tx.workflow(flow.id), int(_number(flow.frozen.get("runs"))) - 1
        if kept is None or dict(kept.frozen) != dict(flow.frozen) or left < 0:
            raise AnswerRefused("this workflow was changed just now, perhaps in another window; open it again", STALE)
        _save(tx, state, by, replace(kept, frozen={**kept.frozen, "runs": str(left)}), {"run": True, "left": str(left)})

    state.store.write(work)


def _is_frozen(state: State, by: OperatorSession, flow: Workflow, plans: Sequence[ReviewedPlan], mark: str) -> bool:
    frozen = flow.frozen
    if not frozen or frozen.get("by") != by.operator or not same_mark(str(frozen.get("mark")), mark):
        return False
    now = state.clock.now()
    if _number(frozen.get("until")) <= now or _number(frozen.get("runs")) < 1:
        return False
    held, id = _held_steps(plans), str(frozen.get("grant") or "")
    grants = (one for one in state.store.read(lambda tx: tx.grants(now)) if one.id == id) if held else ()
    return not held or any(one.remaining >= len(held) and is_signed(state, one) for one in grants)


def _held_steps(plans: Iterable[ReviewedPlan]) -> list[ReviewedPlan]:
    return [plan for plan in plans if plan.reviewed.assessment.level >= Level.DESTRUCTIVE]


def _mark(state: State, flow: Workflow, plans: Iterable[ReviewedPlan]) -> str:
    shown = [flow.id, flow.stop_on_failure]
    for plan in plans:
        found = plan.reviewed
        files = sorted((witness.path, witness.sha256) for witness in found.witnesses)
        shown += [plan.command, plan.cwd, found.risk.word, int(found.assessment.level), files]
    text = json.dumps(shown, ensure_ascii=True, separators=(",", ":"))
    return hmac.new(state.installation.digest_key, b"workflow\0" + text.encode(), hashlib.sha256).hexdigest()


def _same_step(flow: Workflow, plan: ReviewedPlan) -> bool:
    kept = flow.steps[plan.step - 1] if 1 <= plan.step <= len(flow.steps) else {}
    return (kept.get("command"), kept.get("cwd")) == (plan.command, plan.cwd)


def _step(given: Mapping[str, str]) -> Json:
    text = planning.usable_command(given.get("command"))
    if redact_text(text) != text:
        why = "a step has a secret in it, and a workflow is stored as it is: take it from a variable or a file"
        raise AnswerRefused(why, INVALID)
    cwd, intent = planning.working_folder(given.get("cwd") or ""), redact_text(given.get("intent") or "")[:500]
    return {"command": text, "cwd": cwd, "intent": intent}


def _save(tx: Tx, state: State, by: OperatorSession, flow: Workflow, details: Mapping[str, Any]) -> None:
    tx.save_workflow(flow)
    state.recorder.event(tx, "workflow", by.operator, {"workflow": flow.id, "name": flow.name, **details})


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


class StepsHeld(Exception):
    """The policy requires more for some steps: number, message and ticket of each."""

    def __init__(self, held: Sequence[tuple[int, PlanHeld]]) -> None:
        self.held = tuple(held)
        super().__init__("; ".join(f"step {at}: {one}" for at, one in held))


class RunningWorkflow(Struct):
    workflow: Workflow
    operator: str
    plans: tuple[ReviewedPlan, ...]
    statuses: list[str] = field(default_factory=list)
    status: str = RUNNING
    words: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def step(self) -> int:
        return max(1, sum(status != PLANNED for status in self.statuses))


def start_run(
    state: State, by: OperatorSession, id: str, answers: Answers, frozen: str = "", elsewhere: bool = False
) -> RunningWorkflow:
    """Runs all steps: with consent to each, or the mark of a frozen workflow; raises AnswerRefused or StepsHeld."""
    if why := why_not_here(state, elsewhere):
        raise AnswerRefused(why)
    flow = find(state, id)
    ids = [plan for plan, _ in answers]
    plans = frozen_steps(state, by, flow, ids, frozen) if frozen else reviewed_steps(state, by, flow, answers)
    held = [(plan.step, one) for plan in plans if (one := pre_release(state, by, plan)) is not None]
    if held:
        raise StepsHeld(held)
    run = RunningWorkflow(flow, by.operator, plans, [PLANNED] * len(plans))
    with state.plans.lock:  # never two runs of a workflow at the same time
        running = state.plans.flows.get(flow.id)
        if running and running.status == RUNNING:
            raise AnswerRefused("this workflow is running already")
        state.plans.flows[flow.id] = run
    if frozen:
        try:
            take_run(state, by, flow)
        except BaseException:
            run.status = INTERRUPTED
            raise
    threading.Thread(target=_run, args=(state, by, run), name="interlock-workflow", daemon=True).start()
    return run


def find_run(state: State, by: OperatorSession, id: str) -> RunningWorkflow:
    if (found := state.plans.flows.get(id)) is None or found.operator != by.operator:
        raise AnswerRefused(f"no run of workflow {id!r:.80} of yours", MISSING)
    return found


def cancel_run(state: State, by: OperatorSession, id: str) -> None:
    flow = find_run(state, by, id)
    flow.cancelled.set()
    if process := state.plans.processes.get(flow.plans[flow.step - 1].id):
        process.cancel()


def _run(state: State, by: OperatorSession, flow: RunningWorkflow) -> None:
    try:
        flow.status = _steps(state, by, flow)
    except (AnswerRefused, PlanHeld) as error:
        flow.status, flow.words = INTERRUPTED, f"step {flow.step} did not run: {error}"
    except Exception as error:
        flow.status, flow.words = INTERRUPTED, "it could not go on; the daemon's log says more"
        state.trouble(f"workflow: {type(error).__name__}: {error}")


def _steps(state: State, by: OperatorSession, flow: RunningWorkflow) -> str:
    failed = False
    for at, plan in enumerate(flow.plans):
        if flow.cancelled.is_set():
            return INTERRUPTED
        flow.statuses[at] = RUNNING
        try:
            # Every box was ticked when the steps, or the frozen whole, were agreed to; a text that drifted since is refused here.
            yes = PlanConsent(plan.command, plan.reviewed.mark, True)
            released = release(state, by, plan.id, yes, DAEMON, own_principal())
        except (AnswerRefused, PlanHeld):
            flow.statuses[at] = INTERRUPTED
            raise
        process = spawn(state, released)
        while process and not process.wait(0.5):
            if flow.cancelled.is_set():
                process.cancel()
        flow.statuses[at] = status = planning.find(state, plan.id).status  # as the history has it
        failed = failed or status != SUCCESS
        if status == INTERRUPTED or (status != SUCCESS and flow.workflow.stop_on_failure):
            flow.words = f"stopped after step {plan.step}"
            return status
    return FAILURE if failed else SUCCESS
