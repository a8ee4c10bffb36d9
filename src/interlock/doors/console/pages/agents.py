"""Agents: who asks, how they stand, what they run step by step, how risky it was, and whether every call passed its hook."""

from __future__ import annotations

from urllib.parse import urlencode

from interlock.core.digest import normal_name
from interlock.core.model import AgentRef, Level
from interlock.core.records import Block, Deed, Execution
from interlock.doors.console.charts import risk
from interlock.doors.console.lines import lines, when
from interlock.doors.console.visit import APPROVER, Answer, Invalid, NotHere, Page, Redirect, Route, Visit
from interlock.ports import Tx
from interlock.service import agents as service
from interlock.service.searching import Wanted, search
from interlock.service.seen import Seen, seen

HOME = "/console/agents"
PERSON = "person:"  # begins the principal of whoever runs commands through Ask
MOST_DEEDS = 5_000
MOST_RUNS = 50
MOST_SHOWN = 200
PERIODS = {"day": (86_400.0, "24 hours"), "week": (7 * 86_400.0, "7 days")}


def agents(visit: Visit) -> Answer:
    state = visit.context.state
    found = seen(state)
    agents = [one for one in found if not one.principal.startswith(PERSON)]
    values = {
        "known": agents[:MOST_SHOWN],
        "more": max(0, len(agents) - MOST_SHOWN),
        "people": [one for one in found if one.principal.startswith(PERSON)][:MOST_SHOWN],
        "PERSON": PERSON,
        "to": _to,
        "coverage": visit.context.hooks.coverage.wire(),
        "pausing": state.pausing if state.paused(state.clock.now())[0] else None,
    }
    return Page("agents/_list.html" if visit.part else "agents/agents.html", values)


def one(visit: Visit) -> Answer:
    """One agent: its executions, its risk over time, its blocks."""
    state, now = visit.context.state, visit.context.state.clock.now()
    principal, name = visit.query.get("principal", ""), visit.query.get("name", "")
    found = next(
        (one for one in seen(visit.context.state) if (one.principal, one.name) == (principal, normal_name(name))), None
    )
    if found is None:
        raise NotHere("there is no such agent")
    period = visit.query.get("period", "day")
    seconds, words = PERIODS.get(period, PERIODS["day"])

    def work(tx: Tx) -> tuple[list[Deed], list[Execution], list[Block]]:
        runs = tx.executions(AgentRef(principal, found.name), most=MOST_RUNS)
        past = [block for block in tx.blocks() if block.principal == principal]
        return tx.deeds(principal, found.name, now - seconds, MOST_DEEDS), runs, past

    deeds, runs, past = state.store.read(work)
    values = {
        "one": found,
        "chart": risk(deeds, now - seconds, now),
        "deeds": len(deeds),
        "worst": max((deed.score for deed in deeds), default=0),
        "levels": [(level, sum(deed.level is level for deed in deeds)) for level in Level],
        "runs": runs,
        "blocks": sorted(past, key=lambda block: -block.since),
        "period": period if period in PERIODS else "day",
        "period_words": words,
        "periods": {key: words for key, (_, words) in PERIODS.items()},
        "lines": lines(search(state, Wanted(agent=found.name or principal, attempts=True), page=20).entries),
        "audit": f"/console/audit?{urlencode({'agent': found.name or principal})}",
        "when": when,
    }
    return Page("agents/one.html", values)


def execution(visit: Visit) -> Answer:
    """One run of the loop, step by step as the record has it."""
    state, id = visit.context.state, visit.query.get("id", "")
    found = state.store.read(lambda tx: tx.execution(id)) if id else None
    if found is None:
        raise NotHere(f"there is no execution {id[:80]}")
    steps = search(state, Wanted(text=id), page=200)
    values = {
        "run": found,
        "lines": list(reversed(lines(steps.entries))),
        "more": steps.older is not None,
        "agent": f"{HOME}/one?{urlencode({'principal': found.agent.principal, 'name': normal_name(found.agent.name)})}",
        "when": when,
    }
    return Page("agents/execution.html", values)


def block(visit: Visit) -> Answer:
    service.block(visit.context.state, visit.who.session, _principal(visit), _reason(visit, "blocked"))
    return _back(visit)


def lift(visit: Visit) -> Answer:
    """Lifts a block; approves nothing."""
    service.unblock(visit.context.state, visit.who.session, _principal(visit), _reason(visit, "lifted"))
    return _back(visit)


def _principal(visit: Visit) -> str:
    """Somebody who is known: a block for a name that nobody has protects nobody."""
    given = visit.form.get("principal", "")
    if given not in {one.principal for one in seen(visit.context.state)}:
        raise NotHere("there is no such agent")
    return given


def _reason(visit: Visit, what: str) -> str:
    reason = visit.form.get("reason", "").strip()
    if not reason:
        raise Invalid(f"say why it is {what}: it is recorded")
    return reason


def _back(visit: Visit) -> Answer:
    query = {name: visit.form.get(name, "") for name in ("principal", "name")}
    return Redirect(f"{HOME}/one?{urlencode(query)}")


def _to(one: Seen) -> str:
    """An agent's own page."""
    return f"{HOME}/one?{urlencode({'principal': one.principal, 'name': one.name})}"


ROUTES = (
    Route("GET", HOME, agents),
    Route("GET", f"{HOME}/one", one),
    Route("GET", f"{HOME}/execution", execution),
    Route("POST", f"{HOME}/block", block, APPROVER),
    Route("POST", f"{HOME}/lift", lift, APPROVER),
)
