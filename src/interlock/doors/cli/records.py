"""The record, from the daemon or from an exported file, row by row."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from interlock.core.audit_export import from_jsonl
from interlock.core.records import AuditRow
from interlock.doors.cli.operating import Stop

DAEMON = "audit"


def recorded(args: argparse.Namespace, source: str) -> Iterator[AuditRow]:
    """Every record of a file exported as JSONL, or of the daemon, for which an operator signs in."""
    if source != DAEMON:
        yield from of_file(Path(source))
        return
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as daemon:
        yield from rows_of(daemon.lines("/audit/export", format="jsonl"), "the daemon")


def of_file(path: Path) -> Iterator[AuditRow]:
    """Every record of a file exported as JSONL."""
    try:
        with path.open(encoding="utf-8") as lines:
            yield from rows_of(lines, str(path))
    except UnicodeDecodeError:
        raise Stop(f"{path}: not UTF-8; expected what `interlock audit export --format jsonl` wrote") from None


def rows_of(lines: Iterable[str], where: str) -> Iterator[AuditRow]:
    """The records of exported lines; stops at the first that is none."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield from_jsonl(line)
        except (ValueError, RecursionError) as error:
            raise Stop(f"{where}, line {number}: {str(error)[:200]}") from None
