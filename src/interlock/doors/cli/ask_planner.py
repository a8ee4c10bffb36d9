"""Asks at the terminal which planner answers, once, and tells the daemon."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from interlock.core.excerpt import visible
from interlock.doors.cli.operating import OK, USAGE, Stop, say_json
from interlock.doors.client import Daemon
from interlock.terminal import controlling

Json = Mapping[str, Any]
ASK = "?"  # the name that stands for no name
_WORDS = {
    "ollama": "Ollama, with {model}",
    "mock": "the built-in planner: some forty everyday requests, and nobody is asked",
}


def choose(operator: Daemon, args: argparse.Namespace) -> int:
    """`--planner NAME` says which; without a name it is asked, and with --json it is only shown."""
    if args.planner == ASK and args.json:
        say_json(operator.get("/planner"))
        return OK
    found = operator.get("/planner") if args.planner == ASK else _chosen(operator, args.planner)
    if args.planner == ASK:
        found = asked(operator, found)
    if args.json:
        say_json(found)
    else:
        print(_now(found))
    return OK


def asked(operator: Daemon, found: Json | None = None) -> Json:
    """The choice of whoever sits at the terminal; raises Stop where they make none."""
    found = found or operator.get("/planner")
    if not found.get("open"):
        raise Stop(f"{_now(found)} It is set in the configuration: planner.use", USAGE)
    names = [str(name) for name in found.get("choices") or ()]
    print(f"\nWhich planner answers? {_listens(found)}")
    for number, name in enumerate(names, 1):
        print(f"  {number}  {_WORDS.get(name, name).format(model=visible(str(found.get('model', ''))))}")
    with controlling() as terminal:
        answer = terminal.ask(f"[{'/'.join(str(at) for at in range(1, len(names) + 1))}]: ").strip()
    name = names[int(answer) - 1] if answer.isdecimal() and 1 <= int(answer) <= len(names) else answer
    if name not in names:
        raise Stop("no planner was chosen; `interlock ask --planner` asks again")
    return _chosen(operator, name)


def _chosen(operator: Daemon, name: str) -> Json:
    found: Json = operator.call("PUT", "/planner", {"use": name})
    return found


def _listens(found: Json) -> str:
    place = visible(str(found.get("host", "")))
    if not found.get("listens"):
        return f"Nobody listens at {place} now."
    user = visible(str(found.get("listener") or ""))
    return f"A program of the user {user} listens at {place}." if user else f"Some program listens at {place}."


def _now(found: Json) -> str:
    use = str(found.get("use") or "")
    if not use:
        return "No planner is chosen yet."
    words = _WORDS.get(use, use).format(model=visible(str(found.get("model", ""))))
    return f"The planner is {words}."
