"""`interlock audit`: the record: its end, a search, an export, what it proves, and figures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import FAILED, OK, defaulted, listed, run, say, say_json, say_table, signs, words

if TYPE_CHECKING:
    from interlock.core.explain import Line
    from interlock.doors.client import Daemon

EVERY = 2.0  # seconds
_EXAMPLES = """
interlock audit tail --follow
interlock audit search 'git push' --since 2d
interlock audit search --event OPERATION_DENIED --since 2026-01-28T12:00
interlock audit export --format csv > audit.csv
interlock audit verify
interlock audit stats
"""
_STYLES = {
    "OPERATION_ALLOWED": "allow",
    "CONFIRMATION_GRANTED": "allow",
    "OPERATION_DENIED": "deny",
    "CONFIRMATION_REQUIRED": "ask",
}
Record = Mapping[str, Any]


def main(argv: Sequence[str]) -> int:
    """Answer one of tail, search, export, verify and stats."""
    parser, add = words(
        "audit", "What was asked, answered and done: a chain that shows when it was altered.", _EXAMPLES
    )
    tail = add("tail", "the newest records", "interlock audit tail -n 50 --follow")
    tail.add_argument("-n", type=int, default=20, metavar="N", help="how many (default: 20)")
    tail.add_argument("--follow", "-f", action="store_true", help="go on until Ctrl-C")
    search = add("search", "records by text, event and time", "interlock audit search 'DROP TABLE' --since 7d")
    search.add_argument("text", nargs="?", default="", metavar="TEXT", help="anywhere in the record")
    search.add_argument("--event", default="", metavar="NAME", help="such as OPERATION_DENIED or approve")
    search.add_argument("--since", metavar="TIME", help="2h, 7d (ago), or 2026-01-28T12:00")
    search.add_argument("--until", metavar="TIME", help="the same")
    search.add_argument("-n", type=int, default=100, metavar="N", help="at most so many (default: 100)")
    export = add(
        "export", "the whole record, for other programs", "interlock audit export --format jsonl > audit.jsonl"
    )
    export.add_argument(
        "--format", choices=("jsonl", "csv"), default="jsonl", help="default: jsonl, which can be replayed"
    )
    export.add_argument("--output", "-o", metavar="FILE", help="default: standard output")
    verify = add("verify", "whether the record was altered; exits 1 where it was", "interlock audit verify")
    stats = add("stats", "how much was asked, held, approved, rejected", "interlock audit stats --json")
    for one in (tail, search, export, verify, stats):
        signs(one)
    args = parser.parse_args(defaulted(argv, "tail"))
    return run("audit", _WORDS[args.word], args)


def _tail(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found = _records(operator, limit=args.n, newest=True)[::-1]
        _print(found, args.json and not args.follow, args.json)
        while args.follow:
            time.sleep(EVERY)
            seen = {(record.get("writer"), record.get("seq")) for record in found}
            found = _records(operator, limit=500, newest=True)[::-1]
            new = [record for record in found if (record.get("writer"), record.get("seq")) not in seen]
            _print(new, False, args.json)
    return OK


def _search(args: argparse.Namespace) -> int:
    from interlock.doors.cli.moments import point, utc
    from interlock.doors.cli.signing import signed_in

    times = {name: utc(point(given)) for name, given in (("since", args.since), ("until", args.until)) if given}
    with signed_in(args, reading=True) as operator:
        found = _records(operator, text=args.text, event=args.event, limit=args.n, newest=True, **times)[::-1]
    _print(found, args.json, False)
    if not found and not args.json:
        print("Nothing was found.")
    return OK


def _records(operator: Daemon, **query: Any) -> list[Record]:
    return listed(operator.get("/audit", **query), "records")


def _print(found: Sequence[Record], as_list: bool, as_lines: bool) -> None:
    if as_list:
        say_json(found)
    elif as_lines:
        for record in found:
            print(json.dumps(record), flush=True)
    else:
        say(map(record_line, found))


def record_line(record: Record) -> Line:
    """One record in one line."""
    from interlock.core.excerpt import visible
    from interlock.core.explain import Part
    from interlock.doors.cli.moments import clock

    event, body = str(record.get("event", "")), record.get("body")
    body = body if isinstance(body, Mapping) else {}
    return (
        Part(f"{record.get('writer')}/{record.get('seq')}  {clock(record.get('at'))}  ", "dim"),
        Part(f"{event:<22}", _STYLES.get(event, "heading")),
        Part(visible(_told(body))),
    )


def _told(body: Mapping[str, Any]) -> str:
    """One line of what a record says."""
    from interlock.service.replaying import agent, title

    if "danger_level" in body:
        ticket = f"  {body['ticket']}" if body.get("ticket") else ""
        return f"{body.get('decision', '')}  {title(body)}  ({body.get('level', '')}; {agent(body)}){ticket}"
    skipped = {"timestamp", "by", "digest", "key_id"}
    rest = ", ".join(
        f"{key} {_short(value)}"
        for key, value in body.items()
        if key not in skipped and value not in ("", None, [], {})
    )
    return f"by {body.get('by', '')}" + (f": {rest}" if rest else "")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def _export(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        lines = operator.lines("/audit/export", format=args.format)
        if args.output:
            with open(args.output, "x", encoding="utf-8") as out:
                count = _copied(lines, out)
            print(f"{count} lines in {args.output}", file=sys.stderr)
        else:
            _copied(lines, sys.stdout)
    return OK


def _copied(lines: Iterable[str], out: Any) -> int:
    count = 0
    for line in lines:
        out.write(line + "\n")
        count += 1
    return count


def _verify(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found = operator.get("/audit/verify", 600.0)
    if args.json:
        say_json(found)
    else:
        say(_verdict(found))
    return OK if found.get("ok") else FAILED


def _verdict(found: Mapping[str, Any]) -> Iterable[Line]:
    from interlock.core.excerpt import visible
    from interlock.core.explain import Part
    from interlock.doors.cli.moments import clock

    if found.get("ok"):
        yield (
            Part("Whole: ", "allow"),
            Part(f"{found.get('records', 0)} records, none altered, missing or out of order."),
        )
    for fault in found.get("faults") or ():
        where = f"{fault.get('writer') or 'checkpoint'}/{fault.get('seq')}"
        yield (
            Part(f"{str(fault.get('what', '')).capitalize()}: ", "deny"),
            Part(f"{where}, {visible(str(fault.get('words', '')))}"),
        )
    if found.get("provedUntil"):
        yield (Part(f"Signed until {clock(found['provedUntil'])}; {found.get('unproved', 0)} records since then."),)
    else:
        yield (Part("No checkpoint was signed yet, so nothing is proved.", "dim"),)
    for note in found.get("notes") or ():
        yield (Part(visible(str(note)), "dim"),)


def _stats(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found = operator.get("/metrics")
    if args.json:
        say_json(found)
        return OK
    plain = [(_spelled(key), str(value)) for key, value in found.items() if not isinstance(value, Mapping)]
    say_table(("what", "how many"), plain, "")
    for key in ("bySeverity", "byCategory"):
        rows = [(str(name), str(count)) for name, count in (found.get(key) or {}).items() if count]
        if rows:
            print()
            say_table((_spelled(key), "how many"), rows, "")
    return OK


def _spelled(name: str) -> str:
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name)


_WORDS = {"tail": _tail, "search": _search, "export": _export, "verify": _verify, "stats": _stats}
