"""What is kept of plans: texts without secrets, how each ended, and after a restart the truth about what was running."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.plan_records import INTERRUPTED, NO_EXIT, RUNNING, PlanQuery, PlanRow
from interlock.core.redact import redact, redact_text
from interlock.core.wire import flags_json
from interlock.ports import Tx
from interlock.service.plans.desk import Plan
from interlock.service.plans.tickets import close_abandoned, report_run
from interlock.service.record import deed
from interlock.service.state import State

MOST_OUTPUT = 65_536  # characters of a command's output that the history keeps, from its end


def row_of(state: State, plan: Plan) -> PlanRow:
    """A plan as it is kept."""
    draft, found = plan.draft, plan.reviewed
    details = {
        "explanation": draft.explanation,
        "assumptions": list(draft.assumptions),
        "confidence": None if draft.confidence is None else str(draft.confidence),
        "expectedEffect": draft.expected_effect,
        "flags": flags_json(found.risk.flags),
        "safetyFlags": list(found.risk.warnings),
        "reasons": [finding.reason for finding in found.assessment.findings],
        "kept": plan.kept,
        "runsAs": plan.runs_as,
    }
    return PlanRow(
        plan.id, plan.operator, plan.made_at, plan.status, redact_text(plan.intent), redact_text(plan.generated),
        redact_text(plan.command), plan.cwd, found.risk.word, found.assessment.level, plan.planner, plan.place, dict(redact(details)),
        plan.ticket, plan.workflow, plan.step, plan.started_at, writer=state.recorder.writer,
    )  # fmt: skip


def keep(state: State, row: PlanRow) -> None:
    """Keeps a plan that somebody looks at; nobody is protected by it, and every pause in typing is one."""
    state.store.write_soon(lambda tx: tx.save_plan(row))


def ended(state: State, id: str, status: str, code: int, output: str, cut: bool, by: str) -> PlanRow | None:
    """How a run ended, in the history, on the record and on its ticket; what is there now is its doing, and nobody's later work."""
    text = redact_text(output[-MOST_OUTPUT:])
    state.plans.settle(id, status)

    def work(tx: Tx) -> PlanRow | None:
        row = tx.plan(id)
        if row is None:
            return None
        said = replace(row, exit_code=code, output=text, cut=cut or len(output) > MOST_OUTPUT)
        return end(tx, state, said, status, by)

    after = state.store.write(work)
    kept, owner = (str(after.details.get(key) or "") for key in ("kept", "runsAs")) if after else ("", "")
    if kept and (keeper := state.keeper_of(owner)) is not None:
        keeper.settle(kept)
    return after


def end(tx: Tx, state: State, row: PlanRow, status: str, by: str) -> PlanRow:
    """A run that is over: kept, recorded, and reported on its ticket."""
    now = state.clock.now()
    after = replace(row, status=status, ended_at=now)
    tx.save_plan(after)
    code = {} if row.exit_code == NO_EXIT else {"exit": row.exit_code}
    details = {"plan": row.id, "status": status, **code, "seconds": int(now - row.started_at)}
    state.recorder.now(tx, "plan_end", deed(now, "plan_end", by, details))
    report_run(tx, state, row, status)
    return after


def search(state: State, query: PlanQuery) -> list[PlanRow]:
    return state.store.read(lambda tx: tx.plans(query))


def restarted(state: State) -> int:
    """Whatever ran when this process ended was interrupted, and whatever waited is asked for no more; how many ran."""
    close_abandoned(state)
    running = state.store.read(lambda tx: tx.plans(PlanQuery(status=RUNNING, limit=1_000)))
    mine = [row for row in running if not state.shared or row.writer == state.recorder.writer]
    if not mine:
        return 0

    def work(tx: Tx) -> None:
        for row in mine:
            end(tx, state, row, INTERRUPTED, "interlock")

    state.store.write(work)
    return len(mine)
