"""Counts the calls that ran and those that passed their hook, across restarts, from hook events and the agent's transcript."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from interlock.agents import AgentCall, Event
from interlock.impact.files import read_bytes
from interlock.runtime import put_newest
from interlock.strict_json import list_in, table_in

NAME = "hook-calls"
MOST = 20_000  # calls remembered
MOST_SESSIONS = 100
MOST_TRANSCRIPTS = 500  # transcripts
MOST_BYTES = 1 << 20  # read at a time; the rest waits for the next read
LONGEST = 200  # characters of a session's name
_LINE = 32  # hexadecimal digits of a mark
ASKED, CALLS = "asked", "calls"  # calls whose hook asked, and calls that ran; of these:
SEEN, UNSURE, MISSED = "seen", "unsure", "missed"  # unsure where it is unknown whether their hook asked
_COUNTS = (ASKED, CALLS, SEEN, MISSED, UNSURE)


class Coverage(Struct):
    """The calls of one daemon's agents; used on the event loop only."""

    folder: Path | None = None
    agents: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sessions: OrderedDict[tuple[str, str], Counter[str]] = field(default_factory=OrderedDict)  # the most recent
    _known: OrderedDict[str, None] = field(default_factory=OrderedDict)  # marks
    _unwritten: list[str] = field(default_factory=list)
    _lines: int = 0
    _handle: int = -1  # of the file of marks

    def load(self) -> None:
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            text = (self.folder / NAME).read_bytes()[-MOST * (_LINE + 1) :].decode("ascii", "ignore")
            self._known.update(dict.fromkeys(mark for mark in text.split("\n") if len(mark) == _LINE))
        self._rewrite()

    def before(self, word: str, principal: str, event: Event) -> None:
        """Records that a hook asked; `write` makes it last."""
        self.count(word, event, ASKED)
        session = (word, principal, event.session)
        for mark in (_mark(*session), *(_mark(*session, call.id or _text(call)) for call in event.calls)):
            if mark not in self._known:
                self._unwritten.append(mark)
            put_newest(self._known, mark, None, MOST)

    def add_journal(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """The calls that hooks decided without a daemon."""
        for entry in entries:
            session: list[Any] = [entry.get(name) for name in ("agent", "principal", "session")]
            if all(isinstance(word, str) for word in session):
                for id in list_in(entry, "calls"):
                    self._known[_mark(*session, str(id))] = None

    def after(self, word: str, principal: str, event: Event) -> str:
        """Seen, missed, or unsure where calls cannot be told apart."""
        session = (word, principal, event.session)
        # By id, else by content, as an agent may send the id in one event only.
        if all(
            self.knows(*session, call.id or _text(call)) or (event.pair and self.knows(*session, _text(call)))
            for call in event.calls
        ):
            return SEEN
        certain = all(call.id for call in event.calls) and self.knows(*session)
        return MISSED if certain and event.session else UNSURE

    def knows(self, *name: str) -> bool:
        return _mark(*name) in self._known

    def count(self, word: str, event: Event, *names: str) -> None:
        count, key = len(event.calls) or 1, (word, event.session[:LONGEST])
        agent, session = self.agents[word], self.sessions.get(key) or Counter()
        put_newest(self.sessions, key, session, MOST_SESSIONS)
        for name in names:
            agent[name] += count
            session[name] += count

    def wire(self) -> dict[str, Any]:
        agents = [{"agent": word, **_counts(found)} for word, found in sorted(self.agents.items())]
        return {"agents": agents, **{name: sum(one[name] for one in agents) for name in _COUNTS[1:]}}

    def by_session(self) -> list[dict[str, Any]]:
        found = reversed(self.sessions)
        return [{"agent": word, "session": name, **_counts(self.sessions[word, name])} for word, name in found]

    def write(self) -> None:
        """Appends new marks to the file, for a later daemon."""
        if self.folder is None or not self._unwritten:
            return
        marks, self._unwritten = self._unwritten, []
        if self._lines > 2 * MOST:
            self._rewrite()
        try:
            os.write(self._open(self.folder), "\n".join([*marks, ""]).encode())
            self._lines += len(marks)
        except OSError:  # then they are unsure after a restart
            self._close()

    def _open(self, folder: Path) -> int:
        """Again where the file was unlinked."""
        if self._handle >= 0 and os.fstat(self._handle).st_nlink:
            return self._handle
        self._close()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(folder / NAME, flags, 0o600)
        return self._handle

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _rewrite(self) -> None:
        if self.folder is None or not self._known:
            return
        replace_file(self.folder / NAME, "".join(f"{mark}\n" for mark in self._known))
        self._lines = len(self._known)


def _counts(found: Counter[str]) -> dict[str, Any]:
    return {name: found[name] for name in _COUNTS}


def replace_file(path: Path, text: str) -> None:
    """For its owner alone; where that fails, less is known after a restart, and more is asked."""
    new = path.with_name(f"{path.name}.new")
    with contextlib.suppress(OSError):
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)


@lru_cache(maxsize=1_024)
def _mark(*name: str) -> str:
    return hashlib.sha256(json.dumps(name).encode("utf-8", "surrogatepass")).hexdigest()[:_LINE]


def _text(call: AgentCall) -> str:
    """The key of a call without an id."""
    return json.dumps([call.tool, call.action.text], ensure_ascii=True)


class Transcripts(Struct):
    """How far each was read; the first read only finds the end, so that earlier calls do not count."""

    ends: OrderedDict[str, int] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def new_results(self, path: str) -> list[str]:
        """The ids of calls with results since the last read."""
        if not path.startswith("/") or read_bytes(path, 0) is None:  # not a regular file
            return []
        with self.lock:
            begin, data = self.ends.get(path), b""
            if begin is not None:
                with contextlib.suppress(OSError), open(path, "rb") as file:
                    file.seek(begin)
                    data = file.read(MOST_BYTES)
            whole = data[: data.rfind(b"\n") + 1]
            end = os.path.getsize(path) if begin is None else begin + len(whole)
            put_newest(self.ends, path, end, MOST_TRANSCRIPTS)
        return [id for line in whole.splitlines() for id in _results(line)]


def _results(line: bytes) -> Iterator[str]:
    """Refused calls have errors instead."""
    try:
        entry: Any = json.loads(line)
    except (ValueError, RecursionError):
        return
    for block in list_in(table_in(entry, "message"), "content"):
        if isinstance(block, dict) and block.get("type") == "tool_result" and not block.get("is_error"):
            if isinstance(id := block.get("tool_use_id"), str):
                yield id
