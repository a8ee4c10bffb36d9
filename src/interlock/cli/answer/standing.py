"""`interlock allow` and `deny`: a standing answer to a pattern, shown with its effect on the record before it is signed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlock.analysis.display_text import Line, StyledText, short_id, visible
from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import CommandError, command, list_rows, parse_duration, pluralize, report, say
from interlock.cli.sign_in import confirm, operator_session
from interlock.local_times import ago, format_span
from interlock.policy.patterns import Glob, PatternSyntax

_DOES = {"allow": "let pass", "deny": "denied"}
SHOWN = 5


_ARGUMENTS = (
    argument("pattern", "PATTERN", "as in a policy: docs/guide/policies.md", "", nargs="?"),
    flag("--list", "what is allowed and denied now (default without PATTERN)"),
    argument("--why", "WORDS", "goes on the record", ""),
    argument("--for", "TIME", "such as 8h or 7d (default: until revoked)", "", dest="lasts"),
    OPERATOR,
)


@command(
    "allow",
    "Let pass what a pattern matches, without a question, until you take it back (`interlock revoke`). It reaches single\n"
    "actions up to level destructive that can be undone; never what is dangerous or forbidden, cannot be undone, or what a\n"
    "deny or approval pattern covers.",
    "interlock allow 'git branch -D tmp/*'\ninterlock allow 'Bash:npm run reset*' --for 8h --why 'resetting fixtures'\n"
    "interlock allow --list",
    *_ARGUMENTS,
)
def allow_main(args: Args) -> int:
    """Allow what a pattern matches, until it is revoked."""
    return _answer("allow", args)


@command(
    "deny",
    "Refuse what a pattern matches, whoever asks and whatever its level, until you take it back (`interlock revoke`).",
    "interlock deny 'terraform destroy*'\ninterlock deny 'delete_backup*' --why 'ask ops'\ninterlock deny --list",
    *_ARGUMENTS,
)
def deny_main(args: Args) -> int:
    """Deny what a pattern matches, until it is revoked."""
    return _answer("deny", args)


def _answer(verdict: str, args: Args) -> int:
    """Try a pattern on the record, ask, and sign; without a pattern, list the standing answers."""
    if args.pattern and args.list:
        args.fail("PATTERN or --list, not both")
    return _add(verdict, args) if args.pattern else _list(args)


def _list(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found = list_rows(operator.get("/standing"), "standing")
    return report(args, found, _blocks(found))


def _blocks(found: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    if not found:
        yield (StyledText("Nothing is allowed or denied by a standing answer."),)
    for one in found:
        verdict = str(one.get("verdict", ""))
        ends = "" if str(one.get("expiresAt", "")).startswith("9999") else f", ends {ago(one.get('expiresAt'))}"
        dead = "" if one.get("counts", True) else "; does not count: nobody who may is known to have signed it"
        yield (
            StyledText(f"{short_id(str(one.get('id', '')))}  ", "heading"),
            StyledText(f"{verdict:<6}", "allow" if verdict == "allow" else "deny"),
            StyledText(visible(str(one.get("pattern", ""))), "command"),
        )
        yield (
            StyledText(f"    {visible(str(one.get('by', '')))}: {visible(str(one.get('why', '')))}{ends}{dead}", "dim"),
        )
    if found:
        yield ()
        yield (StyledText("`interlock revoke ID` takes one back."),)


def _add(verdict: str, args: Args) -> int:
    try:
        Glob.of(args.pattern)
    except PatternSyntax as error:
        raise CommandError(str(error), 2) from None
    seconds = parse_duration(args.lasts) if args.lasts else 0
    body = {"verdict": verdict, "pattern": args.pattern, "why": args.why, "seconds": seconds}
    with operator_session(args) as operator:
        say(_trial_lines(verdict, args.pattern, operator.post("/standing/trial", body)), to_errors=args.json)
        how_long = f"for {format_span(seconds)}" if seconds else "until you take it back"
        if not confirm(f"\n{verdict.capitalize()} {args.pattern!r} {how_long}?"):
            raise CommandError("nothing was changed")
        made = operator.post("/standing", body)
    id, done = short_id(str(made.get("id", ""))), "Allowed" if verdict == "allow" else "Denied"
    said = f"`interlock revoke {id}` takes it back, `interlock {verdict} --list` shows them all."
    return report(args, made, f"{done}: {id}. {said}")


def _trial_lines(verdict: str, pattern: str, found: Mapping[str, Any]) -> Iterator[Line]:
    """The recorded decisions that the pattern would have changed, and the limits of its reach."""
    changed, unchanged, records = (int(found.get(key) or 0) for key in ("changed", "unchanged", "records"))
    yield StyledText(f"{verdict} ", "heading"), StyledText(visible(pattern), "command")
    yield ()
    yield (
        StyledText(f"Of the last {pluralize(records, 'recorded action')} it would have {_DOES[verdict]} {changed}."),
    )
    yield from _rows(found.get("examples"), changed)
    if unchanged:
        otherwise = "denied anyway" if verdict == "deny" else "answered as before"
        yield (
            StyledText(
                f"{'It also matches' if changed else 'It matches'} {pluralize(unchanged, 'action')} that {_are(unchanged)} {otherwise}:"
            ),
        )
        yield from _rows(found.get("others"), unchanged)
    if verdict == "allow":
        yield ()
        words = "It reaches safe, reversible and destructive actions that can be undone; dangerous and forbidden ones, and what"
        yield (StyledText(f"{words} cannot be undone, are asked about as before.", "dim"),)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _rows(rows: object, count: int) -> Iterator[Line]:
    shown = [one for one in rows if isinstance(one, Mapping)][:SHOWN] if isinstance(rows, list) else []
    for one in shown:
        change = (
            f"{one.get('before')} -> {one.get('after')}" if one.get("before") != one.get("after") else one.get("after")
        )
        yield (
            StyledText(f"  {change:<18}", "dim"),
            StyledText(f"{one.get('level', ''):<12}"),
            StyledText(visible(str(one.get("title", "")))[:100], "command"),
        )
        if one.get("before") == one.get("after") and one.get("why"):
            yield (StyledText(f"  {'':<30}{visible(str(one['why']))[:110]}", "dim"),)
    if count > len(shown) > 0:
        yield (StyledText(f"  … and {count - len(shown)} more", "dim"),)
