"""A session log of Codex -> its tool calls, and whether each of them ran."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interlock.doors.rehearse.past import FAILED, RAN, UNKNOWN, Past, Raw, Tally, calls_of, moment, records
from interlock.doors.rehearse.past import table_of as table
from interlock.doors.rehearse.past import text_of as text

WORD = "codex"
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_KINDS = frozenset({"session_meta", "response_item", "turn_context", "event_msg", "compacted"})
_PLACES = ("workdir", "working_directory", "cwd")
# What a hook of Codex is asked about; its plans and pictures, and what is typed into a program that runs, are not among it.
_JUDGED = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec", "apply_patch"})


def is_this(record: dict[str, Any]) -> bool:
    """Whether a line looks like one of these logs, of today or from before lines had a payload."""
    return (record.get("type") in _KINDS and "payload" in record) or record.get("type") in ("function_call", *_OUTPUTS)


def read(path: Path, since: float, tally: Tally) -> Iterator[Past]:
    """The calls of one log that are not older than `since`."""
    written, cwd, session = path.stat().st_mtime, "", path.stem
    calls: list[Raw] = []
    outcomes: dict[str, str] = {}
    for record in records(path, tally):
        item = table(record.get("payload")) if "payload" in record else record
        kind = item.get("type")
        if record.get("type") in ("session_meta", "turn_context"):
            cwd = text(item.get("cwd")) or cwd
        elif kind in _OUTPUTS:
            outcomes[text(item.get("call_id"))] = _outcome(item.get("output"))
        elif (made := _call(item)) is not None:
            tool, given = made
            where = next((text(given[key]) for key in _PLACES if given.get(key)), cwd)
            at = moment(record.get("timestamp"), written)
            calls.append(Raw(text(item.get("call_id") or item.get("id")), tool, given, where, at, session))
    for call in calls:
        if call.at >= since:
            yield from calls_of(WORD, call, outcomes.get(call.id, UNKNOWN), tally)


def _call(item: dict[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    kind, name = item.get("type"), text(item.get("name"))
    if kind == "local_shell_call":
        action = table(item.get("action"))
        return "local_shell", {"command": action.get("command"), "workdir": action.get("working_directory")}
    if name not in _JUDGED and not name.startswith("mcp__"):
        return None
    if kind == "function_call":
        return name, _arguments(item.get("arguments"))
    return (name, {"command": text(item.get("input"))}) if kind == "custom_tool_call" else None


def _arguments(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return table(value)


def _outcome(output: object) -> str:
    """By the exit code, which stands in a table inside a string; a log that does not say leaves it open."""
    found = _arguments(output)
    code = table(found.get("metadata")).get("exit_code", found.get("exit_code"))
    if isinstance(code, int):
        return RAN if code == 0 else FAILED
    said = output if isinstance(output, str) else ""
    if "exited with code 0" in said or "Exit code: 0" in said:
        return RAN
    return FAILED if "exited with code" in said or "Exit code:" in said else UNKNOWN
