"""`interlock pending`, `show`, `wait`, `approve`, `reject` and `revoke`: held actions and their answers; only what was shown is signed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from interlock.analysis.display_text import Line, Lines, line, short_id, visible
from interlock.approvals.rendering import (
    OPEN,
    agent_words,
    approved_by,
    approvers,
    decided_by,
    escalation_words,
    folder_of,
    lead_line,
    requirement_word,
    state_words,
    ticket_lines,
)
from interlock.cli.answer.grants import revoke_grant
from interlock.cli.command import (
    ASKS,
    DENIED,
    GRANT,
    OK,
    WHOLE,
    Args,
    CommandError,
    Row,
    command,
    daemon,
    find_ticket,
    open_tickets,
    parse_duration,
    sees_all,
)
from interlock.cli.output import declared_words, pluralize, report, say, typed_name
from interlock.cli.sign_in import (
    confirm,
    operator_session,
    reading_session,
    require_person,
    require_reason,
    require_reason_or_person,
    unlocked_session,
)
from interlock.client import ApiError, DaemonClient, path_segment
from interlock.local_times import ago, clock, moment_seconds
from interlock.model import requirement_words


@command()
def pending_main(args: Args) -> None:
    with reading_session(args, sees_all, "agents of other users, or with tokens, wait too") as operator:
        found = open_tickets(operator)
        if args.watch:
            _watch(operator, found, args.json)
        else:
            report(args, found, pending_lines(found))


def pending_lines(found: Sequence[Row]) -> Lines:
    """Several lines for each: an id that a narrow window wraps cannot be copied."""
    if not found:
        yield line("Nothing waits for an answer.")
        return
    for ticket in found:
        who = ", ".join(approvers(ticket))
        needs = f"  needs {requirement_word(ticket)}{f' by {who}' if who else ''}, opened {ago(ticket.get('openedAt'))}"
        yield line(_short(ticket), "heading") + line("  ") + _level(ticket) + line(needs)
        yield line(f"    {lead_line(ticket)}", "command")
        for why in escalation_words(ticket):
            yield line(f"    {why}", "ask")
        yield line(f"    {_whose(ticket)}", "dim")
    yield ()
    which, name = "" if len(found) == 1 else " TICKET", typed_name()
    yield line(f"`{name} show{which}` tells all; then `{name} approve{which}` or `{name} reject{which} --reason …`.")


def _level(ticket: Row) -> Line:
    return line(ticket["level_name"], f"level{ticket['level']}")


def _whose(ticket: Row) -> str:
    return (f"in {folder_of(ticket)}, " if folder_of(ticket) else "") + agent_words(ticket)


def _watch(operator: DaemonClient, found: list[Row], as_json: bool) -> None:
    known: dict[str, Row] = {}
    while True:
        current = {ticket["id"]: ticket for ticket in found}
        new = [ticket for id, ticket in current.items() if id not in known]
        for ticket in [*new, *(operator.get(_path(id)) for id in known.keys() - current.keys())]:
            if as_json:
                print(json.dumps(ticket), flush=True)
            else:
                say([_watched(ticket)])
        known = current
        time.sleep(2.0)
        found = open_tickets(operator)


def _watched(ticket: Row) -> Line:
    is_open = ticket["state"] in OPEN
    when = clock(ticket["openedAt"] if is_open else ticket.get("decidedAt") or ticket["openedAt"])
    lead = line(f"{when}  ", "dim") + line(f"{state_words(ticket):<22}", "ask" if is_open else "")
    named = line(f"{_short(ticket)}  ") + _level(ticket) + line(f"  {lead_line(ticket)}", "command")
    return lead + named + line(f"  {_whose(ticket)}", "dim")


@command()
def show_main(args: Args) -> int:
    def found(server: DaemonClient) -> str | None:
        return find_ticket(server, args.id, OPEN, all_seen=not args.id and sees_all(server))

    unseen = f"no agent of your own user has a ticket {args.id!r}" if args.id else "other users' agents wait too"
    with reading_session(args, lambda server: found(server) is not None, unseen) as server:
        ticket = server.get(_path(find_ticket(server, args.id, OPEN)))
    return report(args, ticket, ticket_lines(ticket))


_POLL = 30  # seconds of one long poll


@command()
def wait_main(args: Args) -> int:
    until = time.monotonic() + parse_duration(args.timeout)
    with operator_session(args, reading=True) if args.operator else nullcontext(daemon(args)) as server:
        path = f"{_path(find_ticket(server, args.id, OPEN))}/wait"
        while True:
            seconds = max(1, min(_POLL, round(until - time.monotonic())))
            ticket: Row = server.get(path, seconds + 15.0, seconds=seconds)
            state = ticket["state"]
            if state not in OPEN or time.monotonic() >= until:
                break
    why = f": {ticket['decisionReason']}" if ticket.get("decisionReason") else ""
    words = visible(f"{_short(ticket)} is {state_words(ticket)}{decided_by(ticket)}{why}")
    report(args, ticket, words)
    return OK if state in ("approved", "executed") else ASKS if state in OPEN else DENIED


LIGHT = 2  # the highest level that an unlocked terminal approves


@command()
def approve_main(args: Args) -> int:
    return _answer_one("approve", args)


@command()
def reject_main(args: Args) -> int:
    if args.all and args.id:
        args.fail("--all or one TICKET, not both")
    return _reject_all(args) if args.all else _answer_one("reject", args)


@command()
def revoke_main(args: Args) -> int:
    if not args.id:
        args.fail("say which one")
    return _answer_one("revoke", args)


def _answer_one(word: str, args: Args) -> int:
    if word == "reject":
        require_reason_or_person(args)
    if word == "revoke" and args.id.startswith(GRANT):
        return revoke_grant(args)
    server = daemon(args)
    # An approved ticket of another user's agent is not visible without a sign-in.
    visible_here = sees_all(server) and (word == "approve" or len(args.id) < WHOLE)
    id = find_ticket(server, args.id, _answerable(word), visible_here)
    require_person()
    shown = server.get(_path(id)) if id is not None else None  # before the passphrase is asked for
    if shown is not None:
        _check(word, shown)
        say(ticket_lines(shown), to_errors=args.json)
    if word == "reject":
        require_reason(args, "the agent reads it")
    with unlocked_session(args, shown is not None and (word != "approve" or _light(shown))) as operator:
        if operator is not None:
            _confirm(word)
            return _sign_answer(word, args, operator, str(id), shown)
    if shown is not None:
        print(f"\n{declared_words(__name__, word)['asks']}", file=sys.stderr if args.json else sys.stdout)
    with operator_session(args) as operator:
        return _sign_answer(word, args, operator, id or find_ticket(operator, args.id, _answerable(word)) or "", shown)


def _confirm(word: str) -> None:
    if not confirm(f"\n{word.capitalize()} exactly this?"):
        raise CommandError("nothing was answered")


def _light(ticket: Row) -> bool:
    asked = ticket["requirement"]
    return ticket["level"] <= LIGHT and asked["human"] in ("confirm", "approve") and not asked["reauth"]


def _sign_answer(word: str, args: Args, operator: DaemonClient, id: str, shown: Row | None) -> int:
    ticket = operator.get(_path(id))
    if shown is None or _matter(ticket) != _matter(shown):
        _check(word, ticket)
        say(ticket_lines(ticket), to_errors=args.json)
        _confirm(word)
    again = word == "approve" and operator.get("/session")["operator"] in approved_by(ticket)
    after = operator.post(f"{_path(id)}/{word}", {"reason": args.reason} if args.reason else {})
    offer = operator.get(f"{_path(id)}/grant") if after["state"] == "approved" and not args.json else {}
    habit = ""
    if offer.get("command"):
        habit = f"\nYou approved similar actions {offer['approvals']} times. A grant answers it for a while:\n  {visible(offer['command'])}"
    return report(args, after, f"\n{declared_words(__name__, word)['after'] or _approved(after, again)}{habit}")


def _reject_all(args: Args) -> int:
    """Lists them first; skips those that somebody else answered meanwhile."""
    require_reason_or_person(args)
    server = daemon(args)
    if not open_tickets(server) and sees_all(server):
        raise CommandError("nothing waits for an answer")
    require_person()
    require_reason(args, "the agents read it")
    done, left = [], []
    with (
        unlocked_session(args) as there,
        nullcontext(there) if there is not None else operator_session(args) as operator,
    ):
        found = open_tickets(operator)
        say(pending_lines(found), to_errors=args.json)
        if not found or not confirm(f"\nReject {'this' if len(found) == 1 else f'all {len(found)}'}?"):
            raise CommandError("nothing was answered")
        for ticket in found:
            try:
                done.append(operator.post(f"{_path(ticket['id'])}/reject", {"reason": args.reason}))
            except ApiError as error:
                left.append(str(error))
    words = "\n".join([f"\n{pluralize(len(done), 'ticket')} rejected.", *left])
    return report(args, done, words, not left)


def _path(id: str | None) -> str:
    return f"/tickets/{path_segment(id or '')}"


def _answerable(word: str) -> tuple[str, ...]:
    return OPEN if word == "approve" else (*OPEN, "approved")


def _check(word: str, ticket: Row) -> None:
    lead = f"ticket {_short(ticket)} is {state_words(ticket)}"
    if word == "approve" and ticket["state"] == "approved":
        raise CommandError(f"{lead} already")
    if ticket["state"] not in (OPEN if ticket.get("spentAt") else _answerable(word)):
        raise CommandError(f"{lead}; it cannot be {declared_words(__name__, word)['done']}")


def _short(ticket: Row) -> str:
    return short_id(ticket["id"])


def _matter(ticket: Row) -> dict[str, Any]:
    """The fields that an answer is about: no times, and no other people's answers."""
    keys = ("title", "action", "level", "irreversible", "reason", "findings", "agent", "requirement")
    return {key: ticket.get(key) for key in keys}


def _approved(ticket: Row, again: bool) -> str:
    if ticket["state"] == "approved":
        cools, ends = moment_seconds(ticket.get("coolingEndsAt")), moment_seconds(ticket["expiresAt"])
        after = f" once it has cooled off at {clock(cools)}" if cools else ""
        until = f", until {clock(ends)}" if ends else ""
        return f"Approved: the agent may do this once{after}{until}."
    lead, there = "Your approval was there already" if again else "Signed", approved_by(ticket)
    asked = ticket["requirement"]
    quorum = asked["quorum"]
    if len(there) >= quorum:
        return f"{lead}. More is needed before it may run: {requirement_words(asked)}."
    others = f" of {', '.join(approvers(ticket))}" if approvers(ticket) else ""
    more = f"{quorum - len(there)} more{others} {'has' if quorum - len(there) == 1 else 'have'} approved"
    return f"{lead}. It may run once {more}; {len(there)} of {quorum} so far ({', '.join(there)})."
