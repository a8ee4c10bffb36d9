"""Finds the logs of Claude Code, Codex and shells, and reads them into past calls; counts what cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from interlock.agents import agent as agent_of
from interlock.model import Action, command
from interlock.strict_json import list_in, table_in

LONGEST = 16 << 20  # bytes of a line; a longer one is no record of a call
RAN, FAILED, UNKNOWN = "ran", "failed", "unknown"


class PastCall(Struct, frozen=True):
    source: str  # claude-code | codex | shell
    id: str  # the same call can stand in several logs; empty where the log has no ids
    action: Action
    at: float  # seconds; of the file where its line has no time
    session: str = ""
    outcome: str = UNKNOWN


class LogTally(Struct):
    files: int = 0
    malformed: int = 0  # lines
    unjudged: int = 0  # calls whose input makes no sense
    unread: list[str] = field(default_factory=list)  # files that could not be opened


class AgentLog(Struct):
    """The calls of one agent's log in its hook's form, and their outcomes by id."""

    agent: str
    written: float  # when the file was; for calls without a time
    calls: list[tuple[float, dict[str, Any]]] = field(default_factory=list)  # by time
    outcomes: dict[str, str] = field(default_factory=dict)

    def add(self, id: object, tool: str, given: Mapping[str, Any], cwd: object, at: object, session: object) -> None:
        body = {
            "session_id": text_of(session) or "past", "transcript_path": "", "cwd": text_of(cwd) or "/",
            "permission_mode": "default", "model": "", "turn_id": "", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": given, "tool_use_id": text_of(id) or "past",
        }  # fmt: skip
        self.calls.append((parse_time(at, self.written), body))

    def past_calls(self, since: float, tally: LogTally) -> Iterator[PastCall]:
        for at, body in (call for call in self.calls if call[0] >= since):
            event = agent_of(self.agent).decode(json.dumps(body).encode(), "PreToolUse")
            if event.problem:
                tally.unjudged += 1
                continue
            id, session = ("" if body[key] == "past" else body[key] for key in ("tool_use_id", "session_id"))
            for call in event.calls:
                yield PastCall(self.agent, id, call.action, at, session, self.outcomes.get(id, UNKNOWN))


def read_records(path: Path, tally: LogTally) -> Iterator[dict[str, Any]]:
    for line in _lines(path):
        if isinstance(found := _json(line), dict):
            yield found
        elif line.strip():
            tally.malformed += 1


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.readline(LONGEST), b"")


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parse_time(value: object, otherwise: float) -> float:
    try:
        return datetime.fromisoformat(text_of(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return otherwise


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def table_of(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def read_claude_log(path: Path, since: float, tally: LogTally) -> Iterator[PastCall]:
    log = AgentLog("claude-code", path.stat().st_mtime)
    for record in read_records(path, tally):
        where = record.get("cwd"), record.get("timestamp"), record.get("sessionId")
        for block in map(table_of, list_in(record.get("message"), "content")):
            if block.get("type") == "tool_use":
                log.add(block.get("id"), text_of(block.get("name")), table_in(block, "input"), *where)
            elif block.get("type") == "tool_result":
                log.outcomes[text_of(block.get("tool_use_id"))] = FAILED if block.get("is_error") else RAN
    return log.past_calls(since, tally)


_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_KINDS = frozenset({"session_meta", "response_item", "turn_context", "event_msg", "compacted"})
_PLACES = ("workdir", "working_directory", "cwd")
# What a hook of Codex is asked about; its plans and pictures, and what is typed into a program that runs, are not among it.
_JUDGED = frozenset({"shell", "shell_command", "exec_command", "local_shell", "container.exec", "apply_patch"})


def read_codex_log(path: Path, since: float, tally: LogTally) -> Iterator[PastCall]:
    log, cwd = AgentLog("codex", path.stat().st_mtime), ""
    for record in read_records(path, tally):
        item = table_in(record, "payload") if "payload" in record else record
        kind = item.get("type")
        if record.get("type") in ("session_meta", "turn_context"):
            cwd = text_of(item.get("cwd")) or cwd
        elif kind in _OUTPUTS:
            log.outcomes[text_of(item.get("call_id"))] = _outcome(item.get("output"))
        elif (made := _codex_call(item)) is not None:
            where = next((made[1][key] for key in _PLACES if made[1].get(key)), cwd)
            log.add(item.get("call_id") or item.get("id"), *made, where, record.get("timestamp"), path.stem)
    return log.past_calls(since, tally)


def _codex_call(item: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    kind, name = item.get("type"), text_of(item.get("name"))
    if kind == "local_shell_call":
        action = table_in(item, "action")
        return "local_shell", {"command": action.get("command"), "workdir": action.get("working_directory")}
    if name not in _JUDGED and not name.startswith("mcp__"):
        return None
    if kind == "function_call":
        return name, _arguments(item.get("arguments"))
    return (name, {"command": text_of(item.get("input"))}) if kind == "custom_tool_call" else None


def _arguments(value: object) -> dict[str, Any]:
    return table_of(_json(value) if isinstance(value, str) else value)


def _outcome(output: object) -> str:
    found = _arguments(output)
    code = table_in(found, "metadata").get("exit_code", found.get("exit_code"))
    if isinstance(code, int):
        return RAN if code == 0 else FAILED
    said = text_of(output)
    if "exited with code 0" in said or "Exit code: 0" in said:
        return RAN
    return FAILED if "exited with code" in said or "Exit code:" in said else UNKNOWN


_ZSH = re.compile(r": (\d{9,11}):\d+;(.*)", re.S)
_BASH = re.compile(r"#(\d{9,11})")
_FISH = re.compile(r"- cmd: (.*)")
_WHEN = re.compile(r"  when: (\d{9,11})")
_ESCAPED = {r"\n": "\n", r"\\": "\\"}


def read_history(path: Path, since: float, tally: LogTally) -> Iterator[PastCall]:
    """The commands that are not older than `since`; one without a time is as old as the file."""
    home, written, lines = str(Path.home()), path.stat().st_mtime, _texts(path, tally)
    first = next(lines, "")
    lines = chain([first], lines)
    for text, at in _fish(lines) if first.startswith("- cmd: ") else _posix(_join_continued(lines)):
        when = written if at is None else float(at)
        if text.strip() and when >= since:
            yield PastCall("shell", "", command(text, home), when)


def _fish(lines: Iterator[str]) -> Iterator[tuple[str, int | None]]:
    """A command, its time on a line below."""
    text = ""  # that has no time yet
    for line in lines:
        if found := _FISH.fullmatch(line):
            yield text, None
            text = re.sub(r"\\[n\\]", lambda one: _ESCAPED[one[0]], found[1])
        elif found := _WHEN.fullmatch(line):
            yield text, int(found[1])
            text = ""
    yield text, None


def _posix(lines: Iterator[str]) -> Iterator[tuple[str, int | None]]:
    """A command per line; its time is on the line above (bash) or before it (zsh)."""
    at: int | None = None
    for line in lines:
        if found := _BASH.fullmatch(line):
            at = int(found[1])
        elif found := _ZSH.fullmatch(line):
            yield found[2], int(found[1])
        else:
            yield line, at
            at = None


def _join_continued(lines: Iterator[str]) -> Iterator[str]:
    """Joins lines that end in a backslash, zsh's form of a newline inside a command."""
    kept = ""
    for line in lines:
        if line.endswith("\\"):
            kept += line[:-1] + "\n"
        else:
            yield kept + line
            kept = ""
    yield kept


def _texts(path: Path, tally: LogTally) -> Iterator[str]:
    for line in _lines(path):
        if b"\0" in line:
            tally.malformed += 1
        else:
            yield line.decode("utf-8", "replace").rstrip("\n")


LINES_TO_DETECT = 50  # lines of a file until it is known what it is
_AGENTS = (
    (".claude/projects", "*/*.jsonl"),
    (".codex/sessions", "**/*.jsonl"),
    (".codex/archived_sessions", "*.jsonl"),
)
_HISTORIES = (".bash_history", ".zsh_history", ".local/share/fish/fish_history")
_NAMES = frozenset(Path(name).name for name in _HISTORIES)


def agent_logs(home: Path) -> list[Path]:
    return sorted(path for folder, pattern in _AGENTS for path in (home / folder).glob(pattern) if path.is_file())


def shell_histories(home: Path) -> list[Path]:
    return [home / name for name in _HISTORIES if (home / name).is_file()]


def named_logs(paths: Sequence[str]) -> list[Path]:
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"no file or folder {name!r}")
        below = path.rglob("*") if path.is_dir() else [path]
        logs = (one for one in below if one == path or one.suffix == ".jsonl" or one.name in _NAMES)
        found |= dict.fromkeys(one for one in logs if one.is_file())
    return sorted(found)


def calls(path: Path, since: float, tally: LogTally) -> Iterator[PastCall]:
    try:
        if path.stat().st_mtime < since:
            return  # nothing in it is newer than the file
        tally.files += 1
        yield from _reader(path)(path, since, tally)
    except OSError as error:
        tally.unread.append(f"{path}: {error.strerror or error}")


def _reader(path: Path) -> Callable[[Path, float, LogTally], Iterator[PastCall]]:
    if path.name in _NAMES:
        return read_history
    for record in map(table_of, map(_json, islice(_lines(path), LINES_TO_DETECT))):
        kind = record.get("type")
        if (kind in _KINDS and "payload" in record) or kind in ("function_call", *_OUTPUTS):  # once without payload
            return read_codex_log
        if "sessionId" in record or (kind in ("user", "assistant") and "message" in record):
            return read_claude_log
    return read_claude_log if path.suffix == ".jsonl" else read_history
