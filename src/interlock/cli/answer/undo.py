"""`interlock undo`: restores what an action changed, after showing what that would change now."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from interlock.analysis.display_text import Lines, line
from interlock.cli.command import FAILED, OK, Args, CommandError, Row, UsageError, command, list_of, settings
from interlock.cli.output import DIFF_STYLES, declared_words, report, report_table, say
from interlock.cli.sign_in import confirm, reading_session
from interlock.client import ApiError, DaemonClient, NoDaemon, login_name, path_segment
from interlock.journal import ID as JOURNAL_ID
from interlock.journal.undo import JournalUndo
from interlock.local_times import ago
from interlock.policy.impact import count_words, size_words
from interlock.snapshots import ID

PATIENCE = 120.0  # seconds that a person waits for it
_NEWEST = "newest"
_BETWEEN = "(between its calls)"  # what an agent's own process changed, by no command that a hook saw


@command()
def main(args: Args) -> int:
    if args.list and (args.id or args.force or args.dry_run):
        raise UsageError("--list goes with nothing else")
    if args.id and not ID.fullmatch(args.id) and not JOURNAL_ID.fullmatch(args.id):
        raise UsageError(f"no snapshot is called {args.id!r:.60}; `interlock undo --list` names them")
    journal = JournalUndo(settings(args))
    if JOURNAL_ID.fullmatch(args.id):
        return _restore(args, journal.undo, journal.plan(args.id))
    try:
        separate = settings(args).separate
        own = not separate.on or login_name() in separate.users  # whose agents ask here
        with reading_session(args, lambda _: own, "no agents of your own user ask here") as server:
            return _list(args, journal, server) if args.list else _restore_newest(args, journal, server)
    except NoDaemon:
        if args.id or not journal.rows(1):
            raise
    return _list(args, journal) if args.list else _restore_newest(args, journal)


def _restore_newest(args: Args, journal: JournalUndo, server: DaemonClient | None = None) -> int:
    newest = journal.newest() if not args.id else ""
    try:
        if server is not None:
            plan = server.get(f"/undo/{path_segment(args.id or _NEWEST)}", PATIENCE, diff=True)
            if not newest or journal.row(newest)["at"] <= plan["snapshot"]["at"]:
                call = partial(server.call, "POST", patience=PATIENCE)  # the daemon has the snapshots
                return _restore(args, lambda id, force: call(f"/undo/{path_segment(id)}", {"force": force}), plan)
    except ApiError:
        if not newest:
            raise
    if not newest:
        raise CommandError("there is no journaled action here that is not undone already")
    return _restore(args, journal.undo, journal.plan(newest))


def _restore(args: Args, undo: Callable[[str, bool], Row], plan: Row) -> int:
    if args.json and args.dry_run:
        return report(args, plan, "", not plan.get("problem"))
    if not args.json:
        say(plan_lines(plan))
    if plan.get("problem"):  # which the daemon would refuse
        raise CommandError(f"it cannot be brought back: {plan['problem']}")
    if args.dry_run:
        print("Nothing was changed.")
        return OK
    if plan.get("later") and not args.force:
        raise CommandError(describe_later_changes(int(plan["later"])))
    if plan.get("total") and not args.yes:
        if args.json or not (os.isatty(0) and os.isatty(1)):
            raise UsageError("there is no terminal to ask at: check with --dry-run, then give --yes")
        if not confirm("Bring this back?"):
            print("Nothing was changed.")
            return FAILED
    found = undo(plan["snapshot"]["id"], args.force)  # the one that was shown, whatever is the newest by now
    return report(args, found, lambda: _print_result(found), found.get("undone"))


def _list(args: Args, journal: JournalUndo, server: DaemonClient | None = None) -> int:
    kept = list_of(server, "undo", "snapshots", limit=200) if server is not None else []
    each = {one["id"]: one for one in [*journal.rows(), *kept]}  # the daemon knows both, where it is this user's
    found = sorted(each.values(), key=lambda one: one.get("at", ""), reverse=True)[:200]
    columns = ("id", "when", "state", "files", "agent", "command")
    rows = [snapshot_row(one) for one in found]
    return report_table(args, {"snapshots": found}, columns, rows, "There is no snapshot yet.")


def snapshot_row(one: Row) -> tuple[object, ...]:
    size = "" if one.get("undoes") else f", {size_words(int(one.get('bytes', 0)))}"
    id, state, agent = (one.get(key, "") for key in ("id", "state", "agent"))
    return id, ago(one.get("at")), state, f"{one.get('files', 0):,}{size}", agent, one.get("command") or _BETWEEN


def _print_result(found: Row) -> None:
    if found.get("refused"):
        raise CommandError(describe_later_changes(sum(bool(one.get("later")) for one in found.get("changes") or ())))
    if not found.get("undone"):
        raise CommandError(f"it could not be brought back: {found.get('problem') or 'no reason was given'}")
    total = int(found.get("total") or 0)
    done = line(f"Brought back: {count_words(total, 'change')}." if total else "Nothing had to be changed.", "allow")
    say([done, *map(line, found.get("say") or ())])
    if found.get("undoableAs"):
        say([line(f"`interlock undo {found['undoableAs']}` takes this back.", "dim")])


MOST_LINES = 200  # of differences, in all
MOST_PATHS = 40
FEW = 10  # changes with which what comes back is shown whole; among more, only what differs


def plan_lines(plan: Row) -> Lines:
    snapshot = plan.get("snapshot") or {}
    yield line(snapshot.get("id", ""), "heading") + line(f"  taken {ago(snapshot.get('at'))} before", "dim")
    yield line(f"    {snapshot.get('command') or _BETWEEN}", "command")
    yield line(f"    in {snapshot.get('cwd', '')}, by {snapshot.get('agent', '')}", "dim")
    yield ()
    changes, total = plan.get("changes") or (), int(plan.get("total") or 0)
    if not changes and not plan.get("problem"):
        yield line("Everything is as it was: there is nothing to bring back.")
    left, words = MOST_LINES, declared_words(__name__, "undo")
    for change in changes[:MOST_PATHS]:
        what = change.get("what", "")
        later = line("  (worked on since)" if change.get("later") else "", "ask")
        yield line(f"  {change.get('path', '')} ", "command") + line(words.get(what, what)) + later
        lines = [] if what == "create" and total > FEW else change.get("diff", "").splitlines()
        for text in lines[:left]:
            yield line(f"    {text}", DIFF_STYLES.get(text[:1], ""))
        if len(lines) > left:
            yield line("    …", "dim")
        left = max(0, left - len(lines))
    if total > MOST_PATHS:
        yield line(f"  and {total - MOST_PATHS:,} more", "dim")
    yield from map(line, plan.get("say") or ())


def describe_later_changes(number: int) -> str:
    what = f"{number:,} of these were" if number > 1 else "one of these was"
    why = "--force overwrites later work too, which can be undone in turn"
    return f"{what} worked on since; nothing was changed. {why}"
