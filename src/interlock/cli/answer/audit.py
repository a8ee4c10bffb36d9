"""`interlock audit` and `replay`: searches, exports, verifies and counts the record, and decides again with the pure core."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from interlock.analysis.display_text import Line, Lines, line
from interlock.audit.chain import body_of
from interlock.audit.export import ExportComparison, compare_export, from_jsonl
from interlock.audit.search import describe_record, is_attempt, record_title
from interlock.cli.command import (
    FAILED,
    OK,
    TICKET,
    Args,
    CommandError,
    CommandWords,
    Row,
    command,
    id_prefix,
    list_of,
    parse_time,
    settings,
)
from interlock.cli.output import pluralize, report, report_table, say, say_json, say_table
from interlock.cli.sign_in import operator_session
from interlock.client import DaemonClient
from interlock.engine.replay import ReplayedDecision, replay_policy, replay_record
from interlock.local_times import clock
from interlock.records import AuditRow
from interlock.times import iso

_UNSIGNED = "Not signed yet: the daemon signs every audit.checkpoint_minutes and when it stops. Until then the chain alone speaks."
_STYLES = {
    "OPERATION_ALLOWED": "allow",
    "CONFIRMATION_GRANTED": "allow",
    "OPERATION_DENIED": "deny",
    "CONFIRMATION_REQUIRED": "ask",
}


main = CommandWords(__name__)


@main.word
def _tail(args: Args) -> None:
    with operator_session(args, reading=True) as operator:
        found = _records(operator, limit=args.n)
        _print(found, args.json and not args.follow, args.json)
        while args.follow:
            time.sleep(2.0)
            seen = set(map(place, found))
            found = _records(operator, limit=500)
            _print([record for record in found if place(record) not in seen], False, args.json)


@main.word
def _search(args: Args) -> None:
    times = {name: iso(parse_time(given)) for name, given in (("since", args.since), ("until", args.until)) if given}
    with operator_session(args, reading=True) as operator:
        found = _records(operator, text=args.text, event=args.event, limit=args.n, **times)
    _print(found, args.json, False)
    if not found and not args.json:
        print("Nothing was found.")


def _records(operator: DaemonClient, **query: Any) -> list[Row]:
    return list_of(operator, "audit", "records", newest=True, **query)[::-1]


def _print(found: Sequence[Row], as_list: bool, as_lines: bool) -> None:
    if as_list:
        say_json(found)
    elif as_lines:
        for record in found:
            print(json.dumps(record), flush=True)
    else:
        width = max((len(place(record)) for record in found), default=0)
        say(record_line(record, width) for record in found)


def place(record: Row) -> str:
    return f"{record['writer']}/{record['seq']}"


def record_line(record: Row, width: int = 0) -> Line:
    event, body = record["event"], record["body"]
    return (
        line(f"{place(record):<{width}}  {clock(record['at'])}  ", "dim")
        + line(f"{event:<22}", _STYLES.get(event, "heading"))
        + line(describe_record(body if isinstance(body, Mapping) else {}))
    )


@main.word
def _export(args: Args) -> None:
    with operator_session(args, reading=True) as operator:
        lines = operator.lines("/audit/export", format=args.format)
        count = 0
        with open(args.output, "x", encoding="utf-8") if args.output else nullcontext(sys.stdout) as out:
            for count, text in enumerate(lines, 1):  # noqa: B007
                out.write(text + "\n")
    if args.output:
        print(f"{count} lines in {args.output}", file=sys.stderr)


@main.word
def _verify(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found = operator.get("/audit/verify", 600.0)
        comparison = None
        if args.against:
            comparison = compare_export(records_of_file(Path(args.against)), _records_of_daemon(operator))
    body = found | ({"against": asdict(comparison) | {"ok": comparison.ok}} if comparison else {})
    lines = [*_verdict(found), *(_comparison_lines(args.against, comparison) if comparison else ())]
    return report(args, body, lines, found["ok"] and (comparison is None or comparison.ok))


def _comparison_lines(path: str, comparison: ExportComparison) -> Iterable[Line]:
    if not comparison.ok:
        yield line("Missing: ", "deny") + line(f"{comparison.gone}, which {path} has, {comparison.words}.")
        return
    pruned = f"; {pluralize(comparison.pruned, 'record')} pruned by age" if comparison.pruned else ""
    words = f"all of {path} is still there: {pluralize(comparison.same, 'record')}{pruned}."
    yield line("Complete: ", "allow") + line(words)


def _verdict(found: Row) -> Iterable[Line]:
    if found["ok"]:
        words = f"{pluralize(found['records'], 'record')}, none altered, missing or out of order."
        yield line("Whole: ", "allow") + line(words)
    for fault in found["faults"]:
        where = f"{fault['writer'] or 'checkpoint'}/{fault['seq']}"
        yield line(f"{fault['what'].capitalize()}: ", "deny") + line(f"{where}, {fault['words']}")
    if signed := found["provedUntil"]:
        yield line(f"Signed until {clock(signed)}; {pluralize(found['unproved'], 'record')} since then.")
    else:
        yield line(_UNSIGNED if found["ok"] else "No signature proves any of it as it stands now.", "dim")
    if touched := found["touchedUntil"]:
        yield line(
            f"Proved by a passkey until {clock(touched)}: {pluralize(found['touches'], 'approval')} signed by touch."
        )
    for note in found["notes"]:
        if signed or "no checkpoint" not in note:  # that matters where others are signed
            yield line(note, "dim")


@main.word
def _stats(args: Args) -> None:
    with operator_session(args, reading=True) as operator:
        found = operator.get("/metrics")
    plain = [(_spell_name(key), value) for key, value in found.items() if not isinstance(value, Mapping)]
    report_table(args, found, ("what", "how many"), plain, "")
    for key in ("bySeverity", "byCategory"):
        rows = [(name, count) for name, count in found[key].items() if count]
        if rows and not args.json:
            print()
            say_table((_spell_name(key), "how many"), rows)


def _spell_name(name: str) -> str:
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name)


def read_records(args: Args, source: str) -> Iterator[AuditRow]:
    if source != "audit":
        yield from records_of_file(Path(source))
        return
    with operator_session(args, reading=True) as operator:
        yield from _records_of_daemon(operator)


def _records_of_daemon(operator: DaemonClient) -> Iterator[AuditRow]:
    return parse_records(operator.lines("/audit/export", format="jsonl"), "the daemon")


def records_of_file(path: Path) -> Iterator[AuditRow]:
    try:
        with path.open(encoding="utf-8") as lines:
            yield from parse_records(lines, str(path))
    except UnicodeDecodeError:
        raise CommandError(f"{path}: not UTF-8; expected what `interlock audit export --format jsonl` wrote") from None


def parse_records(lines: Iterable[str], where: str) -> Iterator[AuditRow]:
    for number, text in enumerate(lines, 1):
        try:
            if text.strip():
                yield from_jsonl(text)
        except (ValueError, RecursionError) as error:
            raise CommandError(f"{where}, line {number}: {str(error)[:200]}") from None


UNREPLAYABLE = 4
SHOWN = 20  # decisions that did not come out alike
_VERDICT_STYLES = {"agrees": "allow", "differs": "deny", "cannot": "ask"}


@command()
def replay_main(args: Args) -> int:
    by, rows = replay_policy(settings(args)), read_records(args, args.source)
    results = [replay_record(row, by) for row in rows if is_attempt(row) and _named(row, args.id)]
    if not results:
        raise CommandError(f"the record has no decision about {args.id!r}")
    counts = {word: sum(one.verdict == word for one in results) for word in _VERDICT_STYLES}
    body = {"decisions": len(results), **counts, "results": [_json(one) for one in results]}
    report(args, body, lambda: _print_results(results, counts))
    return FAILED if counts["differs"] else UNREPLAYABLE if counts["cannot"] else OK


def _place(row: AuditRow) -> str:
    return f"{row.writer}/{row.seq}"


def _named(row: AuditRow, id: str) -> bool:
    if id in ("all", _place(row)):
        return True
    begins = id_prefix(id, TICKET)
    return begins in row.body and str(body_of(row).get("ticket", "")).startswith(begins)


def _print_results(results: list[ReplayedDecision], counts: dict[str, int]) -> None:
    few = len(results) <= SHOWN
    shown = [one for one in results if few or one.verdict != "agrees"][-SHOWN:]
    width = max((len(_place(one.row)) for one in shown), default=0)
    for one in shown:
        say(_lines(one, width))
    said = f"{counts['agrees']} come out alike, {counts['differs']} differ, {counts['cannot']} cannot be made again"
    print(f"{pluralize(len(results), 'decision')}: {said}")


def _lines(one: ReplayedDecision, width: int) -> Lines:
    row, body = one.row, body_of(one.row)
    lead = line(f"{one.verdict:<8}", _VERDICT_STYLES[one.verdict])
    where = line(f"{_place(row):<{width}}  {clock(row.at)}  {body.get('level', ''):<11}  ")
    yield lead + where + line(record_title(body), "command")
    if one.why:
        now = f"; today: {one.word}" if one.word else ""
        yield line(f"        {one.why}{now}", "dim")
    for key, (then, now) in one.differences.items():
        yield line(f"        {key}: ", "dim") + line(f"recorded {then}, made again {now}")


def _json(one: ReplayedDecision) -> dict[str, Any]:
    differences = {key: {"recorded": then, "again": now} for key, (then, now) in one.differences.items()}
    return {
        "writer": one.row.writer, "seq": one.row.seq, "at": one.row.at, "verdict": one.verdict, "why": one.why,
        "asks": one.word, "differences": differences,
    }  # fmt: skip
