"""Follows the name of a command to what it stands for: an alias, a function, or a program copied under another name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interlock.analysis.facts import HOLE, Effect
from interlock.analysis.places import resolve
from interlock.analysis.programs.options import program_name
from interlock.analysis.shell import UNKNOWN, Job, Stream, Where
from interlock.analysis.shell.assignments import leave_scope
from interlock.analysis.shell.bombs import may_end

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

MAX_CALLS = 12  # functions within functions


def original_name(shell: Shell, first: str) -> str:
    """cp /bin/rm /tmp/x; /tmp/x …: the program under its own name."""
    if HOLE in first:
        return ""
    copies = shell.session.copies
    origin = copies.get(resolve(first, shell.cwds[0]))
    if origin is None and "/" not in first:  # found by a path that the action itself set, or in a folder of programs
        on_path = "/" if "PATH" in shell.variables else "bin/"
        origin = next((old for new, old in copies.items() if new.endswith(f"{on_path}{first}")), None)
    return program_name(origin) if origin and origin.startswith(("/bin/", "/usr/", "/sbin/")) else ""


def expand_alias(shell: Shell, name: str, words: list[str], where: Where, stdin: Stream | None) -> Stream:
    """Read what an alias stands for; where that ends in a blank, the next word may be an alias, too."""
    text, rest, used = shell.aliases[name], list(words), [name]
    while text.endswith((" ", "\t")) and rest and rest[0] in shell.aliases and rest[0] not in used:
        used.append(rest[0])
        text += shell.aliases[rest.pop(0)]
    shell.calls += used
    try:
        return shell.read(" ".join([text, *map(_requoted, rest)]), where.inside(f"alias {name}"), stdin)
    finally:
        del shell.calls[-len(used) :]


def call_function(shell: Shell, name: str, words: list[str], where: Where, stdin: Stream | None) -> Stream:
    """Read the body of a function with these arguments and variables of its own."""
    body = shell.functions[name]
    if (begun := next((at for one, at in shell.running if one is body), None)) is not None:
        if shell.piped:
            job, conditional = Job(shell, name, words, where, None), shell.unsure > begun or "bulk" in where.traits
            if may_end(words, shell.arguments, conditional):
                job.unreadable("a function starts copies of itself, how many is only known at run time", "syntax")
            elif not any(isinstance(fact, Effect) and fact.verb == "fork_bomb" for fact in shell.session.facts):
                job.effect("fork_bomb", name)
        return UNKNOWN
    if len(shell.running) >= MAX_CALLS:
        Job(shell, name, words, where, None).unreadable("functions nested too deeply", "nesting")
        return UNKNOWN
    outer_arguments, shell.arguments = shell.arguments, words
    outer_where, shell.where = shell.where, where.inside(f"{name}()")
    outer_offset, shell.offset = shell.offset, None
    shell.running.append((body, shell.unsure))
    shell.scopes.append({})
    try:
        return shell.walk(body, stdin)
    finally:
        shell.offset = outer_offset
        shell.running.pop()
        leave_scope(shell)
        shell.arguments = outer_arguments
        shell.where = outer_where


def _requoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'" if not re.fullmatch(r"[\w./:=@%+,~-]+", word) else word
