"""`interlock unblock`: a block lifted; nothing is approved by it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, command, run, say_json, signs


def main(argv: Sequence[str]) -> int:
    """Lift a block."""
    parser = command(
        "unblock",
        "Lift a block. What the agent asked for meanwhile stays denied or held.",
        "interlock unblock uid:1000 --reason 'talked to its owner'",
    )
    parser.add_argument("principal", metavar="PRINCIPAL", help="as `interlock agents` shows it, such as uid:1000")
    parser.add_argument("--reason", metavar="WORDS", default="", help="goes on the record (default: asks)")
    signs(parser)
    return run("unblock", _unblock, parser.parse_args(list(argv)))


def _unblock(args: argparse.Namespace) -> int:
    from urllib.parse import urlencode

    from interlock.doors.cli.signing import needs_reason, signed_in
    from interlock.doors.client import part

    needs_reason(args)
    why = urlencode({"reason": args.reason})
    with signed_in(args) as operator:
        lifted = operator.call("DELETE", f"/blocks/{part(args.principal)}?{why}")
    if args.json:
        say_json(lifted)
    else:
        print(f"Unblocked: {args.principal}.")
    return OK
