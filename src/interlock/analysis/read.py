"""Reads an action into facts; each language's reader is imported when it is first met."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from msgspec import Struct

from interlock.analysis.facts import BudgetSpent, Command, Effect, Fact, Report, combine_facts
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.packs import each_name, own_words
from interlock.analysis.programs.load import program_set, word_set
from interlock.analysis.shell import BUDGET, MAX_NESTING, FileReader, Job, ShellReading, Where
from interlock.analysis.shell.expand import is_unknown
from interlock.analysis.shell.walk import Shell
from interlock.analysis.targets.ordering import NOT_READ, CommandLine
from interlock.analysis.windows import program_name as base_name
from interlock.model import Action, Kind, Witness

MAX_TEXT = 200_000
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_PADDING = re.compile(r"[ \t]{200,}|\n{200,}")


class Reading(Struct, frozen=True):
    facts: tuple[Fact, ...]
    witnesses: tuple[Witness, ...] = ()
    line: CommandLine = NOT_READ  # the order of a command's steps
    written: Mapping[str, str] = {}  # what a command writes to files, by path, as far as its text tells


def read(
    action: Action, files: FileReader | None = None, patterns: NamePatterns = BUILT_IN_PATTERNS, budget: int = BUDGET
) -> Reading:
    """The facts of an action; `files` gives the text of a script by path, where the caller wants scripts read.

    Raises BudgetSpent where a caller gave fewer steps than a reading may take, and they did not suffice.
    """
    text = action.text
    session = ShellReading(text, read_code, looks_like_windows, files, patterns=patterns, budget=budget, cwd=action.cwd)
    shell = Shell(session, [action.cwd], action.home)
    try:
        _READERS[action.kind](action, shell)
    except BudgetSpent:
        if budget < BUDGET:
            raise
        _unreadable(shell, "more work to read than any command needs", "budget")
    except RecursionError:
        _unreadable(shell, "nested too deeply to read", "nesting")
    witnesses = [
        Witness(path, hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest())
        for path, content in sorted(session.witnesses.items())
    ]
    facts = session.facts if len(session.facts) < 2 else dict.fromkeys(combine_facts(session.facts))
    return Reading(tuple(facts), tuple(witnesses), session.line or NOT_READ, session.files)


def _unreadable(shell: Shell, what: str, trait: str) -> None:
    shell.job(where=_whole(shell)).unreadable(what, trait)


def _whole(shell: Shell) -> Where:
    return Where((0, len(shell.session.source)))


def _read_command(action: Action, shell: Shell) -> None:
    text = shell.session.source
    if len(text) > MAX_TEXT:
        text = _PADDING.sub(lambda found: found[0][0] * 2, text)
    if len(text) > MAX_TEXT:
        _unreadable(shell, "longer than any command is", "budget")
        text = text[:MAX_TEXT]
    if "\0" in text:
        _unreadable(shell, "contains a NUL character", "syntax")
        text = text.replace("\0", "")
    if not text.isascii() and _BIDI.search(text):
        _unreadable(shell, "contains characters that change the order in which it is shown", "syntax")
    if language := looks_like_windows(text, action.cwd):
        shell.session.line = CommandLine()
        shell.job(where=_whole(shell)).code(language, text)
    else:
        shell.read(text, _whole(shell) if text != shell.session.source else Where(None))


def _read_operation(action: Action, shell: Shell) -> None:
    name, fields = shell.session.source, action.fields
    job = shell.job(name, where=_whole(shell))
    declared = fields.get("declared")
    if declared is not None:
        job.effect("declared", name, f"level_{int(declared)}")
        job = _Declared(shell, name, [], _whole(shell))
    read_it = _function("operations.operation", "read_operation")
    read_it(name, fields.get("params") or {}, str(fields.get("crude") or ""), job)


class _Declared(Job):
    """With a declared level the effects of a name are dropped, those of its parameters count."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if not verb.startswith("act_"):
            super().effect(verb, target, *traits)


def _read_tool(action: Action, shell: Shell) -> None:
    name, fields = shell.session.source, action.fields
    read_it = _function("operations.operation", "read_tool")
    read_it(name, fields.get("input") or {}, shell.job(name, where=_whole(shell)), str(fields.get("crude") or ""))


def _read_intent(action: Action, shell: Shell) -> None:
    _function("prose", "read_prose")(shell.session.source, shell.job(where=_whole(shell)))


_READERS = {
    Kind.COMMAND: _read_command,
    Kind.OPERATION: _read_operation,
    Kind.TOOL: _read_tool,
    Kind.INTENT: _read_intent,
}

__all__ = ["BUDGET", "BudgetSpent", "Command", "Effect", "FileReader", "Reading", "read"]


# The module of each language that has a reader, by its name.
LANGUAGES = each_name({
    **{name: f"code.{name}" for name in "javascript other perl python tcl".split()},
    "awk groovy r vim": "code.tokenised",
    "csharp elixir go java julia lua php ruby": "code.grammar_languages",
    "mongo": "code.javascript",
    "cql cypher memcached redis": "datastores",
    **{name: name for name in ("cmd", "powershell", "prose", "sql")},
    "orders": "prose",
})  # fmt: skip


@cache
def _function(module: str, name: str) -> Callable[..., None]:
    """Loaded when it is first needed: most commands need none."""
    found: Callable[..., None] = getattr(import_module(f"interlock.analysis.{module}"), name)
    return found


def _reader(language: str) -> Callable[[str, Report], None]:
    return _function(LANGUAGES[language], "read_redis_text" if language == "redis" else f"read_{language}")


def read_code(language: str, text: str, job: Job) -> None:
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
    if len(text) > MAX_TEXT:
        job.unreadable(f"more {language} than is read", "budget")
        return
    language = language if language in LANGUAGES else "other"
    session.nesting += 1
    try:
        _reader(language)(text, job)
    except RecursionError:
        job.unreadable(f"{language} nested too deeply", "nesting")
    finally:
        session.nesting -= 1


# -- which shell a text is for

_WINDOWS_CWD = lazy_regex(r"[A-Za-z]:[\\/]|\\\\\w")
_LIMIT = 20_000

_CMDLET = lazy_regex(
    r"(?:^|[|;&({=])\s*&?\s*(?:[\w.]+\\)?([a-z]+)-[a-z]\w+(?=[\s|;)}]|$)", re.IGNORECASE | re.MULTILINE
)
_FIRST_CMDLET = lazy_regex(r"\s*(?:&\s*)?([a-z]+)-([a-z]+)(?=[\s|;)]|$)", re.IGNORECASE)
_PASCAL_CMDLET = lazy_regex(r"(?:.*\\)?([A-Z][a-z]+)-[A-Z]\w+")  # as no POSIX program is called
_MARKS = own_words("analysis/windows_marks.toml")


def _marks(key: str, form: str = "{}", flags: int = re.IGNORECASE | re.MULTILINE) -> re.Pattern[str]:
    return lazy_regex(lambda: form.format("|".join(_MARKS.in_order(key))), flags)


_POWERSHELL_MARKS, _CMD_MARKS = _marks("powershell"), _marks("cmd")
_CMD_COMMANDS = _marks("cmd_commands", r"(?:^|[&|(@])\s*(?:{})")
_SURE_CMD = _marks("sure_cmd", r"\s*(?:{})")
_POSIX_MARKS = _marks("posix", flags=re.MULTILINE)
# With a drive's path they are no program of a POSIX shell, whatever the folder.
_DRIVE = lazy_regex(r"(?:^|[\s\"'=])[A-Za-z]:\\")
_FIRST_WORD = lazy_regex(r"\s*(?:[@&.]\s*)?([A-Za-z][\w.\\-]*)(?=[\s/|;)]|$)")
_DRIVE_CMD = frozenset("copy move ren rename type attrib".split())


def looks_like_windows(text: str, cwd: str) -> str:
    """ "powershell", "cmd", or "" for a POSIX shell."""
    head = text[:_LIMIT]
    if not _WINDOWS_CWD.match(cwd):
        return _whatever_the_folder(head)
    outside = _QUOTED.sub("''", head)  # words in a message prove nothing
    if _has_cmdlet(outside) or _opens_with_cmdlet(head):
        return "powershell"
    if _CMD_COMMANDS.search(head) or _CMD_MARKS.search(head):
        return "cmd"
    if _POWERSHELL_MARKS.search(outside):
        return "powershell"
    if not _POSIX_MARKS.search(head):
        return "cmd"
    return "powershell" if _BACKSLASH_PATH.search(outside) else ""


@cache
def _named() -> frozenset[str]:
    return program_set("windows") | program_set("windows_too") | program_set("said_capital")


def _has_cmdlet(text: str) -> bool:
    return any(found[1].lower() in word_set("cmdlet_verbs") for found in _CMDLET.finditer(text))


def _opens_with_cmdlet(text: str) -> bool:
    found = _FIRST_CMDLET.match(text)
    words = (word_set("cmdlet_verbs"), word_set("cmdlet_nouns"))
    return found is not None and all(one.lower() in known for one, known in zip(found.groups(), words, strict=True))


def _whatever_the_folder(head: str) -> str:
    first = _FIRST_WORD.match(head)
    if first is None:
        return "cmd" if head.lstrip().startswith("%0|%0") else ""
    word = first[1]
    name = base_name(word) if "\\" in word or "." in word else word.lower()
    if "-" in word and name not in program_set("windows"):
        pascal = _PASCAL_CMDLET.fullmatch(word)
        verbs = word_set("cmdlet_verbs") | word_set("cmdlet_verbs_in_capitals")
        return "powershell" if (pascal and pascal[1].lower() in verbs) or _opens_with_cmdlet(head) else ""
    if name not in _named():
        return ""
    posix = ";" in head or _POSIX_MARKS.search(head) is not None
    if not posix and name in program_set("windows"):
        return "cmd"
    if _SURE_CMD.match(head) and not (posix and name == "format"):
        return "powershell" if posix else "cmd"  # which has the same words, and knows a semicolon
    if name in program_set("windows_too") and _DRIVE.search(head):
        return ("cmd" if not posix else "") if name in _DRIVE_CMD else "powershell"
    return ""


_BACKSLASH_PATH = lazy_regex(r"[A-Za-z]:\\|\.\\\w|\w\\\w")
_QUOTED = lazy_regex(r"'[^'\n]*'|\"[^\"\n]*\"")
