"""A project log of Claude Code -> its tool calls, and whether each of them ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.doors.rehearse.past import FAILED, RAN, UNKNOWN, Past, Raw, Tally, calls_of, moment, records
from interlock.doors.rehearse.past import table_of as table
from interlock.doors.rehearse.past import text_of as text

WORD = "claude-code"


def is_this(record: dict[str, Any]) -> bool:
    """Whether a line looks like one of these logs."""
    return "sessionId" in record or (record.get("type") in ("user", "assistant") and "message" in record)


def read(path: Path, since: float, tally: Tally) -> Iterator[Past]:
    """The calls of one log that are not older than `since`."""
    written = path.stat().st_mtime
    calls: list[Raw] = []
    outcomes: dict[str, str] = {}
    for record in records(path, tally):
        content = table(record.get("message")).get("content")
        for block in content if isinstance(content, list) else ():
            kind = table(block).get("type")
            if kind == "tool_use":
                calls.append(_call(record, block, written))
            elif kind == "tool_result":
                outcomes[text(block.get("tool_use_id"))] = FAILED if block.get("is_error") else RAN
    for call in calls:
        if call.at >= since:
            yield from calls_of(WORD, call, outcomes.get(call.id, UNKNOWN), tally)


def _call(record: dict[str, Any], block: dict[str, Any], written: float) -> Raw:
    return Raw(
        text(block.get("id")),
        text(block.get("name")),
        table(block.get("input")),
        text(record.get("cwd")),
        moment(record.get("timestamp"), written),
        text(record.get("sessionId")),
    )
