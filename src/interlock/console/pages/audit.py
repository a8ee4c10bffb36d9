"""Pages of the record: live feed, explorer, one record's story, verification, export, figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from msgspec.structs import replace
from starlette.responses import Response

from interlock.audit import false_alarms
from interlock.audit.chain import EVENTS, HELD, ROUTINE, SYSTEM_EVENTS, TOKEN_EVENTS
from interlock.audit.export import FORMATS
from interlock.audit.false_alarms import alarms_by_rule
from interlock.audit.search import Place, RecordEntry, RecordQuery, find_record, search
from interlock.console.charts import daily_chart, level_shares, plain_shares
from interlock.console.record_views import record_address, record_lines, record_story
from interlock.console.replies import address
from interlock.console.visit import VIEWER, InvalidInput, PageRoutes, Visit, existing
from interlock.engine.statistics import answer_statistics, figures_of
from interlock.model import Level
from interlock.web.bodies import seconds_of
from interlock.web.context import verify_record_once

HOME = "/console/audit"
routes = PageRoutes("/console")
MOST_EXPORTED = 20_000
LEVELS = (
    ("", "any"),
    ("1", "reversible and up"),
    ("2", "destructive and up"),
    ("3", "dangerous and up"),
    ("4", "forbidden"),
)
NAMES = ("text", "event", "agent", "level", "since", "until", "ticket", "routine")
_EVENTS = (*EVENTS.values(), HELD, *sorted(TOKEN_EVENTS), *sorted(SYSTEM_EVENTS))


@routes.get("/audit")
def audit(visit: Visit) -> Response:
    return visit.page("audit/audit.html", part="audit/_records.html", **_records(visit), verdict=None)


@routes.post("/audit/verify", VIEWER)
def verify(visit: Visit) -> Response:
    verdict = verify_record_once(visit.context)
    records = {} if visit.part else _records(visit)
    return visit.page("audit/audit.html", part="audit/_verdict.html", **records, verdict=verdict)


@routes.get("/audit/record")
def record(visit: Visit) -> Response:
    entry = _entry(visit, visit.query)
    return visit.page("audit/record.html", story=record_story(visit.state, entry))


@routes.get("/audit/export")
def export(visit: Visit) -> Response:
    """An incomplete file says so in its name."""
    form = visit.query.get("format", "jsonl")
    if form not in FORMATS:
        raise InvalidInput("the format is jsonl or csv")
    kind, written = FORMATS[form]
    found = search(visit.state, _query(visit.query), page=MOST_EXPORTED, most=MOST_EXPORTED)
    rows = [entry.row for entry in reversed(found.entries)]
    name = f"interlock-audit{f'-newest-{len(rows)}' if found.older else ''}.{form}"
    body = "".join(f"{line}\n" for line in written(rows))
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body.encode("utf-8", "backslashreplace"), headers=headers, media_type=kind)


@routes.post("/audit/false-alarm")
def false_alarm(visit: Visit) -> Response:
    row = _entry(visit, visit.form).row
    if visit.form.get("withdraw"):
        false_alarms.unmark(*visit.by, row.writer, row.seq)
    else:
        false_alarms.mark(*visit.by, row.writer, row.seq, visit.form.get("note", ""))
    return visit.redirect(record_address(row))


def _records(visit: Visit) -> dict[str, Any]:
    query = {name: visit.query.get(name, "").strip()[:200] for name in NAMES}
    folded = not query["event"] and query["routine"] != "shown"
    wanted = replace(_query(query), without=ROUTINE if folded else frozenset())
    found = search(visit.state, wanted, _place(visit.query.get("before", "")))
    given = {name: value for name, value in query.items() if value}
    unfolded = {name: value for name, value in given.items() if name != "routine"}
    return {
        "lines": record_lines(found.entries),
        "query": query,
        "given": bool(unfolded),
        "folded": found.passed_over,
        "unfold": address(HOME, **given | {"routine": "shown"}) if folded else "",
        "fold": address(HOME, **unfolded),
        "older": address(HOME, **given, before="{0!r}:{2}:{1}".format(*found.older)) if found.older else "",
        "cut": found.cut,
        "looked": found.looked,
        "newest": address(HOME, **given) if visit.query.get("before") else "",
        "export": f"{HOME}/export?{urlencode(given)}&format=",
        "levels": LEVELS,
        "events": _EVENTS,
        "most": MOST_EXPORTED,
    }


def _query(query: Mapping[str, str]) -> RecordQuery:
    level = query.get("level", "")
    return RecordQuery(
        text=(query.get("ticket") or query.get("text", "")).strip()[:200],
        event=query.get("event", "")[:100],
        agent=query.get("agent", "").strip()[:200],
        level=int(level) if level and level in dict(LEVELS) else -1,
        since=seconds_of("since", query.get("since", "")),
        until=seconds_of("until", query.get("until", "")),
    )


def _entry(visit: Visit, given: Mapping[str, str]) -> RecordEntry:
    writer, seq = given.get("writer", ""), given.get("seq", "")
    found = find_record(visit.state, writer, int(seq)) if seq.isdecimal() and len(seq) < 16 else None
    return existing(found, f"there is no record {writer[:80]}/{seq[:20]}")


def _place(text: str) -> Place | None:
    at, _, rest = text.partition(":")
    seq, _, writer = rest.partition(":")
    try:
        return (float(at), writer, int(seq)) if text else None
    except ValueError:
        return None


LIVE_HOME = "/console/live"
SHOWN = 60
MOST_SEARCHED = 2_000  # records searched each time
LIVE_LEVELS = (("", "any level"), *LEVELS[1:4])


@routes.get("/live")
def live(visit: Visit) -> Response:
    agent, level = visit.query.get("agent", "").strip()[:200], visit.choice("level", dict(LIVE_LEVELS))
    wanted = RecordQuery(agent=agent, level=int(level or 0), attempts=True)
    found = search(visit.state, wanted, page=SHOWN, most=MOST_SEARCHED)
    return visit.page(
        "live/live.html",
        part="live/_feed.html",
        lines=record_lines(found.entries),
        more=found.older is not None,
        looked=found.looked,
        levels=LIVE_LEVELS,
        agent=agent,
        level=level,
        again=address(LIVE_HOME, agent=agent, level=level),
    )


PERIODS = (("7", "7 days"), ("14", "14 days"), ("60", "60 days"))
MOST_RULES = 15
_OUTCOMES = {
    "allow": "allowed",
    "cool_off": "held for a while",
    "confirm": "held: confirm",
    "approve": "held: approve",
    "verify": "held: verify",
    "block": "blocked",
    "deny": "denied",
}


@routes.get("/figures")
def figures(visit: Visit) -> Response:
    state = visit.state
    days = visit.choice("days", dict(PERIODS), "14")
    totals, asked = figures_of(state), answer_statistics(state, int(days))
    categories = ((name.replace("_", " "), count) for name, count in totals.by_category.items() if count)
    return visit.page(
        "figures/figures.html",
        periods=PERIODS,
        days=days,
        totals=totals,
        asked=asked,
        chart=daily_chart(asked.by_day),
        decisions=level_shares(_decision_counts(totals.by_decision)),
        categories=plain_shares(sorted(categories, key=lambda item: (-item[1], item[0]))),
        agents=level_shares(asked.by_agent),
        seconds=plain_shares(asked.by_seconds),
        rules=asked.rules[:MOST_RULES],
        alarms=alarms_by_rule(state),
    )


def _decision_counts(counts: Mapping[str, int]) -> list[tuple[str, Counter[Level]]]:
    words = {level.word: level for level in Level}
    found: defaultdict[str, Counter[Level]] = defaultdict(Counter)
    for key, count in counts.items():
        outcome, _, level = key.partition(":")
        if level in words:
            found[_OUTCOMES.get(outcome, outcome.replace("_", " "))][words[level]] += count
    return sorted(found.items(), key=lambda item: -item[1].total())
