"""The hooks file of Claude Code and of the agents that took it over: groups of handlers by event."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.agents.contract import CLIENT, ROUTE
from interlock.agents.edit import Hook, json_or_empty
from interlock.agents.jsonc import EditError

_RUNS_US = re.compile(rf"(?:^|/){re.escape(CLIENT)}(?:['\" ]|$)")


def is_ours(entry: Any) -> bool:
    """True for an entry that runs the hook client or posts to the daemon."""
    if not isinstance(entry, Mapping):
        return False
    words = [entry.get(key) for key in ("command", "bash", "exec", "url")]
    action = entry.get("action")
    if isinstance(action, Mapping):
        words.append(action.get("command"))
    return any(isinstance(word, str) and (_RUNS_US.search(word) or _posts(word)) for word in words)


def _posts(word: str) -> bool:
    return word.startswith(("http://", "https://")) and ROUTE in word


def group(path: Sequence[str], handler: Mapping[str, Any], matcher: str | None) -> Hook:
    """One handler as a group of its own, for all tools."""
    lead = {} if matcher is None else {"matcher": matcher}
    return Hook(tuple(path), {**lead, "hooks": [dict(handler)]})


def tables(paths: Sequence[Path], found: list[str]) -> list[tuple[Path, dict[str, Any]]]:
    """The JSON files that exist, by path; one that cannot be read is itself something that switches hooks off."""
    read: list[tuple[Path, dict[str, Any]]] = []
    for path in paths:
        try:
            read.append((path, json_or_empty(path.read_text("utf-8"))))
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, EditError) as error:
            found.append(f"{path}: cannot be read, so its hooks do not run ({error})")
    return read


def switched(paths: Sequence[Path], switches: Mapping[tuple[str, ...], object]) -> list[str]:
    """Every switch in these files that has the value which turns hooks off."""
    found: list[str] = []
    for path, data in tables(paths, found):
        for keys, off in switches.items():
            value: Any = data
            for key in keys:
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is off:
                found.append(f"{path}: {'.'.join(keys)} is {str(off).lower()}, so hooks do not run")
    return found
