"""Routes for the daemon itself and its audit log: policy, status, figures, health, the pause, channels; search, verify, export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any

from fastapi import Query
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from starlette.responses import PlainTextResponse, StreamingResponse

from interlock.approvals import challenges, pausing
from interlock.audit.export import FORMATS
from interlock.audit.proof import writer_records
from interlock.config.values import without_password
from interlock.engine.statistics import COUNTER, HISTOGRAM, Family, Sample, families, figures_of, reached_limits
from interlock.identity.isolation import SEPARATE
from interlock.notify import outbox
from interlock.ports import StoreError
from interlock.records import OPEN_STATES, AuditQuery, TicketQuery
from interlock.runtime.state import State
from interlock.server.routes import ANYBODY, OPEN, RouteGroup
from interlock.times import iso
from interlock.web.bodies import Moment, NewPause, seconds_of
from interlock.web.context import By, Context, TheContext, TheState, Who, verify_record_once
from interlock.web.wire import audit_json, figures_json, policy_json, verdict_json, wire_fields

status_routes = RouteGroup("", "about")


@status_routes("GET", "/api/v1/policy", "policy", "The policy in force", who=ANYBODY)
def policy(state: TheState) -> Any:
    return policy_json(state.policy)


@status_routes("GET", "/api/v1/status", "status", "The daemon's status", who=ANYBODY)
def status(context: TheContext, who: Who) -> Any:
    state, config = context.state, context.config
    operators, waiting, codes, trouble, people = None, None, None, "", []
    ours, raised = who.session is not None or who.here, []
    try:
        every = TicketQuery(OPEN_STATES, limit=10_000)
        rows, waiting = state.store.read(lambda tx: (tx.operators(), len(tx.tickets(every))))
        operators, people = len(rows), [row.name for row in rows if not row.disabled_at and not row.service]
        codes = len(challenges.list_waiting(state))
        raised = state.store.read(lambda tx: reached_limits(tx, state, who.principal)) if ours else []
    except StoreError as error:
        trouble = f"the store cannot be used: {error}"
    problems = [*state.problems, *state.alerts.values(), trouble]
    return {
        "version": context.version,
        "strength": state.strength if state.strength == SEPARATE else who.isolation or state.strength,
        "mode": state.mode,
        "policy": state.policy.name,
        "store": without_password(config.store),
        "unlocked": state.sessions.roster is not None,
        "operators": operators,
        "operator": people[0] if len(people) == 1 and ours else "",
        "openTickets": waiting,
        "openChallenges": codes,
        "problems": list(dict.fromkeys(filter(None, problems))) if ours else [],
        "blocked": [{"principal": one, "reason": why} for one, why in sorted(state.blocks.items())] if ours else [],
        "raised": [wire_fields(one.agent, "principal,name") | wire_fields(one, "points,words") for one in raised],
        "warnings": list(config.warnings),
        "started": iso(context.started),
        "jails": [wire_fields(jail, "program,grants,since") for jail in state.jails.running()],
        "pause": pause_json(state),
    }


@status_routes("GET", "/api/v1/metrics", "metrics", "Metrics, in the fields of the specification", who=ANYBODY)
def metrics(state: TheState) -> Any:
    return figures_json(figures_of(state))


@status_routes("GET", "/metrics", "text", "Metrics for Prometheus", who=OPEN, media="text/plain")
def prometheus(state: TheState) -> PlainTextResponse:
    collector = SimpleNamespace(collect=lambda: map(metric, families(state)))
    text = generate_latest(collector)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST.partition("; charset")[0])


@status_routes("GET", "/healthz", "health", "The process is alive", who=OPEN)
async def healthz() -> Any:
    return {"ok": True}


@status_routes("GET", "/readyz", "health", "The store can be used", who=OPEN)
def readyz(state: TheState) -> Any:
    state.store.check()
    return {"ok": True}


pause_routes = RouteGroup("/api/v1", "people")


@pause_routes("GET", "/pause", "pause", "Whether an operator has paused enforcement, and until when", who=ANYBODY)
def pause(state: TheState) -> Any:
    return pause_json(state)


@pause_routes("POST", "/pause", "pause", "Pauses enforcement for a while")
def begin(state: TheState, by: By, body: NewPause) -> Any:
    pausing.pause(state, by, body.seconds, body.reason)
    return pause_json(state)


@pause_routes("DELETE", "/pause", "pause", "Ends the pause", 404)
def end(state: TheState, by: By) -> Any:
    pausing.end(state, by)
    return pause_json(state)


def pause_json(state: State) -> dict[str, Any]:
    found, most = state.pause.found, state.in_force.pauses.max_minutes
    if found is None or not found.at(state.clock.now()):
        return {"paused": False, "maxMinutes": most}
    fields = wire_fields(found, "by,reason,ceiling,since,until", until=iso(found.until))
    return {"paused": True, "maxMinutes": most} | fields


channel_routes = RouteGroup("/api/v1/channels", "people")


@channel_routes("GET", "", "channels", "The notification channels, their settings and recent messages")
def every(state: TheState) -> Any:
    return {"channels": outbox.list_channels(state)}


@channel_routes("POST", "/{name}/test", "channel_test", "Sends a test message and returns its result")
def test(state: TheState, by: By, name: str) -> Any:
    return outbox.send_test(state, by, name)


PREFIX = "interlock_"


def metric(family: Family) -> Metric:
    name, labels = PREFIX + family.name, [key for key, _ in family.samples[0].labels] if family.samples else []
    if family.kind == HISTOGRAM:
        timed = HistogramMetricFamily(name, family.words, labels=labels)
        for sample in family.samples:
            timed.add_metric(_values(sample), buckets=list(sample.buckets), sum_value=sample.value)
        return timed
    made = (CounterMetricFamily if family.kind == COUNTER else GaugeMetricFamily)(name, family.words, labels=labels)
    for sample in family.samples:
        made.add_metric(_values(sample), sample.value)
    return made


def _values(sample: Sample) -> list[str]:
    return [value for _, value in sample.labels]


audit_routes = RouteGroup("/api/v1/audit", "record")


@audit_routes("GET", "", "audit", "Records, filtered")
def audit(
    state: TheState,
    event: str = Query("", max_length=100),
    since: Moment = "",
    until: Moment = "",
    text: str = Query("", max_length=200),
    limit: int = Query(100, ge=1, le=1_000),
    newest: bool = True,
) -> Any:
    times = seconds_of("since", since), seconds_of("until", until)
    query = AuditQuery("", -1, event, *times, text, limit, newest)
    state.recorder.flush()
    return {"records": [audit_json(row) for row in state.store.read(lambda tx: tx.audit(query))]}


@audit_routes("GET", "/verify", "verdict", "Verifies the record")
def prove(context: TheContext) -> Any:
    return verdict_json(verify_record_once(context))


@audit_routes("GET", "/export", "export", "The whole record as a file", media="application/x-ndjson")
def export(
    state: TheState, context: TheContext, format: str = Query("jsonl", pattern="^(jsonl|csv)$")
) -> StreamingResponse:
    state.recorder.flush()
    media, lines = FORMATS[format]
    writers = state.store.read(lambda tx: tx.audit_writers())
    rows = (row for writer in writers for row in writer_records(state, writer))
    headers = {"content-disposition": f'attachment; filename="interlock-audit.{format}"'}
    return StreamingResponse(_chunks(context, lines(rows)), media_type=media, headers=headers)


async def _chunks(context: Context, lines: Iterator[str]) -> AsyncIterator[bytes]:

    def more() -> bytes:
        return "".join(f"{line}\n" for line in islice(lines, 500)).encode("utf-8", "backslashreplace")

    while chunk := await context.pool.run(more):
        yield chunk
