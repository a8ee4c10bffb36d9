"""`interlock undo`: bring back what an action changed, after a look at what that would change now."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlock.doors.cli.operating import (
    FAILED,
    OK,
    USAGE,
    Stop,
    command,
    listed,
    run,
    say,
    say_json,
    say_table,
    settings,
    signs,
)

if TYPE_CHECKING:
    from interlock.doors.client import Daemon

PATIENCE = 120.0  # seconds that a person waits for it
_EXAMPLES = """
interlock undo
interlock undo --list
interlock undo u_k3v7q2mzpa --dry-run
interlock undo u_k3v7q2mzpa --yes
"""
_NEWEST = "newest"


def main(argv: Sequence[str]) -> int:
    """Show what would change, ask, and bring it back."""
    parser = command(
        "undo",
        "Brings back what an agent's action changed, from the snapshot that was taken before it ran: by default the newest. Work\n"
        "that was done on the same files since is not overwritten without --force. An undo can be undone in turn. Where the daemon has a\n"
        "user of its own, whoever is not the agent's user signs in as an operator, and sees what was kept of everybody.",
        _EXAMPLES,
    )
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="a snapshot, as --list names it")
    parser.add_argument("--list", action="store_true", help="what was kept, the newest first")
    parser.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    parser.add_argument("--force", action="store_true", help="overwrite later work too")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    signs(parser)
    return run("undo", _undo, parser.parse_args(list(argv)))


def _undo(args: argparse.Namespace) -> int:
    from interlock.core.undo import ID
    from interlock.doors.cli.signing import looking

    if args.list and (args.id or args.force or args.dry_run):
        raise Stop("--list goes with nothing else", USAGE)
    if args.id and not ID.fullmatch(args.id):
        raise Stop(f"no snapshot is called {args.id!r:.60}; `interlock undo --list` names them", USAGE)
    with looking(args, lambda _: _own(args), "no agents of your own user ask here") as server:
        return _list(args, server) if args.list else _bring_back(args, server)


def _own(args: argparse.Namespace) -> bool:
    """Whether this is about agents of our own user, as everywhere but where the daemon has a user of its own."""
    import pwd

    separate = settings(args).separate
    try:
        return not separate.on or pwd.getpwuid(os.geteuid()).pw_name in separate.users
    except KeyError:
        return False


def _bring_back(args: argparse.Namespace, server: Daemon) -> int:
    from interlock.doors.client import part

    plan = server.get(f"/undo/{part(args.id or _NEWEST)}", PATIENCE, diff=True)
    if args.dry_run:
        return _told(args, plan)
    id = str(plan["snapshot"]["id"])  # the one that was shown, whatever is the newest by now
    if not args.json:
        _show(plan)
    _refuse(args, plan)
    if not _agreed(args, plan):
        print("Nothing was changed.")
        return FAILED
    found = server.call("POST", f"/undo/{part(id)}", {"force": args.force}, PATIENCE)
    if args.json:
        say_json(found)
    else:
        _say_done(found)
    return OK if found.get("undone") else FAILED


def _list(args: argparse.Namespace, server: Daemon) -> int:
    found = server.get("/undo", limit=200)
    if args.json:
        say_json(found)
        return OK
    from interlock.doors.cli.undo_words import row_of

    columns = ("id", "when", "state", "files", "agent", "command")
    say_table(columns, [row_of(one) for one in listed(found, "snapshots")], "Nothing was kept yet.")
    return OK


def _told(args: argparse.Namespace, plan: Mapping[str, Any]) -> int:
    if args.json:
        say_json(plan)
    else:
        _show(plan)
        if plan.get("problem"):
            raise Stop(f"it cannot be brought back: {plan['problem']}")
        print("Nothing was changed.")
    return FAILED if plan.get("problem") else OK


def _show(plan: Mapping[str, Any]) -> None:
    from interlock.doors.cli.undo_words import plan_lines

    say(plan_lines(plan))


def _refuse(args: argparse.Namespace, plan: Mapping[str, Any]) -> None:
    """Before anybody is asked, what would be refused anyway."""
    if plan.get("problem"):
        raise Stop(f"it cannot be brought back: {plan['problem']}")
    if plan.get("later") and not args.force:
        from interlock.doors.cli.undo_words import later_words

        raise Stop(later_words(int(plan["later"])))


def _agreed(args: argparse.Namespace, plan: Mapping[str, Any]) -> bool:
    """Whether somebody agrees; without a terminal it takes --yes."""
    if args.yes or not plan.get("total"):
        return True
    if args.json or not (os.isatty(0) and os.isatty(1)):
        raise Stop("there is no terminal to ask at: look with --dry-run, then say --yes", USAGE)
    from interlock.doors.cli.signing import agreed

    return agreed("Bring this back?")


def _say_done(found: Mapping[str, Any]) -> None:
    from interlock.doors.cli.undo_words import done_lines, later_words

    if found.get("refused"):
        raise Stop(later_words(sum(bool(one.get("later")) for one in listed(found, "changes"))))
    if not found.get("undone"):
        raise Stop(f"it could not be brought back: {found.get('problem') or 'no reason was given'}")
    say(done_lines(found))
