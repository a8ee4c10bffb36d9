"""Routes for hooks: jails that the kernel confirms, reports of installed hooks, the coverage of calls."""

from __future__ import annotations

from typing import Any

from interlock.audit.journal import note_hooks
from interlock.identity.isolation import JAILED, JailedRun, NotJailed, runs_below, verify_jail
from interlock.journal.build import supervisor_of
from interlock.server.routes import AGENT, ANYBODY, RouteGroup
from interlock.web.bodies import HookChange, NewJail
from interlock.web.context import TheContext, TheState, Who
from interlock.web.errors import invalid_value, permission_denied

routes = RouteGroup("/api/v1", "hooks")


@routes("POST", "/hooks", "done", "Registers hooks written into an agent's settings, or removed", who=ANYBODY)
def change(state: TheState, who: Who, body: HookChange) -> Any:
    note_hooks(state, who.session or who.principal, body.change, body.agent, body.scope, body.files)
    return {"success": True}


@routes("POST", "/jails", "done", "Registers an agent that starts in a jail", who=AGENT)
def begin(state: TheState, context: TheContext, who: Who, body: NewJail) -> Any:
    if not who.here or not who.agent().startswith("uid:"):
        raise permission_denied("a jail is told of on the daemon's own socket")
    if who.isolation == JAILED:
        raise permission_denied("nobody in a jail tells of another one")
    try:
        start = verify_jail(body.pid, int(who.principal.removeprefix("uid:")), context.config.folder, body.fixed)
    except NotJailed as error:
        raise invalid_value(f"{error}; it counts as plain") from None
    journal = body.journal and runs_below(body.pid, supervisor_of(context.config))
    jail = JailedRun(body.pid, start, body.program, tuple(body.grants), state.clock.now(), journal)
    details = {"program": jail.program, "grants": body.grants, "fixed": body.fixed, "journal": jail.journal}
    above = context.agent_above(who.pid)
    state.recorder.event_alone("jail", who.principal, details | ({"above": above} if above else {}))
    state.jails.add(jail)
    return {"success": True}


@routes("GET", "/coverage", "coverage", "Calls that ran, and how many of them passed their hook", who=ANYBODY)
async def coverage(context: TheContext, who: Who) -> Any:
    found = context.hooks.coverage
    # other agents' sessions are for operators only
    return {**found.wire(), "sessions": found.by_session() if who.here or who.session is not None else []}
