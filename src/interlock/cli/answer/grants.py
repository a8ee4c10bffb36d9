"""`interlock grants`, `allow` and `deny`: grants and standing answers, shown with their effect on the record before they are signed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.analysis.display_text import Lines, labelled, line, short_id, visible
from interlock.approvals.rendering import OPEN
from interlock.cli.command import (
    Args,
    CommandError,
    CommandWords,
    Row,
    UsageError,
    command,
    daemon,
    find_grant,
    find_ticket,
    parse_duration,
    wrong_usage,
)
from interlock.cli.output import pluralize, report, say
from interlock.cli.sign_in import confirm, operator_rows, operator_session
from interlock.client import path_segment
from interlock.local_times import ago, format_span
from interlock.policy.patterns import Glob, PatternSyntax

_FIELDS = ("effect", "targets", "environment", "ceiling", "count", "principal", "name", "session", "digests")


main = CommandWords(__name__)


@main.word
def _list(args: Args) -> int:
    found = operator_rows(args, "grants")
    return report(args, found, _blocks(found))


def _blocks(found: Sequence[Row]) -> Lines:
    if not found:
        yield line("No grant counts now.")
    for grant in found:
        who = " ".join(filter(None, (grant["principal"], grant["name"]))) or "any agent"
        session = f" in session {grant['session']}" if grant["session"] else ""
        if grant["effect"] in ("allow", "deny"):  # a pattern
            ends = "until it is taken back"
            covers = f"{grant['effect']} {_shown(grant['targets'])}, by any agent"
        else:
            ends = f"{pluralize(grant['remaining'], 'time')}, ends {ago(grant['expiresAt'])}"
            covers = f"{_covers(grant)}, up to {grant['ceiling']}, by {visible(who + session)}"
        yield line(short_id(grant["id"]), "heading") + line(f"  {ends}")
        yield line(f"    {covers}", "command")
        yield line(f"    {grant['by']}: {grant['why']}", "dim")


@main.word
def _add(args: Args) -> int:
    seconds = parse_duration(args.lasts)
    if not args.ticket and not (args.effect and args.target):
        raise UsageError("a grant needs --from TICKET, or --effect and --target")
    id = find_ticket(daemon(args), args.ticket, OPEN, all_seen=False) if args.ticket else None
    with operator_session(args) as operator:
        id = id or (find_ticket(operator, args.ticket, OPEN) if args.ticket else None)
        offered = operator.get(f"/tickets/{path_segment(id)}/grant") if id else {}
        given = _terms(args, offered, seconds)
        shown = {key: value for key, value in given.items() if key != "seconds"} | {"for": format_span(seconds)}
        lines = [labelled(key, _shown(value), width=12) for key, value in shown.items()]
        say([line("Allows beforehand", "heading"), *lines], args.json)
        if not confirm("\nGrant this?"):
            raise CommandError("nothing was granted")
        made = operator.post("/grants", given)
    id = short_id(made["id"])
    return report(args, made, f"Granted: {id}. Take it back with `interlock revoke {id}`.")


def _terms(args: Args, offered: Row, seconds: int) -> dict[str, Any]:
    given = {key: offered[key] for key in _FIELDS if offered.get(key)}
    said = {key: getattr(args, key) for key in ("effect", "ceiling", "count", "environment")} | {"targets": args.target}
    given |= {key: value for key, value in said.items() if value}
    if args.any_session:
        given.pop("session", None)
    return {**given, "why": args.why, "seconds": seconds}


@main.word
def revoke_grant(args: Args) -> int:
    with operator_session(args) as operator:
        id = find_grant(operator, args.id)
        gone = operator.call("DELETE", f"/grants/{id}")
    return report(args, gone, f"Revoked: {short_id(id)} counts no more.")


def _covers(grant: Row) -> str:
    count = len(grant["digests"])
    exactly = "" if not count else "only this very action" if count == 1 else f"a plan of {count} actions"
    if not grant["targets"]:
        return exactly
    return f"{grant['effect']}: {_shown(grant['targets'])}" + (f" ({exactly})" if exactly else "")


def _shown(value: object) -> str:
    return visible(", ".join(map(str, value)) if isinstance(value, list) else str(value))


SHOWN = 5


@command()
def allow_main(args: Args) -> int:
    return _answer("allow", args)


@command()
def deny_main(args: Args) -> int:
    return _answer("deny", args)


def _answer(verdict: str, args: Args) -> int:
    if args.pattern and args.list:
        args.fail("PATTERN or --list, not both")
    if not args.pattern:
        found = operator_rows(args, "standing")
        return report(args, found, _answer_blocks(found))
    with wrong_usage(PatternSyntax):
        Glob.of(args.pattern)
    seconds = parse_duration(args.lasts) if args.lasts else 0
    body = {"verdict": verdict, "pattern": args.pattern, "why": args.why, "seconds": seconds}
    with operator_session(args) as operator:
        say(_trial_lines(verdict, args.pattern, operator.post("/standing/trial", body)), to_errors=args.json)
        how_long = f"for {format_span(seconds)}" if seconds else "until you take it back"
        if not confirm(f"\n{verdict.capitalize()} {args.pattern!r} {how_long}?"):
            raise CommandError("nothing was changed")
        made = operator.post("/standing", body)
    id, done = short_id(made["id"]), "Allowed" if verdict == "allow" else "Denied"
    ways = f"`interlock revoke {id}` takes it back, `interlock {verdict} --list` shows them all."
    return report(args, made, f"{done}: {id}. {ways}")


def _answer_blocks(found: Sequence[Row]) -> Lines:
    if not found:
        yield line("Nothing is allowed or denied by a standing answer.")
    for one in found:
        verdict = one["verdict"]
        ends = "" if one["expiresAt"].startswith("9999") else f", ends {ago(one['expiresAt'])}"
        dead = "" if one["counts"] else "; does not count: nobody who may is known to have signed it"
        lead = line(f"{short_id(one['id'])}  ", "heading")
        yield lead + line(f"{verdict:<6}", verdict) + line(one["pattern"], "command")
        yield line(f"    {one['by']}: {one['why']}{ends}{dead}", "dim")
    if found:
        yield ()
        yield line("`interlock revoke ID` takes one back.")


def _trial_lines(verdict: str, pattern: str, found: Row) -> Lines:
    changed, unchanged = found["changed"], found["unchanged"]
    yield line(f"{verdict} ", "heading") + line(pattern, "command")
    yield ()
    records, does = pluralize(found["records"], "recorded action"), "denied" if verdict == "deny" else "let pass"
    yield line(f"Of the last {records} it would have {does} {changed}.")
    yield from _rows(found["examples"], changed)
    if unchanged:
        otherwise = "denied anyway" if verdict == "deny" else "answered as before"
        lead, are = "It also matches" if changed else "It matches", "is" if unchanged == 1 else "are"
        yield line(f"{lead} {pluralize(unchanged, 'action')} that {are} {otherwise}:")
        yield from _rows(found["others"], unchanged)
    if verdict == "allow":
        yield ()
        words = "It reaches safe, reversible and destructive actions that can be undone; dangerous and forbidden ones, and what"
        yield line(f"{words} cannot be undone, are asked about as before.", "dim")


def _rows(rows: Sequence[Row], count: int) -> Lines:
    shown = rows[:SHOWN]
    for one in shown:
        before, after = one["before"], one["after"]
        change = line(f"  {after if before == after else f'{before} -> {after}':<18}", "dim")
        yield change + line(f"{one['level']:<12}") + line(visible(one["title"])[:100], "command")
        if before == after and one["why"]:
            yield line(f"  {'':<30}{visible(one['why'])[:110]}", "dim")
    if count > len(shown) > 0:
        yield line(f"  … and {count - len(shown)} more", "dim")
