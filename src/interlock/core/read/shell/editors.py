"""Editors that are told what to do on their command line or by what flows in: what they run, and what they empty."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from interlock.core.read.shell.options import options, valued
from interlock.core.read.shell.session import Job, Stream


def line_editor(job: Job) -> Stream | None:
    """ed, ex: a line that begins with ! is a command; all lines deleted and written is an emptied file."""
    lines = [line.strip().lstrip(":") for line in job.stdin.text.splitlines()] if job.stdin is not None else []
    for line in lines:
        if line.startswith("!"):
            job.shell_text(line[1:], job.program)
    emptied(job, lines, options(job.words, valued("-p -c -S -u")).operands)
    return None


_ALL_LINES = re.compile(r"(?:%|,|1\s*,\s*\$|g/[.^$]?/)\s*d(?:elete)?!?")
_WRITES = re.compile(r"(?:w|wq|x|wall|wqa|xa)!?")


def emptied(job: Job, lines: Sequence[str], files: Sequence[str]) -> None:
    """What an editor is told to delete to the last line, and then to write."""
    if any(map(_ALL_LINES.fullmatch, lines)) and any(map(_WRITES.fullmatch, lines)):
        for path in files:
            job.effect("truncate", path)


def vim(job: Job) -> Stream | None:
    found = options(job.words, valued("-c --cmd -S -u"))
    texts = [*found.all("-c", "--cmd"), *(word[1:] for word in job.words if word.startswith("+"))]
    for text in texts:
        job.code("vim", text, f"{job.program} -c")
    lines = [part.strip().lstrip(":") for text in texts for part in text.split("|")]
    emptied(job, lines, [word for word in found.operands if not word.startswith("+")])
    return None


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "ed": line_editor,
    **dict.fromkeys(("vim", "vi", "nvim", "view", "gvim"), vim),
    "ex": lambda job: line_editor(job) or vim(job),
}
