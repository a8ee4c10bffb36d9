"""A snapshot, what undoing it would change, and what came of it, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interlock.core.excerpt import visible
from interlock.core.loss import counted, sized
from interlock.core.styled import Line, Part
from interlock.doors.cli.operating import listed
from interlock.moments import ago

MOST_LINES = 200  # of differences, in all
MOST_PATHS = 40
FEW = 10  # changes with which what comes back is shown whole; among more, only what differs
_WORDS = {
    "create": "comes back",
    "replace": "gets its old content",
    "delete": "goes",
    "mode": "gets its old permissions",
    "attributes": "gets its old attributes and access list",
    "ref": "points where it did",
    "index": "is as it was",
    "stash": "is as it was",
    "config": "is as it was",
    "database": "gets its old content",
}
_STYLES = {"+": "allow", "-": "deny", "@": "dim"}


def row_of(snapshot: Mapping[str, Any]) -> tuple[str, ...]:
    """One line of the list."""
    size = f"{snapshot.get('files', 0):,}, {sized(int(snapshot.get('bytes', 0)))}"
    return (
        str(snapshot.get("id", "")),
        ago(snapshot.get("at")),
        str(snapshot.get("state", "")),
        size if not snapshot.get("undoes") else f"{snapshot.get('files', 0):,}",
        str(snapshot.get("agent", "")),
        str(snapshot.get("command", "")),
    )


def plan_lines(plan: Mapping[str, Any]) -> Iterator[Line]:
    """What would change; long differences are cut."""
    snapshot = plan.get("snapshot") or {}
    yield Part(str(snapshot.get("id", "")), "heading"), Part(f"  taken {ago(snapshot.get('at'))} before", "dim")
    yield (Part(f"    {visible(str(snapshot.get('command', '')))}", "command"),)
    yield (
        Part(f"    in {visible(str(snapshot.get('cwd', '')))}, by {visible(str(snapshot.get('agent', '')))}", "dim"),
    )
    yield ()
    changes, total = listed(plan, "changes"), int(plan.get("total") or 0)
    if not changes and not plan.get("problem"):
        yield (Part("Everything is as it was: there is nothing to bring back."),)
    left = MOST_LINES
    for change in changes[:MOST_PATHS]:
        yield _change(change)
        whole = change.get("what") == "create" and total > FEW
        lines = [] if whole else str(change.get("diff", "")).splitlines()
        for line in lines[:left]:
            yield (Part(f"    {visible(line)}", _STYLES.get(line[:1], "")),)
        if len(lines) > left:
            yield (Part("    …", "dim"),)
        left = max(0, left - len(lines))
    if total > MOST_PATHS:
        yield (Part(f"  and {total - MOST_PATHS:,} more", "dim"),)
    yield from _said(plan)


def done_lines(found: Mapping[str, Any]) -> Iterator[Line]:
    """What was brought back, what is left to do, and how that is taken back."""
    total = int(found.get("total") or 0)
    yield (Part(f"Brought back: {counted(total, 'change')}." if total else "Nothing had to be changed.", "allow"),)
    yield from _said(found)
    if found.get("undoableAs"):
        yield (Part(f"`interlock undo {found['undoableAs']}` takes this back.", "dim"),)


def later_words(number: int) -> str:
    """Why nothing was changed."""
    what = f"{number:,} of these were" if number > 1 else "one of these was"
    return (
        f"{what} worked on since; nothing was changed. --force overwrites later work too, which can be undone in turn"
    )


def _change(change: Mapping[str, Any]) -> Line:
    what = _WORDS.get(str(change.get("what", "")), str(change.get("what", "")))
    later = Part("  (worked on since)", "ask") if change.get("later") else Part("")
    return Part(f"  {visible(str(change.get('path', '')))} ", "command"), Part(what), later


def _said(found: Mapping[str, Any]) -> Iterator[Line]:
    for words in found.get("say") or ():
        yield (Part(visible(str(words))),)
