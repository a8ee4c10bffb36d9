"""`interlock pending`: what waits for an answer, once or as it comes."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.naming import open_tickets, sees_all
from interlock.doors.cli.operating import OK, command, run, say, say_json, signs

if TYPE_CHECKING:
    from interlock.core.styled import Line
    from interlock.doors.client import Daemon

EVERY = 2.0  # seconds
Ticket = Mapping[str, Any]


def main(argv: Sequence[str]) -> int:
    """List the open tickets; with --watch, tell of each as it comes and as it ends."""
    parser = command(
        "pending",
        "What agents wait for: every held action that nobody answered yet.",
        "interlock pending\ninterlock pending --watch\ninterlock pending --json | jq '.[].id'",
    )
    parser.add_argument("--watch", action="store_true", help="go on until Ctrl-C, one line for each change")
    signs(parser)
    return run("pending", _pending, parser.parse_args(list(argv)))


def _pending(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import looking

    with looking(args, sees_all, "agents of other users, or with tokens, wait too") as operator:
        found = open_tickets(operator)
        if args.watch:
            _watch(operator, found, args.json)
        elif args.json:
            say_json(found)
        else:
            say(blocks(found))
    return OK


def blocks(found: Sequence[Ticket]) -> Iterator[Line]:
    """Some lines a ticket: an id that a narrow window folds cannot be copied."""
    from interlock.core.excerpt import short, visible
    from interlock.core.styled import Part
    from interlock.doors.cli.ticket_words import agent_words, approvers, folder, lead, needs, raised
    from interlock.moments import ago

    if not found:
        yield (Part("Nothing waits for an answer."),)
        return
    for ticket in found:
        level = ticket.get("level", 0)
        who = ", ".join(approvers(ticket))
        yield (
            Part(short(str(ticket.get("id", ""))), "heading"),
            Part(f"  {ticket.get('level_name', '')}", f"level{level}"),
            Part(f"  needs {needs(ticket)}{f' by {who}' if who else ''}, opened {ago(ticket.get('openedAt'))}"),
        )
        yield (Part(f"    {lead(ticket)}", "command"),)
        for why in raised(ticket):
            yield (Part(f"    {visible(why)}", "ask"),)
        where = f"in {folder(ticket)}, " if folder(ticket) else ""
        yield (Part(f"    {visible(f'{where}{agent_words(ticket)}')}", "dim"),)
    yield ()
    one = len(found) == 1
    which = "" if one else " TICKET"
    yield (
        Part(
            f"`interlock show{which}` tells all; then `interlock approve{which}` or `interlock reject{which} --reason …`."
        ),
    )


def _watch(operator: Daemon, found: list[Ticket], as_json: bool) -> None:
    known: dict[str, Ticket] = {}
    while True:
        current = {str(ticket.get("id")): ticket for ticket in found}
        for id, ticket in current.items():
            if id not in known:
                _tell(ticket, as_json)
        for id in known.keys() - current.keys():
            from interlock.doors.client import part

            _tell(operator.get(f"/tickets/{part(id)}"), as_json)
        known = current
        time.sleep(EVERY)
        found = open_tickets(operator)


def _tell(ticket: Ticket, as_json: bool) -> None:
    if as_json:
        print(json.dumps(ticket), flush=True)
        return
    from interlock.core.excerpt import short
    from interlock.core.styled import Part
    from interlock.doors.cli.ticket_words import OPEN, agent_words, folder, lead, state_words
    from interlock.moments import clock

    is_open = ticket.get("state") in OPEN
    when = clock(ticket.get("openedAt") if is_open else ticket.get("decidedAt") or ticket.get("openedAt"))
    level = ticket.get("level", 0)
    say([
        (
            Part(f"{when}  ", "dim"), Part(f"{state_words(ticket):<22}", "ask" if is_open else ""), Part(f"{short(str(ticket.get('id')))}  "),
            Part(str(ticket.get("level_name", "")), f"level{level}"), Part(f"  {lead(ticket)}", "command"),
            Part(f"  {f'in {folder(ticket)}, ' if folder(ticket) else ''}{agent_words(ticket)}", "dim"),
        )
    ])  # fmt: skip
