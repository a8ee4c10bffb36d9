"""Tracks things that a session created: expected when a call is allowed, known once it succeeded; by principal, agent and session."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import posixpath
import re
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Command, Fact, known
from interlock.analysis.programs.load import program_set, shipped_programs
from interlock.analysis.targets.migrations import MIGRATED, folders_added_to
from interlock.analysis.targets.provenance import (
    ALL,
    FILE,
    MOST,
    NOTHING_CREATED,
    CreatedThing,
    Provenance,
    created_by,
    created_things_of,
    removed_by,
)
from interlock.hooks.coverage import replace_file
from interlock.impact.project_settings import last_migration
from interlock.impact.survey import file_mark
from interlock.model import Action, AgentRef, Confidential, Kind
from interlock.runtime import put_bounded, put_newest
from interlock.strict_json import table_in

NAME = "hook-made"
MOST_SESSIONS, MOST_EXPECTED = 100, 1_000
SECONDS = 86_400.0  # that a created thing is remembered
# Agents that report failure; other agents' completed calls may have failed.
_REPORT_FAILURE = frozenset({"claude-code", "copilot", "cursor", "hermes"})
_TOOLS = frozenset({"Write", "Edit", "MultiEdit"})

_MOST_ADDED = 20  # files of one call
_WORDS = re.compile(r"[\w.-]+")


class ExpectedCreation(Struct, frozen=True):
    """If the call succeeds; also what it removes."""

    things: tuple[CreatedThing, ...] = ()
    removed: tuple[tuple[str, str], ...] = ()
    cwd: str = ""
    listed: tuple[tuple[str, frozenset[str]], ...] = ()  # folders that it adds files to, with their names before


class _Session(Struct):
    things: OrderedDict[tuple[str, str, str], tuple[float, CreatedThing]] = field(default_factory=OrderedDict)
    cwd: str = ""


class SessionProvenance(Confidential, Struct):
    """Created things by session; used by pool threads and the event loop."""

    HIDDEN = ("key",)

    folder: Path | None = None
    key: bytes = b""
    sessions: OrderedDict[str, _Session] = field(default_factory=OrderedDict)
    _expected: OrderedDict[Hashable, ExpectedCreation] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, who: AgentRef, now: float) -> Provenance:
        with self._lock:
            found = self.sessions.get(_key(who)) if who.session else None
            if found is None:
                return NOTHING_CREATED
            things = [thing for at, thing in found.things.values() if now - at < SECONDS]
            return replace(Provenance.of(things), strayed=(found.cwd,) if found.cwd else ())

    def expect(self, who: AgentRef, call: Hashable, action: Action, judged: Judgement) -> None:
        """Before a call runs: expects files only where none exists, or one that this session created and nobody else changed."""
        if not who.session or who.name not in _REPORT_FAILURE:
            return
        facts, own = judged.facts, who.principal == f"uid:{os.getuid()}"  # other users' files are not checked here
        created = created_by(action, facts, judged.line)
        things = (thing for thing in created if thing.kind != FILE or (own and _absent(thing)))
        folders = folders_added_to(facts, action.cwd) if own and action.cwd.startswith("/") else ()
        expected = ExpectedCreation(
            (*things, *self._rewritten(who, action)),
            tuple(removed_by(facts)),
            _cd_target(action, facts),
            tuple((folder, _names_in(folder)) for folder in folders),
        )
        with self._lock:
            put_newest(self._expected, call, expected, MOST_EXPECTED)

    def finish(self, who: AgentRef, call: Hashable, succeeded: bool, now: float) -> None:
        """After a call ran: a failed one created nothing, but may have removed something."""
        with self._lock:
            expected = self._expected.pop(call, None)
            if expected is None:
                return
            key = _key(who)
            found = self.sessions.get(key) or _Session()
            put_newest(self.sessions, key, found, MOST_SESSIONS)
            found.cwd = expected.cwd or found.cwd
            removed = expected.removed
            for place in [one for one in found.things if one[:2] in removed or (one[0], ALL) in removed]:
                del found.things[place]
            new = (*_added(expected.listed), *(expected.things if succeeded else ()))
            for thing in filter(None, map(_with_mark, new)):
                put_bounded(found.things, (thing.kind, thing.name, thing.base), (now, thing), MOST)
            self._save()

    def load(self) -> None:
        """Reads an earlier daemon's file; ignores one whose MAC is wrong."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            mark, _, text = (self.folder / NAME).read_text("utf-8").partition("\n")
            if not hmac.compare_digest(mark, self._mark(text)):
                return
            for key, cwd, rows in json.loads(text):
                found = self.sessions.setdefault(str(key), _Session(cwd=str(cwd)))
                for at, thing in zip((row[0] for row in rows), created_things_of(row[1] for row in rows), strict=True):
                    found.things[thing.kind, thing.name, thing.base] = (float(at), thing)

    def _save(self) -> None:
        if self.folder is None:
            return
        sessions = self.sessions.items()
        text = json.dumps(
            [(key, one.cwd, [(at, thing.body) for at, thing in one.things.values()]) for key, one in sessions]
        )
        replace_file(self.folder / NAME, f"{self._mark(text)}\n{text}")

    def _mark(self, text: str) -> str:
        data = b"interlock made\0" + text.encode("utf-8", "surrogatepass")
        return hmac.digest(self.key, data, "sha256").hex()

    def _rewritten(self, who: AgentRef, action: Action) -> Iterable[CreatedThing]:
        """A file that this session created, where nobody else changed it meanwhile."""
        path = _written_path(action)
        with self._lock:
            found = self.sessions.get(_key(who))
            known_as = found.things.get((FILE, path, "/")) if found is not None and path else None
        if known_as is not None and known_as[1].mark == _mark(path) != "":
            yield replace(known_as[1], mark="")


def may_change_provenance(action: Action) -> bool:
    """Whether a call may create or remove anything that is tracked, by a quick search of its text."""
    if action.kind is Kind.TOOL:
        return action.text in _TOOLS
    if action.kind is not Kind.COMMAND:
        return False
    words, tracked = set(_WORDS.findall(action.text)), _tracked()
    return any(not tracked[name].isdisjoint(words) for name in words & tracked.keys())


@cache
def _tracked() -> Mapping[str, frozenset[str]]:
    """Programs that create or take away what is tracked, or change the folder, by their subcommands."""
    described = shipped_programs().telling("does")
    kinds = {item.kind for program in described.values() for item in program.does if item.effect == "create"}
    found = {name: frozenset({name}) for name in program_set("moves_folder")}
    for name, program in described.items():
        paths = {path[-1:] or (name,) for one in program.does if one.kind in {*kinds, "*"} for path in one.subcommand}
        if paths:
            found[name] = frozenset(word for path in paths for word in path)
    for name, program in shipped_programs().telling("migrations").items():
        found[name] = found.get(name, frozenset()) | frozenset(program.migrations["changes"])
    return found


def _key(who: AgentRef) -> str:
    return json.dumps([who.principal, who.name, who.session])


def _written_path(action: Action) -> str:
    if action.kind is not Kind.TOOL or action.text not in _TOOLS:
        return ""
    path = str(table_in(action.fields, "input").get("file_path"))
    return path if path.startswith("/") else ""


def _cd_target(action: Action, facts: Sequence[Fact]) -> str:
    moving = [fact for fact in facts if isinstance(fact, Command) and fact.program in program_set("moves_folder")]
    folder = next((fact.words[0] for fact in reversed(moving) if len(fact.words) == 1), "~")
    if not known(folder) or folder.startswith(("~", "-")):
        return ""
    return posixpath.normpath(posixpath.join(action.cwd or "/", folder))


def _absent(thing: CreatedThing) -> bool:
    try:
        os.lstat(os.path.join(thing.base, thing.name))
    except (OSError, ValueError) as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False


def _names_in(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except (OSError, ValueError):
        return frozenset()


def _added(listed: Sequence[tuple[str, frozenset[str]]]) -> list[CreatedThing]:
    """Since they were listed, whether the call that adds files succeeded or not."""
    return [
        CreatedThing(FILE, os.path.join(folder, name), "/")
        for folder, before in listed
        for name in sorted(_names_in(folder) - before)[:_MOST_ADDED]
    ]


def _mark(path: str) -> str:
    try:
        return file_mark(os.lstat(path))
    except (OSError, ValueError):
        return ""


def _with_mark(thing: CreatedThing) -> CreatedThing | None:
    """With the mark of its file, or the last of the applied migrations; None where there is no such file."""
    if thing.kind == MIGRATED:
        last = last_migration(thing.name)
        return replace(thing, source=last) if last else None
    if thing.kind != FILE:
        return thing
    mark = _mark(os.path.join(thing.base, thing.name))
    return replace(thing, mark=mark) if mark else None
