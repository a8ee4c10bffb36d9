"""`interlock wait`: until a ticket is answered; the exit code is the answer."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import ASKS, DENIED, OK, command, daemon, run, say_json, signs

if TYPE_CHECKING:
    from interlock.doors.client import Daemon

_POLL = 30  # seconds of one long poll
_EXITS = (
    "exit codes: 0 approved, 10 still waiting, 20 rejected or expired, 1 failed, 2 wrong usage, 3 no daemon answers"
)


def main(argv: Sequence[str]) -> int:
    """Wait for the answer to a ticket, at most as long as was said."""
    parser = command(
        "wait",
        "Wait until a ticket is answered. Whoever opened it waits without signing in; an operator signs in.",
        "interlock wait 7Qm2\ninterlock wait 7Qm2 --timeout 10m && make deploy",
        _EXITS,
    )
    parser.add_argument("id", metavar="TICKET", help="its id, or how that begins")
    parser.add_argument("--timeout", metavar="TIME", default="1h", help="such as 90s, 10m or 2h (default: 1h)")
    signs(parser)
    return run("wait", _wait, parser.parse_args(list(argv)))


def _wait(args: argparse.Namespace) -> int:
    from interlock.doors.cli.moments import span

    until = time.monotonic() + span(args.timeout)
    if args.operator:
        from interlock.doors.cli.signing import signed_in

        with signed_in(args, reading=True) as operator:
            ticket = _answered(operator, args, until)
    else:
        ticket = _answered(daemon(args), args, until)
    if args.json:
        say_json(ticket)
    else:
        print(_words(ticket))
    return _code(ticket)


def _answered(server: Daemon, args: argparse.Namespace, until: float) -> Mapping[str, Any]:
    from interlock.doors.cli.naming import one_ticket
    from interlock.doors.cli.ticket_words import OPEN
    from interlock.doors.client import part

    path = f"/tickets/{part(one_ticket(server, args.id, OPEN) or '')}/wait"
    while True:
        seconds = max(1, min(_POLL, round(until - time.monotonic())))
        ticket: Mapping[str, Any] = server.get(path, seconds + 15.0, seconds=seconds)
        if ticket.get("state") not in OPEN or time.monotonic() >= until:
            return ticket


def _words(ticket: Mapping[str, Any]) -> str:
    from interlock.core.excerpt import short, visible
    from interlock.doors.cli.ticket_words import decided_by, state_words

    by = decided_by(ticket)
    why = f": {ticket['decisionReason']}" if ticket.get("decisionReason") else ""
    return visible(f"{short(str(ticket.get('id')))} is {state_words(ticket)}{by}{why}")


def _code(ticket: Mapping[str, Any]) -> int:
    from interlock.doors.cli.ticket_words import OPEN

    if ticket.get("state") in ("approved", "executed"):
        return OK
    return ASKS if ticket.get("state") in OPEN else DENIED
