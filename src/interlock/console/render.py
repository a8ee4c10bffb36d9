"""Renders a template with its values and the frame around every page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from interlock.analysis.display_text import visible
from interlock.console import static
from interlock.console.visit import Page, Visit
from interlock.model import Level, TicketState
from interlock.policy.impact import size_words
from interlock.ports import Tx
from interlock.records import TicketQuery
from interlock.times import iso
from interlock.web.context import Context

NAVIGATION = (
    ("/console/queue", "Queue", "queue"),
    ("/console/live", "Live", "live"),
    ("/console/undo", "Undo", "undo"),
    ("/console/ask", "Ask", "ask"),
    ("/console/agents", "Agents", "agents"),
    ("/console/grants", "Grants", "grants"),
    ("/console/audit", "Audit", "audit"),
    ("/console/figures", "Figures", "figures"),
    ("/console/try", "Try", "try"),
    ("/console/rules", "Rules", "rules"),
    ("/console/policy", "Policy", "policy"),
    ("/console/settings", "Settings", "settings"),
)
_OPEN = (TicketState.COOLING, TicketState.WAITING)
MOST_COUNTED = 100


class Renderer:
    """The templates of one daemon."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._environment = environment()

    def page(self, visit: Visit, page: Page) -> str:
        """The whole page, or the part that htmx requested."""
        values = {**page.values, **self._around(visit)}
        return self._environment.get_template(page.template).render(values)

    def _around(self, visit: Visit) -> Mapping[str, Any]:
        state = self._context.state
        signed_in = visit.visitor is not None
        return {
            "visitor": visit.visitor,
            "csrf": "",  # console.js fills it in: the cookie alone does not reveal it
            "navigation": NAVIGATION if signed_in else (),
            "path": visit.path,
            "seen": visit.seen,
            "waiting": state.store.read(waiting_count) if signed_in and not visit.part else "",
            "mode": state.mode,
            "isolation": state.strength,
            "policy_name": state.policy.name,
            "now": state.clock.now(),
            "part": visit.part,
            "version": self._context.version,
        }


def environment() -> Environment:
    """Jinja with autoescape; an undefined name is an error."""
    made = Environment(
        loader=PackageLoader("interlock.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": lambda text: _lines(str(text)),
        "iso": iso,
        "span": span_words,
        "level_word": lambda level: Level(int(level)).word,
        "pretty": lambda value: _lines(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)),
        "size": size_words,
    }
    made.globals |= {"static": static.address}
    return made


def _lines(text: str) -> str:
    """Text for display, line by line; invisible and control characters are spelled out."""
    return "\n".join(visible(line) for line in text.split("\n"))


def waiting_count(tx: Tx) -> str:
    """The number of held actions for the navigation; empty for none, capped."""
    found = len(tx.tickets(TicketQuery(states=_OPEN, limit=MOST_COUNTED)))
    return f"{MOST_COUNTED - 1}+" if found >= MOST_COUNTED else str(found or "")


def span_words(seconds: float) -> str:
    """A duration: `45 s`, `12 min`, `3 h`, `2 days`."""
    seconds = abs(seconds)
    for unit, length, until in (("s", 1, 90), ("min", 60, 5_400), ("h", 3_600, 129_600)):
        if seconds < until:
            return f"{max(1, round(seconds / length))} {unit}"
    return f"{round(seconds / 86_400)} days"
