"""The routes of all pages, and the lookup of a route by method and path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interlock.console.pages import (
    agents,
    ask,
    audit,
    figures,
    grants,
    policy,
    queue,
    rules,
    settings,
    try_,
    undo,
    workflows,
)
from interlock.console.pages import ask as ask_history
from interlock.console.pages import audit as live
from interlock.console.visit import PageNotFound, Route

ROUTES: tuple[Route, ...] = (
    *queue.ROUTES,
    *live.LIVE_ROUTES,
    *undo.ROUTES,
    *agents.ROUTES,
    *audit.ROUTES,
    *figures.ROUTES,
    *ask.ROUTES,
    *ask_history.HISTORY_ROUTES,
    *workflows.ROUTES,
    *try_.ROUTES,
    *rules.ROUTES,
    *policy.ROUTES,
    *settings.ROUTES,
    *grants.ROUTES,
)


_NAME = re.compile(r"\{(\w+)\}")


class Routes:
    """Every route of the console: plain paths by name, the others by pattern."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = [(re.compile(_pattern(route.path)), route) for route in self.all if "{" in route.path]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route of a decoded path; None for a path with control characters."""
        if not path.isprintable():
            raise PageNotFound
        if (route := self._plain.get((method, path))) is not None:
            return route, {}
        for pattern, route in self._others:
            if route.method == method and (found := pattern.fullmatch(path)):
                return route, found.groupdict()
        raise PageNotFound


def _pattern(path: str) -> str:
    parts = _NAME.split(path)
    return "".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
