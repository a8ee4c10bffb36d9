"""Rewriting of shell calls: what an agent's own rules say to the original, so that the new text never gets a weaker answer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents.hook_files import is_ours, json_or_empty
from interlock.agents.hook_protocol import AgentCall, Event, Json
from interlock.agents.jsonc import EditError
from interlock.impact.files import read_bytes
from interlock.model import Kind, command

# What the agent does with the original: LEAVE where that is not known, or where a rule of its own forbids it or asks about it.
LEAVE, SILENT, ASKED = "", "allow", "ask"
FIELD = "command"  # of the input, which holds the text
_MOST_BYTES = 4 << 20
_SEPARATORS = re.compile(r"&&|\|\||[;&|\n(){}`]|\$\(")


class ShellCall(Struct, frozen=True):
    event: Event
    call: AgentCall
    home: Path  # of the agent's process
    commands: tuple[tuple[str, ...], ...] = ()  # every program that it runs, with its words

    @property
    def text(self) -> str:
        return self.call.action.text

    @property
    def folders(self) -> list[Path]:
        path = Path(self.event.cwd)
        return [path, *path.parents] if path.is_absolute() else []

    @property
    def parts(self) -> list[str]:
        """What a rule about commands may mean: the text, its parts as written, and the programs in it."""
        written = (part.strip() for part in _SEPARATORS.split(self.text))
        return [self.text.strip(), *filter(None, written), *(" ".join(words) for words in self.commands)]


Passage = Callable[[ShellCall], str]  # LEAVE, SILENT or ASKED


def with_originals(event: Event, unwrap: Callable[[str], str]) -> Event:
    """The originals of rewritten calls are what is judged, recorded and shown."""
    calls = tuple([_original(call, unwrap) for call in event.calls])
    return event if calls == event.calls else replace(event, calls=calls)


def _original(call: AgentCall, unwrap: Callable[[str], str]) -> AgentCall:
    given = call.input.get(FIELD)
    original = unwrap(given) if isinstance(given, str) else ""
    if not original.strip():
        return call
    action = call.action
    if action.kind is Kind.COMMAND:
        action = replace(command(original, action.cwd), home=action.home)
    elif isinstance(action.fields.get("input"), Mapping):
        fields = {**action.fields, "input": {**action.fields["input"], FIELD: original}}
        action = replace(action, fields=MappingProxyType(fields))
    return replace(call, action=action, input={**call.input, FIELD: original})


def read_tables(paths: Iterable[Path]) -> list[Json] | None:
    found = []
    for path in paths:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if (table := _table(str(path), status.st_mtime_ns, status.st_size)) is None:
            return None
        found.append(table)
    return found


@lru_cache(maxsize=64)
def _table(path: str, changed: int, size: int) -> Json | None:
    data = read_bytes(path, _MOST_BYTES)
    try:
        return json_or_empty(data.decode()) if data is not None else None
    except (ValueError, RecursionError, EditError):
        return None


def only_our_hooks(tables: Iterable[Json], *events: str) -> bool:
    """No other hook may rewrite a call; one in an unknown form is another's."""
    all_hooks = [hooks for table in tables if isinstance(hooks := table.get("hooks"), Mapping)]
    found = [hooks[event] for hooks in all_hooks for event in events if hooks.get(event)]
    return all(isinstance(entries, list) and all(map(_is_only_ours, entries)) for entries in found)


def _is_only_ours(entry: object) -> bool:
    inner = entry.get("hooks") if isinstance(entry, Mapping) else None
    return all(map(is_ours, inner)) if isinstance(inner, list) else is_ours(entry)


def matches_glob(pattern: str, texts: Sequence[str]) -> bool:
    return any(_glob(pattern).fullmatch(text) for text in texts)


@lru_cache(maxsize=1_024)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
