"""Exports records as JSON lines or CSV, reads them back, and compares an export with the record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from interlock.canonical_json import dump_json
from interlock.records import AuditRow
from interlock.times import iso

# What a person filters by; the whole body comes last.
_BODY_COLUMNS = (
    "operation adapter_name danger_level level irreversible score tier outcome decision reason agent ticket digest door strength "
    "by user_id policy_name".split()
)
COLUMNS = ("writer", "seq", "time", "event", *_BODY_COLUMNS, "rulebook", "policy", "hash", "body")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run these


def jsonl(rows: Iterable[AuditRow]) -> Iterator[str]:
    """Complete: `from_jsonl` gives the record back."""
    for row in rows:
        line = asdict(row) | {"time": _time(row.at), "body": _opened(row.body)}
        yield json.dumps(line, separators=(",", ":"), ensure_ascii=True)


def from_jsonl(line: str) -> AuditRow:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise ValueError(f"record: expected a table, got {data!r:.80}")
    data.pop("time", None)
    if not isinstance(data.get("body"), str):
        data["body"] = dump_json(data.get("body"))
    try:
        return AuditRow(**data)
    except TypeError as error:
        raise ValueError(f"record: {error}") from None


def csv_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    """Every cell quoted, and none that a spreadsheet takes for a formula."""
    yield _line(COLUMNS)
    for row in rows:
        body = _opened(row.body)
        said = [body.get(column, "") if isinstance(body, dict) else "" for column in _BODY_COLUMNS]
        front = (row.writer, row.seq, _time(row.at), row.event)
        yield _line([*front, *said, row.rulebook, row.policy, row.hash, row.body])


# Format -> media type, and the lines of a file.
FORMATS: Mapping[str, tuple[str, Callable[[Iterable[AuditRow]], Iterator[str]]]] = {
    "jsonl": ("application/x-ndjson", jsonl),
    "csv": ("text/csv; charset=utf-8", csv_lines),
}


def _time(at: float) -> str:
    try:
        return iso(at)
    except (ValueError, TypeError, OverflowError):  # not written by Interlock
        return ""


def _opened(body: str) -> Any:
    try:
        value = json.loads(body)
        return value if not isinstance(value, str) and dump_json(value) == body else body
    except (ValueError, RecursionError):
        return body


def _line(cells: Iterable[object]) -> str:
    return ",".join(map(_cell, cells))


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else dump_json(value)
    if isinstance(value, str) and text.lstrip(" \n\0").startswith(_FORMULA):
        text = "'" + text
    return '"' + text.replace('"', '""').replace("\0", "") + '"'


class ExportComparison(Struct, frozen=True):
    same: int = 0
    pruned: int = 0
    gone: str = ""  # WRITER/NUMBER
    words: str = ""

    @property
    def ok(self) -> bool:
        return not self.gone


def compare_export(kept: Iterable[AuditRow], now: Iterable[AuditRow]) -> ExportComparison:
    """Only the front of a chain may be missing, by pruning."""
    here: dict[str, dict[int, str]] = {}
    for row in now:
        here.setdefault(row.writer, {})[row.seq] = row.hash
    firsts = {writer: min(chain) for writer, chain in here.items()}
    same = pruned = 0
    for row in kept:
        found = here.get(row.writer, {}).get(row.seq)
        if found == row.hash:
            same += 1
        elif found is None and row.seq < firsts.get(row.writer, 0):
            pruned += 1
        else:
            words = "is not in the record any more" if found is None else "is another one in the record"
            return ExportComparison(same, pruned, f"{row.writer}/{row.seq}", words)
    return ExportComparison(same, pruned)
