"""Plans, runs and workflows as the JSON objects of 2.12, with what a reviewer needs beside them."""

from __future__ import annotations

from typing import Any

from interlock.analysis.display_text import lookalikes
from interlock.model import requirement_json
from interlock.plans import draft_json
from interlock.plans.running import RunProgress, seconds_of
from interlock.plans.workflows import OpenWorkflow, RunningWorkflow
from interlock.records.plans import NO_EXIT, PlanRow, Workflow
from interlock.runtime.plan_desk import ReviewedPlan
from interlock.runtime.state import State
from interlock.times import iso

# Fields that are the same on the wire.
_PLAN = "intent command id status generated edited cwd planner notice ticket kept workflow step".split()
_ROW = "id operator status intent generated command cwd risk planner place ticket workflow step".split()


def plan_json(state: State, plan: ReviewedPlan) -> dict[str, Any]:
    found = plan.reviewed
    reasons = dict.fromkeys((*(one.reason for one in found.assessment.findings), *lookalikes(plan.command)))
    instead = dict.fromkeys(finding.instead for finding in found.assessment.findings if finding.instead)
    return {
        **{name: getattr(plan, name) for name in _PLAN},
        "risk": found.risk.word,
        **draft_json(plan),
        "notes": list(plan.draft.notes),
        "contextUsed": list(plan.context),
        "level": int(found.assessment.level),
        "level_name": found.assessment.level.word,
        "irreversible": found.assessment.irreversible,
        "approvable": found.assessment.approvable,
        "reasons": list(reasons),
        "blast": found.blast,
        "copied": found.copied,
        "instead": list(instead),
        "requirement": requirement_json(found.asked),
        "confirmation": found.risk.box(state.plans.settings.confirm_medium_risk),
        "mark": found.mark,
    }


def row_json(state: State, row: PlanRow, output: bool = False) -> dict[str, Any]:
    found = {
        **{name: getattr(row, name) for name in _ROW},
        "madeAt": iso(row.made_at),
        "level": int(row.level),
        "level_name": row.level.word,
        "seconds": round(seconds_of(state, row)),
        "exitCode": None if row.exit_code == NO_EXIT else row.exit_code,
    }
    found |= {key: iso(at) for key, at in (("startedAt", row.started_at), ("endedAt", row.ended_at)) if at}
    return found | ({"output": row.output, "cut": row.cut, "details": dict(row.details)} if output else {})


def progress_json(progress: RunProgress) -> dict[str, Any]:
    code = None if progress.exit_code == NO_EXIT else progress.exit_code
    same = {name: getattr(progress, name) for name in ("text", "next", "status", "cut")}
    return {**same, "seconds": round(progress.seconds), "exitCode": code}


def workflow_json(flow: Workflow) -> dict[str, Any]:
    steps = [{key: str(step.get(key) or "") for key in ("command", "cwd", "intent")} for step in flow.steps]
    return {
        "id": flow.id, "name": flow.name, "steps": steps, "stopOnFailure": flow.stop_on_failure, "madeBy": flow.made_by,
        "madeAt": iso(flow.made_at), "frozen": bool(flow.frozen),
    }  # fmt: skip


def opened_json(state: State, opened: OpenWorkflow) -> dict[str, Any]:
    return {
        "workflow": workflow_json(opened.workflow), "steps": [plan_json(state, plan) for plan in opened.plans], "mark": opened.mark,
        "frozen": opened.frozen, "drifted": opened.drifted,
    }  # fmt: skip


def flow_json(flow: RunningWorkflow) -> dict[str, Any]:
    steps = [{"plan": plan.id, "status": status} for plan, status in zip(flow.plans, flow.statuses)]
    return {"status": flow.status, "reason": flow.words, "step": flow.step, "steps": steps}
