"""`interlock uninstall`: an agent's settings as they were before; only by a person, and on the record."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.doors.cli.install_system import only_root, perform, take_down
from interlock.doors.cli.installing import complain, confirmed, here, named_agents, scoped, shown
from interlock.doors.cli.operating import FAILED, OK, Stop, command, daemon, run, say, say_json, settings, signs

if TYPE_CHECKING:
    from interlock.agents import Agent
    from interlock.config import Config
    from interlock.doors.client import Daemon
    from interlock.doors.install.plan import Change
    from interlock.doors.install.system import Step

_FOR_A_PERSON = "taking the guard away is for a person"


def main(argv: Sequence[str]) -> int:
    """Take the hooks of one or more agents out."""
    parser = command(
        "uninstall",
        "Takes Interlock's hooks out of an agent's settings. A file that nothing else was changed in is put back\n"
        "byte for byte; in any other everything but the hooks stays. Where operators are enrolled, one signs in.",
        "interlock uninstall claude-code\ninterlock uninstall --project --dry-run",
        "exit codes: 0 done, 1 refused or failed, 2 wrong usage or not agreed to",
    )
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="default: all that have hooks")
    scoped(parser)
    signs(parser)
    return run("uninstall", _uninstall, parser.parse_args(list(argv)))


def _uninstall(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import persons_terminal
    from interlock.doors.install.plan import removing

    only_root(args)
    config, (home, project) = settings(args), here()
    changes, refused = removing(named_agents(args.agents) or _all(), args.scope, home, project, config)
    if changes and not args.dry_run:
        persons_terminal(why=_FOR_A_PERSON)  # before anybody is shown what will not happen
    if not args.json:
        say(shown(changes))
    complain(refused, "uninstall")
    steps = take_down(args)
    if (changes or steps) and not args.dry_run:
        _remove(args, changes, steps, config)
    _said(args, changes)
    return FAILED if refused else OK


def _remove(args: argparse.Namespace, changes: Sequence[Change], steps: Sequence[Step], config: Config) -> None:
    """1. a person's terminal, 2. an operator where there are any, 3. a yes, 4. the record, 5. the files, 6. the daemon itself."""
    from interlock.doors.cli.signing import persons_terminal
    from interlock.doors.install.files import FileProblem
    from interlock.doors.install.perform import uninstall

    persons_terminal(why=_FOR_A_PERSON)  # 1
    with _allowed(args, config) as server:  # 2
        if not confirmed(args, len(changes), "Change"):  # 3
            raise Stop("nothing was changed", 2)
        if server is not None:  # 4
            for word in dict.fromkeys(change.agent.word for change in changes):
                files = [str(change.place.path) for change in changes if change.agent.word == word]
                server.post("/hooks", {"change": "removed", "agent": word, "scope": args.scope, "files": files})
        try:
            for change in changes:  # 5
                uninstall(change, config)
        except FileProblem as error:
            raise Stop(str(error)) from None
        perform(args, steps)  # 6


@contextmanager
def _allowed(args: argparse.Namespace, config: Config) -> Iterator[Daemon | None]:
    """The daemon that records it, on behalf of an operator where there is one; None where nothing was ever kept."""
    from interlock.doors.cli.signing import signed_in
    from interlock.doors.client import NoDaemon

    try:
        operators = daemon(args).get("/status").get("operators")
    except NoDaemon as error:
        if _kept(config):
            raise Stop(f"this goes on the record, and {error}") from None
        yield None
        return
    if operators == 0:
        yield daemon(args)
        return
    with signed_in(args, why="taking the guard away is for an operator") as server:
        yield server


def _kept(config: Config) -> bool:
    """Whether there is a record that this would be missing from."""
    return not config.store.startswith("sqlite:") or (Path(config.folder) / "state.db").exists()


def _all() -> list[Agent]:
    from interlock.agents import agent, words

    return [agent(word) for word in words()]


def _said(args: argparse.Namespace, changes: Sequence[Change]) -> None:
    if args.json:
        say_json(
            {
                "removed": [] if args.dry_run else [str(change.place.path) for change in changes],
                "would": [str(change.place.path) for change in changes] if args.dry_run else [],
            }
        )
        return
    if not changes:
        print(f"There are no hooks of ours with --{args.scope}; `interlock hooks` shows where there are any.")
    elif args.dry_run:
        print("Nothing was changed (--dry-run).")
    else:
        for change in changes:
            print(f"{'Taken away' if change.after is None else 'Put back'}: {change.name}")
