"""One command -> its fact, what it runs, what it does to files and stores, and what it prints."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.core.read import effects, scripts
from interlock.core.read.shell import builtins, carry, clients, interpret, unwrap
from interlock.core.read.shell.output import output
from interlock.core.read.shell.session import UNKNOWN, Job, Stream, command_fact

Handler = Callable[[Job], Stream | None]

HANDLERS: dict[str, Handler] = {
    **effects.HANDLERS,
    **clients.HANDLERS,
    **carry.HANDLERS,
    **interpret.HANDLERS,
    **builtins.HANDLERS,
    **dict.fromkeys(("npm", "yarn", "pnpm"), scripts.npm),
    "just": scripts.just,
}

_WRAPPERS = frozenset(unwrap.PREFIXES) | frozenset(interpret.HANDLERS) | frozenset({"env", "command", "xargs", "eval", "source", ".", "busybox", "toybox"})
_DASHED_GIT = re.compile(r"git-(add|am|apply|bisect|branch|checkout|checkout-index|clean|clone|commit|config|fetch|filter-branch|gc|log|merge|mv|prune|pull|push|read-tree|rebase|reflog|remote|reset|restore|revert|rm|stash|submodule|switch|symbolic-ref|tag|update-ref|worktree)")
_LOADER = re.compile(r"ld-(linux|musl)[\w.-]*|ld\.so[\w.]*|ld-[\d.]+\.so")
_SYSTEM_PROGRAM = re.compile(r"/(usr|bin|sbin|opt|snap|nix|Applications|Library|System)/|[A-Za-z]:[\\/](Windows|Program)", re.IGNORECASE)


def read_program(job: Job, written: str) -> Stream:
    """Read one command; `written` is its name as it stands in the text."""
    program = job.program
    if program.startswith("git-") and _DASHED_GIT.fullmatch(program):
        return job.host.run(["git", program[4:], *job.words], job.where.inside(program), job.stdin)
    if _LOADER.fullmatch(program):
        program = job.program = "ld.so"
    name = program if program in HANDLERS else interpret.interpreter_of(program)
    wrapper = program in _WRAPPERS or bool(name and name in interpret.HANDLERS)
    where = replace(job.where, traits=job.where.traits | {"wrapper"}) if wrapper else job.where
    job.host.session.facts.append(command_fact(program, job.words, where, job.stdin))
    if not wrapper and asks_for_help(job.words):
        return UNKNOWN
    stream = unwrap.unwrap(job)
    if stream is not None:
        return stream
    handler = HANDLERS.get(name)
    if handler is not None:
        stream = handler(job)
    elif "/" in written and not _SYSTEM_PROGRAM.match(written):
        stream = interpret.executable(job, written)
    return stream if stream is not None else output(job)


def asks_for_help(words: Sequence[str]) -> bool:
    """--help or --version before any `--`: the program prints and ends; not what it would run in a container."""
    for number, word in enumerate(words):
        if word in ("--", "exec", "run"):
            return False
        if word in ("--help", "/?", "-?", "-help"):
            return True
        if word == "--version" and number in (0, len(words) - 1):
            return True
    return words[-1:] in (["help"], ("help",)) and len(words) > 1
