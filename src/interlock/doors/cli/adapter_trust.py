"""`interlock adapter list` and `interlock adapter trust`: how far the daemon trusts its adapters, and an operator's word on that."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.core.trust import TRUSTS
from interlock.doors.cli.operating import OK, daemon, listed, options, run, say_json, say_table, signs

if TYPE_CHECKING:
    Words = argparse._SubParsersAction[argparse.ArgumentParser]

_LIST = "the adapters that the daemon has loaded, the servers behind proxies, and how far each is trusted"
_TRUST = "another level of trust for an adapter, or for a server behind a proxy: one step up (takes an admin), or down"
_LEVELS = """\
levels, lowest first:
  untested            may only be introspected
  generated           reads
  validated           changes what can be undone; asks before it destroys
  community_reviewed  the same, and what is dangerous after a verification
  certified           everything that the matrix has; takes a certification in the adapter's file

The same level again says that somebody looked anew: due after a week for validated, a month for community_reviewed.

example:
  interlock adapter trust github community_reviewed --reason 'read by ana and bo'
"""


def add_words(words: Words) -> None:
    """Adds both words to the command's."""
    options(words.add_parser("list", help=_LIST, description=f"{_LIST[:1].upper()}{_LIST[1:]}."))
    trust = words.add_parser(
        "trust",
        help=_TRUST,
        description=f"{_TRUST[:1].upper()}{_TRUST[1:]}.",
        epilog=_LEVELS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options(trust)
    signs(trust)
    trust.add_argument("name", metavar="NAME", help="as `interlock adapter list` shows it")
    trust.add_argument("level", metavar="LEVEL", choices=tuple(TRUSTS), help=" | ".join(TRUSTS))
    trust.add_argument(
        "--mark", metavar="MARK", default="", help="which of several proxied servers of one name is meant"
    )
    trust.add_argument("--reason", metavar="WORDS", required=True, help="goes on the record, and into the history")


def main(args: argparse.Namespace) -> int:
    """Answer one of list and trust."""
    return run("adapter", {"list": _list, "trust": _trust}[args.word], args)


def _list(args: argparse.Namespace) -> int:
    found = listed(daemon(args).get("/adapters"), "adapters")
    if args.json:
        say_json({"adapters": found})
        return OK
    empty = "No adapter is loaded: name their files under adapters.files in the configuration. No proxy has asked yet, either."
    say_table(("adapter", "version", "trust", "operations", "why"), [_row(one) for one in found], empty)
    return OK


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("name", "version", "trust", "operations")
    due = f"; a new look is due since {str(one['revalidate_by'])[:10]}" if one.get("overdue") else ""
    if one.get("kind") == "server":
        one = {**one, "version": f"server {str(one.get('mark'))[:8]}", "operations": "-"}
    return (*(str(one.get(key, "")) for key in keys), f"{one.get('why') or _last(one)}{due}")


def _last(one: Mapping[str, Any]) -> str:
    history = one.get("history") or [{}]
    step = history[-1]
    own = "its proxy" if one.get("kind") == "server" else "its file"
    return f"{step['by']}: {step['reason']}" if step.get("by") else f"{own} says so"


def _trust(args: argparse.Namespace) -> int:
    from interlock.doors.cli.signing import signed_in
    from interlock.doors.client import part

    body = {"level": args.level, "reason": args.reason, **({"mark": args.mark} if args.mark else {})}
    with signed_in(args) as operator:
        after = operator.call("PUT", f"/adapters/{part(args.name)}/trust", body)
    if args.json:
        say_json(after)
    else:
        why = f" ({after['why']})" if after.get("why") else ""
        starts = f": {after['starts']}" if after.get("starts") else ""
        kind = str(after.get("kind", "adapter")).capitalize()
        print(f"{kind} {after.get('name')} is {after.get('trust')} now{why}{starts or '.'}")
    return OK
