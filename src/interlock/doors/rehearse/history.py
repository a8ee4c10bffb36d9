"""A shell's history -> the commands in it; bash, zsh and fish, with or without times."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from interlock.core.model import command
from interlock.doors.rehearse.past import LONGEST, Past, Tally

WORD = "shell"
_ZSH = re.compile(r": (\d{9,11}):\d+;(.*)", re.S)
_BASH = re.compile(r"#(\d{9,11})")
_FISH = re.compile(r"- cmd: (.*)")
_WHEN = re.compile(r"  when: (\d{9,11})")
_ESCAPED = {r"\n": "\n", r"\\": "\\"}


def read(path: Path, since: float, tally: Tally) -> Iterator[Past]:
    """The commands that are not older than `since`; one without a time is as old as the file."""
    home, written = str(Path.home()), path.stat().st_mtime
    for text, at in _entries(path, tally):
        when = written if at is None else float(at)
        if text.strip() and when >= since:
            yield Past(WORD, "", command(text, home), when)


def _entries(path: Path, tally: Tally) -> Iterator[tuple[str, int | None]]:
    with path.open("rb") as file:
        fish = file.readline(LONGEST).startswith(b"- cmd: ")
    return _fish(_lines(path, tally)) if fish else _posix(_joined(_lines(path, tally)))


def _fish(lines: Iterator[str]) -> Iterator[tuple[str, int | None]]:
    """A command, its time on a line below, and what else fish keeps of it."""
    text: str | None = None
    for line in lines:
        if found := _FISH.fullmatch(line):
            if text is not None:
                yield text, None
            text = re.sub(r"\\[n\\]", lambda one: _ESCAPED[one[0]], found[1])
        elif text is not None and (found := _WHEN.fullmatch(line)):
            yield text, int(found[1])
            text = None
    if text is not None:
        yield text, None


def _posix(lines: Iterator[str]) -> Iterator[tuple[str, int | None]]:
    """A command on each line; its time on the line above, as bash has it, or before it, as zsh has it."""
    at: int | None = None
    for line in lines:
        if found := _BASH.fullmatch(line):
            at = int(found[1])
        elif found := _ZSH.fullmatch(line):
            yield found[2], int(found[1])
        else:
            yield line, at
            at = None


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """A line that ends in a backslash goes on in the next; zsh writes a new line inside a command like that."""
    kept = ""
    for line in lines:
        if line.endswith("\\"):
            kept += line[:-1] + "\n"
            continue
        yield kept + line
        kept = ""
    if kept:
        yield kept


def _lines(path: Path, tally: Tally) -> Iterator[str]:
    """Lines without their end; what no shell wrote is counted and passed over."""
    with path.open("rb") as file:
        while raw := file.readline(LONGEST):
            if b"\0" in raw:
                tally.malformed += 1
            else:
                yield raw.decode("utf-8", "replace").rstrip("\n")
