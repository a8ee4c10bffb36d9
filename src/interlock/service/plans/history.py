"""What is kept of plans: texts without secrets, how each ended, and after a restart the truth about what was running."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.plan_records import INTERRUPTED, RUNNING, PlanQuery, PlanRow
from interlock.core.redact import redact, redact_text
from interlock.core.wire import flags_json
from interlock.ports import Tx
from interlock.service.plans.desk import Plan
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
    """How a run ended, in the history and on the record."""
    now = state.clock.now()
    text = redact_text(output[-MOST_OUTPUT:])
    state.plans.settle(id, status)

    def work(tx: Tx) -> PlanRow | None:
        row = tx.plan(id)
        if row is None:
            return None
        after = replace(
            row, status=status, exit_code=code, ended_at=now, output=text, cut=cut or len(output) > MOST_OUTPUT
        )
        tx.save_plan(after)
        details = {"plan": id, "status": status, "exit": code, "seconds": int(now - row.started_at)}
        state.recorder.now(tx, "plan_end", deed(now, "plan_end", by, details))
        return after

    return state.store.write(work)


def search(state: State, query: PlanQuery) -> list[PlanRow]:
    return state.store.read(lambda tx: tx.plans(query))


def restarted(state: State) -> int:
    """Whatever ran when this process ended was interrupted; how many that were."""
    running = state.store.read(lambda tx: tx.plans(PlanQuery(status=RUNNING, limit=1_000)))
    mine = [row for row in running if not state.shared or row.writer == state.recorder.writer]
    if not mine:
        return 0
    now = state.clock.now()

    def work(tx: Tx) -> None:
        for row in mine:
            tx.save_plan(replace(row, status=INTERRUPTED, ended_at=now))

    state.store.write(work)
    return len(mine)
