"""`interlock pending`, `show` and `wait`: the tickets that need an answer, one in full, and its answer as an exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import Line, StyledText, short_id, visible
from interlock.approvals.rendering import (
    OPEN,
    agent_words,
    approvers,
    decided_by,
    escalation_words,
    folder_of,
    lead_line,
    requirement_word,
    state_words,
    ticket_lines,
)
from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import (
    ASKS,
    DENIED,
    OK,
    command,
    daemon,
    find_ticket,
    open_tickets,
    parse_duration,
    report,
    say,
    sees_all,
    typed_name,
)
from interlock.cli.sign_in import operator_session, reading_session
from interlock.client import DaemonClient, path_segment
from interlock.local_times import ago, clock

EVERY = 2.0  # seconds
Ticket = Mapping[str, Any]


@command(
    "pending",
    "What agents wait for: every held action that nobody answered yet.",
    "interlock pending\ninterlock pending --watch\ninterlock pending --json | jq '.[].id'",
    flag("--watch", "go on until Ctrl-C, one line for each change"),
    OPERATOR,
)
def pending_main(args: Args) -> int:
    """List the open tickets; with --watch, print each as it opens and ends."""
    with reading_session(args, sees_all, "agents of other users, or with tokens, wait too") as operator:
        found = open_tickets(operator)
        if args.watch:
            _watch(operator, found, args.json)
        else:
            report(args, found, pending_lines(found))
    return OK


def pending_lines(found: Sequence[Ticket]) -> Iterator[Line]:
    """Several lines for each ticket, because an id that a narrow window wraps cannot be copied."""
    if not found:
        yield (StyledText("Nothing waits for an answer."),)
        return
    for ticket in found:
        level = ticket.get("level", 0)
        who = ", ".join(approvers(ticket))
        yield (
            StyledText(short_id(str(ticket.get("id", ""))), "heading"),
            StyledText(f"  {ticket.get('level_name', '')}", f"level{level}"),
            StyledText(
                f"  needs {requirement_word(ticket)}{f' by {who}' if who else ''}, opened {ago(ticket.get('openedAt'))}"
            ),
        )
        yield (StyledText(f"    {lead_line(ticket)}", "command"),)
        for why in escalation_words(ticket):
            yield (StyledText(f"    {visible(why)}", "ask"),)
        where = f"in {folder_of(ticket)}, " if folder_of(ticket) else ""
        yield (StyledText(f"    {visible(f'{where}{agent_words(ticket)}')}", "dim"),)
    yield ()
    one = len(found) == 1
    which, name = "" if one else " TICKET", typed_name()
    yield (
        StyledText(
            f"`{name} show{which}` tells all; then `{name} approve{which}` or `{name} reject{which} --reason …`."
        ),
    )


def _watch(operator: DaemonClient, found: list[Ticket], as_json: bool) -> None:
    known: dict[str, Ticket] = {}
    while True:
        current = {str(ticket.get("id")): ticket for ticket in found}
        for id, ticket in current.items():
            if id not in known:
                _print_ticket(ticket, as_json)
        for id in known.keys() - current.keys():
            _print_ticket(operator.get(f"/tickets/{path_segment(id)}"), as_json)
        known = current
        time.sleep(EVERY)
        found = open_tickets(operator)


def _print_ticket(ticket: Ticket, as_json: bool) -> None:
    if as_json:
        print(json.dumps(ticket), flush=True)
        return
    is_open = ticket.get("state") in OPEN
    when = clock(ticket.get("openedAt") if is_open else ticket.get("decidedAt") or ticket.get("openedAt"))
    level = ticket.get("level", 0)
    say([
        (
            StyledText(f"{when}  ", "dim"), StyledText(f"{state_words(ticket):<22}", "ask" if is_open else ""), StyledText(f"{short_id(str(ticket.get('id')))}  "),
            StyledText(str(ticket.get("level_name", "")), f"level{level}"), StyledText(f"  {lead_line(ticket)}", "command"),
            StyledText(f"  {f'in {folder_of(ticket)}, ' if folder_of(ticket) else ''}{agent_words(ticket)}", "dim"),
        )
    ])  # fmt: skip


@command(
    "show",
    "One ticket: what would run, for whom, why it is held, who has to agree, and who did.",
    "interlock show                the only one that waits\ninterlock show 7Qm2 --json",
    argument("id", "TICKET", "its id, or how that begins (default: the only one that waits)", "", nargs="?"),
    OPERATOR,
)
def show_main(args: Args) -> int:
    """Print one ticket."""

    def found(server: DaemonClient) -> str | None:
        return find_ticket(server, args.id, OPEN, all_seen=not args.id and sees_all(server))

    unseen = f"no agent of your own user has a ticket {args.id!r}" if args.id else "other users' agents wait too"
    with reading_session(args, lambda server: found(server) is not None, unseen) as server:
        id = find_ticket(server, args.id, OPEN)
        ticket = server.get(f"/tickets/{path_segment(id or '')}")
    return report(args, ticket, ticket_lines(ticket))


_POLL = 30  # seconds of one long poll
_WAIT_EXITS = (
    "exit codes: 0 approved, 10 still waiting, 20 rejected or expired, 1 failed, 2 wrong usage, 3 no daemon answers"
)


@command(
    "wait",
    "Wait until a ticket is answered. Whoever opened it waits without signing in; an operator signs in.",
    "interlock wait 7Qm2\ninterlock wait 7Qm2 --timeout 10m && make deploy",
    argument("id", "TICKET", "its id, or how that begins"),
    argument("--timeout", "TIME", "such as 90s, 10m or 2h (default: 1h)", "1h"),
    OPERATOR,
    exits=_WAIT_EXITS,
)
def wait_main(args: Args) -> int:
    """Wait for the answer to a ticket, at most as long as --timeout."""
    until = time.monotonic() + parse_duration(args.timeout)
    if args.operator:
        with operator_session(args, reading=True) as operator:
            ticket = _wait_for_answer(operator, args, until)
    else:
        ticket = _wait_for_answer(daemon(args), args, until)
    return report(args, ticket, _answer_text(ticket), _exit_code(ticket))


def _wait_for_answer(server: DaemonClient, args: Args, until: float) -> Mapping[str, Any]:
    path = f"/tickets/{path_segment(find_ticket(server, args.id, OPEN) or '')}/wait"
    while True:
        seconds = max(1, min(_POLL, round(until - time.monotonic())))
        ticket: Mapping[str, Any] = server.get(path, seconds + 15.0, seconds=seconds)
        if ticket.get("state") not in OPEN or time.monotonic() >= until:
            return ticket


def _answer_text(ticket: Mapping[str, Any]) -> str:
    by = decided_by(ticket)
    why = f": {ticket['decisionReason']}" if ticket.get("decisionReason") else ""
    return visible(f"{short_id(str(ticket.get('id')))} is {state_words(ticket)}{by}{why}")


def _exit_code(ticket: Mapping[str, Any]) -> int:
    if ticket.get("state") in ("approved", "executed"):
        return OK
    return ASKS if ticket.get("state") in OPEN else DENIED
