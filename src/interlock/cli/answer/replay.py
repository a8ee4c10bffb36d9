"""`interlock replay`: repeats recorded decisions with the pure core and reports each one that differs by a byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interlock.analysis.display_text import Line, StyledText, visible
from interlock.audit.chain import body_of
from interlock.audit.search import is_attempt, record_title
from interlock.cli.answer.audit import read_records
from interlock.cli.arguments import OPERATOR, Args, argument
from interlock.cli.command import (
    FAILED,
    OK,
    TICKET,
    CommandError,
    command,
    id_prefix,
    pluralize,
    report,
    say,
    settings,
)
from interlock.engine.replay import ReplayedDecision, replay_policy, replay_record
from interlock.local_times import clock

if TYPE_CHECKING:
    from interlock.records import AuditRow

UNREPLAYABLE = 4
SHOWN = 20  # decisions that did not come out alike
_EXAMPLES = """
interlock replay pdact_7Qm2           the decisions about one ticket
interlock replay main/42              one record, by its writer and number
interlock replay all --from export.jsonl
"""
_EXITS = (
    "exit codes: 0 all come out alike, 1 one does not, 4 some cannot be made again, 2 wrong usage, 3 no daemon answers"
)
_STYLES = {"agrees": "allow", "differs": "deny", "cannot": "ask"}


@command(
    "replay",
    "Judge recorded actions again from the facts in the record, with the rules and the policy in force, and compare.",
    _EXAMPLES,
    argument("id", "ID", "a ticket, WRITER/NUMBER of a record, or `all`"),
    argument("--from", "FILE", "an export instead of the daemon", "audit", dest="source"),
    OPERATOR,
    exits=_EXITS,
)
def main(args: Args) -> int:
    """Replay the decisions that an id names."""
    by = replay_policy(settings(args))
    results = [
        replay_record(row, by) for row in read_records(args, args.source) if is_attempt(row) and _named(row, args.id)
    ]
    if not results:
        raise CommandError(f"the record has no decision about {args.id!r}")
    counts = {word: sum(one.verdict == word for one in results) for word in _STYLES}
    body = {"decisions": len(results), **counts, "results": [_json(one) for one in results]}
    code = FAILED if counts["differs"] else UNREPLAYABLE if counts["cannot"] else OK
    return report(args, body, lambda: _print_results(results, counts), code)


def _named(row: AuditRow, id: str) -> bool:
    if id in ("all", f"{row.writer}/{row.seq}"):
        return True
    begins = id_prefix(id, TICKET)
    return begins in row.body and str(body_of(row).get("ticket", "")).startswith(begins)


def _print_results(results: list[ReplayedDecision], counts: dict[str, int]) -> None:
    few = len(results) <= SHOWN
    shown = [one for one in results if few or one.verdict != "agrees"][-SHOWN:]
    width = max((len(_place(one)) for one in shown), default=0)
    for one in shown:
        say(_lines(one, width))
    said = f"{counts['agrees']} come out alike, {counts['differs']} differ, {counts['cannot']} cannot be made again"
    print(f"{pluralize(len(results), 'decision')}: {said}")


def _place(one: ReplayedDecision) -> str:
    return f"{one.row.writer}/{one.row.seq}"


def _lines(one: ReplayedDecision, width: int) -> Iterator[Line]:
    row, body = one.row, body_of(one.row)
    lead = StyledText(f"{one.verdict:<8}", _STYLES[one.verdict])
    yield (
        lead,
        StyledText(f"{_place(one):<{width}}  {clock(row.at)}  {body.get('level', ''):<11}  "),
        StyledText(visible(record_title(body)), "command"),
    )
    if one.why:
        now = f"; today: {one.word}" if one.word else ""
        yield (StyledText(f"        {visible(one.why)}{now}", "dim"),)
    for key, (then, now) in one.differences.items():
        yield (
            StyledText(f"        {key}: ", "dim"),
            StyledText(f"recorded {visible(str(then))}, made again {visible(str(now))}"),
        )


def _json(one: ReplayedDecision) -> dict[str, Any]:
    differences = {key: {"recorded": then, "again": now} for key, (then, now) in one.differences.items()}
    return {
        "writer": one.row.writer, "seq": one.row.seq, "at": one.row.at, "verdict": one.verdict, "why": one.why,
        "asks": one.word, "differences": differences,
    }  # fmt: skip
