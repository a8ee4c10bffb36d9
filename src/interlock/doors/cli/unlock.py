"""`interlock unlock`: an operator signs in, so that the daemon can check approvals after a restart."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, command, daemon, run, say_json, settings, signs

OK_STATUS = 200
_HERE = " For {} min this terminal answers up to level destructive without the passphrase (`interlock unlock --end` stops that)."


def main(argv: Sequence[str]) -> int:
    """Sign in and out again; what the daemon learned stays in its memory until it stops."""
    parser = command(
        "unlock",
        "Sign in once: the daemon can check operators' signatures until it stops, and for a while (limits.unlock_minutes) this\n"
        "terminal looks, rejects, and approves up to level destructive without the passphrase. --end locks it again.",
        "interlock unlock\ninterlock unlock --operator ana\ninterlock unlock --end",
    )
    parser.add_argument("--end", action="store_true", help="this terminal asks for the passphrase again")
    signs(parser)
    return run("unlock", _unlock, parser.parse_args(list(argv)))


def _unlock(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    if args.end:
        ended = daemon(args).ask("DELETE", "/session/resume").status == OK_STATUS
        print("Locked: this terminal asks for the passphrase again." if ended else "This terminal was not unlocked.")
        return OK
    with signed_in(args) as operator:
        status = operator.get("/status")
    minutes = settings(args).limits.unlock_minutes
    if args.json:
        said = {"unlocked": bool(status.get("unlocked")), "openTickets": status.get("openTickets", 0)}
        say_json({**said, "minutes": minutes})
    else:
        waiting = status.get("openTickets") or 0
        print("Unlocked: approvals can be checked until the daemon stops." + (_HERE.format(minutes) if minutes else ""))
        if waiting:
            print(f"{waiting} open: `interlock pending`.")
    return OK if status.get("unlocked") else 1
