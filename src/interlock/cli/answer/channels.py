"""`interlock channels`: lists the notification channels with their health, and sends a test message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.analysis.display_text import visible
from interlock.cli.arguments import OPERATOR, Args, argument
from interlock.cli.command import FAILED, OK, CommandWords, list_rows, report, report_table
from interlock.cli.sign_in import operator_session
from interlock.client import path_segment

_EXAMPLES = """
interlock channels
interlock channels test oncall
"""


main = CommandWords(
    "channels",
    "Where people hear of held actions, codes, blocks and alerts: `[[channels.send]]`.",
    _EXAMPLES,
    default="list",
)


@main.word(
    "list", "every channel, whether it can be used, and how its last message went", "interlock channels list", OPERATOR
)
def _list(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found = list_rows(operator.get("/channels"), "channels")
    rows = [(one.get("name", ""), one.get("address", ""), _when(one), _state(one)) for one in found]
    report_table(args, found, ("name", "where", "told", "state"), rows, "There is no channel.")
    for words in (words for one in found if not args.json and (words := _trouble(one))):
        print(words)
    return OK


@main.word("test", "send a test message", "interlock channels test oncall", argument("name", "NAME"), OPERATOR)
def _test(args: Args) -> int:
    with operator_session(args) as operator:
        found = operator.post(f"/channels/{path_segment(args.name)}/test", {})
    sent = found.get("sent")
    words = "sent. Look whether it is there." if sent else f"not sent: {found.get('reason', '')}"
    return report(args, found, f"{args.name}: {words}", OK if sent else FAILED)


def _when(one: Mapping[str, Any]) -> str:
    after = one.get("afterSeconds")
    return f"after {after} s" if after else "at once"


def _state(one: Mapping[str, Any]) -> str:
    if not one.get("ready"):
        return "cannot be used"
    last = _last(one)
    return f"last message {last['state']}" if last else "ready"


def _trouble(one: Mapping[str, Any]) -> str:
    """A channel's problem in one line."""
    last = _last(one)
    why = one.get("problem") or (last.get("reason") if last.get("state") in ("queued", "failed") else "")
    return visible(f"{one.get('name', '')}: {why}") if why else ""


def _last(one: Mapping[str, Any]) -> Mapping[str, Any]:
    found = list_rows(one, "recent")
    return found[0] if found else {}
