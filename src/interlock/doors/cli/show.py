"""`interlock show`: everything about one ticket."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, command, run, say, say_json, signs


def main(argv: Sequence[str]) -> int:
    """Print one ticket."""
    parser = command(
        "show",
        "One ticket: what would run, for whom, why it is held, who has to agree, and who did.",
        "interlock show pdact_7Qm2…\ninterlock show pdact_7Qm2… --json",
    )
    parser.add_argument("id", metavar="TICKET")
    signs(parser)
    return run("show", _show, parser.parse_args(list(argv)))


def _show(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import looking
    from interlock.doors.cli.ticket_words import ticket_lines
    from interlock.doors.client import part

    path = f"/tickets/{part(args.id)}"
    unseen = f"no agent of your own user has a ticket {args.id!r}"
    with looking(args, lambda server: server.ask("GET", path).status == 200, unseen) as server:
        ticket = server.get(path)
    if args.json:
        say_json(ticket)
    else:
        say(ticket_lines(ticket))
    return OK
