"""Which shell calls run below the journal: those that lose nothing by it, of agents whose own rules stay in force."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.agents import AgentCall, AgentDialect, Event, RewrittenCall
from interlock.agents.hook_protocol import FIELDS
from interlock.agents.rewriting import FIELD, LEAVE, SILENT, ShellCall
from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Command, known
from interlock.analysis.programs.load import input_language, program_set
from interlock.identity import home_of
from interlock.impact import Budget
from interlock.impact.survey import folders_made_again
from interlock.journal.wrapping import MOST_TEXT, Wrapper, call_word, leave_out
from interlock.model import Action, Kind, Level
from interlock.policy.effect_key import EffectKey, effect_keys, everyday_keys

if TYPE_CHECKING:
    from interlock.hooks.memory import Recent

_ALONE = re.compile(r"(?<![&<>|])&(?![&>])")  # starts something in the background, unless it is quoted
_SETS = re.compile(r"(?:^|[\s;&|(])[A-Za-z_]\w*(?:\[[^]]*\])?\+?=|\(\s*\)\s*\{|\bfunction\b")
_BUILTINS = frozenset(": [ [[ echo printf test true false cd pwd wait kill read type command time".split())
_PLACES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_UNABLE = re.compile(
    rb"interlock: the command was not run: |(?i:no such file or directory: [^ ]*)interlock-journaled|interlock-journaled: No such file"
)
_REFUSED = re.compile(rb"interlock: \w+ refused: ")
_MILLISECONDS = 300  # that the search for folders which are made again may last
_SECONDS = 60.0  # that its result is used
ASKED = "Interlock keeps what this changes, so that `interlock undo` brings it back. The command is: {text}"


class SentCall(Struct, frozen=True):
    original: str
    id: str
    asked: bool


def wrap_call(
    agent: AgentDialect, event: Event, judged: Judgement, options: frozenset[str], wrapper: Wrapper
) -> RewrittenCall | None:
    """None where the event's call only reads, would not be the same there, or the agent's own rules leave it alone.

    `options` are the words of the agent's command line.
    """
    call, passage_of = event.calls[0], agent.rewrites
    commands = tuple(fact for fact in judged.facts if isinstance(fact, Command))
    # What code in another language does is never known for certain.
    reads = judged.assessment.level < Level.REVERSIBLE and not any(input_language(one.program) for one in commands)
    text, home = call.action.text, Path(call.action.home or home_of(f"uid:{os.getuid()}"))
    if passage_of is None or reads or agent.flags & options or not home.is_absolute():
        return None
    if not is_rewritable(call) or not runs_alike(text, commands, agent.persistent):
        return None
    words = tuple((fact.program, *fact.words) for fact in commands)
    passage = passage_of(ShellCall(event, call, home, words))
    if passage == LEAVE:
        return None
    id = call_word(call.id or f"c_{secrets.token_hex(8)}")
    new = {FIELD: wrapper.wrap(text, agent.word, id)}
    return RewrittenCall(new, {**call.input, **new}, passage != SILENT, ASKED.format(text=text), id)


class FoundFolders(Struct, frozen=True):
    at: float
    folders: tuple[str, ...]  # that a program makes again


def leave_out_made_again(known: Recent[FoundFolders], front: str, call: str, cwd: str) -> None:
    """Lets the journal of a call leave out folders that a program makes again; looks for them once a minute, and blocks."""
    now, found = time.monotonic(), known.get(cwd)
    if found is None or now - found.at > _SECONDS:
        found = FoundFolders(now, tuple(folders_made_again(cwd, Budget.of(_MILLISECONDS))))
        known.put(cwd, found)
    leave_out(front, call, found.folders)


def is_rewritable(call: AgentCall) -> bool:
    """Whether all of a call is one text for a shell, in the foreground."""
    text = call.action.text
    if call.action.kind is not Kind.COMMAND or call.input.get(FIELD) != text or "\0" in text:
        return False
    if any(map(call.input.get, FIELDS.background)):
        return False
    try:
        return len(text.encode()) <= MOST_TEXT
    except UnicodeEncodeError:
        return False


def runs_alike(text: str, commands: Iterable[Command], persistent: bool) -> bool:
    """Whether a text does the same below the journal: no rights gained, nothing left running, no state for the shell's next call."""
    programs = {fact.program for fact in commands}
    if (
        programs & program_set("not_below")
        or _ALONE.search(text)
        or any("privileged" in fact.traits for fact in commands)
        or any(not known(program) or _gains_rights(program) for program in programs)
    ):
        return False
    if not persistent:
        return True
    keeps = program_set("shell_state") | program_set("shell_session")
    return not _SETS.search(text) and not programs & keeps and all(map(_file_of, programs - _BUILTINS))


@lru_cache(maxsize=1_024)
def _gains_rights(program: str) -> bool:
    path = _file_of(program)
    try:
        mode = os.stat(path).st_mode
        return bool(mode & (stat.S_ISUID | stat.S_ISGID)) or "security.capability" in os.listxattr(path)
    except OSError:  # also where there is no such file
        return False


def _file_of(program: str) -> str:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_PLACES}") or ""


def changed_keys(action: Action, judged: Judgement) -> tuple[EffectKey, ...]:
    """The effects that another call can repeat."""
    return (*effect_keys(action, judged.facts, judged.assessment), *everyday_keys(action, judged.facts))


def failure_in(body: bytes) -> str:
    """What the supervisor says in the output of a call: `unable` where it could not run it, `refused` where something did not fit."""
    return "unable" if _UNABLE.search(body) else "refused" if _REFUSED.search(body) else ""
