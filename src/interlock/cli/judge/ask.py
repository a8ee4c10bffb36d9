"""`interlock ask`: turns plain words into a plan to read, edit and answer; nothing runs without a yes at this terminal."""

from __future__ import annotations

from typing import Any

from interlock.cli.arguments import OPERATOR, Args, argument, flag
from interlock.cli.command import OK, USAGE, CommandError, command, list_rows, report_table, say_json
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


@command(
    "ask",
    "Say what you want. A planner proposes a command; you see what it risks, edit it, and decide. It runs here, as you, and only\n"
    "after your yes to exactly this text. What is dangerous also needs what the gate needs: your passphrase once more.",
    _EXAMPLES,
    argument("intent", "WORDS", "what you want; without it you are asked", "", nargs="?"),
    argument("--cwd", "DIR", "where it would run (default: here)", ""),
    argument("--again", "PLAN", "review a plan of the history once more"),
    argument("--history", "WORDS", "what was asked and run, the newest first", nargs="?", const=""),
    argument("--workflow", "NAME", "review and run a saved workflow, step by step"),
    argument(
        "--planner",
        "NAME",
        "choose which planner answers: ollama or mock; without a name you are asked",
        nargs="?",
        const="?",
    ),
    flag("--workflows", "the saved workflows"),
    OPERATOR,
    exits=_EXITS,
)
def main(args: Args) -> int:
    """Ask for a command, review it, and run it on request."""
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


def _print_plan(args: Args) -> int:
    """The plan for a program to read; it runs nothing."""
    if not (args.intent or args.again):
        raise CommandError("--json shows one plan: give words, or --again PLAN", USAGE)
    with operator_session(args, reading=True) as operator:
        say_json(request_plan(operator, args, args.intent))
    return OK


def _planner(args: Args) -> int:
    with operator_session(args, reading=args.json) as operator:
        return choose_planner(operator, args)


def _list_history(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found: Any = operator.get("/workflows") if args.workflows else operator.get("/plans", q=args.history or "")
    if args.workflows:
        rows = [
            [one["name"], len(one["steps"]), one["madeBy"], "frozen" if one["frozen"] else ""]
            for one in list_rows(found, "workflows")
        ]
        empty = "there is no workflow yet; save one after a run, or on the console's Ask page"
        return report_table(args, found, ("workflow", "steps", "by", ""), rows, empty)
    rows = [
        [one["id"], ago(one["madeAt"]), one["status"] + _code(one), one["risk"], one["command"]]
        for one in list_rows(found, "plans")
    ]
    return report_table(args, found, ("plan", "when", "how", "risk", "command"), rows, "nothing was asked yet")


def _code(row: Any) -> str:
    return f" ({row['exitCode']})" if row.get("exitCode") else ""
