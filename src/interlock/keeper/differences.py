"""Text files that an undo would change -> from what is there to what comes back, line by line and bounded."""

from __future__ import annotations

import difflib
from dataclasses import replace

from interlock.core.excerpt import visible
from interlock.core.undo import LONGEST_DIFF, Change
from interlock.keeper.contents import Reader
from interlock.keeper.places import Places
from interlock.keeper.planning import Planned, Step
from interlock.keeper.present import read

MOST = 100  # files
LARGEST = 200_000  # bytes of one
TOGETHER = 400_000  # characters


def differences(planned: Planned, places: Places, reader: Reader) -> dict[str, str]:
    """By path; files that are no text, too large or too many are left out."""
    found: dict[str, str] = {}
    left = TOGETHER
    for step in planned.steps:
        if step.what in ("create", "replace", "delete") and len(found) < MOST and left > 0:
            text = _difference(step, places, reader)
            if text:
                found[step.entry.path] = text[:LONGEST_DIFF]
                left -= len(text)
    return found


def with_diff(change: Change, shown: dict[str, str]) -> Change:
    return replace(change, diff=shown.get(change.path, ""))


def _difference(step: Step, places: Places, reader: Reader) -> str:
    entry, state = step.entry, step.now
    if {entry.kind, state.kind} - {"file", "absent"} or max(entry.size, state.size) > LARGEST:
        return ""
    old = read(places, entry.path) if state.kind == "file" else b""
    new = reader.data(entry.sha256, entry.size) if entry.kind == "file" else b""
    if b"\0" in old or b"\0" in new:
        return ""
    rows = difflib.unified_diff(_lines(old), _lines(new), "now", "undone", n=2, lineterm="")
    return "\n".join(list(rows)[2:])


def _lines(data: bytes) -> list[str]:
    return [visible(line) for line in data.decode("utf-8", "replace").splitlines()]
