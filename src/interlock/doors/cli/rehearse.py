"""`interlock rehearse`: what you would have been asked about in the last weeks, from your own logs; nothing leaves the machine."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from interlock.doors.cli.operating import FAILED, OK, USAGE, Stop, command, run, say, say_json

DAYS = 30
_EXAMPLES = """
interlock rehearse                                  your Claude Code and Codex sessions of the last 30 days
interlock rehearse --days 7 --policy strict         another policy, to see what it would cost you
interlock rehearse ~/.claude/projects/-home-me-app  one project
interlock rehearse ~/.zsh_history --json            for programs
interlock rehearse --false-alarm docker.remove      what would have to change, and what would be left
"""
_EXITS = "exit codes: 0 done, 1 nothing to read, 2 wrong usage"


def main(argv: Sequence[str]) -> int:
    """Judge past calls."""
    parser = command(
        "rehearse",
        "Judge what your agents did before, as if Interlock had been there. Reads their logs; runs nothing, sends nothing.",
        _EXAMPLES,
        _EXITS,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="a log or a folder of logs (default: all that are found)"
    )
    parser.add_argument("--days", type=_days, default=DAYS, metavar="N", help="how far back (default: 30)")
    parser.add_argument("--history", action="store_true", help="your shells' histories as well")
    parser.add_argument("--policy", metavar="NAME|FILE", help="by this policy (default: the one in force)")
    parser.add_argument(
        "--false-alarm",
        action="append",
        metavar="RULE",
        help="this rule should not have asked: what would have to change?",
    )
    return run("rehearse", _rehearse, parser.parse_args(list(argv)))


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 36_500:
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 on, got {text!r}")
    return int(text)


def _rehearse(args: argparse.Namespace) -> int:
    from interlock.doors.cli.judging import in_force
    from interlock.doors.cli.progress import progress
    from interlock.doors.cli.rehearse_words import as_json, false_alarms, told
    from interlock.doors.rehearse.rehearsal import DAY, rehearse

    by, files = in_force(args.policy, args.config), _files(args)
    with progress("Rehearsing", "files", len(files), quiet=args.json) as tick:
        found = rehearse(files, time.time() - args.days * DAY, by, tick)
    if args.json:
        say_json(as_json(args.days, found))
    elif args.false_alarm:
        say(false_alarms(found, args.false_alarm, by.rules.rules))
    else:
        say(told(args.days, found))
    return OK if found.calls else FAILED


def _files(args: argparse.Namespace) -> list[Path]:
    from interlock.doors.rehearse.logs import given, histories, transcripts

    home = Path.home()
    if args.paths:
        try:
            found = given(args.paths) + (histories(home) if args.history else [])
        except FileNotFoundError as error:
            raise Stop(str(error), USAGE) from None
    else:
        found = transcripts(home)
        if args.history or not found:
            found += histories(home)
    if not found:
        raise Stop("no logs of Claude Code or Codex and no shell history here; name a PATH")
    return found
