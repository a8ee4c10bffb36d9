"""Writes a shell call as one that runs below the supervisor, and reads it back."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import re
import shlex
import sys
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from interlock.config import Config
from interlock.journal import FRONT, JournalError, write_whole

SHELLS = Path(__file__).with_name("shells")
MARKS = "calls"  # the folder, beside the front, of the marks of calls that ran
LABEL = "call"  # first word of the label of a wrapped call, before the agent's word and the call's id
MOST_TEXT = 40_000  # bytes: an argument, and the head of a journal, hold no more
_DIGITS = 32  # of a call whose id is no plain word
_MARK_SECONDS = 86_400
_SKIPS = "+skip"  # behind the call's id: the file of folders that its journal leaves out
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,79}")
_SHELLS = frozenset({"bash", "zsh", "", "sh", "dash", "nologin", "false"})  # for the last five agents take bash


class Wrapper(Struct, frozen=True):
    """`. FRONT AGENT CALL TEXT`."""

    front: str

    def wrap(self, text: str, agent: str, call: str) -> str:
        """The whole of the original is one argument."""
        return _head(self.front) + shlex.join([agent, call, text])

    def original(self, text: str) -> str:
        """The text inside exactly this form, whoever wrapped it, for that is what runs; else empty."""
        head = _head(self.front)
        if not text.startswith(head):
            return ""
        words = text.removeprefix(head).split(" ", 2)
        if len(words) != 3:
            return ""
        agent, call, quoted = words
        inner = quoted[1:-1].replace("'\"'\"'", "'") if quoted.startswith("'") else quoted
        return inner if text == self.wrap(inner, agent, call) else ""


@lru_cache(maxsize=4)
def _head(front: str) -> str:
    return f". {shlex.quote(front)} "


def call_word(id: str) -> str:
    return id if _ID.fullmatch(id) else hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def take_mark(front: str, call: str) -> bool:
    """The front leaves a mark when it runs, which is taken away."""
    with contextlib.suppress(OSError):
        os.unlink(_mark(front, f"{call}{_SKIPS}"))
    try:
        os.unlink(_mark(front, call))
    except OSError:
        return False
    return True


def leave_out(front: str, call: str, folders: Iterable[str]) -> None:
    """Tells the front which folders the journal of a call leaves out; without that it keeps everything."""
    words = [f"--skip\n{folder}\n" for folder in folders if "\n" not in folder]
    if words:
        with contextlib.suppress(OSError):
            Path(_mark(front, f"{call}{_SKIPS}")).write_text("".join(words), "utf-8", "surrogateescape")


def _mark(front: str, name: str) -> str:
    return os.path.join(os.path.dirname(front), MARKS, name)


def wrapped_call(label: str) -> tuple[str, str]:
    """Both empty where it was no wrapped call."""
    words = label.split(" ")
    return (words[1], words[2]) if len(words) == 3 and words[0] == LABEL else ("", "")


def front_of(config: Config) -> Path:
    return config.folder.absolute() / "bin" / FRONT


def prepare_wrapping(config: Config) -> Path:
    """Raises JournalError with the reason why calls cannot be wrapped."""
    from interlock.journal.build import problem_of, ready

    if not config.undo.journal:
        raise JournalError("the journal is switched off (undo.journal)")
    if sys.platform != "linux" or config.separate.on:
        raise JournalError("calls are wrapped on Linux only, by a daemon of the agent's own user")
    shell = os.path.basename(pwd.getpwuid(os.getuid()).pw_shell)
    if shell not in _SHELLS:
        raise JournalError(f"calls are wrapped in bash and zsh only, and the shell of this user is {shell!r:.40}")
    program, store = ready(config)
    front = front_of(config)
    marks = front.parent / MARKS
    values = {"@PROGRAM@": program, "@STORE@": store.path, "@FOLDER@": front.parent, "@MARKS@": marks}
    try:
        marks.mkdir(mode=0o700, exist_ok=True)
        for mark in marks.iterdir():  # of calls that nobody reported; those of a call that may still run stay
            if mark.stat().st_mtime < time.time() - _MARK_SECONDS:
                mark.unlink(missing_ok=True)
        for source in sorted(SHELLS.iterdir()):
            text = source.read_text("utf-8")
            for name, value in values.items():
                text = text.replace(name, shlex.quote(str(value)))
            write_whole(front.parent / source.name, text.encode())
    except OSError as error:
        raise JournalError(f"calls cannot be wrapped: {error}") from None
    if why := problem_of(config):
        raise JournalError(why)
    return front
