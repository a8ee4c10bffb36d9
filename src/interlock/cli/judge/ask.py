"""`interlock ask`: turns plain words into a plan to read, edit and answer at this terminal; nothing runs without a yes."""

from __future__ import annotations

import os
import readline
import signal
import subprocess
import sys
from contextlib import suppress

from interlock.analysis.display_text import Lines, labelled, line, visible
from interlock.cli.command import OK, Args, CommandError, Row, UsageError, command, daemon, settings
from interlock.cli.output import declared_words, report, report_table, say, say_json
from interlock.cli.sign_in import ask_line, confirm, ending_session, operator_session, session_token
from interlock.client import ApiError, DaemonClient, NoDaemon, path_segment
from interlock.journal.build import JournalRun, begin_run
from interlock.local_times import ago
from interlock.model import requirement_words

PATIENCE = 660.0  # seconds; a planner has ten minutes at most
NOT_RUN = -1
NOT_CHOSEN = "PLANNER_NOT_CHOSEN"


def _warn(words: object) -> None:
    print(f"interlock ask: {words}", file=sys.stderr)


def _serve(operator: DaemonClient, args: Args, words: str) -> int:
    try:
        plan = request_plan(operator, args, words)
    except ApiError as error:
        if error.code != NOT_CHOSEN:
            raise
        _warn(error)
        ask_for_planner(operator)
        plan = request_plan(operator, args, words)
    return max(OK, review(operator, args, plan))  # also where it was not run


def request_plan(operator: DaemonClient, args: Args, words: str) -> Row:
    if args.again:
        return dict(operator.post(f"/plans/{path_segment(args.again)}/again"))
    body = {"intent": words, "cwd": os.path.realpath(args.cwd or ".")}
    return dict(operator.call("POST", "/plans", body, patience=PATIENCE))


def review(operator: DaemonClient, args: Args, plan: Row) -> int:
    """The command's exit code, or NOT_RUN where it was discarded."""
    path = f"/plans/{plan['id']}"
    try:
        return _review_loop(operator, args, path, plan)
    except BaseException:
        with suppress(ApiError, NoDaemon, OSError):  # one that ran or is gone is no error
            operator.post(f"{path}/reject")  # nobody is asked about an abandoned plan
        raise


def _review_loop(operator: DaemonClient, args: Args, path: str, plan: Row) -> int:
    while True:
        say(plan_lines(plan))
        runs = plan["approvable"]
        offered = "[r]un, " if runs else "Nobody may approve this, so it does not run from here. "
        answer = ask_line(f"{offered}[e]dit, [s]ave as a workflow, anything else discards it: ").casefold()
        if answer in ("e", "edit"):
            plan = _edit_plan(operator, path, plan)
        elif answer in ("s", "save"):
            _save(operator, plan)
        elif answer in ("r", "run") and runs:
            if plan["confirmation"] and not confirm(plan["confirmation"]):
                print("Not run.")
                continue
            found = _run(operator, args, path, plan)
            if isinstance(found, int):
                return found
            plan = found
        else:
            operator.post(f"{path}/reject")
            print("Discarded; nothing was run.")
            return NOT_RUN


def _run(operator: DaemonClient, args: Args, path: str, plan: Row) -> int | Row:
    """The exit code, or the changed plan where it needs another review."""
    said = {key: plan[key] for key in ("command", "mark")}
    said |= {"understood": bool(plan["confirmation"]), "at": "terminal"}
    answer: Row = operator.post(f"{path}/run", said)
    if answer["status"] == "held":
        print(f"\n{answer['reason']}")
        ticket = answer.get("ticket") or {}
        waits = ticket.get("state") == "pending_approval"
        if not waits or not confirm("Approve exactly this, once, with your passphrase?"):
            return plan
        server, name = daemon(args), operator.get("/session")["operator"]
        with ending_session(server.on_behalf(session_token(server, name))) as again:
            again.post(f"/tickets/{ticket['id']}/approve")
        answer = operator.post(f"{path}/run", said)
        if answer["status"] == "held":
            raise CommandError(answer["reason"])
    journal = None if plan["flags"]["escalatesPrivileges"] else begin_run(settings(args), "plan")
    code = _run_here(operator, path, answer["command"], answer["cwd"], journal)
    if journal is not None and (undo := journal.id()):
        print(f"`interlock undo {undo}` takes back what it changed.")
    elif answer.get("kept"):
        print(f"A snapshot was taken first: interlock undo {answer['kept']}")
    return code


def _run_here(operator: DaemonClient, path: str, command: str, cwd: str, journal: JournalRun | None) -> int:
    shell = next((one for one in ("/bin/bash", "/usr/bin/bash") if os.path.exists(one)), "/bin/sh")
    before = signal.signal(signal.SIGINT, lambda number, frame: None)  # Ctrl-C reaches the command by itself
    sys.stdout.flush()
    code, stopped = 126, True
    try:
        words = [shell, "-c", command]
        code = subprocess.call(journal.argv(words) if journal is not None else words, cwd=cwd)
        stopped = code < 0
        code = 128 - code if code < 0 else code
    except OSError as error:
        stopped = False
        _warn(error)
    finally:
        signal.signal(signal.SIGINT, before)
        try:
            operator.post(f"{path}/done", {"exitCode": code, "interrupted": stopped})
        except (ApiError, NoDaemon) as error:
            _warn(f"the history does not know how it ended: {error}")
    print(f"\nended with {code}")
    return code


def _edit_plan(operator: DaemonClient, path: str, plan: Row) -> Row:
    text = _edit_line(plan["command"])
    try:
        return dict(operator.call("PUT", path, {"command": text})) if text.strip() else plan
    except ApiError as error:
        _warn(error)
        return plan


def _save(operator: DaemonClient, plan: Row) -> None:
    name = ask_line("Name of the workflow: ")
    if not name:
        return
    step = {key: plan[key] for key in ("command", "cwd", "intent")}
    try:
        operator.post("/workflows", {"name": name, "steps": [step]})
        print(f"Saved as {name!r}: interlock ask --workflow {name!r}")
    except ApiError as error:
        _warn(error)


def _workflow(operator: DaemonClient, args: Args) -> int:
    opened: Row = operator.post(f"/workflows/{path_segment(args.workflow)}/open")
    flow, steps, code = opened["workflow"], opened["steps"], OK
    for number, plan in enumerate(steps, 1):
        print(f"\nStep {number} of {len(steps)} of {flow['name']!r}")
        found = review(operator, args, plan)
        if found == NOT_RUN:
            print("The workflow ends here.")
            break
        code = found
        if code and flow["stopOnFailure"]:
            print("The workflow stops: this step failed.")
            break
    return code


def _edit_line(text: str) -> str:
    prompt = "Command: "
    if "\n" in text:
        print("This command has several lines; what you type takes the place of all of them.")
        return ask_line(prompt)
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        return input(prompt)
    except EOFError:
        return ""
    finally:
        readline.set_startup_hook()


ASK = "?"  # the name that stands for no name


def ask_for_planner(operator: DaemonClient) -> Row:
    found = operator.get("/planner")
    if not found["open"]:
        raise UsageError(f"{_describe_planner(found)} It is set in the configuration: planner.use")
    names, place, user = found["choices"], visible(found["host"]), visible(found.get("listener", ""))
    who = f"A program of the user {user}" if user else "Some program"
    there = f"{who} listens at {place}." if found["listens"] else f"Nobody listens at {place} now."
    print(f"\nWhich planner answers? {there}")
    for number, name in enumerate(names, 1):
        print(f"  {number}  {_planner_words(name, found)}")
    answer = ask_line(f"[{'/'.join(map(str, range(1, len(names) + 1)))}]: ")
    name = names[int(answer) - 1] if answer.isdecimal() and 1 <= int(answer) <= len(names) else answer
    if name not in names:
        raise CommandError("no planner was chosen; `interlock ask --planner` asks again")
    return _set_planner(operator, name)


def _set_planner(operator: DaemonClient, name: str) -> Row:
    return dict(operator.call("PUT", "/planner", {"use": name}))


def _planner_words(name: str, found: Row) -> str:
    words: str = declared_words(__name__, "ask").get(name, name)
    return words.format(model=visible(found["model"]))


def _describe_planner(found: Row) -> str:
    use = found["use"]
    return f"The planner is {_planner_words(use, found)}." if use else "No planner is chosen yet."


_STYLE = {"low": "allow", "medium": "ask", "high": "deny"}


def plan_lines(plan: Row) -> Lines:
    risk, asked, sure = plan["risk"], plan["requirement"], plan["confidence"]
    lost = plan["irreversible"] and not plan["copied"]
    level = f"{risk} risk, {plan['level_name']}" + (", cannot be undone" if lost else "")
    first, *more = plan["command"].split("\n")
    claims = [
        ("Does", plan["explanation"], ""),
        ("Effect", plan["expectedEffect"], ""),
        ("Assumes", plan["assumptions"], ""),
        ("Sure", sure is not None and f"{round(sure * 100)} %, says {plan['planner']}", ""),
    ]
    edited = [("Edited", f"it was {plan['generated']}", "")]  # the planner's claims were about another command
    copied = plan["copied"] and "what it would destroy is copied first; `interlock undo` brings it back"
    rows = [
        ("Asked", plan["intent"], ""),
        ("Command", first, "command"),
        ("", [text or " " for text in more], "command"),
        ("In", plan["cwd"], ""),
        ("Risk", level, _STYLE[risk]),
        ("", plan["safetyFlags"], "mark"),
        ("Because", plan["reasons"], ""),
        ("Impact", plan["blast"], "mark"),
        ("Copied", copied, "allow"),
        ("Instead", plan["instead"], ""),
        ("Gate", asked["word"] != "allow" and requirement_words(asked), ""),
        *(edited if plan["edited"] else claims),
        ("It knew", ", ".join(plan["contextUsed"]), ""),
        ("Note", plan["notes"], ""),
    ]
    yield ()
    if plan["notice"]:
        yield line(plan["notice"], "dim")
    for name, value, style in rows:
        for words in filter(None, value if isinstance(value, list) else [value]):
            yield labelled(name, words, style, 9)
    yield ()


@command()
def main(args: Args) -> int:
    ways = [args.intent, args.again, args.workflow, args.workflows, args.planner, args.history is not None]
    if sum(map(bool, ways)) > 1:
        raise UsageError("give words, or one of --again, --history, --planner, --workflow and --workflows")
    if args.planner:
        with operator_session(args, reading=args.json) as operator:
            if args.planner != ASK:
                found = _set_planner(operator, args.planner)
            else:
                found = operator.get("/planner") if args.json else ask_for_planner(operator)
        return report(args, found, _describe_planner(found))
    if args.history is not None or args.workflows:
        return _list_history(args)
    if args.json and not (args.intent or args.again):
        raise UsageError("--json shows one plan: give words, or --again PLAN")
    with operator_session(args, reading=args.json) as operator:
        if args.json:
            say_json(request_plan(operator, args, args.intent))  # for a program to read; it runs nothing
            return OK
        if args.workflow:
            return _workflow(operator, args)
        if args.intent or args.again:
            return _serve(operator, args, args.intent)
        code = OK
        print("Say what you want; an empty line ends.")
        while words := ask_line("\nask > "):
            try:
                code = _serve(operator, args, words)
            except ApiError as error:
                _warn(error)
        return code


def _list_history(args: Args) -> int:
    with operator_session(args, reading=True) as operator:
        found = operator.get("/workflows") if args.workflows else operator.get("/plans", q=args.history or "")
    if args.workflows:
        rows = [
            [one["name"], len(one["steps"]), one["madeBy"], "frozen" if one["frozen"] else ""]
            for one in found["workflows"]
        ]
        empty = "there is no workflow yet; save one after a run, or on the console's Ask page"
        return report_table(args, found, ("workflow", "steps", "by", ""), rows, empty)
    rows = [
        [one["id"], ago(one["madeAt"]), one["status"] + ended, one["risk"], one["command"]]
        for one in found["plans"]
        for ended in [f" ({one['exitCode']})" if one["exitCode"] else ""]
    ]
    return report_table(args, found, ("plan", "when", "how", "risk", "command"), rows, "nothing was asked yet")
