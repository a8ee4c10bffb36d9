"""A method and a path -> the route, and the names in the path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from interlock.doors.console.visit import NotHere, Route

_NAME = re.compile(r"\{(\w+)\}")


class Routes:
    """Every route of the console: plain paths by name, the others by pattern."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = [(re.compile(_pattern(route.path)), route) for route in self.all if "{" in route.path]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route of a path that was decoded already; nothing is called by a name with control characters."""
        if not path.isprintable():
            raise NotHere
        if (route := self._plain.get((method, path))) is not None:
            return route, {}
        for pattern, route in self._others:
            if route.method == method and (found := pattern.fullmatch(path)):
                return route, found.groupdict()
        raise NotHere


def _pattern(path: str) -> str:
    parts = _NAME.split(path)
    return "".join(f"(?P<{part}>[^/]+)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
