"""`interlock grants`: lists, adds and revokes grants; a new one can be taken from a ticket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import Line, StyledText, short_id, visible
from interlock.approvals.rendering import OPEN
from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import (
    USAGE,
    CommandError,
    CommandWords,
    daemon,
    find_row,
    find_ticket,
    list_rows,
    parse_duration,
    pluralize,
    report,
    say,
)
from interlock.cli.sign_in import confirm, operator_session
from interlock.client import path_segment
from interlock.local_times import ago, format_span

LEVELS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
_EXAMPLES = """
interlock grants
interlock grants add --from 7Qm2 --count 5 --for 2h --why 'cleaning up the branch'
interlock grants add --effect remove --target '/srv/app/build/**' --ceiling destructive --for 1h --why 'build folder'
interlock grants revoke grant_x1Y2
"""
_FIELDS = ("effect", "targets", "environment", "ceiling", "count", "principal", "name", "session", "digests")


main = CommandWords(
    "grants",
    "Grants name an effect, its targets, a highest level, how often and until when.",
    _EXAMPLES,
    default="list",
)


@main.word("list", "the grants that count", "interlock grants list --json", OPERATOR)
def _list(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found = list_rows(operator.get("/grants"), "grants")
    return report(args, found, _blocks(found))


def _blocks(found: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    if not found:
        yield (StyledText("No grant counts now."),)
    for grant in found:
        who = " ".join(str(grant[key]) for key in ("principal", "name") if grant.get(key)) or "any agent"
        session = f" in session {grant['session']}" if grant.get("session") else ""
        if grant.get("effect") in ("allow", "deny"):  # a pattern, until it is taken back
            ends, covers = (
                "until it is taken back",
                f"{grant['effect']} {_shown(grant.get('targets') or [])}, by any agent",
            )
        else:
            ends = f"{pluralize(int(grant.get('remaining') or 0), 'time')}, ends {ago(grant.get('expiresAt'))}"
            covers = f"{_covers(grant)}, up to {grant.get('ceiling', '')}, by {visible(who + session)}"
        yield StyledText(short_id(str(grant.get("id", ""))), "heading"), StyledText(f"  {ends}")
        yield (StyledText(f"    {covers}", "command"),)
        yield (StyledText(f"    {visible(str(grant.get('by', '')))}: {visible(str(grant.get('why', '')))}", "dim"),)


@main.word(
    "add",
    "allow something beforehand, best from a ticket",
    "interlock grants add --from 7Qm2 --for 2h --why …",
    argument("--from", "TICKET", "take effect, targets, level and agent from it", dest="ticket"),
    argument("--effect", "WORD", "such as remove"),
    argument("--target", "TARGET", "a path or name; `/**` at its end means below it", action="append"),
    argument("--ceiling", help="the highest level that it covers", choices=LEVELS),
    argument("--count", "N", "how often (default: once)", type=int),
    argument("--for", "TIME", "how long, such as 30m or 2h (default: 1h)", "1h", dest="lasts"),
    argument("--why", "WORDS", "goes on the record", required=True),
    argument("--environment", "NAME", "such as staging"),
    flag("--any-session", "not only in the session of the ticket"),
    OPERATOR,
)
def _add(args: Args) -> int:
    seconds = parse_duration(args.lasts)
    if not args.ticket and not (args.effect and args.target):
        raise CommandError("a grant needs --from TICKET, or --effect and --target", USAGE)
    id = find_ticket(daemon(args), args.ticket, OPEN, all_seen=False) if args.ticket else None
    with operator_session(args) as operator:
        id = id or (find_ticket(operator, args.ticket, OPEN) if args.ticket else None)
        offered = operator.get(f"/tickets/{path_segment(id)}/grant") if id else {}
        given = _terms(args, offered, seconds)
        lines: list[Line] = [
            (StyledText(f"{key:<12}", "dim"), StyledText(_shown(value)))
            for key, value in given.items()
            if key != "seconds"
        ]
        say(
            [
                (StyledText("Allows beforehand", "heading"),),
                *lines,
                (StyledText(f"{'for':<12}", "dim"), StyledText(format_span(seconds))),
            ],
            args.json,
        )
        if not confirm("\nGrant this?"):
            raise CommandError("nothing was granted")
        made = operator.post("/grants", given)
    id = short_id(str(made.get("id", "")))
    return report(args, made, f"Granted: {id}. Take it back with `interlock revoke {id}`.")


def _terms(args: Args, offered: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    given = {key: offered[key] for key in _FIELDS if offered.get(key)}
    said = {
        "effect": args.effect,
        "targets": args.target,
        "ceiling": args.ceiling,
        "count": args.count,
        "environment": args.environment,
    }
    given |= {key: value for key, value in said.items() if value}
    if args.any_session:
        given.pop("session", None)
    return {**given, "why": args.why, "seconds": seconds}


@main.word(
    "revoke", "a grant that counts no more", "interlock grants revoke grant_x1Y2", argument("id", "GRANT"), OPERATOR
)
def revoke_grant(args: Args) -> int:
    """Revoke the grant whose id begins with the argument."""
    with operator_session(args) as operator:
        id = find_row(list_rows(operator.get("/grants"), "grants"), args.id, "grant")
        gone = operator.call("DELETE", f"/grants/{path_segment(id)}")
    return report(args, gone, f"Revoked: {short_id(id)} counts no more.")


def _covers(grant: Mapping[str, Any]) -> str:
    count = len(grant.get("digests") or ())
    exactly = "" if not count else "only this very action" if count == 1 else f"a plan of {count} actions"
    if not grant.get("targets"):
        return exactly
    named = f"{grant.get('effect', '')}: {_shown(grant['targets'])}"
    return f"{named} ({exactly})" if exactly else named


def _shown(value: object) -> str:
    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))
