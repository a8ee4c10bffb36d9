"""Planners: the folder is the registry. `use` names a file here, and that file's `open_planner` makes it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from interlock.core.plan_rules import PlannerSettings
from interlock.ports import Planner, PlannerError

_PARTS = frozenset({"everyday", "asking", "listener"})  # files that are no planners


def known() -> list[str]:
    """The planners that there are."""
    return sorted(found.name for found in iter_modules(__path__) if found.name not in _PARTS)


def open_planner(settings: PlannerSettings, environ: Mapping[str, str]) -> Planner:
    """The planner of these settings; `auto` is Ollama, with the mock planner behind it while nobody listens there."""
    if settings.use not in known():
        raise PlannerError(f"no planner {settings.use!r}; known: {', '.join(known())}")
    made: Planner = import_module(f"interlock.planners.{settings.use}").open_planner(settings, environ)
    return made
