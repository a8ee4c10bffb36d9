"""`interlock rehearse`: judges the past calls in a person's own logs as if the gate had been there; runs and sends nothing."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from interlock.cli.command import FAILED, OK, USAGE, CommandError, command, run, say, say_json
from interlock.cli.judge.rehearse.logs import agent_logs, named_logs, shell_histories
from interlock.cli.judge.rehearse.rehearsal import DAY, rehearse
from interlock.cli.judge.rehearse.rendering import false_alarm_lines, rehearsal_json, rehearsal_lines
from interlock.cli.output import progress
from interlock.engine.preview import local_policy

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
    """Run `interlock rehearse`: judge past calls from logs."""
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
    by, files = local_policy(args.policy, args.config), _files(args)
    with progress("Rehearsing", "files", len(files), quiet=args.json) as tick:
        found = rehearse(files, time.time() - args.days * DAY, by, tick)
    if args.json:
        say_json(rehearsal_json(args.days, found))
    elif args.false_alarm:
        say(false_alarm_lines(found, args.false_alarm, by.rules.rules))
    else:
        say(rehearsal_lines(args.days, found))
    return OK if found.calls else FAILED


def _files(args: argparse.Namespace) -> list[Path]:
    home = Path.home()
    if args.paths:
        try:
            found = named_logs(args.paths) + (shell_histories(home) if args.history else [])
        except FileNotFoundError as error:
            raise CommandError(str(error), USAGE) from None
    else:
        found = agent_logs(home)
        if args.history or not found:
            found += shell_histories(home)
    if not found:
        raise CommandError("no logs of Claude Code or Codex and no shell history here; name a PATH")
    return found
