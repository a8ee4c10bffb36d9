"""`interlock rehearse`: judges past calls from a person's own logs as if the gate had been there; runs and sends nothing."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from interlock.cli.command import FAILED, OK, Args, CommandError, command, report, wrong_usage
from interlock.cli.judge.rehearse.logs import agent_logs, named_logs, shell_histories
from interlock.cli.judge.rehearse.rehearsal import DAY, rehearse
from interlock.cli.judge.rehearse.rendering import false_alarm_lines, rehearsal_json, rehearsal_lines
from interlock.cli.output import progress
from interlock.engine.preview import local_policy


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 36_500:
        raise argparse.ArgumentTypeError(f"expected a number of days from 1 on, got {text!r}")
    return int(text)


@command("rehearse", days={"type": _days})
def main(args: Args) -> int:
    by, files = local_policy(args.policy, args.config), _files(args)
    with progress("Rehearsing", len(files), quiet=args.json) as tick:
        found = rehearse(files, time.time() - args.days * DAY, by, tick)
    alarms = args.false_alarm
    lines = false_alarm_lines(found, alarms, by.rules.rules) if alarms else rehearsal_lines(args.days, found)
    return report(args, rehearsal_json(args.days, found), lines, OK if found.calls else FAILED)


def _files(args: Args) -> list[Path]:
    home = Path.home()
    if args.paths:
        with wrong_usage(FileNotFoundError):
            found = named_logs(args.paths) + (shell_histories(home) if args.history else [])
    else:
        found = agent_logs(home)
        if args.history or not found:
            found += shell_histories(home)
    if not found:
        raise CommandError("no logs of Claude Code or Codex and no shell history here; name a PATH")
    return found
