"""Tries on this machine whether a wrapped call runs below the supervisor and can be undone."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from interlock.config import Config
from interlock.journal import JournalError
from interlock.journal.build import store_of, supervisor_of
from interlock.journal.undo import undo
from interlock.journal.wrapping import LABEL, Wrapper, prepare_wrapping, take_mark

_AGENT = "probe"
_TEXT = "only copy\n"
_SECONDS = 30


def wrapping_problem(config: Config) -> str:
    """Why calls cannot be wrapped here; empty where one has just deleted a file that an undo brought back."""
    try:
        front = prepare_wrapping(config)
        with tempfile.TemporaryDirectory(prefix="interlock-") as folder:
            return _try(config, Wrapper(str(front), secrets.token_bytes(16)), Path(folder))
    except (JournalError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def _try(config: Config, wrapper: Wrapper, folder: Path) -> str:
    file, call, store = folder / "file", f"c_{secrets.token_hex(8)}", store_of(config)
    file.write_text(_TEXT, "utf-8")
    argv = [shutil.which("bash") or "/bin/bash", "-c", wrapper.wrap("rm file", _AGENT, call)]
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
    if not take_mark(wrapper.front, call) or done.returncode or file.exists():
        return f"a wrapped command does not run here: {done.stderr.strip()[-200:] or done.returncode}"
    label = f"{LABEL} {_AGENT} {call}"
    kept = next((action.id for action in store.actions() if action.label == label), "")
    made = [kept, str(undo(store, supervisor_of(config), kept, False).get("undoableAs", ""))] if kept else []
    for id in filter(None, made):
        shutil.rmtree(store.journal(id).folder, ignore_errors=True)  # nobody's work
    whole = file.is_file() and file.read_text("utf-8") == _TEXT
    return "" if whole else "a wrapped command runs here, but cannot be undone"
