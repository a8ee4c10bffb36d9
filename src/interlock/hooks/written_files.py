"""Evaluates files that an agent writes as if they ran; a later call that runs, imports or tests one inherits the findings."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.assess import Judgement, assess, judge
from interlock.analysis.classify import classify
from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.programs.load import SETS, described_program, program_set, shipped_programs
from interlock.analysis.read import read
from interlock.analysis.rules import Rulebook
from interlock.analysis.shell.imports import ALWAYS_IMPORTED
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.model import Action, Kind, Level, Witness, command

NAMED, RUN = "named", "run"  # how a file is reached
SHELL = "shell"
MOST_SESSIONS, MOST_FILES, MOST_TEXT = 200, 200, 262_144
_PATHS = ("file_path", "filePath", "path", "target_file", "absolute_path", "TargetFile", "notebook_path", "filename")
_CONTENTS = ("content", "contents", "file_text", "text", "new_source", "code_edit", "CodeContent", "newText")
_EDITS = (("old_string", "new_string"), ("old_str", "new_str"), ("oldString", "newString"), ("oldText", "newText"))
_ADDED = re.compile(r"^\*\*\* (?:Add|Update) File: (.+)$")
Files = Callable[[str], str | None]


class WrittenFile(Struct, frozen=True):
    """A file that a session wrote, with its judgement."""

    path: str
    judgement: Judgement
    family: str
    text: str


class WrittenFiles(Struct):
    """Written files by session; drops the oldest first."""

    sessions: OrderedDict[str, OrderedDict[str, WrittenFile]] = field(default_factory=OrderedDict)
    dangerous_sessions: set[str] = field(default_factory=set)  # sessions that wrote a dangerous file
    lock: threading.Lock = field(default_factory=threading.Lock)

    def remember(self, session: str, action: Action, rules: Rulebook, files: Files | None) -> None:
        """Judges and remembers the files that a call writes."""
        made = [(path, _judge_file(path, text, action.cwd, rules)) for path, text in written_contents(action, files)]
        with self.lock:
            for path, one in made:
                self._put(session, path, one)

    def _put(self, session: str, path: str, one: WrittenFile | None) -> None:
        written = self.sessions.setdefault(session, OrderedDict())
        self.sessions.move_to_end(session)
        written.pop(path, None)
        if one is not None:
            written[path] = one
        while len(written) > MOST_FILES:
            written.popitem(last=False)
        while len(self.sessions) > MOST_SESSIONS:
            self.dangerous_sessions.discard(self.sessions.popitem(last=False)[0])
        (self.dangerous_sessions.add if any(map(_is_dangerous, written.values())) else self.dangerous_sessions.discard)(
            session
        )

    def text(self, session: str, path: str) -> str | None:
        """The text that this session wrote to a path."""
        with self.lock:
            written = self.sessions.get(session)
            found = written.get(path) if written else None
        return found.text if found else None

    def inherit(self, session: str, action: Action, judgement: Judgement, texts: Mapping[str, str]) -> Judgement | None:
        """The findings an action inherits from files its session wrote; None where there are none.

        `texts` are the scripts read for it: the commands in them were judged already, their imports were not.
        """
        commands = [fact for fact in judgement.facts if isinstance(fact, Command)]
        if action.kind is not Kind.COMMAND and not commands:
            return None
        with self.lock:
            written = list(self.sessions.get(session, {}).values())
        ways = {
            one.path: _reach(one, action, commands, texts)
            for one in written
            if _is_dangerous(one) and one.path not in texts
        }
        found = [one for one in written if ways.get(one.path)]
        facts = tuple(
            replace(fact, span=None, via=(f"written by this session: {one.path}", *fact.via))
            for one in found
            for fact in one.judgement.facts
            if ways[one.path] == NAMED or not _in_a_store(fact)
        )
        if not facts:
            return None
        witnesses: tuple[Witness, ...] = tuple(witness for one in found for witness in one.judgement.witnesses)
        return Judgement(found[0].judgement.assessment, witnesses, facts)


def _judge_file(path: str, text: str, cwd: str, rules: Rulebook) -> WrittenFile | None:
    """Judges a file; None for one that is no program, or too long."""
    program = _program(path, text)
    if not program or len(text) > MOST_TEXT:
        return None
    run = forward_part(text) if is_migration(path) else text
    judgement = judge(command(f"{program} {shlex.quote(path)}", cwd), rules, _only(path, run))
    return WrittenFile(path, _certain(judgement, rules), _language(program), text)


def _certain(judgement: Judgement, rules: Rulebook) -> Judgement:
    """Only the effects on literal targets: a test that removes its temporary folder harms nothing."""
    facts = tuple(fact for fact in judgement.facts if _is_certain(fact))
    return Judgement(assess(facts, classify(facts, rules), rules.programs), judgement.witnesses, facts)


def _is_certain(fact: Fact) -> bool:
    if isinstance(fact, Command):
        return all(map(known, fact.words))
    return fact.verb != "unreadable" and known(fact.target) and known(fact.path)


def _only(path: str, text: str) -> Files:
    return lambda asked: text if asked == path else None


def names_program(text: str) -> bool:
    """A quick look whether shell text names a file that can be run."""
    return "#!" in text or any(ending in text for ending in _by_ending())


def written_contents(action: Action, files: Files | None) -> Iterator[tuple[str, str]]:
    """The paths that a call writes, with their new contents."""
    if action.kind is Kind.COMMAND and names_program(action.text):
        yield from ((path, text) for path, text in read(action, files).written.items() if path.startswith("/"))
    given = action.fields.get("input")
    if action.kind is not Kind.TOOL or not isinstance(given, Mapping):
        return
    patch = next((given[key] for key in ("command", "input", "patch") if isinstance(given.get(key), str)), "")
    if "*** " in patch and "patch" in action.text.casefold():
        yield from _patch_contents(patch, action.cwd)
        return
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str) and given[key]), "")
    if not path:
        return
    path = _absolute(path, action.cwd)
    whole = next((given[key] for key in _CONTENTS if isinstance(given.get(key), str)), None)
    if whole is not None:
        yield path, whole
        return
    edits = [given, *(edit for edit in _list(given.get("edits")) if isinstance(edit, Mapping))]
    if any(new in edit for edit in edits for _, new in _EDITS):
        yield path, _apply_edits((files(path) if files else None) or "", edits)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _apply_edits(text: str, edits: list[Mapping[str, Any]]) -> str:
    """The text after its edits; an edit whose place is not found is appended, so that no new text goes unread."""
    for edit in edits:
        for old_key, new_key in _EDITS:
            old, new = edit.get(old_key), edit.get(new_key)
            if isinstance(new, str):
                known = isinstance(old, str) and old and old in text
                text = text.replace(str(old), new) if known else f"{text}\n{new}"
                break
    return text


def _patch_contents(patch: str, cwd: str) -> Iterator[tuple[str, str]]:
    """The lines that a patch adds, by file."""
    path = ""
    lines: list[str] = []
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


_SHEBANG = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?([\w.-]+)")


def _program(path: str, text: str) -> str:
    """The program that would run this file; empty for one that is no program."""
    found = _by_ending().get(os.path.splitext(path)[1].casefold(), "")
    if found or not text.startswith("#!"):
        return found
    named = _SHEBANG.match(text)
    return named[1] if named and is_interpreter(named[1]) else _by_ending()[".sh"]


@cache
def _by_ending() -> Mapping[str, str]:
    described = shipped_programs().telling("endings")
    return {ending: name for name, program in described.items() if name == program.name for ending in program.endings}


def _language(program: str) -> str:
    described = described_program(program)
    return next((one.file for one in described.carries if one.file), SHELL) if described is not None else SHELL


def _starts(program: str, language: str) -> bool:
    """Whether a program starts files of a project in this language without naming them."""
    return program in program_set("starts_any") or (
        f"starts_{language}" in SETS and program in program_set(f"starts_{language}")
    )


def _is_dangerous(one: WrittenFile) -> bool:
    return one.judgement.assessment.level >= Level.DANGEROUS


def _in_a_store(fact: Fact) -> bool:
    """Whether an effect is on a database; tests and builds use their own."""
    return isinstance(fact, Effect) and fact.verb.startswith(("sql_", "store_"))


def _reach(one: WrittenFile, action: Action, commands: list[Command], texts: Mapping[str, str]) -> str:
    """How these commands run this file: NAMED by name or import, RUN by a runner in its tree that may not use it, else empty."""
    stem = re.compile(rf"(?<![\w.-]){re.escape(posixpath.basename(one.path).partition('.')[0])}(?![\w-])")
    name = posixpath.basename(one.path)
    inside = not action.cwd or one.path.startswith(action.cwd.rstrip("/") + "/")
    ran = ""
    for found in commands:
        words = (found.program, *found.words)
        if inside and any(_starts(posixpath.basename(word), one.family) for word in words[:4]):
            if not is_migration(one.path):
                ran = RUN
            elif runs_migrations(words):
                return NAMED
        if found.program == posixpath.basename(one.path):
            return NAMED
        if is_interpreter(found.program):
            if _language(found.program) == one.family and name.partition(".")[0] in ALWAYS_IMPORTED:
                return NAMED
            if any(name in word or one.path in word for word in found.words) or stem.search(" ".join(found.words)):
                return NAMED
            if any(stem.search(text) for text in texts.values()):
                return NAMED
    return ran


_PLACE = re.compile(r"/(?:migrations?|migrate|versions)/[^/]+\.(?:php|rb|py|js|mjs|cjs|ts)$")
# The start of a migration's function in PHP, JavaScript, Python and Ruby, by name.
_WAY = re.compile(
    r"^[ \t]*(?:(?:public|protected|private|static|async|export|const)\s+)*(?:function\s+|def\s+|exports\.|module\.exports\.)?"
    r"(up|down|change|upgrade|downgrade)\b\s*(?:\(|=|:|$)",
    re.MULTILINE,
)
_DOWN = frozenset({"down", "downgrade"})
_MIGRATES = re.compile(r"migrat|\bupgrade\b|\bdb:(?:setup|prepare|schema:load)\b")


def is_migration(path: str) -> bool:
    return _PLACE.search(path) is not None


def forward_part(text: str) -> str:
    """The text without the parts that only a downgrade runs."""
    ways = list(_WAY.finditer(text))
    ends = [*(way.start() for way in ways[1:]), len(text)]
    for way, end in reversed(list(zip(ways, ends, strict=False))):
        if way[1] in _DOWN:
            text = text[: way.start()] + _closing(text[way.start() : end]) + text[end:]
    return text


def _closing(part: str) -> str:
    """The trailing lines that close an earlier block: those indented less than the part's first line."""
    own = len(part) - len(part.lstrip(" \t"))
    lines = [line for line in part.splitlines(keepends=True)[1:] if line.strip()]
    return "".join(line for line in lines if len(line) - len(line.lstrip(" \t")) < own)


def runs_migrations(words: Sequence[str]) -> bool:
    """Whether a command runs migrations."""
    return _MIGRATES.search(" ".join(words)) is not None
