"""Runs a workflow step by step, each through the approval boundary, and stops at the first failure."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgspec import Struct, field

from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.plans.releasing import PlanConsent, PlanHeld, own_principal, pre_release, release
from interlock.plans.running import spawn, why_not_here
from interlock.plans.workflows import find, frozen_steps, reviewed_steps, take_run
from interlock.records.plans import DAEMON, FAILURE, INTERRUPTED, PLANNED, RUNNING, SUCCESS, Workflow
from interlock.runtime.plan_desk import ReviewedPlan
from interlock.runtime.state import State


class StepsHeld(Exception):
    """The policy requires more for some steps: number, message and ticket of each."""

    def __init__(self, held: Sequence[tuple[int, PlanHeld]]) -> None:
        self.held = tuple(held)
        super().__init__("; ".join(f"step {at}: {one}" for at, one in held))


class RunningWorkflow(Struct):
    """One run of a workflow, with its present state."""

    workflow: Workflow
    operator: str
    plans: tuple[ReviewedPlan, ...]
    statuses: list[str] = field(default_factory=list)
    status: str = RUNNING
    words: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def step(self) -> int:
        """The number of the step that runs, or ran last."""
        return max(1, sum(status != PLANNED for status in self.statuses))


def start_run(
    state: State,
    by: OperatorSession,
    id: str,
    answers: Sequence[tuple[str, PlanConsent]],
    frozen: str = "",
    elsewhere: bool = False,
) -> RunningWorkflow:
    """Runs all steps of a workflow: with consent to each, or with its mark where it is frozen; raises AnswerRefused or StepsHeld."""
    if why := why_not_here(state, elsewhere):
        raise AnswerRefused(why)
    flow = find(state, id)
    if frozen:
        plans = frozen_steps(state, by, flow, [plan for plan, _ in answers], frozen)
    else:
        plans = reviewed_steps(state, by, flow, answers)
    held = [(plan.step, one) for plan in plans if (one := pre_release(state, by, plan)) is not None]
    if held:
        raise StepsHeld(held)
    run = RunningWorkflow(flow, by.operator, plans, [PLANNED] * len(plans))
    _claim(state, run)
    if frozen:
        try:
            take_run(state, by, flow)
        except BaseException:
            run.status = INTERRUPTED
            raise
    threading.Thread(target=_run, args=(state, by, run), name="interlock-workflow", daemon=True).start()
    return run


def _claim(state: State, flow: RunningWorkflow) -> None:
    """Refuses a second run of a workflow at the same time."""
    with state.plans.lock:
        running = state.plans.flows.get(flow.workflow.id)
        if running is not None and running.status == RUNNING:
            raise AnswerRefused("this workflow is running already")
        state.plans.flows[flow.workflow.id] = flow


def find_run(state: State, by: OperatorSession, id: str) -> RunningWorkflow:
    found = state.plans.flows.get(id)
    if found is None or found.operator != by.operator:
        raise AnswerRefused(f"no run of workflow {id!r:.80} of yours", "NOT_FOUND_RESOURCE")
    return found


def cancel_run(state: State, by: OperatorSession, id: str) -> None:
    """Ends the running step, and starts no other."""
    flow = find_run(state, by, id)
    flow.cancelled.set()
    process = state.plans.processes.get(flow.plans[flow.step - 1].id)
    if process is not None:
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
            released = release(
                state, by, plan.id, PlanConsent(plan.command, plan.reviewed.mark, True), DAEMON, own_principal()
            )
        except (AnswerRefused, PlanHeld):
            flow.statuses[at] = INTERRUPTED
            raise
        process = spawn(state, released)
        while process is not None and not process.wait(0.5):
            if flow.cancelled.is_set():
                process.cancel()
        flow.statuses[at] = status = _final_status(state, plan.id)
        failed = failed or status != SUCCESS
        if status == INTERRUPTED or (status != SUCCESS and flow.workflow.stop_on_failure):
            flow.words = f"stopped after step {plan.step}"
            return status
    return FAILURE if failed else SUCCESS


def _final_status(state: State, id: str) -> str:
    """The status of an ended step, as the history has it."""
    row = state.store.read(lambda tx: tx.plan(id))
    return row.status if row is not None else INTERRUPTED
