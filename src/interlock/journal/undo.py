"""Lists, plans and performs undos of journaled actions, in the words of the daemon's undo; each runs below the supervisor itself."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from interlock.analysis.places import place
from interlock.config import Config
from interlock.journal import JournaledAction, JournalError
from interlock.journal.build import ready, run_quietly, store_of, supervisor_of
from interlock.journal.entries import KeptContent, PathKind
from interlock.journal.restore import plan_body
from interlock.journal.store import JournalStore
from interlock.journal.undo_plan import JournalStep
from interlock.journal.wrapping import LABEL, Wrapper, prepare_wrapping, take_mark, wrapped_call
from interlock.records import Snapshot
from interlock.redaction import redact_text
from interlock.snapshots import LONGEST_DIFF, text_difference
from interlock.times import iso

RUNNING = "a process of this action still runs; end it first, or give --force"
AGENT = "journal"  # where no label says whose action it was
BETWEEN = "(between calls)"  # in place of a command, where a session changed something without a call
MOST_DIFFS = 100


class JournalUndo:
    def __init__(self, config: Config) -> None:
        self._config, self._store = config, store_of(config)

    def rows(self, limit: int = 200, before: float = 0.0) -> list[dict[str, Any]]:
        return list(map(_row, self._store.actions(limit, before)))

    def snapshots(self, limit: int, before: float = 0.0) -> list[Snapshot]:
        return list(map(_snapshot, self._store.actions(limit, before)))

    def snapshot(self, id: str) -> Snapshot | None:
        return _snapshot(action) if (action := self._store.journal(id).action()) is not None else None

    def row(self, id: str) -> dict[str, Any]:
        found = self._store.journal(id).action()
        if found is None:
            raise JournalError(f"no action {id!r:.60}")
        if found.undone_by:
            raise JournalError(f"action {id} was undone already; `interlock undo {found.undone_by}` takes that back")
        return _row(found)

    def newest(self) -> str:
        return found.id if (found := self._store.newest()) is not None else ""

    def plan(self, id: str) -> dict[str, Any]:
        return {"snapshot": self.row(id), **plan_undo(self._store, id, diff=True)}

    def undo(self, id: str, force: bool) -> dict[str, Any]:
        row = self.row(id)
        program, store = ready(self._config)
        body = undo(store, program, id, force)
        entry = {"journal": id, "uid": os.getuid(), "undone_at": iso(time.time())}
        entry |= {"changes": body.get("total", 0), "force": force}
        if not body.get("undone"):
            entry["reason"] = "somebody worked on it since" if body.get("refused") else body.get("problem", "")
        elif "undoableAs" in body:
            entry["undoable_as"] = body["undoableAs"]
        store.log_undo(entry)
        return {"snapshot": row, **body}


def _row(action: JournaledAction) -> dict[str, Any]:
    agent, call = wrapped_call(action.label)
    command = action.command[-1] if call and action.command else shlex.join(action.command)
    command = f"interlock undo {action.undoes}" if action.undoes else command or BETWEEN
    body = {
        "id": action.id,
        "at": iso(action.at),
        "agent": agent or action.label.split(" ")[0] or AGENT,
        "cwd": _escape(action.cwd),
        "command": redact_text(_escape(command)),
        "files": action.files,
        "bytes": action.bytes,
        "state": "undone" if action.undone_by else "running" if action.running else "kept",
    }
    return body | {name: word for name, word in (("call", call), ("undoes", action.undoes)) if word}


def _snapshot(action: JournaledAction) -> Snapshot:
    row = _row(action)
    return Snapshot(
        action.id, action.at, f"uid:{os.getuid()}", row["agent"], "", row["cwd"], row["command"], "", action.files, action.bytes,
        row["state"], undoes=action.undoes, ended_by=action.undone_by,
    )  # fmt: skip


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def plan_undo(store: JournalStore, id: str, diff: bool = False) -> dict[str, Any]:
    stored = store.journal(id)
    stored.wait()
    with stored.mapped() as data:
        plan = stored.plan(data)
        body = plan_body(plan)
        if diff:
            steps = {(step.path, step.what): step for step in plan.steps}
            for change in body["changes"][:MOST_DIFFS]:
                change |= _difference(steps[change["path"], change["what"]], data)
        for change in body["changes"]:
            change["path"] = _escape(change["path"])
        return body


def _difference(step: JournalStep, data: Any) -> dict[str, str]:
    """Without secrets; none for what is no small text."""
    saved, old = step.place.content, b""
    if saved is None or (saved.kind, saved.content) != (PathKind.FILE, KeptContent.INLINE):
        return {}
    if step.what not in ("create", "replace") or place(step.path) == "secret":
        return {}
    if step.what == "replace":
        try:
            with open(step.path, "rb") as file:
                old = file.read(200_000)
        except OSError:
            return {}
    new = bytes(data[saved.data[0] : sum(saved.data)])
    return {"diff": redact_text(text_difference(old, new))[:LONGEST_DIFF]} if b"\0" not in old + new else {}


def undo(store: JournalStore, supervisor: Path, id: str, force: bool) -> dict[str, Any]:
    """Says under which id that can be undone, or why nothing was changed."""
    stored = store.journal(id)
    if not stored.wait() and not force:
        return {"problem": RUNNING}
    label = f"undo {id} {secrets.token_hex(8)}"
    python = [sys.executable, "-I", "-B", "-m", "interlock.journal.restore"]
    argv = [supervisor, store.path, "--label", label, "--", *python, store.path, id, "force" if force else ""]
    run = run_quietly(argv, None)
    try:
        body: dict[str, Any] = json.loads(run.stdout)
    except ValueError:
        raise JournalError(f"the undo failed: {run.stderr.strip() or run.returncode}") from None
    new = store.labelled(label)
    same = body.pop("same", [])
    if body.get("undone") and new:
        store.end_undo(id, new, same)
        body["undoableAs"] = new
    return body


_AGENT = "probe"


def wrapping_problem(config: Config) -> str:
    """Empty where one has just deleted a file that an undo brought back."""
    try:
        wrapper = Wrapper(str(prepare_wrapping(config)))
        with tempfile.TemporaryDirectory(prefix="interlock-") as folder:
            return _try(config, wrapper, Path(folder))
    except (JournalError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def _try(config: Config, wrapper: Wrapper, folder: Path) -> str:
    file, call, store = folder / "file", f"c_{secrets.token_hex(8)}", store_of(config)
    file.write_text("only copy\n", "utf-8")
    argv = [shutil.which("bash") or "/bin/bash", "-c", wrapper.wrap("rm file", _AGENT, call)]
    done = run_quietly(argv, 30.0, cwd=folder)
    if not take_mark(wrapper.front, call) or done.returncode or file.exists():
        return f"a wrapped command does not run here: {done.stderr.strip()[-200:] or done.returncode}"
    kept = store.labelled(f"{LABEL} {_AGENT} {call}")
    made = [kept, str(undo(store, supervisor_of(config), kept, False).get("undoableAs", ""))] if kept else []
    for id in filter(None, made):
        shutil.rmtree(store.journal(id).folder, ignore_errors=True)  # nobody's work
    whole = file.is_file() and file.read_text("utf-8") == "only copy\n"
    return "" if whole else "a wrapped command runs here, but cannot be undone"
