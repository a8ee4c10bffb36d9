"""`interlock hooks`: which agents are guarded, in which files, and whether those are as they were written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.installing import here
from interlock.doors.cli.operating import FAILED, OK, command, run, say_json, say_table, settings

if TYPE_CHECKING:
    from interlock.config import Config


def main(argv: Sequence[str]) -> int:
    """List the files that have hooks of ours."""
    parser = command(
        "hooks",
        "The agents that are guarded: for this user, in this folder, on this machine, and wherever install wrote.",
        "interlock hooks\ninterlock hooks --json",
        "exit codes: 0 all are as they were written, 1 one is broken or gone, 2 wrong usage",
    )
    return run("hooks", _hooks, parser.parse_args(list(argv)))


def _hooks(args: argparse.Namespace) -> int:
    found = found_hooks(settings(args))
    if args.json:
        say_json({"hooks": found})
    else:
        rows = [[one["agent"], one["scope"], one["state"], one["problem"] or one["path"]] for one in found]
        say_table(("agent", "scope", "state", "file"), rows, "No agent is guarded yet: run `interlock install`.")
    return FAILED if any(one["problem"] for one in found) else OK


def found_hooks(config: Config) -> list[dict[str, Any]]:
    """One row for each file: as written, changed since, or broken."""
    from interlock.doors.install.present import hooked

    home, project = here()
    return [
        {
            "agent": one.agent.word,
            "title": one.agent.title,
            "scope": one.scope,
            "path": str(one.place.path),
            "state": one.state(config),
            "problem": one.problem,
        }
        for one in hooked(config, home, project)
    ]
