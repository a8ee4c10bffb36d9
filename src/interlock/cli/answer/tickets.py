"""`interlock pending`, `show`, `wait`, `approve`, `reject` and `revoke`: held actions, and an operator's answer; only what was shown is signed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from interlock.analysis.display_text import Line, short_id, visible
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
    requirement_words,
    state_words,
    ticket_lines,
)
from interlock.cli.answer.grants import revoke_grant
from interlock.cli.arguments import Args
from interlock.cli.command import (
    ASKS,
    DENIED,
    FAILED,
    GRANT,
    OK,
    WHOLE,
    CommandError,
    Row,
    command,
    daemon,
    find_ticket,
    open_tickets,
    parse_duration,
    pluralize,
    report,
    say,
    sees_all,
    typed_name,
)
from interlock.cli.output import line
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

EVERY = 2.0  # seconds


@command("pending")
def pending_main(args: Args) -> int:
    """List the open tickets; with --watch, print each as it opens and ends."""
    with reading_session(args, sees_all, "agents of other users, or with tokens, wait too") as operator:
        found = open_tickets(operator)
        if args.watch:
            _watch(operator, found, args.json)
        else:
            report(args, found, pending_lines(found))
    return OK


def pending_lines(found: Sequence[Row]) -> Iterator[Line]:
    """Several lines for each ticket, because an id that a narrow window wraps cannot be copied."""
    if not found:
        yield line("Nothing waits for an answer.")
        return
    for ticket in found:
        level = ticket.get("level", 0)
        who = ", ".join(approvers(ticket))
        yield (
            line(short_id(str(ticket.get("id", ""))), "heading")
            + line(f"  {ticket.get('level_name', '')}", f"level{level}")
            + line(
                f"  needs {requirement_word(ticket)}{f' by {who}' if who else ''}, opened {ago(ticket.get('openedAt'))}"
            )
        )
        yield line(f"    {lead_line(ticket)}", "command")
        for why in escalation_words(ticket):
            yield line(f"    {why}", "ask")
        where = f"in {folder_of(ticket)}, " if folder_of(ticket) else ""
        yield line(f"    {where}{agent_words(ticket)}", "dim")
    yield ()
    one = len(found) == 1
    which, name = "" if one else " TICKET", typed_name()
    yield line(f"`{name} show{which}` tells all; then `{name} approve{which}` or `{name} reject{which} --reason …`.")


def _watch(operator: DaemonClient, found: list[Row], as_json: bool) -> None:
    known: dict[str, Row] = {}
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


def _print_ticket(ticket: Row, as_json: bool) -> None:
    if as_json:
        print(json.dumps(ticket), flush=True)
        return
    is_open = ticket.get("state") in OPEN
    when = clock(ticket.get("openedAt") if is_open else ticket.get("decidedAt") or ticket.get("openedAt"))
    level = ticket.get("level", 0)
    folder = f"in {folder_of(ticket)}, " if folder_of(ticket) else ""
    lead = line(f"{when}  ", "dim") + line(f"{state_words(ticket):<22}", "ask" if is_open else "")
    named = line(f"{_short(ticket)}  ") + line(ticket.get("level_name", ""), f"level{level}")
    say([lead + named + line(f"  {lead_line(ticket)}", "command") + line(f"  {folder}{agent_words(ticket)}", "dim")])


@command("show")
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


@command("wait")
def wait_main(args: Args) -> int:
    """Wait for the answer to a ticket, at most as long as --timeout."""
    until = time.monotonic() + parse_duration(args.timeout)
    if args.operator:
        with operator_session(args, reading=True) as operator:
            ticket = _wait_for_answer(operator, args, until)
    else:
        ticket = _wait_for_answer(daemon(args), args, until)
    return report(args, ticket, _answer_text(ticket), _exit_code(ticket))


def _wait_for_answer(server: DaemonClient, args: Args, until: float) -> Row:
    path = f"/tickets/{path_segment(find_ticket(server, args.id, OPEN) or '')}/wait"
    while True:
        seconds = max(1, min(_POLL, round(until - time.monotonic())))
        ticket: Row = server.get(path, seconds + 15.0, seconds=seconds)
        if ticket.get("state") not in OPEN or time.monotonic() >= until:
            return ticket


def _answer_text(ticket: Row) -> str:
    by = decided_by(ticket)
    why = f": {ticket['decisionReason']}" if ticket.get("decisionReason") else ""
    return visible(f"{short_id(str(ticket.get('id')))} is {state_words(ticket)}{by}{why}")


def _exit_code(ticket: Row) -> int:
    if ticket.get("state") in ("approved", "executed"):
        return OK
    return ASKS if ticket.get("state") in OPEN else DENIED


_ASKS = {
    "approve": "Your passphrase approves exactly this, once.",
    "reject": "Your passphrase rejects this.",
    "revoke": "Your passphrase takes the approval back.",
}
LIGHT = 2  # the highest level that an unlocked terminal approves
_DONE = {"approve": "approved", "reject": "rejected", "revoke": "revoked"}


@command("approve")
def approve_main(args: Args) -> int:
    """Approve the ticket named."""
    return _answer_one("approve", args)


@command("reject")
def reject_main(args: Args) -> int:
    """Reject the ticket named, or every open one."""
    if args.all and args.id:
        args.fail("--all or one TICKET, not both")
    return _reject_all(args) if args.all else _answer_one("reject", args)


@command("revoke")
def revoke_main(args: Args) -> int:
    """Revoke the ticket named."""
    if not args.id:
        args.fail("say which one")
    return _answer_one("revoke", args)


def _answer_one(word: str, args: Args) -> int:
    if word == "reject":
        require_reason_or_person(args)
    if word == "revoke" and args.id.startswith(GRANT):
        return revoke_grant(args)
    server = daemon(args)
    id = find_ticket(server, args.id, _answerable(word), _is_visible(word, args.id, server))
    require_person()
    shown = server.get(_path(id)) if id is not None else None  # before the passphrase is asked for
    if shown is not None:
        _check(word, shown)
        say(ticket_lines(shown), to_errors=args.json)
    if word == "reject":
        require_reason(args, "the agent reads it")
    with unlocked_session(args, shown is not None and (word != "approve" or _light(shown))) as operator:
        if operator is not None:
            if not confirm(f"\n{word.capitalize()} exactly this?"):
                raise CommandError("nothing was answered")
            return _sign_answer(word, args, operator, str(id), shown)
    if shown is not None:
        print(f"\n{_ASKS[word]}", file=sys.stderr if args.json else sys.stdout)
    with operator_session(args) as operator:
        return _sign_answer(word, args, operator, id or find_ticket(operator, args.id, _answerable(word)) or "", shown)


def _light(ticket: Row) -> bool:
    """Whether an unlocked terminal may approve it: up to level 2, where no fresh sign-in is required."""
    asked = ticket.get("requirement")
    asked = asked if isinstance(asked, Mapping) else {}
    return (
        int(ticket.get("level") or 0) <= LIGHT
        and asked.get("human") in ("confirm", "approve")
        and not asked.get("reauth")
    )


def _sign_answer(word: str, args: Args, operator: DaemonClient, id: str, shown: Row | None) -> int:
    """Sign the answer, after its subject was shown."""
    ticket = operator.get(_path(id))
    if shown is None or _matter(ticket) != _matter(shown):
        _check(word, ticket)
        say(ticket_lines(ticket), to_errors=args.json)
        if not confirm(f"\n{word.capitalize()} exactly this?"):
            raise CommandError("nothing was answered")
    again = word == "approve" and operator.get("/session").get("operator") in approved_by(ticket)
    after = operator.post(f"{_path(id)}/{word}", {"reason": args.reason} if args.reason else {})
    offer = operator.get(f"{_path(id)}/grant") if after.get("state") == "approved" and not args.json else {}
    return report(args, after, f"\n{_outcome(word, after, again)}{_habit(offer)}")


def _reject_all(args: Args) -> int:
    """Reject every open ticket: lists them, then answers one by one, and skips those that somebody else answered meanwhile."""
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
                done.append(operator.post(f"{_path(str(ticket['id']))}/reject", {"reason": args.reason}))
            except ApiError as error:
                left.append(str(error))
    words = "\n".join([f"\n{pluralize(len(done), 'ticket')} rejected.", *left])
    return report(args, done, words, FAILED if left else OK)


def _path(id: str | None) -> str:
    return f"/tickets/{path_segment(id or '')}"


def _is_visible(word: str, given: str, server: DaemonClient) -> bool:
    """Whether every ticket that the answer can name is visible without a sign-in; an approved one of another user's agent is not."""
    return sees_all(server) and (word == "approve" or len(given) < WHOLE)


def _answerable(word: str) -> tuple[str, ...]:
    return OPEN if word == "approve" else ("approved", *OPEN) if word == "revoke" else (*OPEN, "approved")


def _habit(offer: Row) -> str:
    """Suggest a grant where similar tickets were approved repeatedly."""
    if not offer.get("command"):
        return ""
    return f"\nYou approved similar actions {offer['approvals']} times. A grant answers it for a while:\n  {visible(str(offer['command']))}"


def _check(word: str, ticket: Row) -> None:
    answerable = (*OPEN, *(() if word == "approve" or ticket.get("spentAt") else ("approved",)))
    if word == "approve" and ticket.get("state") == "approved":
        raise CommandError(f"ticket {_short(ticket)} is {state_words(ticket)} already")
    if ticket.get("state") not in answerable:
        raise CommandError(f"ticket {_short(ticket)} is {state_words(ticket)}; it cannot be {_DONE[word]}")


def _short(ticket: Row) -> str:
    return short_id(str(ticket.get("id", "")))


def _matter(ticket: Row) -> dict[str, Any]:
    """The fields that an answer is about, without times and other people's answers."""
    return {
        key: ticket.get(key)
        for key in ("title", "action", "level", "irreversible", "reason", "findings", "agent", "requirement")
    }


def _outcome(word: str, ticket: Row, again: bool) -> str:
    if word != "approve":
        return "Rejected: the agent is told why." if word == "reject" else "Revoked: the approval counts no more."
    if ticket.get("state") != "approved":
        return f"{'Your approval was there already' if again else 'Signed'}. {_missing(ticket)}"
    cools, ends = moment_seconds(ticket.get("coolingEndsAt")), moment_seconds(ticket.get("expiresAt"))
    after = f" once it has cooled off at {clock(cools)}" if cools else ""
    until = f", until {clock(ends)}" if ends else ""
    return f"Approved: the agent may do this once{after}{until}."


def _missing(ticket: Row) -> str:
    """The approvers who still have to agree before it may run."""
    asked, there = ticket.get("requirement"), approved_by(ticket)
    quorum = int(asked.get("quorum") or 0) if isinstance(asked, Mapping) else 0
    if len(there) >= quorum:
        return f"More is needed before it may run: {requirement_words(asked)}."
    others = f" of {', '.join(approvers(ticket))}" if approvers(ticket) else ""
    more = quorum - len(there)
    have = "has" if more == 1 else "have"
    return f"It may run once {more} more{others} {have} approved; {len(there)} of {quorum} so far ({', '.join(there)})."
