"""`interlock proxy accept NAME`: an operator has looked at tools that changed, and they are pinned as they are listed next."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from interlock.doors.cli.operating import OK, options, run, say_json, signs


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="interlock proxy accept",
        description="Pins the tools of a server anew: what it lists next counts as what it is. Its proxy has to be started again.",
        allow_abbrev=False,
    )
    options(parser)
    signs(parser)
    parser.add_argument("name", metavar="NAME", help="as `interlock adapter list` shows it")
    parser.add_argument("--reason", metavar="WORDS", required=True, help="goes on the record")
    parser.add_argument("--mark", metavar="MARK", default="", help="which of several servers of one name is meant")
    return run("proxy", _accept, parser.parse_args(list(argv)))


def _accept(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in
    from interlock.doors.client import part

    with signed_in(args) as operator:
        body = {"reason": args.reason, "mark": args.mark}
        after = operator.call("POST", f"/servers/{part(args.name)}/accept", body)
    if args.json:
        say_json(after)
    else:
        print(f"The tools of server {args.name} are pinned as it lists them next.")
    return OK
