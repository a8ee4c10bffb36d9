"""What an agent says of a call that has run -> whether it is known to have succeeded."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any

SUCCEEDED, FAILED, UNKNOWN = "", "failed", "unknown"
_RESULTS = ("tool_response", "toolResult", "tool_result", "tool_output", "result", "output")
_INPUTS = ("tool_input", "toolArgs", "toolInput")
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "returnCode", "status_code")
_WRONG = ("is_error", "isError", "interrupted", "timed_out", "timedOut", "canceled", "cancelled", "aborted")
_BACKGROUND = (
    "run_in_background",
    "is_background",
    "isBackground",
    "background",
    "backgroundTaskId",
    "background_task_id",
)
_FINE = frozenset({"success", "succeeded", "ok", "completed"})
_TEXTS = ("stdout", "stderr", "output", "textResultForLlm", "content", "text")
_LONGEST = 20_000
# How programs say that nothing was made, where a pipe has swallowed how they ended.
_SAID = re.compile(
    r"(?im)^\s*(?:#\d+ )?(?:error(?: response from daemon)?|fatal|createdb: error|failed)\b[: ]|\bfailed to (?:solve|build|create|push)\b"
    r"|\breturned a non-zero code\b|\balready (?:exists|in use)\b|\bcommand not found\b"
)


def outcome_of(given: Mapping[str, Any]) -> str:
    """`failed` where the result says so, `unknown` for what runs on in the background; else it has succeeded."""
    result = next((given[name] for name in _RESULTS if name in given), None)
    if isinstance(result, str) and result.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            result = json.loads(result)
    fields: Mapping[str, Any] = result if isinstance(result, Mapping) else {}
    asked: Mapping[str, Any] = next((given[name] for name in _INPUTS if isinstance(given.get(name), Mapping)), {})
    if any(one.get(name) for one in (asked, fields) for name in _BACKGROUND):
        return UNKNOWN
    codes = [one[name] for one in (given, fields) for name in _CODES if type(one.get(name)) is int]
    kind = fields.get("resultType", fields.get("status"))
    if any(codes) or any(fields.get(name) is True for name in _WRONG) or fields.get("error"):
        return FAILED
    if isinstance(kind, str) and kind.casefold() not in _FINE:
        return FAILED
    text = result if isinstance(result, str) else "\n".join(str(fields[name]) for name in _TEXTS if name in fields)
    return FAILED if _SAID.search(text[:_LONGEST]) or _SAID.search(text[-_LONGEST:]) else SUCCEEDED
