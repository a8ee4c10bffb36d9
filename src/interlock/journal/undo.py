"""Plans and performs the undo of a journaled action; the undo itself runs below the supervisor."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

from interlock.journal import JournalError
from interlock.journal.restore import plan_body
from interlock.journal.store import JournalStore

RUNNING = "a process of this action still runs; end it first, or give --force"


def plan_undo(store: JournalStore, id: str) -> dict[str, Any]:
    """The changes that an undo would make now."""
    stored = store.journal(id)
    stored.wait()
    with stored.mapped() as data:
        return plan_body(stored.plan(data))


def undo(store: JournalStore, supervisor: Path, id: str, force: bool) -> dict[str, Any]:
    """Undoes an action; the answer says under which id that can be undone, or why nothing was changed."""
    stored = store.journal(id)
    if not stored.wait() and not force:
        return {"problem": RUNNING}
    label = f"undo {id} {secrets.token_hex(8)}"
    argv = [
        sys.executable,
        "-I",
        "-B",
        "-m",
        "interlock.journal.restore",
        str(store.path),
        id,
        "force" if force else "",
    ]
    run = subprocess.run(
        [supervisor, store.path, "--label", label, "--", *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    try:
        body: dict[str, Any] = json.loads(run.stdout)
    except ValueError:
        raise JournalError(f"the undo failed: {run.stderr.strip() or run.returncode}") from None
    new = next((action.id for action in store.actions(50) if action.label == label), "")
    if body.get("undone") and new:
        store.end_undo(id, new, body.pop("same", []))
        body["undoableAs"] = new
    return body
