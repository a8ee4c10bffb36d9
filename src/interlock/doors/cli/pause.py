"""`interlock pause`: enforcement off for a while, by an operator, on the record; it ends by itself."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.doors.cli.operating import OK, USAGE, Stop, command, daemon, run, say_json, signs

_EXAMPLES = """
interlock pause
interlock pause --for 10m --reason 'restoring the staging database by hand'
interlock pause --end
"""


def main(argv: Sequence[str]) -> int:
    """Say whether enforcement is paused, pause it, or end the pause."""
    parser = command(
        "pause",
        "The way out when the gate is in the way: for a while everything passes and is recorded as paused_by_operator. What nobody\n"
        "may approve, what touches Interlock itself and agents that are blocked are held all the same.",
        _EXAMPLES,
    )
    parser.add_argument(
        "--for", dest="lasts", metavar="TIME", help="how long, such as 10m; bounded by pause.max_minutes"
    )
    parser.add_argument("--reason", metavar="WORDS", default="", help="goes on the record; needed to pause")
    parser.add_argument("--end", action="store_true", help="enforce again, now")
    signs(parser)
    return run("pause", _pause, parser.parse_args(list(argv)))


def _pause(args: argparse.Namespace) -> int:
    if args.end and args.lasts:
        raise Stop("--for begins a pause and --end ends it: give one of them", USAGE)
    found = _ended(args) if args.end else _begun(args) if args.lasts else _seen(args)
    if args.json:
        say_json(found)
    else:
        print(pause_words(found))
    return OK


def _seen(args: argparse.Namespace) -> Any:
    if args.reason:
        raise Stop("say for how long with --for, such as --for 10m", USAGE)
    return daemon(args).get("/pause")


def _begun(args: argparse.Namespace) -> Any:
    from interlock.doors.cli.moments import span
    from interlock.doors.cli.signing import signed_in

    seconds = span(args.lasts)
    if not args.reason.strip():
        raise Stop("say why with --reason: a pause takes protection away", USAGE)
    with signed_in(args) as operator:
        return operator.post("/pause", {"seconds": seconds, "reason": args.reason})


def _ended(args: argparse.Namespace) -> Any:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args) as operator:
        return operator.call("DELETE", "/pause")


def pause_words(found: Mapping[str, Any]) -> str:
    """How it stands, in a line."""
    from interlock.core.excerpt import visible
    from interlock.moments import ago, clock

    if not found.get("paused"):
        return "not paused: decisions are enforced"
    said = f"{found.get('by', '')}: {found.get('reason', '')}"
    return visible(f"paused until {clock(found.get('until'))} ({ago(found.get('until'))}) by {said}")
