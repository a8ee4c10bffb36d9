"""Detects agents by terminal, environment and ancestors, and identifies the foreground shell of a person's terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words
from interlock.analysis.programs.load import describe
from interlock.identity import process_stat, process_text

MOST_ANCESTORS = 64

_WORDS = own_words("identity/words.toml")
_AGENT = lazy_regex(lambda: rf"(?:{'|'.join(map(re.escape, _WORDS.agents))})(?:[-_.@].*)?")
_INSTALLED = ("node_modules", "site-packages", "dist-packages")
_UNSEEN = "it cannot be seen which processes started this one"
_STREAMS = ((0, "stdin"), (1, "stdout"))


class ProcessInfo(Struct, frozen=True):
    pid: int
    parent: int
    terminal: int  # the device number of its controlling terminal
    name: str
    words: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()  # agents' marks in the environment that it was started with
    session: int = 0
    started: int = 0  # ticks since boot, so that a reused number does not match
    in_front: bool = False  # of its terminal


def is_agents_terminal() -> str | None:
    """Why it looks like one, or None; missing information counts as a reason."""
    for file, name in _STREAMS:
        if not os.isatty(file):
            return f"{name} is not a terminal"
    if found := _marks(os.environ):
        return f"the environment has {found[0]}, which an agent sets"
    return _another_terminal() or agent_above(os.getppid())


def _marks(names: Iterable[str]) -> tuple[str, ...]:
    begins = tuple(_WORDS.mark_beginnings)
    return tuple(sorted(name for name in names if name in _WORDS.marks or name.startswith(begins)))


def _another_terminal() -> str | None:
    if (own := _process(os.getpid())) is None:
        return _UNSEEN
    major, minor = (own.terminal >> 8) & 0xFFF, (own.terminal & 0xFF) | ((own.terminal >> 12) & 0xFFF00)
    for file, name in _STREAMS:
        device = os.fstat(file).st_rdev
        if (os.major(device), os.minor(device)) != (major, minor):
            return f"{name} is another terminal than the one this process belongs to"
    return None


def agent_above(pid: int) -> str | None:
    """Why a process or an ancestor looks like an agent's, or None; missing information counts as a reason."""
    for process in _ancestors(pid):
        if process is None:
            return _UNSEEN
        if agent := agent_in(process):
            return f"it was started by {agent} (process {process.pid})"
        if process.marks:
            return f"process {process.pid} above it has {process.marks[0]}, which an agent sets"
    return None


def words_above(pid: int) -> frozenset[str] | None:
    """Options without their values; None where a process cannot be seen."""
    above = list(_ancestors(pid))
    if None in above:
        return None
    return frozenset(word.partition("=")[0] for process in above if process for word in process.words)


def _ancestors(pid: int) -> Iterator[ProcessInfo | None]:
    """The nearest first; None for an unreadable one, and past the limit."""
    for _ in range(MOST_ANCESTORS):
        if pid <= 0:
            return
        process = _process(pid)
        yield process
        if process is None:
            return
        pid = process.parent
    yield None


def agent_in(process: ProcessInfo) -> str | None:
    runner = _base(process.words[0]) if process.words else ""
    names = [process.name, runner]
    for word in [word for word in process.words[1:] if not word.startswith("-")][: _runs(runner)]:
        parts = word.casefold().split("/")
        below = next((at + 1 for at, part in enumerate(parts) if part in _INSTALLED), len(parts))
        names += [_base(word), *parts[below:]]  # of installed packages; a home folder called claude is no agent
    return next((name for name in names if _AGENT.fullmatch(name)), None)


def _runs(program: str) -> int:
    """How many arguments of an interpreter or a package runner can name a program that it runs."""
    described = describe(program.rstrip("0123456789."))  # python3.12
    paths = [path for one in described.carries if one.packages for path in one.subcommand or ((),)]
    interprets = described.wrapper and bool(described.reader) and not described.dialect
    return max((2 + len(path) for path in paths), default=int(interprets))


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2].lstrip("-").casefold()


def _process(pid: int) -> ProcessInfo | None:
    name, fields = process_stat(pid)
    words = tuple(word for word in process_text(pid, "cmdline", "replace").split("\0") if word)
    names = (entry.partition("=")[0] for entry in process_text(pid, "environ", "replace").split("\0"))
    try:
        parent, group, session, terminal, foreground = map(int, fields[1:6])
        name, started = name.casefold(), int(fields[19])
    except (ValueError, IndexError):
        return None
    return ProcessInfo(pid, parent, terminal, name, words, _marks(names), session, started, group == foreground)


class TerminalPlace(Struct, frozen=True):
    """A person's shell at a terminal; processes outside of it, or started by another program, have another place."""

    terminal: int  # device number
    session: int
    session_started: int
    shell: int
    shell_started: int


def place_of(pid: int, connected: float | None = None) -> TerminalPlace | None:
    """A command that a shell runs in the foreground of its terminal; None for every other process, and for an agent's.

    `connected` is the time of its connection, in seconds since boot: a process that began later has only reused its number.
    """
    if (own := _process(pid)) is None or not own.terminal or not own.in_front or min(pid, own.parent, own.session) <= 1:
        return None  # an orphan has no parent to judge by
    if connected is not None and own.started / os.sysconf("SC_CLK_TCK") > connected + 0.02:
        return None
    shell, leader = _process(own.parent), _process(own.session)
    if shell is None or leader is None or (shell.terminal, shell.session) != (own.terminal, own.session):
        return None
    if agent_above(pid):
        return None
    return TerminalPlace(own.terminal, own.session, leader.started, own.parent, shell.started)
