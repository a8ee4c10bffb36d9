"""Agents page: who asks, their blocks, runs step by step, risk over time, and hook coverage."""

from __future__ import annotations

from starlette.responses import Response

from interlock.audit.search import RecordQuery, search
from interlock.canonical_json import normal_name
from interlock.console.charts import risk_chart
from interlock.console.record_views import record_lines
from interlock.console.replies import address
from interlock.console.visit import PageNotFound, PageRoutes, Visit, existing
from interlock.identity import agents as service
from interlock.loop.agents import list_agents
from interlock.model import AgentRef, Level
from interlock.ports import Tx
from interlock.records import Block, Execution, HistoryEntry

HOME = "/console/agents"
routes = PageRoutes(HOME)
PERSON = "person:"  # prefix of an operator who runs commands through Ask
MOST_DEEDS = 5_000
MOST_RUNS = 50
MOST_SHOWN = 200
PERIODS = {"day": (86_400.0, "24 hours"), "week": (7 * 86_400.0, "7 days")}


@routes.get()
def agents(visit: Visit) -> Response:
    state = visit.state
    found = list_agents(state)
    people = [one for one in found if one.principal.startswith(PERSON)]
    agents = [one for one in found if one not in people]
    return visit.page(
        "agents/agents.html",
        part="agents/_list.html",
        known=agents[:MOST_SHOWN],
        more=max(0, len(agents) - MOST_SHOWN),
        people=people[:MOST_SHOWN],
        PERSON=PERSON,
        to=lambda one: _address(one.principal, one.name),
        coverage=visit.context.hooks.coverage.wire(),
        pausing=state.pause.found if state.paused(state.clock.now())[0] else None,
    )


@routes.get("/one")
def one(visit: Visit) -> Response:
    state, now = visit.state, visit.state.clock.now()
    principal, name = visit.query.get("principal", ""), visit.query.get("name", "")
    key = principal, normal_name(name)
    found = existing(
        next((one for one in list_agents(state) if (one.principal, one.name) == key), None), "there is no such agent"
    )
    period = visit.choice("period", PERIODS, "day")
    seconds, words = PERIODS[period]

    def work(tx: Tx) -> tuple[list[HistoryEntry], list[Execution], list[Block]]:
        runs = tx.executions(AgentRef(principal, found.name), most=MOST_RUNS)
        past = [block for block in tx.blocks() if block.principal == principal]
        return tx.deeds(principal, found.name, now - seconds, MOST_DEEDS), runs, past

    history, runs, past = state.store.read(work)
    return visit.page(
        "agents/one.html",
        one=found,
        chart=risk_chart(history, now - seconds, now),
        actions=len(history),
        worst=max((entry.score for entry in history), default=0),
        levels=[(level, sum(entry.level is level for entry in history)) for level in Level],
        runs=runs,
        blocks=sorted(past, key=lambda block: -block.since),
        period=period,
        period_words=words,
        periods={key: words for key, (_, words) in PERIODS.items()},
        lines=record_lines(search(state, RecordQuery(agent=found.name or principal, attempts=True), page=20).entries),
        audit=address("/console/audit", agent=found.name or principal),
    )


@routes.get("/execution")
def execution(visit: Visit) -> Response:
    state, id = visit.state, visit.query.get("id", "")
    found = existing(state.store.read(lambda tx: tx.execution(id)) if id else None, f"there is no execution {id[:80]}")
    steps = search(state, RecordQuery(text=id), page=200)
    return visit.page(
        "agents/execution.html",
        run=found,
        lines=list(reversed(record_lines(steps.entries))),
        more=steps.older is not None,
        agent=_address(found.agent.principal, normal_name(found.agent.name)),
    )


@routes.post("/block")
def block(visit: Visit) -> Response:
    service.block(*visit.by, _principal(visit), visit.reason("say why it is blocked: it is recorded"))
    return _back(visit)


@routes.post("/lift")
def lift(visit: Visit) -> Response:
    service.unblock(*visit.by, _principal(visit), visit.reason("say why it is lifted: it is recorded"))
    return _back(visit)


def _principal(visit: Visit) -> str:
    """Refuses an unknown one, as a mistyped block protects nobody."""
    given = visit.form.get("principal", "")
    if given not in {one.principal for one in list_agents(visit.state)}:
        raise PageNotFound("there is no such agent")
    return given


def _back(visit: Visit) -> Response:
    return visit.redirect(_address(*(visit.form.get(name, "") for name in ("principal", "name"))))


def _address(principal: str, name: str) -> str:
    return address(f"{HOME}/one", principal=principal, name=name)
