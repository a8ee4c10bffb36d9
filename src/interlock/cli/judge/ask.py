"""`interlock ask`: turns plain words into a plan to read, edit and answer; nothing runs without a yes at this terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from interlock.cli.command import (
    OK,
    USAGE,
    CommandError,
    add_operator_option,
    command,
    list_rows,
    run,
    say_json,
    say_table,
)
from interlock.cli.judge import ask_session
from interlock.cli.judge.ask_session import choose_planner, request_plan
from interlock.cli.sign_in import operator_session
from interlock.local_times import ago

_EXAMPLES = """
interlock ask 'free some disk space'
interlock ask --json 'what is using port 8080'
interlock ask --history 'disk'
interlock ask --again plan_7Qm2…
interlock ask --workflow 'morning checks'
interlock ask --planner
"""
_EXITS = "exit codes: what the command that ran ended with; 0 nothing was run; 1 refused or failed, 2 wrong usage, 3 no daemon answers"


def main(argv: Sequence[str]) -> int:
    """Ask for a command, review it, and run it on request."""
    parser = command(
        "ask",
        "Say what you want. A planner proposes a command; you see what it risks, edit it, and decide. It runs here, as you, and only\n"
        "after your yes to exactly this text. What is dangerous also needs what the gate needs: your passphrase once more.",
        _EXAMPLES,
        _EXITS,
    )
    parser.add_argument(
        "intent", metavar="WORDS", nargs="?", default="", help="what you want; without it you are asked"
    )
    parser.add_argument("--cwd", metavar="DIR", default="", help="where it would run (default: here)")
    parser.add_argument("--again", metavar="PLAN", help="review a plan of the history once more")
    parser.add_argument(
        "--history", metavar="WORDS", nargs="?", const="", help="what was asked and run, the newest first"
    )
    parser.add_argument("--workflow", metavar="NAME", help="review and run a saved workflow, step by step")
    parser.add_argument(
        "--planner",
        metavar="NAME",
        nargs="?",
        const="?",
        help="choose which planner answers: ollama or mock; without a name you are asked",
    )
    parser.add_argument("--workflows", action="store_true", help="the saved workflows")
    add_operator_option(parser)
    return run("ask", _ask, parser.parse_args(list(argv)))


def _ask(args: argparse.Namespace) -> int:
    ways = [args.intent, args.again, args.workflow, args.workflows, args.planner, args.history is not None]
    if sum(map(bool, ways)) > 1:
        raise CommandError("give words, or one of --again, --history, --planner, --workflow and --workflows", USAGE)
    if args.planner:
        return _planner(args)
    if args.history is not None or args.workflows:
        return _list_history(args)
    if args.json:
        return _print_plan(args)
    return ask_session.run_session(args)


def _print_plan(args: argparse.Namespace) -> int:
    """The plan for a program to read; it runs nothing."""
    if not (args.intent or args.again):
        raise CommandError("--json shows one plan: give words, or --again PLAN", USAGE)
    with operator_session(args, reading=True) as operator:
        say_json(request_plan(operator, args, args.intent))
    return OK


def _planner(args: argparse.Namespace) -> int:
    with operator_session(args, reading=args.json) as operator:
        return choose_planner(operator, args)


def _list_history(args: argparse.Namespace) -> int:
    with operator_session(args, reading=True) as operator:
        found: Any = operator.get("/workflows") if args.workflows else operator.get("/plans", q=args.history or "")
    if args.json:
        say_json(found)
        return OK
    if args.workflows:
        rows = [
            [one["name"], str(len(one["steps"])), one["madeBy"], "frozen" if one["frozen"] else ""]
            for one in list_rows(found, "workflows")
        ]
        say_table(
            ("workflow", "steps", "by", ""),
            rows,
            "there is no workflow yet; save one after a run, or on the console's Ask page",
        )
        return OK
    rows = [
        [one["id"], ago(one["madeAt"]), one["status"] + _code(one), one["risk"], one["command"]]
        for one in list_rows(found, "plans")
    ]
    say_table(("plan", "when", "how", "risk", "command"), rows, "nothing was asked yet")
    return OK


def _code(row: Any) -> str:
    return f" ({row['exitCode']})" if row.get("exitCode") else ""
