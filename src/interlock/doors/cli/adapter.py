"""`interlock adapter`: of files, `check` says every operation with its level and where it came from, every problem with its line."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.adapters import Adapter, Located, Operation, Reading, read_file
from interlock.core.excerpt import visible
from interlock.core.levels import EffectiveLevel, Named, effective_level
from interlock.core.styled import Line, Part
from interlock.core.trust import CLAIMED, Trust, current
from interlock.core.trust_gate import gate
from interlock.doors.cli.adapter_trust import add_words

_EPILOG = """\
examples:
  interlock adapter check examples/github-adapter.md
  interlock adapter check adapters/*.yaml --json
  interlock adapter list
  interlock adapter trust github community_reviewed --reason 'read by ana and bo'

exit code: 0 if every file can be used, 1 if one has errors, 2 on wrong usage, 3 if no daemon answers
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One operation, judged."""

    operation: Operation
    found: EffectiveLevel
    passes: str  # what the matrix says of it at the adapter's trust

    @property
    def raised(self) -> str:
        """The level its parameters can raise it to, if they can."""
        block = self.operation.danger
        return block.highest.word if block and block.highest > self.found.level else ""


def main(argv: Sequence[str]) -> int:
    """Check the files named; 1 if any of them must not be used."""
    if argv and argv[0] == "serve":
        from interlock.doors.cli import adapter_serve

        return adapter_serve.main(argv[1:])
    parser = _parser()
    args = parser.parse_args(list(argv))
    if args.word is None:
        parser.print_help()
        return 0
    if args.word in ("list", "trust"):
        from interlock.doors.cli import adapter_trust

        return adapter_trust.main(args)
    readings = [(name, _read(Path(name))) for name in args.files]
    now = time.time()
    if args.json:
        print(json.dumps([_json(name, reading, now) for name, reading in readings], indent=2))
    else:
        for at, (name, reading) in enumerate(readings):
            if at:
                print()
            _print(name, reading, now)
    return 0 if all(reading.usable for _, reading in readings) else 1


def _read(path: Path) -> Reading:
    try:
        return read_file(path)
    except OSError as error:
        return Reading(None, (Located(0, "", f"cannot be read: {error.strerror or error}", True),))


def _rows(adapter: Adapter, now: float) -> list[Row]:
    named = _named()
    trust, _ = current(adapter.trust, now)
    rows = []
    for operation in adapter.operations:
        found = effective_level(operation.claims, named, trust)
        word = "allow" if operation.name == "introspect" else gate(found.level, trust)
        rows.append(Row(operation, found, word))
    return rows


def _named() -> Named:
    from interlock.core.named import named_level

    return named_level


def _print(name: str, reading: Reading, now: float) -> None:
    from interlock.doors.cli.paint import paint
    from interlock.doors.cli.table import print_table

    rows = _rows(reading.adapter, now) if reading.adapter else []
    if reading.adapter:
        paint(_head(name, reading.adapter, now), sys.stdout)
        cells = [
            (visible(row.operation.name), row.operation.category, row.found.level.word, row.passes, _source(row))
            for row in rows
        ]
        print_table(("operation", "family", "level", "passes", "level from"), cells, sys.stdout)
    paint(_problem_lines(name, reading, rows), sys.stdout)


def _head(name: str, adapter: Adapter, now: float) -> Iterator[Line]:
    trust, why = current(adapter.trust, now)
    less = f" ({why})" if why else ""
    said = f"  {visible(adapter.name)} {visible(adapter.version)}, trust {trust.word}{less}"
    yield Part(visible(name), "heading"), Part(said)
    if trust > CLAIMED:
        words = f"A daemon counts it as {CLAIMED.word} until an operator says more: `interlock adapter trust`."
        yield (Part(words, "dim"),)
    if trust is Trust.UNTESTED:
        yield (Part("An untested adapter may only be introspected; see docs/adapters.md.", "dim"),)
    yield ()


def _source(row: Row) -> str:
    raised = f", by its parameters up to {row.raised}" if row.raised else ""
    return row.found.source + raised


def _problem_lines(name: str, reading: Reading, rows: Sequence[Row]) -> Iterator[Line]:
    shown = visible(name)
    if reading.problems or any(row.found.warnings for row in rows):
        yield ()
    for problem in reading.problems:
        where = f"{shown}:{problem.line}: " if problem.line else f"{shown}: "
        place = f"  [{visible(problem.place)}]" if problem.place else ""
        yield (
            Part(where),
            Part(problem.word, "deny" if problem.error else "ask"),
            Part(f": {visible(problem.message)}"),
            Part(place, "dim"),
        )
    for row in rows:
        for notice in row.found.warnings:
            yield Part(f"{shown}:{row.operation.line}: "), Part("notice", "dim"), Part(f": {visible(notice.message)}")
    errors = sum(problem.error for problem in reading.problems)
    warnings = len(reading.problems) - errors
    verdict = "can be used" if reading.usable else "must not be used"
    yield ()
    yield (Part(f"{len(rows)} operations, {_count(errors, 'error')}, {_count(warnings, 'warning')}: {verdict}"),)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _json(name: str, reading: Reading, now: float) -> dict[str, Any]:
    adapter = reading.adapter
    return {
        "file": name,
        "usable": reading.usable,
        "name": adapter.name if adapter else None,
        "version": adapter.version if adapter else None,
        "trust": current(adapter.trust, now)[0].word if adapter else None,
        "operations": [_row_json(row) for row in _rows(adapter, now)] if adapter else [],
        "problems": [
            {"line": item.line, "severity": item.word, "place": item.place, "message": item.message}
            for item in reading.problems
        ],
    }


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "name": row.operation.name,
        "category": row.operation.category,
        "line": row.operation.line,
        "level": int(row.found.level),
        "level_name": row.found.level.word,
        "source": row.found.source,
        "highest": row.raised or row.found.level.word,
        "passes": row.passes,
        "warnings": [notice.as_json() for notice in row.found.warnings],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock adapter",
        description="Adapter files: what their operations may do, and how far the daemon trusts them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = parser.add_subparsers(dest="word", metavar="WORD")
    check = words.add_parser(
        "check",
        help="every operation with its level, every problem with its line",
        description="Every operation with its level and where it came from, every problem with its line.",
    )
    check.add_argument("files", nargs="+", metavar="FILE", help="YAML, or Markdown with YAML front matter")
    check.add_argument("--json", action="store_true", help="as JSON")
    add_words(words)
    words.add_parser("serve", help="an MCP-AQL server of adapter files", add_help=False)
    return parser
