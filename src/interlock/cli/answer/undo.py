"""`interlock undo`: restores what an action changed from its snapshot or journal, after showing the changes that this would make."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Iterator
from functools import partial

from interlock.analysis.display_text import Line
from interlock.cli.arguments import Args
from interlock.cli.command import (
    FAILED,
    OK,
    USAGE,
    CommandError,
    Row,
    command,
    list_rows,
    report,
    report_table,
    say,
    settings,
)
from interlock.cli.output import line
from interlock.cli.sign_in import confirm, reading_session
from interlock.client import ApiError, DaemonClient, NoDaemon, path_segment
from interlock.journal import ID as JOURNAL_ID
from interlock.journal import JournalError
from interlock.journal.undo import JournalUndo
from interlock.local_times import ago
from interlock.policy.impact import count_words, size_words
from interlock.snapshots import ID

PATIENCE = 120.0  # seconds that a person waits for it
_NEWEST = "newest"
_BETWEEN = "(between its calls)"  # what an agent's own process changed, by no command that a hook saw


@command("undo")
def main(args: Args) -> int:
    """Show the changes of an undo, ask, and restore the snapshot."""
    if args.list and (args.id or args.force or args.dry_run):
        raise CommandError("--list goes with nothing else", USAGE)
    if args.id and not ID.fullmatch(args.id) and not JOURNAL_ID.fullmatch(args.id):
        raise CommandError(f"no snapshot is called {args.id!r:.60}; `interlock undo --list` names them", USAGE)
    journal = JournalUndo(settings(args))
    try:
        if JOURNAL_ID.fullmatch(args.id):
            return _restore(args, journal.undo, journal.plan(args.id))
        try:
            with reading_session(args, lambda _: _own(args), "no agents of your own user ask here") as server:
                return _list(args, journal, server) if args.list else _restore_newest(args, journal, server)
        except NoDaemon:
            if args.id or not journal.rows(1):
                raise
        return _list(args, journal) if args.list else _restore_newest(args, journal)
    except JournalError as error:
        raise CommandError(str(error)) from None


def _own(args: Args) -> bool:
    """Whether this is about this user's own agents; always, except where the daemon has a user of its own."""
    separate = settings(args).separate
    try:
        return not separate.on or pwd.getpwuid(os.geteuid()).pw_name in separate.users
    except KeyError:
        return False


def _restore_newest(args: Args, journal: JournalUndo, server: DaemonClient | None = None) -> int:
    """Restores what was asked for, or the newer of the newest snapshot and the newest journaled action."""
    newest = journal.newest() if not args.id else ""
    try:
        if server is not None:
            plan = server.get(f"/undo/{path_segment(args.id or _NEWEST)}", PATIENCE, diff=True)
            if not newest or journal.row(newest)["at"] <= plan["snapshot"]["at"]:
                return _restore(args, partial(_undo_at_daemon, server), plan)
    except ApiError:
        if not newest:
            raise
    if not newest:
        raise CommandError("there is no journaled action here that is not undone already")
    return _restore(args, journal.undo, journal.plan(newest))


def _undo_at_daemon(server: DaemonClient, id: str, force: bool) -> Row:
    """Undo by the daemon, which has the snapshots."""
    return dict(server.call("POST", f"/undo/{path_segment(id)}", {"force": force}, PATIENCE))


def _restore(args: Args, undo: Callable[[str, bool], Row], plan: Row) -> int:
    if args.dry_run:
        return _report_plan(args, plan)
    id = str(plan["snapshot"]["id"])  # the one that was shown, whatever is the newest by now
    if not args.json:
        say(plan_lines(plan))
    _refuse(args, plan)
    if not _confirm_plan(args, plan):
        print("Nothing was changed.")
        return FAILED
    found = undo(id, args.force)
    return report(args, found, lambda: _print_result(found), OK if found.get("undone") else FAILED)


def _list(args: Args, journal: JournalUndo, server: DaemonClient | None = None) -> int:
    kept = list_rows(server.get("/undo", limit=200), "snapshots") if server is not None else []
    each = {one["id"]: one for one in [*journal.rows(), *kept]}  # the daemon knows both, where it is this user's
    found = sorted(each.values(), key=lambda one: str(one.get("at", "")), reverse=True)[:200]
    columns = ("id", "when", "state", "files", "agent", "command")
    rows = [snapshot_row(one) for one in found]
    return report_table(args, {"snapshots": found}, columns, rows, "There is no snapshot yet.")


def _report_plan(args: Args, plan: Row) -> int:
    report(args, plan, plan_lines(plan))
    if not args.json:
        if plan.get("problem"):
            raise CommandError(f"it cannot be brought back: {plan['problem']}")
        print("Nothing was changed.")
    return FAILED if plan.get("problem") else OK


def _refuse(args: Args, plan: Row) -> None:
    """Refuses, before the confirmation, an undo that the daemon would refuse."""
    if plan.get("problem"):
        raise CommandError(f"it cannot be brought back: {plan['problem']}")
    if plan.get("later") and not args.force:
        raise CommandError(describe_later_changes(int(plan["later"])))


def _confirm_plan(args: Args, plan: Row) -> bool:
    """Ask for confirmation; without a terminal it requires --yes."""
    if args.yes or not plan.get("total"):
        return True
    if args.json or not (os.isatty(0) and os.isatty(1)):
        raise CommandError("there is no terminal to ask at: check with --dry-run, then give --yes", USAGE)
    return confirm("Bring this back?")


def _print_result(found: Row) -> None:
    if found.get("refused"):
        raise CommandError(describe_later_changes(sum(bool(one.get("later")) for one in list_rows(found, "changes"))))
    if not found.get("undone"):
        raise CommandError(f"it could not be brought back: {found.get('problem') or 'no reason was given'}")
    say(done_lines(found))


MOST_LINES = 200  # of differences, in all
MOST_PATHS = 40
FEW = 10  # changes with which what comes back is shown whole; among more, only what differs
_CHANGE_WORDS = {
    "create": "comes back",
    "replace": "gets its old content",
    "delete": "goes",
    "move": "moves back here",
    "mode": "gets its old permissions",
    "attributes": "gets its old attributes and access list",
    "ref": "points where it did",
    "index": "is as it was",
    "stash": "is as it was",
    "config": "is as it was",
    "database": "gets its old content",
}
_STYLES = {"+": "allow", "-": "deny", "@": "dim"}


def snapshot_row(snapshot: Row) -> tuple[object, ...]:
    """One line of the list."""
    size = f"{snapshot.get('files', 0):,}, {size_words(int(snapshot.get('bytes', 0)))}"
    return (
        snapshot.get("id", ""),
        ago(snapshot.get("at")),
        snapshot.get("state", ""),
        size if not snapshot.get("undoes") else f"{snapshot.get('files', 0):,}",
        snapshot.get("agent", ""),
        snapshot.get("command") or _BETWEEN,
    )


def plan_lines(plan: Row) -> Iterator[Line]:
    """The changes of an undo; long diffs are cut."""
    snapshot = plan.get("snapshot") or {}
    yield line(snapshot.get("id", ""), "heading") + line(f"  taken {ago(snapshot.get('at'))} before", "dim")
    yield line(f"    {snapshot.get('command') or _BETWEEN}", "command")
    yield line(f"    in {snapshot.get('cwd', '')}, by {snapshot.get('agent', '')}", "dim")
    yield ()
    changes, total = list_rows(plan, "changes"), int(plan.get("total") or 0)
    if not changes and not plan.get("problem"):
        yield line("Everything is as it was: there is nothing to bring back.")
    left = MOST_LINES
    for change in changes[:MOST_PATHS]:
        yield _change(change)
        whole = change.get("what") == "create" and total > FEW
        lines = [] if whole else str(change.get("diff", "")).splitlines()
        for text in lines[:left]:
            yield line(f"    {text}", _STYLES.get(text[:1], ""))
        if len(lines) > left:
            yield line("    …", "dim")
        left = max(0, left - len(lines))
    if total > MOST_PATHS:
        yield line(f"  and {total - MOST_PATHS:,} more", "dim")
    yield from _message_lines(plan)


def done_lines(found: Row) -> Iterator[Line]:
    """The result: what was restored, what remains to do, and the command that takes it back."""
    total = int(found.get("total") or 0)
    yield line(f"Brought back: {count_words(total, 'change')}." if total else "Nothing had to be changed.", "allow")
    yield from _message_lines(found)
    if found.get("undoableAs"):
        yield line(f"`interlock undo {found['undoableAs']}` takes this back.", "dim")


def describe_later_changes(number: int) -> str:
    """The reason why nothing was changed."""
    what = f"{number:,} of these were" if number > 1 else "one of these was"
    return (
        f"{what} worked on since; nothing was changed. --force overwrites later work too, which can be undone in turn"
    )


def _change(change: Row) -> Line:
    what = _CHANGE_WORDS.get(str(change.get("what", "")), str(change.get("what", "")))
    later = "  (worked on since)" if change.get("later") else ""
    return line(f"  {change.get('path', '')} ", "command") + line(what) + line(later, "ask")


def _message_lines(found: Row) -> Iterator[Line]:
    for words in found.get("say") or ():
        yield line(words)
