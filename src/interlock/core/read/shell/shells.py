"""The shells themselves: the text of `bash -c`, a script file, or what flows in."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.core.read.shell.builtins import run_script
from interlock.core.read.shell.session import NOTHING, UNKNOWN, Job, Stream

SHELLS = frozenset(
    "bash sh zsh dash ksh ash mksh fish csh tcsh rbash rzsh yash pdksh osh posh hush xonsh nu elvish".split()
)

# program -> language, options that carry code, options with other values


def shell(job: Job) -> Stream | None:
    """bash -c 'text' name args…; a script file; or what flows in."""
    text, operands, flags = _shell_words(job.words)
    if ("-n" in flags and job.program != "fish") or "noexec" in flags or "--no-execute" in flags:
        return NOTHING
    dialect = "zsh" if job.program in ("zsh", "rzsh") else "fish" if job.program == "fish" else "bash"
    via = f"{job.program} -c"
    if text is not None:
        return _payload(job, text, via, operands, dialect)
    if operands and "-s" not in flags:
        if operands[0] in ("-", "/dev/stdin"):
            return from_stdin(job, dialect, operands)
        return run_script(job, operands[0], operands[1:], job.program)
    return from_stdin(job, dialect, [job.program, *operands])


def _shell_words(words: list[str]) -> tuple[str | None, list[str], set[str]]:
    """The text of -c, what follows, and the flags."""
    flags: set[str] = set()
    wants_text = False
    index = 0
    while index < len(words):
        word = words[index]
        if word in ("--", "-"):
            index += 1
            break
        if not re.fullmatch(r"[-+][A-Za-z]+|--[a-z-]+(=.*)?", word):
            break
        flags.add(word)
        if not word.startswith("--"):
            flags.update(f"-{letter}" for letter in word[1:])
            wants_text = wants_text or ("c" in word[1:] and word[0] == "-")
        elif word == "--command":
            wants_text = True
        elif word.startswith("--command="):
            return word[10:], words[index + 1 :], flags
        index += 1
        if word in ("--rcfile", "--init-file", "-C") or (not word.startswith("--") and word[-1] in "oO"):
            if index < len(words):
                flags.add(words[index])
            index += 1
    rest = words[index:]
    if wants_text:
        return (rest[0] if rest else ""), rest[1:], flags
    return None, rest, flags


def _payload(job: Job, text: str, via: str, args: list[str], dialect: str) -> Stream:
    return job.shell_text(text, via, args=args, dialect=dialect)


def from_stdin(job: Job, dialect: str, args: list[str]) -> Stream | None:
    if job.stdin is None:
        return None
    if "download" in job.stdin.taints:
        job.effect("run_download", "the network")
        return UNKNOWN
    if "bulk" in job.stdin.taints:
        job.unreadable("a list that is only known at run time is run as commands", "payload")
        return UNKNOWN
    where = job.where.inside(job.program)
    return job.host.nested(job.stdin.text, where, args, dialect)


HANDLERS: dict[str, Callable[[Job], Stream | None]] = dict.fromkeys(SHELLS, shell)
