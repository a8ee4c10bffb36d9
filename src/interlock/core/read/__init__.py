"""An action -> the facts of what it would do."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from interlock.core.model import Action, Kind, Witness
from interlock.core.read.facts import BudgetSpent, Command, Effect, Fact
from interlock.core.read.shell.session import FileReader, Job, Session, Where
from interlock.core.read.shell.walk import Shell

MAX_TEXT = 200_000
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_PADDING = re.compile(r"[ \t]{200,}|\n{200,}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the facts, and the scripts whose content they depend on."""

    facts: tuple[Fact, ...]
    witnesses: tuple[Witness, ...] = ()


class NotReadable(ValueError):
    """An action of a kind that has no reader."""


def read(action: Action, files: FileReader | None = None) -> Reading:
    """The facts of an action; `files` gives the text of a script by path, where the caller wants scripts read."""
    if action.kind is not Kind.COMMAND:
        raise NotReadable(f"actions of kind {action.kind.value!r} are not read")
    session = Session(source=action.text, reader=files)
    shell = Shell(session, action.cwd)
    text = action.text
    whole = (0, len(text))
    try:
        _read_command(text, action.cwd, shell)
    except BudgetSpent:
        _unreadable(shell, whole, "more work to read than any command needs", "budget")
    except RecursionError:
        _unreadable(shell, whole, "nested too deeply to read", "nesting")
    witnesses = tuple(
        Witness(path, hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest())
        for path, content in sorted(session.witnesses.items())
    )
    return Reading(tuple(dict.fromkeys(session.facts)), witnesses)


def _unreadable(shell: Shell, span: tuple[int, int], what: str, *traits: str) -> None:
    Job(shell, "", [], Where(span), None).unreadable(what, *traits)


def _read_command(text: str, cwd: str, shell: Shell) -> None:
    whole = (0, len(text))
    if len(text) > MAX_TEXT:
        text = _PADDING.sub(lambda found: found[0][0] * 2, text)
    if len(text) > MAX_TEXT:
        _unreadable(shell, whole, "longer than any command is", "budget")
        text = text[:MAX_TEXT]
    if "\0" in text:
        _unreadable(shell, whole, "contains a NUL character", "syntax")
        text = text.replace("\0", "")
    if _BIDI.search(text):
        _unreadable(shell, whole, "contains characters that change the order in which it is shown", "syntax")
    from interlock.core.read.windows.shape import looks_like_windows

    language = looks_like_windows(text, cwd)
    if language:
        Job(shell, "", [], Where(whole, (), frozenset({"windows"})), None).code(language, text)
        return
    shell.read(text, Where(whole if text != shell.session.source else None))


__all__ = ["Command", "Effect", "FileReader", "NotReadable", "Reading", "read"]
