"""`interlock grants`: what was allowed beforehand: listed, made from a ticket, taken back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import (
    OK,
    USAGE,
    Stop,
    counted,
    daemon,
    defaulted,
    listed,
    run,
    say,
    say_json,
    signs,
    words,
)

if TYPE_CHECKING:
    from interlock.core.styled import Line

LEVELS = ("safe", "reversible", "destructive", "dangerous", "forbidden")
_EXAMPLES = """
interlock grants
interlock grants add --from 7Qm2 --count 5 --for 2h --why 'cleaning up the branch'
interlock grants add --effect remove --target '/srv/app/build/**' --ceiling destructive --for 1h --why 'build folder'
interlock grants revoke grant_x1Y2
"""
_FIELDS = ("effect", "targets", "environment", "ceiling", "count", "principal", "name", "session", "digests")


def main(argv: Sequence[str]) -> int:
    """Answer one of list, add and revoke."""
    parser, add = words(
        "grants", "Grants name an effect, its targets, a highest level, how often and until when.", _EXAMPLES
    )
    signs(add("list", "the grants that count", "interlock grants list --json"))
    made = add(
        "add",
        "allow something beforehand, best from a ticket",
        "interlock grants add --from 7Qm2 --for 2h --why …",
    )
    made.add_argument("--from", dest="ticket", metavar="TICKET", help="take effect, targets, level and agent from it")
    made.add_argument("--effect", metavar="WORD", help="such as remove")
    made.add_argument(
        "--target", action="append", metavar="TARGET", help="a path or name; `/**` at its end means below it"
    )
    made.add_argument("--ceiling", choices=LEVELS, help="the highest level that it covers")
    made.add_argument("--count", type=int, metavar="N", help="how often (default: once)")
    made.add_argument(
        "--for", dest="lasts", metavar="TIME", default="1h", help="how long, such as 30m or 2h (default: 1h)"
    )
    made.add_argument("--why", metavar="WORDS", required=True, help="goes on the record")
    made.add_argument("--environment", metavar="NAME", help="such as staging")
    made.add_argument("--any-session", action="store_true", help="not only in the session of the ticket")
    signs(made)
    gone = add("revoke", "a grant that counts no more", "interlock grants revoke grant_x1Y2")
    gone.add_argument("id", metavar="GRANT")
    signs(gone)
    args = parser.parse_args(defaulted(argv, "list"))
    return run("grants", {"list": _list, "add": _add, "revoke": revoke_grant}[args.word], args)


def _list(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found = listed(operator.get("/grants"), "grants")
    if args.json:
        say_json(found)
        return OK
    say(_blocks(found))
    return OK


def _blocks(found: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    from interlock.core.excerpt import short, visible
    from interlock.core.styled import Part
    from interlock.moments import ago

    if not found:
        yield (Part("No grant counts now."),)
    for grant in found:
        who = " ".join(str(grant[key]) for key in ("principal", "name") if grant.get(key)) or "any agent"
        session = f" in session {grant['session']}" if grant.get("session") else ""
        if grant.get("effect") in ("allow", "deny"):  # a pattern, until it is taken back
            yield Part(short(str(grant.get("id", ""))), "heading"), Part("  until it is taken back")
            yield (Part(f"    {grant['effect']} {_shown(grant.get('targets') or [])}, by any agent", "command"),)
            yield (Part(f"    {visible(str(grant.get('by', '')))}: {visible(str(grant.get('why', '')))}", "dim"),)
            continue
        uses = counted(int(grant.get("remaining") or 0), "time")
        yield Part(short(str(grant.get("id", ""))), "heading"), Part(f"  {uses}, ends {ago(grant.get('expiresAt'))}")
        yield (Part(f"    {_covers(grant)}, up to {grant.get('ceiling', '')}, by {visible(who + session)}", "command"),)
        yield (Part(f"    {visible(str(grant.get('by', '')))}: {visible(str(grant.get('why', '')))}", "dim"),)


def _add(args: argparse.Namespace) -> int:
    from interlock.core.excerpt import short
    from interlock.core.styled import Part
    from interlock.doors.cli.moments import span
    from interlock.doors.cli.naming import one_ticket
    from interlock.doors.cli.signing import agreed, signed_in
    from interlock.doors.cli.ticket_words import OPEN
    from interlock.doors.client import part
    from interlock.moments import lasting

    seconds = span(args.lasts)
    if not args.ticket and not (args.effect and args.target):
        raise Stop("a grant needs --from TICKET, or --effect and --target", USAGE)
    id = one_ticket(daemon(args), args.ticket, OPEN, all_seen=False) if args.ticket else None
    with signed_in(args) as operator:
        id = id or (one_ticket(operator, args.ticket, OPEN) if args.ticket else None)
        offered = operator.get(f"/tickets/{part(id)}/grant") if id else {}
        given = _terms(args, offered, seconds)
        lines: list[Line] = [
            (Part(f"{key:<12}", "dim"), Part(_shown(value))) for key, value in given.items() if key != "seconds"
        ]
        say(
            [(Part("Allows beforehand", "heading"),), *lines, (Part(f"{'for':<12}", "dim"), Part(lasting(seconds)))],
            args.json,
        )
        if not agreed("\nGrant this?"):
            raise Stop("nothing was granted")
        made = operator.post("/grants", given)
    if args.json:
        say_json(made)
    else:
        id = short(str(made.get("id", "")))
        print(f"Granted: {id}. Take it back with `interlock revoke {id}`.")
    return OK


def _terms(args: argparse.Namespace, offered: Mapping[str, Any], seconds: int) -> dict[str, Any]:
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


def revoke_grant(args: argparse.Namespace) -> int:
    """Takes back the grant whose id begins so."""
    from interlock.core.excerpt import short
    from interlock.doors.cli.naming import one_of
    from interlock.doors.cli.signing import signed_in
    from interlock.doors.client import part

    with signed_in(args) as operator:
        id = one_of(listed(operator.get("/grants"), "grants"), args.id, "grant")
        gone = operator.call("DELETE", f"/grants/{part(id)}")
    if args.json:
        say_json(gone)
    else:
        print(f"Revoked: {short(id)} counts no more.")
    return OK


def _covers(grant: Mapping[str, Any]) -> str:
    count = len(grant.get("digests") or ())
    exactly = "" if not count else "only this very action" if count == 1 else f"a plan of {count} actions"
    if not grant.get("targets"):
        return exactly
    named = f"{grant.get('effect', '')}: {_shown(grant['targets'])}"
    return f"{named} ({exactly})" if exactly else named


def _shown(value: object) -> str:
    from interlock.core.excerpt import visible

    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))
