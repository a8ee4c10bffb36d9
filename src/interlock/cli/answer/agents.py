"""`interlock agents`, `block`, `unblock`, `mode` and `pause`: agents' tokens, trust and blocks; the mode, and a pause that ends by itself."""

from __future__ import annotations

from urllib.parse import urlencode

from interlock.analysis.display_text import visible
from interlock.cli.command import Args, CommandWords, Row, UsageError, command, daemon, list_of, parse_duration
from interlock.cli.output import declared_words, report, report_table, say_table
from interlock.cli.sign_in import operator_change, operator_session, require_reason
from interlock.client import path_segment
from interlock.local_times import ago, clock

main = CommandWords(__name__)


@main.word
def _list(args: Args) -> None:
    with operator_session(args, reading=True) as operator:
        found, blocks = list_of(operator, "agents"), list_of(operator, "blocks")
    rows = [(one["principal"], one["name"], one["trust_tier"], ago(one.get("firstSeen")), _token(one)) for one in found]
    columns, empty = ("principal", "name", "tier", "added", "token"), "No agent has a token or a trust tier yet."
    report_table(args, {"agents": found, "blocks": blocks}, columns, rows, empty)
    cells = [(one["principal"], one["by"], one["reason"]) for one in blocks if not one.get("liftedAt")]
    if cells and not args.json:
        print()
        say_table(("blocked", "by", "reason"), cells)


def _token(agent: Row) -> str:
    return "revoked" if agent.get("revokedAt") else "yes" if agent["token"] else ""


@main.word
def _add(args: Args) -> int:
    body = {"name": args.name} | ({"trust_tier": args.tier} if args.tier else {})
    with operator_session(args) as operator:
        made = operator.post("/agents", body)
    words = f"{made['principal']} ({made['name']}). Its token, shown this once:\n\n    {made['token']}\n\n"
    return report(args, made, f"{words}The agent sends it as `Authorization: Bearer agt_…`.")


@main.word
def _trust(args: Args) -> int:
    said = f"{args.principal} {args.name} is {args.tier or 'of no tier'} now."
    return _change_agent(args, {"trust_tier": args.tier}, said)


@main.word
def _revoke(args: Args) -> int:
    return _change_agent(args, {"revoked": True}, f"Revoked: the token of {args.principal} {args.name} counts no more.")


def _change_agent(args: Args, change: Row, said: str) -> int:
    body = {"principal": args.principal, "name": args.name, **change}
    return operator_change(args, "PATCH", "/agents", body, said)


@command()
def block_main(args: Args) -> int:
    require_reason(args, "the agent reads it")
    words = f"Blocked: {args.principal}. Lift it with `interlock unblock {args.principal} --reason …`."
    if args.principal.startswith("uid:"):
        words += "\nThis stops every agent of that user on the socket; `interlock agents add NAME` tells agents apart."
    return operator_change(args, "POST", "/blocks", {"principal": args.principal, "reason": args.reason}, words)


@command()
def unblock_main(args: Args) -> int:
    require_reason(args)
    why = urlencode({"reason": args.reason})
    path = f"/blocks/{path_segment(args.principal)}?{why}"
    return operator_change(args, "DELETE", path, None, f"Unblocked: {args.principal}.")


MODES = declared_words(__name__, "mode")


@command(
    {"modes": "\n".join(f"  {name:<12}{said}" for name, said in MODES.items()), "names": " | ".join(MODES)},
    mode={"choices": tuple(MODES)},
)
def mode_main(args: Args) -> int:
    if args.mode is None:
        found = daemon(args).get("/mode")
        return report(args, found, f"{found['mode']}: {MODES[found['mode']]}")
    if args.mode != "enforcing" and not args.reason:
        raise UsageError("say why with --reason: this mode takes protection away")
    body = {"mode": args.mode} | ({"reason": args.reason} if args.reason else {})
    return operator_change(args, "PUT", "/mode", body, f"{args.mode}: {MODES[args.mode]}")


@command()
def pause_main(args: Args) -> int:
    seconds = parse_duration(args.lasts) if args.lasts else 0
    if args.end and seconds:
        raise UsageError("--for begins a pause and --end ends it: give one of them")
    if seconds and not args.reason.strip():
        raise UsageError("say why with --reason: a pause takes protection away")
    if seconds or args.end:
        with operator_session(args) as operator:
            body = {"seconds": seconds, "reason": args.reason}
            found = operator.call("DELETE", "/pause") if args.end else operator.post("/pause", body)
    elif args.reason:
        raise UsageError("say for how long with --for, such as --for 10m")
    else:
        found = daemon(args).get("/pause")
    return report(args, found, describe_pause(found))


def describe_pause(found: Row) -> str:
    if not found["paused"]:
        return "not paused: decisions are enforced"
    until = found["until"]
    return visible(f"paused until {clock(until)} ({ago(until)}) by {found['by']}: {found['reason']}")
