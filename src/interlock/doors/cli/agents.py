"""`interlock agents`: who asks: tokens given out, trust tiers, and what is blocked."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.doors.cli.operating import OK, defaulted, listed, run, say_json, say_table, signs, words

_EXAMPLES = """
interlock agents
interlock agents add ci-bot
interlock agents trust agent:9f2c… ci-bot verified
interlock agents revoke agent:9f2c… ci-bot
"""


def main(argv: Sequence[str]) -> int:
    """Answer one of list, add, trust and revoke."""
    parser, add = words(
        "agents", "Agents are told apart by what proves them: a user on the socket, or a token.", _EXAMPLES
    )
    signs(add("list", "agents with a token or a trust tier, and every block", "interlock agents list --json"))
    made = add("add", "a token for an agent, shown once", "interlock agents add ci-bot")
    made.add_argument("name", metavar="NAME")
    made.add_argument("--tier", metavar="TIER", help="its trust tier (takes an admin)")
    signs(made)
    trust = add(
        "trust", "the trust tier of an agent (takes an admin)", "interlock agents trust uid:1000 claude verified"
    )
    gone = add("revoke", "a token that counts no more", "interlock agents revoke agent:9f2c… ci-bot")
    for one in (trust, gone):
        one.add_argument("principal", metavar="PRINCIPAL", help="as `interlock agents` shows it")
        one.add_argument("name", metavar="NAME")
        signs(one)
    trust.add_argument("tier", metavar="TIER", help="'' takes it away")
    args = parser.parse_args(defaulted(argv, "list"))
    return run("agents", {"list": _list, "add": _add, "trust": _trust, "revoke": _revoke}[args.word], args)


def _list(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args, reading=True) as operator:
        found, blocks = listed(operator.get("/agents"), "agents"), listed(operator.get("/blocks"), "blocks")
    if args.json:
        say_json({"agents": found, "blocks": blocks})
        return OK
    rows = [_row(agent) for agent in found]
    say_table(("principal", "name", "tier", "added", "token"), rows, "No agent has a token or a trust tier yet.")
    blocks = [block for block in blocks if not block.get("liftedAt")]
    if blocks:
        print()
        cells = [(b.get("principal", ""), b.get("by", ""), b.get("reason", "")) for b in blocks]
        say_table(("blocked", "by", "reason"), cells, "")
    return OK


def _row(agent: Mapping[str, Any]) -> tuple[str, ...]:
    from interlock.moments import ago

    added = agent.get("firstSeen") or agent.get("first_seen")
    revoked = agent.get("revokedAt") or agent.get("revoked_at") or agent.get("revoked")
    token = "revoked" if revoked else "yes" if str(agent.get("principal", "")).startswith("agent:") else ""
    return (
        str(agent.get("principal", "")),
        str(agent.get("name", "")),
        str(agent.get("trust_tier") or ""),
        ago(added),
        token,
    )


def _add(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in

    body = {"name": args.name} | ({"trust_tier": args.tier} if args.tier else {})
    with signed_in(args) as operator:
        made = operator.post("/agents", body)
    if args.json:
        say_json(made)
    else:
        print(f"{made.get('principal')} ({made.get('name')}). Its token, shown this once:\n\n    {made.get('token')}\n")
        print("The agent sends it as `Authorization: Bearer agt_…`.")
    return OK


def _trust(args: argparse.Namespace) -> int:
    return _changed(
        args, {"trust_tier": args.tier}, f"{args.principal} {args.name} is {args.tier or 'of no tier'} now."
    )


def _revoke(args: argparse.Namespace) -> int:
    return _changed(args, {"revoked": True}, f"Revoked: the token of {args.principal} {args.name} counts no more.")


def _changed(args: argparse.Namespace, change: Mapping[str, Any], said: str) -> int:
    from interlock.doors.cli.signing import signed_in

    with signed_in(args) as operator:
        after = operator.call("PATCH", "/agents", {"principal": args.principal, "name": args.name, **change})
    if args.json:
        say_json(after)
    else:
        print(said)
    return OK
