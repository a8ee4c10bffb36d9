"""Figures: what is decided, how fast people answer, what is never answered, which rules ask most, what was a false alarm."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.model import Level
from interlock.doors.console.charts import by_day, plain, shares
from interlock.doors.console.visit import Answer, Page, Route, Visit
from interlock.service.asked import answering
from interlock.service.false_alarms import alarms
from interlock.service.figures import figures_of

HOME = "/console/figures"
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


def figures(visit: Visit) -> Answer:
    state = visit.context.state
    days = visit.query.get("days", "14")
    days = days if days in dict(PERIODS) else "14"
    totals, asked = figures_of(state), answering(state, int(days))
    return Page(
        "figures/figures.html",
        {
            "periods": PERIODS,
            "days": days,
            "totals": totals,
            "asked": asked,
            "chart": by_day(asked.by_day),
            "decisions": shares(_decided(totals.by_decision)),
            "categories": plain(_counted(totals.by_category)),
            "agents": shares(asked.by_agent),
            "seconds": plain(asked.by_seconds),
            "rules": asked.rules[:MOST_RULES],
            "alarms": alarms(state),
        },
    )


def _decided(counts: Mapping[str, int]) -> list[tuple[str, dict[Level, int]]]:
    """By what was answered, since the first day."""
    words = {level.word: level for level in Level}
    found: dict[str, dict[Level, int]] = {}
    for key, count in counts.items():
        outcome, _, level = key.partition(":")
        if level in words:
            row = found.setdefault(_OUTCOMES.get(outcome, outcome.replace("_", " ")), {})
            row[words[level]] = row.get(words[level], 0) + count
    return sorted(found.items(), key=lambda item: -sum(item[1].values()))


def _counted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    found = [(name.replace("_", " "), count) for name, count in counts.items() if count]
    return sorted(found, key=lambda item: (-item[1], item[0]))


ROUTES = (Route("GET", HOME, figures),)
