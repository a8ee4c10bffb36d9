"""`interlock audit`: the record: its end, a search, an export, what it proves, and figures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import (
    FAILED,
    OK,
    counted,
    defaulted,
    listed,
    run,
    say,
    say_json,
    say_table,
    signs,
    words,
)

if TYPE_CHECKING:
    from interlock.core.audit_compare import Compared
    from interlock.core.styled import Line
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
_UNSIGNED = "Not signed yet: the daemon signs every audit.checkpoint_minutes and when it stops. Until then the chain alone speaks."
_UNPROVED = "No signature proves any of it as it stands now."
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
    verify = add(
        "verify", "whether the record was altered; exits 1 where it was", "interlock audit verify --against kept.jsonl"
    )
    verify.add_argument(
        "--against", metavar="FILE", help="an export that was kept elsewhere: is all of it still there, as it was?"
    )
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
    from interlock.doors.cli.moments import point
    from interlock.doors.cli.signing import signed_in
    from interlock.moments import utc

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
        width = max((len(place(record)) for record in found), default=0)
        say(record_line(record, width) for record in found)


def place(record: Record) -> str:
    """Which one it is: `main/42`."""
    return f"{record.get('writer')}/{record.get('seq')}"


def record_line(record: Record, width: int = 0) -> Line:
    """One record in one line."""
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part
    from interlock.doors.cli.record_words import told
    from interlock.moments import clock

    event, body = str(record.get("event", "")), record.get("body")
    body = body if isinstance(body, Mapping) else {}
    return (
        Part(f"{place(record):<{width}}  {clock(record.get('at'))}  ", "dim"),
        Part(f"{event:<22}", _STYLES.get(event, "heading")),
        Part(visible(told(body))),
    )


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
        kept = _against(args.against, operator) if args.against else None
    if args.json:
        say_json(found | ({"against": asdict(kept) | {"ok": kept.ok}} if kept else {}))
    else:
        say([*_verdict(found), *(_kept(args.against, kept) if kept else ())])
    return OK if found.get("ok") and (kept is None or kept.ok) else FAILED


def _against(path: str, operator: Daemon) -> Compared:
    from interlock.core.audit_compare import compared
    from interlock.doors.cli.records import of_file, rows_of

    return compared(of_file(Path(path)), rows_of(operator.lines("/audit/export", format="jsonl"), "the daemon"))


def _kept(path: str, kept: Compared) -> Iterable[Line]:
    from interlock.core.styled import Part

    if not kept.ok:
        yield Part("Missing: ", "deny"), Part(f"{kept.gone}, which {path} has, {kept.words}.")
        return
    let_go = f"; {counted(kept.pruned, 'record')} let go by age" if kept.pruned else ""
    yield Part("Kept: ", "allow"), Part(f"all of {path} is still there: {counted(kept.same, 'record')}{let_go}.")


def _verdict(found: Mapping[str, Any]) -> Iterable[Line]:
    from interlock.core.excerpt import visible
    from interlock.core.styled import Part
    from interlock.moments import clock

    if found.get("ok"):
        yield (
            Part("Whole: ", "allow"),
            Part(f"{counted(int(found.get('records') or 0), 'record')}, none altered, missing or out of order."),
        )
    for fault in found.get("faults") or ():
        where = f"{fault.get('writer') or 'checkpoint'}/{fault.get('seq')}"
        yield (
            Part(f"{str(fault.get('what', '')).capitalize()}: ", "deny"),
            Part(f"{where}, {visible(str(fault.get('words', '')))}"),
        )
    if found.get("provedUntil"):
        since = counted(int(found.get("unproved") or 0), "record")
        yield (Part(f"Signed until {clock(found['provedUntil'])}; {since} since then."),)
    else:
        yield (Part(_UNSIGNED if found.get("ok") else _UNPROVED, "dim"),)
    if found.get("touchedUntil"):
        count = counted(int(found.get("touches") or 0), "approval")
        yield (Part(f"Proved by a passkey until {clock(found['touchedUntil'])}: {count} signed by touch."),)
    for note in _notes(found):
        yield (Part(visible(str(note)), "dim"),)


def _notes(found: Mapping[str, Any]) -> list[str]:
    """What else there is to say; that one writer is not signed yet only where others are."""
    return [
        str(note) for note in found.get("notes") or () if found.get("provedUntil") or "no checkpoint" not in str(note)
    ]


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
