"""`interlock coverage`: did every tool call that ran pass its hook? As the daemon counts it, agent by agent."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import FAILED, OK, command, counted, daemon, listed, run, say_json, say_table

_COLUMNS = ("asked", "calls", "seen", "missed")


def main(argv: Sequence[str]) -> int:
    """Print calls, seen and missed; exits 1 where calls were missed."""
    parser = command(
        "coverage",
        "How many tool calls ran since the daemon was started, and how many of them had passed their hook before:\n"
        "asked before they ran, calls that ran, seen by the hook, missed by it.",
        "interlock coverage\ninterlock coverage --sessions\ninterlock coverage --json",
        "exit codes: 0 nothing was missed, 1 calls went around their hook, 2 wrong usage, 3 no daemon answers",
    )
    parser.add_argument("--sessions", action="store_true", help="session by session, the newest first")
    return run("coverage", _coverage, parser.parse_args(list(argv)))


def _coverage(args: argparse.Namespace) -> int:
    found = daemon(args).get("/coverage")
    missed = int(found.get("missed", 0))
    if args.json:
        say_json(found)
        return FAILED if missed else OK
    lead, key = (("agent", "session"), "sessions") if args.sessions else (("agent",), "agents")
    rows = [[str(row.get(name, 0)) for name in (*lead, *_COLUMNS)] for row in listed(found, key)]
    say_table((*lead, *_COLUMNS), rows, "No hook has asked yet; `interlock doctor` shows whether one would.")
    if missed:
        print(f"{counted(missed, 'call')} ran that no hook was asked about; `interlock audit tail` has them.")
    return FAILED if missed else OK
