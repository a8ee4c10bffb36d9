"""The pages of the console; the folder is their registry."""

from interlock.doors.console.pages import (
    agents,
    ask,
    ask_history,
    audit,
    figures,
    grants,
    live,
    policy,
    queue,
    rules,
    settings,
    try_,
    undo,
    workflows,
)
from interlock.doors.console.visit import Route

ROUTES: tuple[Route, ...] = (
    *queue.ROUTES,
    *live.ROUTES,
    *undo.ROUTES,
    *agents.ROUTES,
    *audit.ROUTES,
    *figures.ROUTES,
    *ask.ROUTES,
    *ask_history.ROUTES,
    *workflows.ROUTES,
    *try_.ROUTES,
    *rules.ROUTES,
    *policy.ROUTES,
    *settings.ROUTES,
    *grants.ROUTES,
)
