"""`interlock mode`: whether decisions are enforced, and the change of that, on the record."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, Stop, command, daemon, run, say_json, signs

MODES = {
    "enforcing": "what is held waits, what is denied does not happen",
    "monitoring": "everything passes, blocked agents included; the record says what would have happened",
    "logging": "everything passes; it is written down, and nothing is weighed",
    "disabled": "the same as logging, and the loop tells agents that nothing is judged",
}


def main(argv: Sequence[str]) -> int:
    """Say the mode, or change it."""
    modes = "\n".join(f"  {name:<12}{said}" for name, said in MODES.items())
    parser = command(
        "mode",
        f"The mode that is in force; changing it takes an admin, and after a restart the file rules again.\n\n{modes}",
        "interlock mode\ninterlock mode monitoring --reason 'trying it out'\ninterlock mode enforcing",
    )
    parser.add_argument("mode", nargs="?", metavar="MODE", choices=tuple(MODES), help=" | ".join(MODES))
    parser.add_argument("--reason", metavar="WORDS", default="", help="goes on the record; needed to loosen")
    signs(parser)
    return run("mode", _mode, parser.parse_args(list(argv)))


def _mode(args: argparse.Namespace) -> int:
    if args.mode is None:
        found = daemon(args).get("/mode")
        mode = str(found.get("mode", ""))
        if args.json:
            say_json(found)
        else:
            print(f"{mode}: {MODES.get(mode, '')}")
        return OK
    if args.mode != "enforcing" and not args.reason:
        raise Stop("say why with --reason: this mode takes protection away", 2)
    from interlock.doors.cli.signing import signed_in

    body = {"mode": args.mode} | ({"reason": args.reason} if args.reason else {})
    with signed_in(args) as operator:
        found = operator.call("PUT", "/mode", body)
    if args.json:
        say_json(found)
    else:
        print(f"{args.mode}: {MODES[args.mode]}")
    return OK
