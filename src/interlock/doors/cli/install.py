"""`interlock install`: an agent's own hooks ask Interlock before each tool call, whether the model wants it or not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.install_system import only_root, set_up
from interlock.doors.cli.install_system import options as system_options
from interlock.doors.cli.installing import complain, confirmed, here, named_agents, scoped, shown
from interlock.doors.cli.operating import FAILED, OK, Stop, command, run, say, say_json, settings

if TYPE_CHECKING:
    from interlock.agents import Agent, Client
    from interlock.config import Config
    from interlock.doors.install.plan import Change, Refusal

_EXAMPLES = """
interlock install                              # looks which agents are here, and offers them
interlock install claude-code
interlock install codex gemini --project --dry-run
interlock install claude-code --http
sudo interlock install --system claude-code --for alice   # a daemon with a user of its own
"""


def main(argv: Sequence[str]) -> int:
    """Write the hooks of one or more agents."""
    from interlock.agents import words

    parser = command(
        "install",
        "Every tool call of an agent passes the gate: writes Interlock's hooks into the agent's own settings,\n"
        "keeps everything else in the file, and keeps a copy of what was there.\n\n"
        f"agents: {', '.join(words())}",
        _EXAMPLES,
        "exit codes: 0 all is installed, 1 something could not be done, 2 wrong usage or not agreed to",
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="default: those that are on this machine")
    scoped(parser)
    system_options(parser)
    parser.add_argument("--http", action="store_true", help="hooks that post to the daemon; says what that costs")
    return run("install", _install, parser.parse_args(list(argv)))


def _install(args: argparse.Namespace) -> int:
    from interlock.doors.install.plan import installing

    only_root(args)
    config, (home, project) = set_up(args) if args.scope == "system" else settings(args), here()
    agents = named_agents(args.agents) or _offered(args, home)
    clients, refused = _clients(agents, config, args.http)
    changes, more = installing(clients, args.scope, home, project, config)
    refused += more
    wanted = [change for change in changes if change.needed]
    if not args.json:
        say(shown(wanted))
        _explain(args, changes, wanted)
    complain(refused, "install")
    done: list[dict[str, Any]] = []
    if wanted and not args.dry_run:
        _refuse_agents(wanted)
        if not confirmed(args, len(wanted), "Write"):
            raise Stop("nothing was written", 2)
    if changes and not args.dry_run:
        if not config.separate.on:
            _build(changes[0].agent, config)  # before any file names it
        done, failed = _write(wanted, config, args.http)
        refused += failed
        complain(failed, "install")
        _record(args, done)
    _said(args, changes, wanted, done, refused)
    return FAILED if refused else OK


def _clients(agents: Sequence[Agent], config: Config, http: bool) -> tuple[list[tuple[Agent, Client]], list[Refusal]]:
    from interlock.doors.install.client import NoAddress, named
    from interlock.doors.install.plan import Refusal

    clients: list[tuple[Agent, Client]] = []
    refused: list[Refusal] = []
    for agent in agents:
        try:
            clients.append((agent, named(agent, config, http)))
        except NoAddress as error:
            refused.append(Refusal(agent, str(error)))
    return clients, refused


def _offered(args: argparse.Namespace, home: Path) -> list[Agent]:
    """The agents that are here."""
    from interlock.agents import words
    from interlock.doors.install.present import on_this_machine

    found = on_this_machine(home)
    if not found:
        raise Stop(f"no agent was found on this machine; name one: {', '.join(words())}")
    if not args.json:
        print("Found on this machine:")
        for agent, sign in found:
            print(f"  {agent.word:<12} {agent.title} ({sign})")
        print()
    offered = [agent for agent, _ in found if agent.places(args.scope, home, home)]
    if not offered:
        raise Stop(f"none of them has a place for hooks with --{args.scope}")
    return offered


def _refuse_agents(changes: Sequence[Change]) -> None:
    """A first installation only tightens, and anybody may; hooks that are there could be turned to another daemon by it."""
    import os

    from interlock.terminal.agents import agent_above

    replaced = [change.name for change in changes if change.replaces]
    if replaced and (why := agent_above(os.getpid())):
        raise Stop(
            f"the hooks in {replaced[0]} would be changed, and this looks like an agent's terminal: {why};"
            " open one of your own and try again there"
        )


def _explain(args: argparse.Namespace, changes: Sequence[Change], wanted: Sequence[Change]) -> None:
    """What stays to be done by hand, and what HTTP costs: before anybody is asked."""
    from interlock.doors.install.client import HTTP_COSTS

    for change in changes:
        if not change.needed:
            print(f"{change.agent.title}: already installed in {change.name}")
    for note in dict.fromkeys(f"{change.agent.title}: {change.place.note}" for change in changes if change.place.note):
        print(f"To do: {note}")
    if args.http and wanted:
        print("HTTP hooks are the fastest, and cost two things:")
        for number, cost in enumerate(HTTP_COSTS, 1):
            print(f"  {number}. {cost}")


def _build(agent: Agent, config: Config) -> None:
    """Makes the client, or makes it anew; one that is there stays where an agent may have started this."""
    import os

    from interlock.doors.hook.wrapper import CannotBuild
    from interlock.doors.install.client import built, named
    from interlock.terminal.agents import agent_above

    if os.access(named(agent, config, False).path, os.X_OK) and agent_above(os.getpid()):
        return
    try:
        built(agent, config)
    except CannotBuild as error:
        raise Stop(f"{error}; nothing was written") from None


def _record(args: argparse.Namespace, done: Sequence[dict[str, Any]]) -> None:
    """Tells the daemon, where there is one; the hooks hold without it."""
    from interlock.doors.cli.operating import daemon
    from interlock.doors.client import ApiError, NoDaemon

    for word in dict.fromkeys(one["agent"] for one in done):
        files = [one["path"] for one in done if one["agent"] == word]
        try:
            daemon(args).post("/hooks", {"change": "installed", "agent": word, "scope": args.scope, "files": files})
        except (ApiError, NoDaemon) as error:
            print(f"interlock install: not on the record: {error}", file=sys.stderr)
            return


def _write(changes: Sequence[Change], config: Config, http: bool) -> tuple[list[dict[str, Any]], list[Refusal]]:
    """Writes file by file; one that fails does not stop the others."""
    from interlock.doors.install.client import named
    from interlock.doors.install.files import FileProblem
    from interlock.doors.install.perform import install
    from interlock.doors.install.plan import Refusal

    done: list[dict[str, Any]] = []
    failed: list[Refusal] = []
    for change in changes:
        try:
            backup = install(change, named(change.agent, config, http), config)
        except FileProblem as error:
            failed.append(Refusal(change.agent, str(error)))
            continue
        done.append({"agent": change.agent.word, "path": str(change.place.path), "backup": backup or None})
    return done, failed


def _said(
    args: argparse.Namespace,
    changes: Sequence[Change],
    wanted: Sequence[Change],
    done: Sequence[dict[str, Any]],
    refused: Sequence[Refusal],
) -> None:
    if args.json:
        from interlock.doors.install.plan import diff

        say_json(
            {
                "written": list(done),
                "already": [str(change.place.path) for change in changes if not change.needed],
                "would": {str(change.place.path): diff(change) for change in wanted} if args.dry_run else {},
                "notes": [change.place.note for change in changes if change.place.note],
                "refused": [{"agent": one.agent.word, "reason": one.words} for one in refused],
            }
        )
        return
    for one in done:
        kept = f"; what was there is in {one['backup']}" if one["backup"] else ""
        print(f"Installed: {one['path']}{kept}")
    if args.dry_run and wanted:
        print("Nothing was written (--dry-run).")
    if done:
        print("Restart the agent, then see that the guard fires: interlock doctor")
        print("What it would have asked you in the last month, from your agents' own logs: interlock rehearse")
    sys.stdout.flush()
