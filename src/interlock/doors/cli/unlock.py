"""`interlock unlock`: an operator signs in, so that the daemon can check approvals after a restart."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, command, run, say_json, signs


def main(argv: Sequence[str]) -> int:
    """Sign in and out again; what the daemon learned stays in its memory until it stops."""
    parser = command(
        "unlock",
        "Sign in once after the daemon was started: it can then check operators' signatures until it stops.",
        "interlock unlock\ninterlock unlock --operator ana",
    )
    signs(parser)
    return run("unlock", _unlock, parser.parse_args(list(argv)))


def _unlock(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args) as operator:
        status = operator.get("/status")
    if args.json:
        say_json({"unlocked": bool(status.get("unlocked")), "openTickets": status.get("openTickets", 0)})
    else:
        waiting = status.get("openTickets") or 0
        print(
            "Unlocked: approvals can be checked until the daemon stops."
            + (f" {waiting} open: `interlock pending`." if waiting else "")
        )
    return OK if status.get("unlocked") else 1
