"""`interlock block`: no more of this principal, whatever name it takes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, command, run, say_json, signs


def main(argv: Sequence[str]) -> int:
    """Block a principal."""
    parser = command(
        "block",
        "Stop an agent: everything it asks for is denied, but for reading, until an operator lifts the block.",
        "interlock block uid:1000 --reason 'deletes what it should not'\ninterlock block agent:9f2c… --reason 'leaked'",
    )
    parser.add_argument("principal", metavar="PRINCIPAL", help="as `interlock agents` shows it, such as uid:1000")
    parser.add_argument(
        "--reason", metavar="WORDS", default="", help="goes on the record; the agent reads it (default: asks)"
    )
    signs(parser)
    return run("block", _block, parser.parse_args(list(argv)))


def _block(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import needs_reason, signed_in

    needs_reason(args, "the agent reads it")
    with signed_in(args) as operator:
        made = operator.post("/blocks", {"principal": args.principal, "reason": args.reason})
    if args.json:
        say_json(made)
    else:
        print(f"Blocked: {args.principal}. Lift it with `interlock unblock {args.principal} --reason …`.")
        if args.principal.startswith("uid:"):
            print("This stops every agent of that user on the socket; `interlock agents add NAME` tells agents apart.")
    return OK
