"""Reads an action into facts; each language's reader is imported when it is first met."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from msgspec import Struct

from interlock.analysis.facts import BudgetSpent, Command, Effect, Fact, Report, combine_facts
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.shell import BUDGET, MAX_NESTING, FileReader, Job, ShellReading, Where
from interlock.analysis.shell.expand import is_unknown
from interlock.analysis.shell.walk import Shell
from interlock.analysis.windows import looks_like_windows
from interlock.model import Action, Kind, Witness

MAX_TEXT = 200_000
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_PADDING = re.compile(r"[ \t]{200,}|\n{200,}")


class Reading(Struct, frozen=True):
    """The facts of an action, and the scripts that they depend on."""

    facts: tuple[Fact, ...]
    witnesses: tuple[Witness, ...] = ()
    written: Mapping[str, str] = {}  # what a command writes to files, by path, as far as its text tells


def read(
    action: Action, files: FileReader | None = None, patterns: NamePatterns = BUILT_IN_PATTERNS, budget: int = BUDGET
) -> Reading:
    """The facts of an action; `files` gives the text of a script by path, where the caller wants scripts read.

    Raises BudgetSpent where a caller gave fewer steps than a reading may take, and they did not suffice.
    """
    text = action.text
    session = ShellReading(source=text, reader=files, patterns=patterns, budget=budget, cwd=action.cwd)
    shell = Shell(session, action.cwd, action.home)
    whole = (0, len(text))
    try:
        _READERS[action.kind](action, shell)
    except BudgetSpent:
        if budget < BUDGET:
            raise
        _unreadable(shell, whole, "more work to read than any command needs", "budget")
    except RecursionError:
        _unreadable(shell, whole, "nested too deeply to read", "nesting")
    witnesses = _witnesses(session.witnesses) if session.witnesses else ()
    facts = combine_facts(session.facts)
    return Reading(tuple(dict.fromkeys(facts) if len(facts) > 1 else facts), witnesses, session.files)


def _witnesses(scripts: Mapping[str, str]) -> tuple[Witness, ...]:
    return tuple(
        Witness(path, hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest())
        for path, content in sorted(scripts.items())
    )


def _unreadable(shell: Shell, span: tuple[int, int], what: str, *traits: str) -> None:
    Job(shell, "", [], Where(span), None).unreadable(what, *traits)


def _read_command(action: Action, shell: Shell) -> None:
    text = shell.session.source
    whole = (0, len(text))
    if len(text) > MAX_TEXT:
        text = _PADDING.sub(lambda found: found[0][0] * 2, text)
    if len(text) > MAX_TEXT:
        _unreadable(shell, whole, "longer than any command is", "budget")
        text = text[:MAX_TEXT]
    if "\0" in text:
        _unreadable(shell, whole, "contains a NUL character", "syntax")
        text = text.replace("\0", "")
    if not text.isascii() and _BIDI.search(text):
        _unreadable(shell, whole, "contains characters that change the order in which it is shown", "syntax")
    language = looks_like_windows(text, action.cwd)
    if language:
        Job(shell, "", [], Where(whole), None).code(language, text)
        return
    shell.read(text, Where(whole if text != shell.session.source else None))


def _read_operation(action: Action, shell: Shell) -> None:
    name, fields = shell.session.source, action.fields
    where = Where((0, len(name)))
    job = Job(shell, name, [], where, None)
    declared = fields.get("declared")
    if declared is not None:
        job.effect("declared", name, f"level_{int(declared)}")
        job = _Declared(shell, name, [], where, None)
    _operations()(name, fields.get("params") or {}, str(fields.get("crude") or ""), job)


@cache
def _operations() -> Callable[[str, Mapping[str, Any], str, Job], None]:
    """The reader of operations, loaded when the first one is read: a command needs none of it."""
    from interlock.analysis.operations.operation import read_operation

    return read_operation


class _Declared(Job):
    """The report for an operation with a declared level: effects of its name are dropped, those of its parameters count."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if not verb.startswith("act_"):
            super().effect(verb, target, *traits)


def _read_tool(action: Action, shell: Shell) -> None:
    from interlock.analysis.operations.tools import read_tool

    name, fields = shell.session.source, action.fields
    job = Job(shell, name, [], Where((0, len(name))), None)
    read_tool(name, fields.get("input") or {}, job, str(fields.get("crude") or ""))


def _read_intent(action: Action, shell: Shell) -> None:
    text = shell.session.source
    _prose()(text, Job(shell, "", [], Where((0, len(text))), None))


@cache
def _prose() -> Callable[[str, Job], None]:
    """The reader of sentences, loaded when the first one is read."""
    from interlock.analysis.prose import read_prose

    return read_prose


_READERS = {
    Kind.COMMAND: _read_command,
    Kind.OPERATION: _read_operation,
    Kind.TOOL: _read_tool,
    Kind.INTENT: _read_intent,
}

__all__ = ["BUDGET", "BudgetSpent", "Command", "Effect", "FileReader", "Reading", "read"]


MAX_CODE = 200_000

_LANGUAGE_READERS = {
    "python": ("code.python", "read_python"),
    "javascript": ("code.javascript", "read_javascript"),
    "mongo": ("code.mongo", "read_mongo"),
    "perl": ("code.perl", "read_perl"),
    "ruby": ("code.ruby", "read_ruby"),
    "php": ("code.php", "read_php"),
    "lua": ("code.lua", "read_lua"),
    "awk": ("code.awk", "read_awk"),
    "vim": ("code.vim", "read_vim"),
    "r": ("code.r", "read_r"),
    "tcl": ("code.tcl", "read_tcl"),
    "groovy": ("code.groovy", "read_groovy"),
    "elixir": ("code.elixir", "read_elixir"),
    "julia": ("code.julia", "read_julia"),
    "java": ("code.compiled", "read_java"),
    "go": ("code.compiled", "read_go"),
    "csharp": ("code.compiled", "read_csharp"),
    "prose": ("prose", "read_prose"),
    "orders": ("prose", "read_orders"),
    "other": ("code.other", "read_other"),
    "sql": ("sql", "read_sql"),
    "redis": ("datastores", "read_redis_text"),
    "cql": ("datastores", "read_cql"),
    "cypher": ("datastores", "read_cypher"),
    "memcached": ("datastores", "read_memcached"),
    "powershell": ("powershell", "read_powershell"),
    "cmd": ("cmd", "read_cmd"),
}

LANGUAGES = frozenset(_LANGUAGE_READERS)


@cache
def _reader(language: str) -> Callable[[str, Report], None]:
    module, name = _LANGUAGE_READERS[language]
    found: Callable[[str, Report], None] = getattr(import_module(f"interlock.analysis.{module}"), name)
    return found


def read_code(language: str, text: str, job: Job) -> None:
    """Read code in a language by name; what is unknown, too long or nested too deeply is reported as such."""
    session = job.host.session
    session.step(10)
    if language in ("shell", "sh", "bash"):
        job.shell(text)
        return
    if not text.strip():
        return
    if is_unknown(text.strip()):
        job.unreadable(f"{language} made at run time is run", "payload")
        return
    if session.nesting >= MAX_NESTING:
        job.unreadable("code nested too deeply", "nesting")
        return
    if len(text) > MAX_CODE:
        job.unreadable(f"more {language} than is read", "budget")
        return
    language = language if language in _LANGUAGE_READERS else "other"
    session.nesting += 1
    try:
        _reader(language)(text, job)
    except RecursionError:
        job.unreadable(f"{language} nested too deeply", "nesting")
    finally:
        session.nesting -= 1
