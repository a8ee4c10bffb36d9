"""The routes of all pages, and the lookup of a route by method and path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starlette.routing import compile_path

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
from interlock.console.visit import PageNotFound, Route

_PAGES = (queue, undo, agents, audit, figures, ask, workflows, try_, rules, policy, settings, grants)
ROUTES = tuple(route for page in _PAGES for route in page.routes.all)


class Routes:
    """Every route of the console: plain paths by name, the others by pattern."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = [(compile_path(route.path)[0], route) for route in self.all if "{" in route.path]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route of a decoded path; None for a path with control characters."""
        if not path.isprintable():
            raise PageNotFound
        if (route := self._plain.get((method, path))) is not None:
            return route, {}
        for pattern, route in self._others:
            if route.method == method and (found := pattern.match(path)):
                return route, found.groupdict()
        raise PageNotFound
