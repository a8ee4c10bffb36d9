"""Hooks written into an agent's settings, or taken out: the record says by whom; taking out is for operators once there are any."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.codes import Refused
from interlock.ports import Tx
from interlock.service.record import deed
from interlock.service.sessions import OperatorSession
from interlock.service.state import State

INSTALLED, REMOVED = "installed", "removed"
CHANGES = (INSTALLED, REMOVED)


def note_hooks(
    state: State, by: OperatorSession | str, change: str, agent: str, scope: str, files: Sequence[str]
) -> None:
    """Records one change; refuses a removal by anybody but an operator where operators are enrolled."""
    who = by if isinstance(by, str) else by.operator

    def work(tx: Tx) -> None:
        if change != INSTALLED and isinstance(by, str) and tx.operators():
            raise Refused("taking hooks out is for operators", "PERMISSION_DENIED")
        details = {"change": change, "agent": agent, "scope": scope, "files": list(files)}
        state.recorder.now(tx, "hook_change", deed(state.clock.now(), "hook_change", who, details))

    state.store.write(work)
    if change != INSTALLED:
        state.tell("hooks", None, f"{who} took the hooks of {agent} out ({scope})")
