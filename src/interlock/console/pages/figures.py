"""Figures page: decisions, answer times, tickets without an answer, the rules that ask most, false alarms."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.audit.false_alarms import alarms_by_rule
from interlock.console.charts import daily_chart, level_shares, plain_shares
from interlock.console.visit import Answer, Page, PageRoutes, Visit
from interlock.engine.statistics import answer_statistics, figures_of
from interlock.model import Level

HOME = "/console/figures"
routes = PageRoutes(HOME)
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


@routes.get()
def figures(visit: Visit) -> Answer:
    state = visit.state
    days = visit.query.get("days", "14")
    days = days if days in dict(PERIODS) else "14"
    totals, asked = figures_of(state), answer_statistics(state, int(days))
    return Page(
        "figures/figures.html",
        {
            "periods": PERIODS,
            "days": days,
            "totals": totals,
            "asked": asked,
            "chart": daily_chart(asked.by_day),
            "decisions": level_shares(_decision_counts(totals.by_decision)),
            "categories": plain_shares(_category_counts(totals.by_category)),
            "agents": level_shares(asked.by_agent),
            "seconds": plain_shares(asked.by_seconds),
            "rules": asked.rules[:MOST_RULES],
            "alarms": alarms_by_rule(state),
        },
    )


def _decision_counts(counts: Mapping[str, int]) -> list[tuple[str, dict[Level, int]]]:
    """Decisions by outcome, since the first day."""
    words = {level.word: level for level in Level}
    found: dict[str, dict[Level, int]] = {}
    for key, count in counts.items():
        outcome, _, level = key.partition(":")
        if level in words:
            row = found.setdefault(_OUTCOMES.get(outcome, outcome.replace("_", " ")), {})
            row[words[level]] = row.get(words[level], 0) + count
    return sorted(found.items(), key=lambda item: -sum(item[1].values()))


def _category_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    found = [(name.replace("_", " "), count) for name, count in counts.items() if count]
    return sorted(found, key=lambda item: (-item[1], item[0]))
