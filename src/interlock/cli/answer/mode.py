"""`interlock mode` and `pause`: the enforcement mode, and a pause that ends by itself; each change is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.analysis.display_text import visible
from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import USAGE, CommandError, command, daemon, parse_duration, report
from interlock.cli.sign_in import operator_session
from interlock.local_times import ago, clock

MODES = {
    "enforcing": "what is held waits, what is denied does not happen",
    "monitoring": "everything passes, blocked agents included; the record says what would have happened",
    "logging": "everything passes; it is recorded, and nothing is evaluated",
    "disabled": "the same as logging, and the loop tells agents that nothing is judged",
}


@command(
    "mode",
    "The mode that is in force; changing it takes an admin, and after a restart the file rules again.\n\n"
    + "\n".join(f"  {name:<12}{said}" for name, said in MODES.items()),
    "interlock mode\ninterlock mode monitoring --reason 'trying it out'\ninterlock mode enforcing",
    argument("mode", "MODE", " | ".join(MODES), nargs="?", choices=tuple(MODES)),
    argument("--reason", "WORDS", "goes on the record; needed to loosen", ""),
    OPERATOR,
)
def main(args: Args) -> int:
    """Show or change the mode."""
    if args.mode is None:
        found = daemon(args).get("/mode")
        mode = str(found.get("mode", ""))
        return report(args, found, f"{mode}: {MODES.get(mode, '')}")
    if args.mode != "enforcing" and not args.reason:
        raise CommandError("say why with --reason: this mode takes protection away", USAGE)
    body = {"mode": args.mode} | ({"reason": args.reason} if args.reason else {})
    with operator_session(args) as operator:
        found = operator.call("PUT", "/mode", body)
    return report(args, found, f"{args.mode}: {MODES[args.mode]}")


_PAUSE_EXAMPLES = """
interlock pause
interlock pause --for 10m --reason 'restoring the staging database by hand'
interlock pause --end
"""


@command(
    "pause",
    "The way out when the gate is in the way: for a while everything passes and is recorded as paused_by_operator. What nobody\n"
    "may approve, what touches Interlock itself and agents that are blocked are held all the same.",
    _PAUSE_EXAMPLES,
    argument("--for", "TIME", "how long, such as 10m; bounded by pause.max_minutes", dest="lasts"),
    argument("--reason", "WORDS", "goes on the record; needed to pause", ""),
    flag("--end", "enforce again, now"),
    OPERATOR,
)
def pause_main(args: Args) -> int:
    """Show, start or end a pause of enforcement."""
    if args.end and args.lasts:
        raise CommandError("--for begins a pause and --end ends it: give one of them", USAGE)
    found = _end_pause(args) if args.end else _begin_pause(args) if args.lasts else _show_pause(args)
    return report(args, found, describe_pause(found))


def _show_pause(args: Args) -> Any:
    if args.reason:
        raise CommandError("say for how long with --for, such as --for 10m", USAGE)
    return daemon(args).get("/pause")


def _begin_pause(args: Args) -> Any:
    seconds = parse_duration(args.lasts)
    if not args.reason.strip():
        raise CommandError("say why with --reason: a pause takes protection away", USAGE)
    with operator_session(args) as operator:
        return operator.post("/pause", {"seconds": seconds, "reason": args.reason})


def _end_pause(args: Args) -> Any:
    with operator_session(args) as operator:
        return operator.call("DELETE", "/pause")


def describe_pause(found: Mapping[str, Any]) -> str:
    """The state of the pause in one line."""
    if not found.get("paused"):
        return "not paused: decisions are enforced"
    said = f"{found.get('by', '')}: {found.get('reason', '')}"
    return visible(f"paused until {clock(found.get('until'))} ({ago(found.get('until'))}) by {said}")
