"""Routes for workflows, for operators alone: save, open, freeze, run."""

from __future__ import annotations

from typing import Any

from interlock.plans import workflows
from interlock.plans.wire import flow_json, opened_json, workflow_json
from interlock.server.routes import RouteGroup
from interlock.web.bodies import Freeze, NewWorkflow, WorkflowRun
from interlock.web.context import By, TheState
from interlock.web.wire import ticket_json

routes = RouteGroup("/api/v1/workflows", "plans")


@routes("GET", "", "workflows", "The workflows, by name")
def listed(state: TheState) -> Any:
    return {"workflows": [workflow_json(one) for one in workflows.list_workflows(state)]}


@routes("POST", "", "workflow", "Saves commands under a name; nothing is run")
def save(state: TheState, by: By, body: NewWorkflow) -> Any:
    steps = [step.model_dump() for step in body.steps]
    return workflow_json(workflows.save(state, by, body.name, steps, body.stopOnFailure))


@routes("DELETE", "/{id}", "workflow", "Deletes a workflow")
def remove(state: TheState, by: By, id: str) -> Any:
    return workflow_json(workflows.remove(state, by, id))


@routes("POST", "/{id}/open", "workflow_open", "Its steps as plans, each to be reviewed")
def opened(state: TheState, by: By, id: str) -> Any:
    return opened_json(state, workflows.open_steps(state, by, id))


@routes("POST", "/{id}/freeze", "workflow_open", "Approves all steps as they are, until one changes", 409)
def freeze(state: TheState, by: By, id: str, body: Freeze) -> Any:
    steps = [step.consent for step in body.steps]
    return opened_json(state, workflows.freeze(state, by, id, steps, body.runs, body.days))


@routes("POST", "/{id}/run", "workflow_run", "Runs all steps; `held` where the gate requires more", 409)
def start(state: TheState, by: By, id: str, body: WorkflowRun) -> Any:
    try:
        return flow_json(workflows.start_run(state, by, id, [step.consent for step in body.steps], body.frozen))
    except workflows.StepsHeld as found:
        held = [
            {"step": at, "reason": str(one)} | ({"ticket": ticket_json(one.ticket, [])} if one.ticket else {})
            for at, one in found.held
        ]
        return {"status": "held", "reason": str(found), "held": held}


@routes("GET", "/{id}/run", "workflow_run", "The progress of the last run")
def progress(state: TheState, by: By, id: str) -> Any:
    return flow_json(workflows.find_run(state, by, id))


@routes("POST", "/{id}/cancel", "done", "Cancels the running step and those after it")
def cancel(state: TheState, by: By, id: str) -> Any:
    workflows.cancel_run(state, by, id)
    return {"success": True}
