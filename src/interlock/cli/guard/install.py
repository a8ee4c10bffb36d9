"""`interlock install`: writes an agent's own hooks, so that every tool call asks Interlock first."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.agents import AgentDialect, HookClient, words
from interlock.cli.command import FAILED, OK, Args, CommandError, command, daemon, say, say_json, settings
from interlock.cli.guard.installation import (
    confirm_changes,
    diff_lines,
    named_agents,
    report_refusals,
    require_root,
    set_up_system,
)
from interlock.client import ApiError, NoDaemon
from interlock.config import Config
from interlock.identity.agent_detection import agent_above
from interlock.install.changes import FileChange, InstallRefusal, diff, install, plan_install
from interlock.install.client_build import HTTP_COSTS, CannotBuild, NoAddress, build, client_for, client_path
from interlock.install.discovery import agents_on_machine
from interlock.install.files import FileProblem
from interlock.install.user_service import switch_on
from interlock.journal import JournalError
from interlock.journal.build import build_for, is_built, supervisor_of


@command("install", {"agents": ", ".join(words())})
def main(args: Args) -> int:
    require_root(args)
    config, home, project = set_up_system(args) if args.scope == "system" else settings(args), Path.home(), Path.cwd()
    agents = named_agents(args.agents) or _offer_agents(args, home)
    clients, refused = _clients(agents, config, args.http)
    changes, more = plan_install(clients, args.scope, home, project, config)
    refused += more
    wanted = [change for change in changes if change.needed]
    if not args.json:
        say(diff_lines(wanted) if args.diff else ())
        _explain(args, changes, wanted)
    report_refusals(refused, "install")
    done: list[dict[str, Any]] = []
    if wanted and not args.dry_run:
        _refuse_agents(wanted)
        if not confirm_changes(args, len(wanted), "Write"):
            raise CommandError("nothing was written", 2)
    if changes and not args.dry_run:
        if not config.separate.on:
            _build(config)  # before any file names it
        done, failed = _write(wanted, config)
        refused += failed
        report_refusals(failed, "install")
        _record(args, done)
    wrap = _switch_wrapping(args, config, [change.agent for change in changes])
    _print_result(args, changes, wanted, done, refused, wrap)
    return FAILED if refused else OK


def _clients(
    agents: Sequence[AgentDialect], config: Config, http: bool
) -> tuple[list[tuple[AgentDialect, HookClient]], list[InstallRefusal]]:
    clients: list[tuple[AgentDialect, HookClient]] = []
    refused: list[InstallRefusal] = []
    for agent in agents:
        try:
            clients.append((agent, client_for(agent, config, http)))
        except NoAddress as error:
            refused.append(InstallRefusal(agent, str(error)))
    return clients, refused


def _offer_agents(args: Args, home: Path) -> list[AgentDialect]:
    found = agents_on_machine(home)
    if not found:
        raise CommandError(f"no agent was found on this machine; name one: {', '.join(words())}")
    if not args.json:
        print("Found on this machine:")
        for agent, sign in found:
            print(f"  {agent.word:<12} {agent.title} ({sign})")
        print()
    offered = [agent for agent, _ in found if agent.places(args.scope, home, home)]
    if not offered:
        raise CommandError(f"none of them has a place for hooks with --{args.scope}")
    return offered


def _refuse_agents(changes: Sequence[FileChange]) -> None:
    """Refuses an agent that could point hooks at another daemon; a first installation only tightens."""
    replaced = [change.name for change in changes if change.replaces]
    if replaced and (why := agent_above(os.getpid())):
        lead = f"the hooks in {replaced[0]} would be changed, and this looks like an agent's terminal"
        raise CommandError(f"{lead}: {why}; open one of your own and try again there")


def _explain(args: Args, changes: Sequence[FileChange], wanted: Sequence[FileChange]) -> None:
    for change in changes:
        if not change.needed:
            print(f"{change.agent.title}: already installed in {change.name}")
    for note in dict.fromkeys(f"{change.agent.title}: {change.place.note}" for change in changes if change.place.note):
        print(f"To do: {note}")
    if args.http and wanted:
        print("HTTP hooks are the fastest, and cost two things:")
        for number, cost in enumerate(HTTP_COSTS, 1):
            print(f"  {number}. {cost}")


def _build(config: Config) -> None:
    """Build the hook client; an existing one stays where an agent may have started this."""
    if os.access(client_path(config), os.X_OK) and agent_above(os.getpid()):
        return
    try:
        build(config)
    except CannotBuild as error:
        raise CommandError(f"{error}; nothing was written") from None
    try:
        if config.undo.journal and not is_built(supervisor_of(config)):
            build_for(config)
    except JournalError as error:  # hooks work without it
        print(f"interlock install: no journal: {error}", file=sys.stderr)


def _switch_wrapping(args: Args, config: Config, agents: Sequence[AgentDialect]) -> dict[str, Any]:
    """Lets commands run below the journal; else says why not."""

    able = any(agent.rewrites is not None for agent in agents) and not config.separate.on
    if args.no_wrap or args.dry_run or args.http or not able:
        return {"on": config.undo.wrap, "why": ""}
    if not config.undo.wrap and (above := agent_above(os.getpid())):
        return {"on": False, "why": f"a person switches that on, and this looks like an agent's terminal: {above}"}
    why = switch_on(config)
    return {"on": not why, "why": why}


def _record(args: Args, done: Sequence[dict[str, Any]]) -> None:
    """Report the installation to a running daemon; the hooks work without it."""
    for word in dict.fromkeys(one["agent"] for one in done):
        files = [one["path"] for one in done if one["agent"] == word]
        try:
            daemon(args).post("/hooks", {"change": "installed", "agent": word, "scope": args.scope, "files": files})
        except (ApiError, NoDaemon) as error:
            print(f"interlock install: not on the record: {error}", file=sys.stderr)
            return


def _write(changes: Sequence[FileChange], config: Config) -> tuple[list[dict[str, Any]], list[InstallRefusal]]:
    """Write file by file; a failure does not stop the others."""
    done: list[dict[str, Any]] = []
    failed: list[InstallRefusal] = []
    for change in changes:
        try:
            backup = install(change, config)
        except FileProblem as error:
            failed.append(InstallRefusal(change.agent, str(error)))
            continue
        done.append({"agent": change.agent.word, "path": str(change.place.path), "backup": backup or None})
    return done, failed


def _print_result(
    args: Args,
    changes: Sequence[FileChange],
    wanted: Sequence[FileChange],
    done: Sequence[dict[str, Any]],
    refused: Sequence[InstallRefusal],
    wrap: Mapping[str, Any],
) -> None:
    if args.json:
        body = {
            "written": list(done),
            "already": [str(change.place.path) for change in changes if not change.needed],
            "would": {str(change.place.path): diff(change) for change in wanted} if args.dry_run else {},
            "notes": [change.place.note for change in changes if change.place.note],
            "refused": [{"agent": one.agent.word, "reason": one.words} for one in refused],
            "wrap": wrap,
        }
        say_json(body)
        return
    for one in done:
        backup = f"; what was there is in {one['backup']}" if one["backup"] else ""
        print(f"Installed: {one['path']}{backup}")
    if args.dry_run and wanted:
        print("Nothing was written (--dry-run).")
    if wrap["why"]:
        print(f"Commands do not run below the journal: {wrap['why']}")
    elif wrap["on"]:
        print("Commands run below the journal once the daemon has started anew (undo.wrap); --no-wrap leaves that off.")
    if done and args.diff:
        print("Restart the agent, then see that the guard fires: interlock doctor")
        print("What it would have asked you in the last month, from your agents' own logs: interlock rehearse")
    sys.stdout.flush()
