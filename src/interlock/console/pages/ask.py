"""Ask page: plain words become a plan to review, edit and run; the history of plans; workflows."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter
from starlette.responses import Response

from interlock.approvals import settle
from interlock.approvals.step_up import needs_stepup
from interlock.console.cards import approves_too_fast, card_of
from interlock.console.signin import grant_begin, grant_signed
from interlock.console.visit import APPROVER, Body, InvalidInput, PageRoutes, Visit
from interlock.error_codes import AnswerRefused
from interlock.model import Human, Level, TicketState
from interlock.plans import history, planner_choice, planning, running, workflows
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.plans.wire import flow_json, plan_json, progress_json
from interlock.records import Ticket
from interlock.records.plans import NO_EXIT, PLANNED, RUNNING, STATUSES, PlanQuery
from interlock.runtime.plan_desk import ReviewedPlan
from interlock.web.bodies import Steps, StepYes

HOME = "/console/ask"
routes = PageRoutes(HOME)
RECENT = 5
MOST = 9_000  # characters of a field


@routes.get()
def ask(visit: Visit) -> Response:
    id = visit.query.get("plan", "")
    if not id:
        return _page(visit)
    try:
        return _page(visit, visit.state.plans.of(visit.who.operator, id))
    except AnswerRefused as error:
        return _page(visit, problem=str(error), status=404)


@routes.post()
def make(visit: Visit) -> Response:
    intent, cwd = field(visit, "intent"), field(visit, "cwd")
    try:
        plan = planning.make_plan(*visit.by, intent, cwd)
    except AnswerRefused as error:
        return _page(visit, problem=str(error), intent=intent, cwd=cwd, status=422)
    return _to_plan(visit, plan)


def _to_plan(visit: Visit, plan: ReviewedPlan) -> Response:
    return visit.redirect(f"{HOME}?plan={quote(plan.id)}")


@routes.post("/{id}/edit")
def edit(visit: Visit) -> Response:
    plan = planning.edit(*visit.by, visit.id, field(visit, "command"), field(visit, "cwd") or None)
    return visit.page("ask/_review.html", **_review_values(visit, plan))


@routes.get("/{id}/review", APPROVER)
def review(visit: Visit) -> Response:
    return visit.page("ask/_review.html", **_review_values(visit, _plan(visit)))


@routes.get("/{id}/gate", APPROVER)
def gate(visit: Visit) -> Response:
    return visit.page("ask/_gate.html", **_gate_values(visit, _plan(visit)))


def _plan(visit: Visit) -> ReviewedPlan:
    return visit.state.plans.of(visit.who.operator, visit.id)


@routes.json("/{id}/run")
def run(visit: Visit) -> Body:
    """On the operator's yes to exactly this command; else answers with what the gate still requires."""
    yes = PlanConsent(field(visit, "command"), field(visit, "mark"), visit.form.get("understood") == "yes")
    try:
        running.start(*visit.by, visit.id, yes, elsewhere(visit))
    except PlanHeld as held:
        return {"status": "held", "reason": str(held), "ticket": _touch_ticket(visit, held.ticket)}
    return {"status": "running"}


def _touch_ticket(visit: Visit, ticket: Ticket | None) -> str:
    """The ticket that one touch of this operator's passkey frees; empty where it takes another person, time, or typing after many approvals."""
    if ticket is None or ticket.state is not TicketState.WAITING or ticket.requirement.quorum > 1:
        return ""
    able = needs_stepup(ticket) and not ticket.requirement.blocked and not approves_too_fast(visit)
    return ticket.id if able else ""


@routes.get("/{id}/output", APPROVER, json=True)
def output(visit: Visit) -> Body:
    start = visit.query.get("start", "0")
    at = int(start) if start.isdigit() and len(start) < 9 else 0
    return progress_json(running.follow(*visit.by, visit.id, at))


@routes.json("/{id}/cancel")
def cancel(visit: Visit) -> Body:
    running.cancel(*visit.by, visit.id)
    return {"status": "ending"}


@routes.json("/{id}/type")
def type_line(visit: Visit) -> Body:
    running.type_line(*visit.by, visit.id, field(visit, "line"), elsewhere(visit))
    return {"status": "typed"}


@routes.post("/{id}/reject")
def reject(visit: Visit) -> Response:
    planning.reject(*visit.by, visit.id)
    return visit.redirect(f"{HOME}?said=away")


@routes.post("/{id}/save")
def save(visit: Visit) -> Response:
    plan = _plan(visit)
    step = {"command": plan.command, "cwd": plan.cwd, "intent": plan.intent}
    made = workflows.save(*visit.by, field(visit, "name"), [step])
    return visit.redirect(f"{FLOWS}/{quote(made.id)}")


def field(visit: Visit, name: str) -> str:
    return visit.field(name, needed=False, most=MOST)


def elsewhere(visit: Visit) -> bool:
    """Whether the browser used the public host name."""
    return visit.site.rp_id != "localhost"


def not_here(visit: Visit) -> str:
    return running.why_not_here(visit.state, elsewhere(visit))


def _page(
    visit: Visit,
    plan: ReviewedPlan | None = None,
    problem: str = "",
    status: int = 200,
    intent: str = "",
    cwd: str = "",
) -> Response:
    state = visit.state
    values = {
        "problem": problem[:1].upper() + problem[1:],
        "intent": intent,
        "cwd": cwd or (plan.cwd if plan else planning.working_folder("")),
        "recent": history.search_plans(state, PlanQuery(operator=visit.who.operator, limit=RECENT)),
        "plan": None,
        "planner": planner_choice.planner_state(state) if plan is None else None,
    }
    return visit.page("ask/ask.html", status, **(values | (_review_values(visit, plan) if plan else {})))


def _review_values(visit: Visit, plan: ReviewedPlan) -> dict[str, Any]:
    state = visit.state
    return {
        "plan": plan_json(state, plan),
        "draft": plan.draft,
        "touch": plan.reviewed.assessment.level >= Level.DANGEROUS and plan.reviewed.asked.human is not Human.NONE,
        "not_here": not_here(visit),
        **_gate_values(visit, plan),
    }


def _gate_values(visit: Visit, plan: ReviewedPlan) -> dict[str, Any]:
    state, id = visit.state, plan.ticket if plan.status == PLANNED else ""  # a plan that ran needs no answer
    ticket = state.store.read(lambda tx: tx.ticket(id)) if id else None
    return {
        "plan_id": plan.id,
        "card": card_of(settle(ticket, state.clock.now())) if ticket else None,
        "type_target": bool(ticket) and approves_too_fast(visit),
    }


PAGE = 50


@routes.get("/history")
def history_page(visit: Visit) -> Response:
    text, status = visit.query.get("q", "")[:200], visit.choice("status", STATUSES)
    query = PlanQuery(text, status, before=visit.moment("before"), limit=PAGE + 1)
    rows = history.search_plans(visit.state, query)
    return visit.page(
        "ask/history.html",
        rows=rows[:PAGE],
        more=rows[PAGE - 1].made_at if len(rows) > PAGE else 0,
        q=text,
        status=status,
        statuses=STATUSES,
    )


@routes.get("/runs/{id}")
def history_entry(visit: Visit) -> Response:
    row = planning.find(visit.state, visit.id)
    return visit.page("ask/run.html", row=row, seconds=running.seconds_of(visit.state, row), no_exit=NO_EXIT)


@routes.post("/runs/{id}/again")
def again(visit: Visit) -> Response:
    return _to_plan(visit, planning.rerun(*visit.by, visit.id))


FLOWS = f"{HOME}/workflows"
_STEPS = TypeAdapter[list[StepYes]](Steps)


@routes.get("/workflows")
def listing(visit: Visit) -> Response:
    return visit.page(
        "ask/workflows.html", flows=workflows.list_workflows(visit.state), cwd=planning.working_folder("")
    )


@routes.post("/workflows")
def save_workflow(visit: Visit) -> Response:
    lines = [line for line in field(visit, "commands").replace("\r\n", "\n").split("\n") if line.strip()]
    steps = [{"command": line, "cwd": field(visit, "cwd")} for line in lines]
    stops = visit.form.get("stop") == "yes"
    made = workflows.save(*visit.by, field(visit, "name"), steps, stops)
    return visit.redirect(f"{FLOWS}/{quote(made.id)}")


@routes.get("/workflows/{id}", APPROVER)
def one(visit: Visit) -> Response:
    state = visit.state
    opened = workflows.open_steps(state, visit.session, visit.id)
    flow = state.plans.flows.get(opened.workflow.id)
    return visit.page(
        "ask/workflow.html",
        flow=opened.workflow,
        opened=opened,
        steps=[plan_json(state, plan) for plan in opened.plans],
        running=flow is not None and flow.operator == visit.who.operator and flow.status == RUNNING,
        not_here=not_here(visit),
    )


@routes.post("/workflows/{id}/remove")
def remove(visit: Visit) -> Response:
    workflows.remove(*visit.by, visit.id)
    return visit.redirect(FLOWS)


@routes.json("/workflows/{id}/run")
def run_workflow(visit: Visit) -> Body:
    """Takes a yes to every step, or to the frozen whole; else answers with the tickets that hold it."""
    frozen = field(visit, "frozen")
    try:
        flow = workflows.start_run(*visit.by, visit.id, _step_answers(visit), frozen, elsewhere(visit))
    except workflows.StepsHeld as held:
        words = f"{held} Answer them in the queue, then run it again."
        return {"status": "held", "reason": words, "tickets": [one.ticket.id for _, one in held.held if one.ticket]}
    return flow_json(flow)


@routes.json("/workflows/{id}/freeze/begin")
def freeze_begin(visit: Visit) -> Body:
    """Empty where it takes no grant."""
    return grant_begin(visit, terms) if (terms := _terms(visit)) else {"fresh": True}


@routes.json("/workflows/{id}/freeze")
def freeze(visit: Visit) -> Body:
    terms = _terms(visit)
    by = grant_signed(visit, terms) if terms else visit.session
    workflows.freeze(visit.state, by, visit.id, _step_answers(visit), *_span(visit))
    return {"status": "frozen"}


def _terms(visit: Visit) -> dict[str, Any] | None:
    return workflows.to_freeze(*visit.by, visit.id, _step_answers(visit), *_span(visit))[2]


def _span(visit: Visit) -> tuple[int, int]:
    runs, days = field(visit, "runs"), field(visit, "days")
    if not (runs.isdigit() and days.isdigit() and len(runs + days) < 6):
        raise InvalidInput("how many runs, and for how many days?")
    return int(runs), int(days)


@routes.get("/workflows/{id}/progress", APPROVER, json=True)
def progress(visit: Visit) -> Body:
    return flow_json(workflows.find_run(*visit.by, visit.id))


@routes.json("/workflows/{id}/cancel")
def cancel_workflow(visit: Visit) -> Body:
    workflows.cancel_run(*visit.by, visit.id)
    return {"status": "ending"}


def _step_answers(visit: Visit) -> list[tuple[str, PlanConsent]]:
    try:
        return [step.consent for step in _STEPS.validate_json(visit.form.get("steps", ""))]
    except ValueError:
        raise InvalidInput("the steps cannot be read") from None
