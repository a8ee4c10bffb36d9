"""A person's answer to a ticket: approve, reject, revoke. What is signed was shown first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.doors.cli.operating import OK, Stop, command, daemon, run, say, say_json, signs

_ABOUT = {
    "approve": "Agree to a held action. It is shown whole, and your passphrase is read from this terminal alone.",
    "reject": "Say no to a held action, or take an approval back before it is used. The same effect stays refused for a while.",
    "revoke": "Take an approval back before it was used.",
}
_ASKS = {
    "approve": "Your passphrase approves exactly this, once.",
    "reject": "Your passphrase rejects this.",
    "revoke": "Your passphrase takes the approval back.",
}
_EXAMPLES = {
    "approve": "interlock approve pdact_7Qm2…\ninterlock approve pdact_7Qm2… --reason 'the branch is mine'",
    "reject": "interlock reject pdact_7Qm2… --reason 'use a migration instead'",
    "revoke": "interlock revoke pdact_7Qm2… --reason 'wrong database'",
}


_DONE = {"approve": "approved", "reject": "rejected", "revoke": "revoked"}


def answer(word: str, argv: Sequence[str]) -> int:
    """Give one answer to one ticket."""
    parser = command(word, _ABOUT[word], _EXAMPLES[word])
    parser.add_argument("id", metavar="TICKET")
    asked = " (default: asks)" if word == "reject" else ""
    parser.add_argument("--reason", metavar="WORDS", default="", help=f"why; the agent reads it{asked}")
    signs(parser)
    return run(word, lambda args: _answer(word, args), parser.parse_args(list(argv)))


def _answer(word: str, args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import agreed, needs_reason, persons_terminal, reason_or_person, signed_in
    from interlock.doors.cli.ticket_words import approved_by, ticket_lines
    from interlock.doors.client import part

    if word == "reject":
        reason_or_person(args)
    path = f"/tickets/{part(args.id)}"
    seen = daemon(args).ask("GET", path)  # a ticket of one's own user is shown before the passphrase is asked for
    persons_terminal()
    shown = seen.body if seen.status == 200 else None
    if shown is not None:
        _check(word, shown)
        say(ticket_lines(shown), to_errors=args.json)
        print(f"\n{_ASKS[word]}", file=sys.stderr if args.json else sys.stdout)
    if word == "reject":
        needs_reason(args, "the agent reads it")
    with signed_in(args) as operator:
        ticket = operator.get(path)
        if shown is None or _matter(ticket) != _matter(shown):
            _check(word, ticket)
            say(ticket_lines(ticket), to_errors=args.json)
            if not agreed(f"\n{word.capitalize()} exactly this?"):
                raise Stop("nothing was answered")
        again = word == "approve" and operator.get("/session").get("operator") in approved_by(ticket)
        after = operator.post(f"{path}/{word}", {"reason": args.reason} if args.reason else {})
        offer = operator.get(f"{path}/grant") if after.get("state") == "approved" and not args.json else {}
    if args.json:
        say_json(after)
    else:
        print(f"\n{_outcome(word, after, again)}{_habit(offer)}")
    return OK


def _habit(offer: Mapping[str, Any]) -> str:
    """Which grant would have answered this, where people said yes to the like again and again."""
    from interlock.core.excerpt import visible

    if not offer.get("command"):
        return ""
    return f"\nYou said yes to the like of this {offer['approvals']} times. A grant answers it for a while:\n  {visible(str(offer['command']))}"


def _check(word: str, ticket: Mapping[str, Any]) -> None:
    from interlock.doors.cli.ticket_words import OPEN, state_words

    answerable = (*OPEN, *(() if word == "approve" or ticket.get("spentAt") else ("approved",)))
    if word == "approve" and ticket.get("state") == "approved":
        raise Stop(f"ticket {ticket.get('id')} is {state_words(ticket)} already")
    if ticket.get("state") not in answerable:
        raise Stop(f"ticket {ticket.get('id')} is {state_words(ticket)}; it cannot be {_DONE[word]}")


def _matter(ticket: Mapping[str, Any]) -> dict[str, Any]:
    """What an answer is about; times and other people's answers are not."""
    return {
        key: ticket.get(key)
        for key in ("title", "action", "level", "irreversible", "reason", "findings", "agent", "requirement")
    }


def _outcome(word: str, ticket: Mapping[str, Any], again: bool) -> str:
    from interlock.doors.cli.moments import clock, seconds_of

    if word != "approve":
        return "Rejected: the agent is told why." if word == "reject" else "Revoked: the approval counts no more."
    if ticket.get("state") != "approved":
        return f"{'Your approval was there already' if again else 'Signed'}. {_missing(ticket)}"
    cools, ends = seconds_of(ticket.get("coolingEndsAt")), seconds_of(ticket.get("expiresAt"))
    after = f" once it has cooled off at {clock(cools)}" if cools else ""
    until = f", until {clock(ends)}" if ends else ""
    return f"Approved: the agent may do this once{after}{until}."


def _missing(ticket: Mapping[str, Any]) -> str:
    """Who else has to agree before it may run."""
    from interlock.doors.cli.ticket_words import approved_by, approvers, requirement_words

    asked, there = ticket.get("requirement"), approved_by(ticket)
    quorum = int(asked.get("quorum") or 0) if isinstance(asked, Mapping) else 0
    if len(there) >= quorum:
        return f"More is needed before it may run: {requirement_words(asked)}."
    others = f" of {', '.join(approvers(ticket))}" if approvers(ticket) else ""
    more = quorum - len(there)
    have = "has" if more == 1 else "have"
    return f"It may run once {more} more{others} {have} approved; {len(there)} of {quorum} so far ({', '.join(there)})."
