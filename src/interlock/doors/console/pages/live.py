"""The live feed: what agents ask for as they ask for it, the newest first."""

from __future__ import annotations

from urllib.parse import urlencode

from interlock.doors.console.lines import lines
from interlock.doors.console.visit import Answer, Page, Route, Visit
from interlock.service.searching import Wanted, search

HOME = "/console/live"
SHOWN = 60
LOOKED = 2_000  # records that are looked at each time
LEVELS = (("", "any level"), ("1", "reversible and up"), ("2", "destructive and up"), ("3", "dangerous and up"))


def live(visit: Visit) -> Answer:
    agent, level = visit.query.get("agent", "").strip()[:200], visit.query.get("level", "")
    level = level if level in dict(LEVELS) else ""
    wanted = Wanted(agent=agent, level=int(level or 0), attempts=True)
    found = search(visit.context.state, wanted, page=SHOWN, most=LOOKED)
    values = {
        "lines": lines(found.entries),
        "more": found.older is not None,
        "looked": found.looked,
        "levels": LEVELS,
        "agent": agent,
        "level": level,
        "again": f"{HOME}?{urlencode({'agent': agent, 'level': level})}",
    }
    return Page("live/_feed.html" if visit.part else "live/live.html", values)


ROUTES = (Route("GET", HOME, live),)
