"""`interlock show`: everything about one ticket."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.doors.cli.operating import OK, command, run, say, say_json, signs

if TYPE_CHECKING:
    from interlock.doors.client import Daemon


def main(argv: Sequence[str]) -> int:
    """Print one ticket."""
    parser = command(
        "show",
        "One ticket: what would run, for whom, why it is held, who has to agree, and who did.",
        "interlock show                the only one that waits\ninterlock show 7Qm2 --json",
    )
    parser.add_argument(
        "id",
        metavar="TICKET",
        nargs="?",
        default="",
        help="its id, or how that begins (default: the only one that waits)",
    )
    signs(parser)
    return run("show", _show, parser.parse_args(list(argv)))


def _show(args: argparse.Namespace) -> int:
    from interlock.doors.cli.naming import one_ticket, sees_all
    from interlock.doors.cli.signing import looking
    from interlock.doors.cli.ticket_words import OPEN, ticket_lines
    from interlock.doors.client import part

    def found(server: Daemon) -> str | None:
        return one_ticket(server, args.id, OPEN, all_seen=not args.id and sees_all(server))

    unseen = f"no agent of your own user has a ticket {args.id!r}" if args.id else "other users' agents wait too"
    with looking(args, lambda server: found(server) is not None, unseen) as server:
        id = one_ticket(server, args.id, OPEN)
        ticket = server.get(f"/tickets/{part(id or '')}")
    if args.json:
        say_json(ticket)
    else:
        say(ticket_lines(ticket))
    return OK
