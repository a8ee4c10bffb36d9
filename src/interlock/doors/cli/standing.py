"""A person's standing answer to a pattern: shown with what it would have changed, then signed; and the list of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import OK, Stop, command, counted, listed, run, say, say_json, signs

if TYPE_CHECKING:
    from interlock.core.styled import Line

_ABOUT = {
    "allow": "Let pass what a pattern meets, without a question, until you take it back (`interlock revoke`). It reaches single\n"
    "actions up to level destructive that can be undone; never what is dangerous or forbidden, cannot be undone, or what a\n"
    "deny or approval pattern speaks of.",
    "deny": "Refuse what a pattern meets, whoever asks and whatever its level, until you take it back (`interlock revoke`).",
}
_EXAMPLES = {
    "allow": "interlock allow 'git branch -D tmp/*'\ninterlock allow 'Bash:npm run reset*' --for 8h --why 'resetting fixtures'\n"
    "interlock allow --list",
    "deny": "interlock deny 'terraform destroy*'\ninterlock deny 'delete_backup*' --why 'ask ops'\ninterlock deny --list",
}
_DOES = {"allow": "let pass", "deny": "denied"}
SHOWN = 5


def standing(verdict: str, argv: Sequence[str]) -> int:
    """Try, ask, sign; without a pattern, list."""
    parser = command(verdict, _ABOUT[verdict], _EXAMPLES[verdict])
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", default="", help="as in a policy: docs/policies.md")
    parser.add_argument("--list", action="store_true", help="what is allowed and denied now (default without PATTERN)")
    parser.add_argument("--why", metavar="WORDS", default="", help="goes on the record")
    parser.add_argument(
        "--for", dest="lasts", metavar="TIME", default="", help="such as 8h or 7d (default: until revoked)"
    )
    signs(parser)
    args = parser.parse_args(list(argv))
    if args.pattern and args.list:
        parser.error("PATTERN or --list, not both")
    return run(verdict, (lambda args: _add(verdict, args)) if args.pattern else _list, args)


def _list(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found = listed(operator.get("/standing"), "standing")
    if args.json:
        say_json(found)
    else:
        say(_blocks(found))
    return OK


def _blocks(found: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    from interlock.core.excerpt import short, visible
    from interlock.core.styled import Part
    from interlock.moments import ago

    if not found:
        yield (Part("Nothing is allowed or denied by a standing answer."),)
    for one in found:
        verdict = str(one.get("verdict", ""))
        ends = "" if str(one.get("expiresAt", "")).startswith("9999") else f", ends {ago(one.get('expiresAt'))}"
        dead = "" if one.get("counts", True) else "; does not count: nobody who may is known to have signed it"
        yield (
            Part(f"{short(str(one.get('id', '')))}  ", "heading"),
            Part(f"{verdict:<6}", "allow" if verdict == "allow" else "deny"),
            Part(visible(str(one.get("pattern", ""))), "command"),
        )
        yield (Part(f"    {visible(str(one.get('by', '')))}: {visible(str(one.get('why', '')))}{ends}{dead}", "dim"),)
    if found:
        yield ()
        yield (Part("`interlock revoke ID` takes one back."),)


def _add(verdict: str, args: argparse.Namespace) -> int:
    from interlock.core.excerpt import short
    from interlock.core.patterns import Glob, PatternSyntax
    from interlock.doors.cli.moments import span
    from interlock.doors.cli.signing import agreed, signed_in
    from interlock.moments import lasting

    try:
        Glob.of(args.pattern)
    except PatternSyntax as error:
        raise Stop(str(error), 2) from None
    seconds = span(args.lasts) if args.lasts else 0
    body = {"verdict": verdict, "pattern": args.pattern, "why": args.why, "seconds": seconds}
    with signed_in(args) as operator:
        say(_tried(verdict, args.pattern, operator.post("/standing/trial", body)), to_errors=args.json)
        how_long = f"for {lasting(seconds)}" if seconds else "until you take it back"
        if not agreed(f"\n{verdict.capitalize()} {args.pattern!r} {how_long}?"):
            raise Stop("nothing was changed")
        made = operator.post("/standing", body)
    if args.json:
        say_json(made)
    else:
        id = short(str(made.get("id", "")))
        done = "Allowed" if verdict == "allow" else "Denied"
        print(f"{done}: {id}. `interlock revoke {id}` takes it back, `interlock {verdict} --list` shows them all.")
    return OK


def _tried(verdict: str, pattern: str, found: Mapping[str, Any]) -> Iterator[Line]:
    """What it would have changed of what really happened, and what it does not reach."""
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part

    changed, unchanged, records = (int(found.get(key) or 0) for key in ("changed", "unchanged", "records"))
    yield Part(f"{verdict} ", "heading"), Part(visible(pattern), "command")
    yield ()
    yield (Part(f"Of the last {counted(records, 'recorded action')} it would have {_DOES[verdict]} {changed}."),)
    yield from _rows(found.get("examples"), changed)
    if unchanged:
        kept = "denied anyway" if verdict == "deny" else "answered as before"
        yield (
            Part(
                f"{'It also meets' if changed else 'It meets'} {counted(unchanged, 'action')} that {_would(unchanged)} {kept}:"
            ),
        )
        yield from _rows(found.get("others"), unchanged)
    if verdict == "allow":
        yield ()
        words = "It reaches safe, reversible and destructive actions that can be undone; dangerous and forbidden ones, and what"
        yield (Part(f"{words} cannot be undone, are asked about as before.", "dim"),)


def _would(count: int) -> str:
    return "is" if count == 1 else "are"


def _rows(rows: object, count: int) -> Iterator[Line]:
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part

    shown = [one for one in rows if isinstance(one, Mapping)][:SHOWN] if isinstance(rows, list) else []
    for one in shown:
        change = (
            f"{one.get('before')} -> {one.get('after')}" if one.get("before") != one.get("after") else one.get("after")
        )
        yield (
            Part(f"  {change:<18}", "dim"),
            Part(f"{one.get('level', ''):<12}"),
            Part(visible(str(one.get("title", "")))[:100], "command"),
        )
        if one.get("before") == one.get("after") and one.get("why"):
            yield (Part(f"  {'':<30}{visible(str(one['why']))[:110]}", "dim"),)
    if count > len(shown) > 0:
        yield (Part(f"  … and {count - len(shown)} more", "dim"),)
