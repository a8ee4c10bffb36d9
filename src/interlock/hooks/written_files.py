"""Remembers the files that each session writes: the contents that a call writes, judged as if they ran."""

from __future__ import annotations

import posixpath
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from interlock.agents.hook_protocol import FIELDS
from interlock.analysis.read import FileReader, read
from interlock.analysis.rules import Rulebook
from interlock.analysis.targets.written_files import MOST_TEXT, WrittenFile, judge_file, programs_by_ending
from interlock.model import Action, Kind
from interlock.runtime import put_newest
from interlock.strict_json import list_in, table_in

MOST_SESSIONS, MOST_FILES = 200, 200
_ADDED = re.compile(r"^\*\*\* (?:Add|Update) File: (.+)$")


class WrittenFiles(Struct):
    """Written files by session; drops the oldest first."""

    sessions: OrderedDict[str, OrderedDict[str, WrittenFile]] = field(default_factory=OrderedDict)
    dangerous_sessions: set[str] = field(default_factory=set)  # sessions that wrote a dangerous file
    lock: threading.Lock = field(default_factory=threading.Lock)

    def remember(self, session: str, action: Action, rules: Rulebook, files: FileReader | None) -> None:
        made = [(path, judge_file(path, text, action.cwd, rules)) for path, text in written_contents(action, files)]
        if not made:
            return
        with self.lock:
            written = self.sessions.setdefault(session, OrderedDict())
            self.sessions.move_to_end(session)
            for path, one in made:
                if one is None:
                    written.pop(path, None)
                else:
                    put_newest(written, path, one, MOST_FILES)
            while len(self.sessions) > MOST_SESSIONS:
                self.dangerous_sessions.discard(self.sessions.popitem(last=False)[0])
            dangerous = any(one.dangerous for one in written.values())
            (self.dangerous_sessions.add if dangerous else self.dangerous_sessions.discard)(session)

    def dangerous(self, session: str) -> tuple[WrittenFile, ...]:
        with self.lock:
            return tuple(one for one in self.sessions.get(session, {}).values() if one.dangerous)

    def text(self, session: str, path: str) -> str | None:
        with self.lock:
            found = self.sessions.get(session, OrderedDict()).get(path)
        return found.text if found else None


def names_program(text: str) -> bool:
    """Whether shell text names a file that can be run, at a quick look."""
    return "#!" in text or any(ending in text for ending in programs_by_ending())


def written_contents(action: Action, files: FileReader | None) -> Iterator[tuple[str, str]]:
    """The paths, with their new contents."""
    if action.kind is Kind.COMMAND and names_program(action.text):
        yield from ((path, text) for path, text in read(action, files).written.items() if path.startswith("/"))
    if action.kind is not Kind.TOOL:
        return
    given = table_in(action.fields, "input")
    texts = {key: value for key, value in given.items() if isinstance(value, str)}
    patch = next((texts[key] for key in ("command", "input", "patch") if key in texts), "")
    if "*** " in patch and "patch" in action.text.casefold():
        yield from _patch_contents(patch, action.cwd)
        return
    path = next((texts[key] for key in FIELDS.in_order("paths") if texts.get(key)), "")
    if not path:
        return
    path = _absolute(path, action.cwd)
    whole = next((texts[key] for key in FIELDS.in_order("contents") if key in texts), None)
    if whole is not None:
        yield path, whole
        return
    edits = [given, *(edit for edit in list_in(given, "edits") if isinstance(edit, Mapping))]
    if any(new in edit for edit in edits for new in FIELDS.in_order("edits")[1::2]):
        yield path, _apply_edits((files(path) if files else None) or "", edits)


def _apply_edits(text: str, edits: list[Mapping[str, Any]]) -> str:
    """An edit whose place is not found is appended, so that no new text goes unread."""
    names = FIELDS.in_order("edits")
    for edit in edits:
        for old_key, new_key in zip(names[::2], names[1::2]):
            old, new = edit.get(old_key), edit.get(new_key)
            if isinstance(new, str):
                known = isinstance(old, str) and old and old in text
                text = text.replace(str(old), new) if known else f"{text}\n{new}"
                break
    return text


def _patch_contents(patch: str, cwd: str) -> Iterator[tuple[str, str]]:
    """The lines that a patch adds, by file."""
    path, lines = "", list[str]()
    for line in [*patch[:MOST_TEXT].splitlines(), "*** End"]:
        if line.startswith("*** "):
            if path and lines:
                yield _absolute(path, cwd), "\n".join(lines)
            named = _ADDED.match(line)
            path, lines = named[1].strip() if named else "", []
        elif line.startswith("+"):
            lines.append(line[1:])


def _absolute(path: str, cwd: str) -> str:
    return posixpath.normpath(posixpath.join(cwd or "/", path))
