"""Runs an allowed command of a Python program below the journal where one is possible, and undoes it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from msgspec import Struct

from interlock.config import Config
from interlock.journal import JournalError
from interlock.journal.running import begin_run
from interlock.journal.undo import JournalUndo
from interlock.policy.decision import Decision
from interlock.sdk import GateError
from interlock.snapshots import UndoChange, UndoResult

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


class GateRun(Struct, frozen=True):
    """An allowed command that has run."""

    decision: Decision
    returncode: int
    stdout: str
    stderr: str
    undo: str = ""  # for `gate.undo`; empty where it changed nothing, or no journal was possible


def run_allowed(
    config: Config | None,
    decision: Decision,
    agent: str,
    command: str | Sequence[str],
    cwd: str,
    input: str | None,
    timeout: float | None,
) -> GateRun:
    """Runs a command that was allowed; one that becomes another user runs without the journal, which would keep it from doing so."""
    shell = next(path for path in _SHELLS if os.path.exists(path))
    words = [shell, "-c", command] if isinstance(command, str) else list(command)
    assessed = decision.assessment
    privileged = assessed is None or assessed.flags.escalates_privileges
    journal = begin_run(config, agent, build=True) if config is not None and not privileged else None
    given = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run(
        journal.argv(words) if journal is not None else words,
        cwd=cwd, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout, **given,
    )  # fmt: skip
    undo = journal.id() if journal is not None else ""
    return GateRun(decision, done.returncode, done.stdout, done.stderr, undo)


def undo_run(config: Config | None, id: str, force: bool) -> UndoResult:
    """Undoes a journaled command; raises GateError where it is not known here."""
    if config is None:
        raise GateError("the journal is on the machine of the daemon", "NOT_FOUND_RESOURCE")
    try:
        body = JournalUndo(config).undo(id, force)
    except JournalError as error:
        raise GateError(str(error), "NOT_FOUND_RESOURCE") from error
    changes = tuple(UndoChange(one["path"], one["what"], later=one["later"]) for one in body.get("changes", ()))
    return UndoResult(
        id, body.get("undoableAs", ""), "", changes, body.get("total", 0), bool(body.get("refused")),
        body.get("problem", ""), tuple(body.get("say", ())),
    )  # fmt: skip
