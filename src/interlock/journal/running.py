"""Runs a command below the supervisor where one can work, and says under which id it can be undone."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from interlock.config import Config
from interlock.journal import JournalError
from interlock.journal.build import is_built, ready, supervisor_of
from interlock.journal.store import JournalStore

_PROBE = 10.0  # seconds
_ENDING = 2.0  # seconds for a supervisor to see that nothing was changed


class JournalRun(Struct, frozen=True):
    """One command that is about to run below the supervisor; nobody else has its label."""

    program: Path
    store: JournalStore
    label: str
    skips: tuple[str, ...] = ()  # folders that can be built again

    def argv(self, words: Sequence[str], *options: str) -> list[str]:
        """The command line that runs these words below it."""
        skips = [word for folder in self.skips for word in ("--skip", folder)]
        return [str(self.program), str(self.store.path), "--label", self.label, *skips, *options, "--", *words]

    def id(self) -> str:
        """What `interlock undo` calls it, once it has run; empty where it changed nothing."""
        found = next((action.id for action in self.store.actions(200) if action.label == self.label), "")
        if found and self.store.journal(found).wait(_ENDING) and self.store.journal(found).action() is None:
            return ""
        return found


def begin_run(config: Config, agent: str, build: bool = False) -> JournalRun | None:
    """A run for this agent; None where the journal is off, not built or not possible here. Builds the supervisor only if told to."""
    if not config.undo.journal or not (build or is_built(supervisor_of(config))):
        return None
    try:
        program, store = ready(config)
        done = subprocess.run(
            [program, "--probe", store.path], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE
        )
    except (JournalError, OSError, subprocess.TimeoutExpired):
        return None
    label = f"{agent.split()[0] if agent.strip() else 'agent'} {secrets.token_hex(8)}"
    return JournalRun(program, store, label) if done.returncode == 0 else None
