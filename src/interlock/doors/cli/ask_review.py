"""One sitting with a planner at a person's own terminal: look, edit, tick, run here, say how it ended."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

from interlock.doors.cli import ask_planner
from interlock.doors.cli.ask_words import plan_lines
from interlock.doors.cli.operating import OK, Stop, daemon, say
from interlock.doors.cli.signing import CHANNEL, agreed, signed_in
from interlock.doors.client import ApiError, Daemon, NoDaemon, part
from interlock.terminal import controlling, read_passphrase

PATIENCE = 660.0  # seconds; a planner has ten minutes at most
NOT_RUN = -1
NOT_CHOSEN = "PLANNER_NOT_CHOSEN"
Json = Mapping[str, Any]


def sitting(args: argparse.Namespace) -> int:
    """Signs in once, then one request after the other; with words, that one alone."""
    with signed_in(args) as operator:
        if args.workflow:
            return _workflow(operator, args)
        if args.intent or args.again:
            return _code(review(operator, args, planned(operator, args, args.intent)))
        code = OK
        print("Say what you want; an empty line ends.")
        while words := _typed("\nask > "):
            try:
                code = _code(review(operator, args, planned(operator, args, words)))
            except ApiError as error:
                print(f"interlock ask: {error}", file=sys.stderr)
        return code


def planned(operator: Daemon, args: argparse.Namespace, words: str) -> Json:
    """The plan; whoever sits here is asked once which planner answers, where that is open."""
    try:
        return asked(operator, args, words)
    except ApiError as error:
        if error.code != NOT_CHOSEN:
            raise
        print(f"interlock ask: {error}", file=sys.stderr)
    ask_planner.asked(operator)
    return asked(operator, args, words)


def asked(operator: Daemon, args: argparse.Namespace, words: str) -> Json:
    """The plan for these words, or of the history."""
    if args.again:
        return dict(operator.post(f"/plans/{part(args.again)}/again"))
    body = {"intent": words, "cwd": os.path.realpath(args.cwd or ".")}
    return dict(operator.call("POST", "/plans", body, patience=PATIENCE))


def review(operator: Daemon, args: argparse.Namespace, plan: Json) -> int:
    """Until the person runs it or puts it away; the exit code of what ran, or NOT_RUN."""
    path = f"/plans/{part(str(plan['id']))}"
    try:
        return _answered(operator, args, path, plan)
    except BaseException:
        _put_away(operator, path)  # whoever leaves is asked about it no more
        raise


def _answered(operator: Daemon, args: argparse.Namespace, path: str, plan: Json) -> int:
    while True:
        say(plan_lines(plan))
        runs = bool(plan.get("approvable", True))
        offered = "[r]un, " if runs else "Nobody may approve this, so it does not run from here. "
        answer = _typed(f"{offered}[e]dit, [s]ave as a workflow, anything else puts it away: ").casefold()
        if answer in ("e", "edit"):
            plan = _edited(operator, path, plan)
        elif answer in ("s", "save"):
            _save(operator, plan)
        elif answer in ("r", "run") and runs:
            if plan.get("confirmation") and not agreed(str(plan["confirmation"])):
                print("Not run.")
                continue
            found = _run(operator, args, path, plan)
            if isinstance(found, int):
                return found
            plan = found
        else:
            operator.post(f"{path}/reject")
            print("Put away; nothing was run.")
            return NOT_RUN


def _put_away(operator: Daemon, path: str) -> None:
    """Quietly: a plan that ran, or is gone already, is nobody's to put away."""
    with suppress(ApiError, NoDaemon, OSError):
        operator.post(f"{path}/reject")


def _run(operator: Daemon, args: argparse.Namespace, path: str, plan: Json) -> int | Json:
    """Runs it with the daemon's leave; the plan as it is now where it has to be looked at again."""
    said = {
        "command": plan["command"],
        "mark": plan["mark"],
        "understood": bool(plan.get("confirmation")),
        "at": "terminal",
    }
    answer: Json = operator.post(f"{path}/run", said)
    if answer.get("status") == "held":
        print(f"\n{answer.get('reason', '')}")
        ticket = answer.get("ticket")
        if not isinstance(ticket, Mapping) or ticket.get("state") != "pending_approval":
            return plan
        if not agreed("Approve exactly this, once, with your passphrase?"):
            return plan
        _approved(operator, args, str(ticket["id"]))
        answer = operator.post(f"{path}/run", said)
        if answer.get("status") == "held":
            raise Stop(str(answer.get("reason", "")))
    code = _here(operator, path, str(answer["command"]), str(answer["cwd"]))
    if answer.get("kept"):
        print(f"A copy of what it changed is kept: interlock undo {answer['kept']}")
    return code


def _approved(operator: Daemon, args: argparse.Namespace, ticket: str) -> None:
    """Signed by whoever is signed in, asked anew."""
    name = str(operator.get("/session")["operator"])
    server = daemon(args)
    passphrase = read_passphrase(f"Passphrase of {name}: ")
    token = server.post("/session", {"operator": name, "passphrase": passphrase, "channel": CHANNEL})["token"]
    again = server.on_behalf(token)
    try:
        again.post(f"/tickets/{part(ticket)}/approve")
    finally:
        again.call("DELETE", "/session")


def _here(operator: Daemon, path: str, command: str, cwd: str) -> int:
    """The command as this user, at this terminal; Ctrl-C is the command's."""
    shell = next((one for one in ("/bin/bash", "/usr/bin/bash") if os.path.exists(one)), "/bin/sh")
    before = signal.signal(signal.SIGINT, _leave_it)
    sys.stdout.flush()
    code, stopped = 126, True
    try:
        code = subprocess.call([shell, "-c", command], cwd=cwd)
        stopped = code < 0
        code = 128 - code if code < 0 else code
    except OSError as error:
        stopped = False
        print(f"interlock ask: {error}", file=sys.stderr)
    finally:
        signal.signal(signal.SIGINT, before)
        _told(operator, path, code, stopped)
    print(f"\nended with {code}")
    return code


def _told(operator: Daemon, path: str, code: int, stopped: bool) -> None:
    try:
        operator.post(f"{path}/done", {"exitCode": code, "interrupted": stopped})
    except (ApiError, NoDaemon) as error:
        print(f"interlock ask: the history does not know how it ended: {error}", file=sys.stderr)


def _leave_it(number: int, frame: FrameType | None) -> None:
    """Ctrl-C reaches the command by itself."""


def _edited(operator: Daemon, path: str, plan: Json) -> Json:
    """The plan with what the person typed, read anew."""
    text = _line("Command: ", str(plan["command"]))
    if not text.strip():
        return plan
    try:
        found: Json = operator.call("PUT", path, {"command": text})
    except ApiError as error:
        print(f"interlock ask: {error}", file=sys.stderr)
        return plan
    return found


def _save(operator: Daemon, plan: Json) -> None:
    name = _typed("Name of the workflow: ")
    if not name:
        return
    step = {"command": plan["command"], "cwd": plan["cwd"], "intent": plan["intent"]}
    try:
        operator.post("/workflows", {"name": name, "steps": [step]})
    except ApiError as error:
        print(f"interlock ask: {error}", file=sys.stderr)
    else:
        print(f"Saved as {name!r}: interlock ask --workflow {name!r}")


def _workflow(operator: Daemon, args: argparse.Namespace) -> int:
    """The steps of a workflow, each with its own review; stops where one fails, if it says so."""
    opened: Json = operator.post(f"/workflows/{part(args.workflow)}/open")
    flow, steps, code = opened["workflow"], opened["steps"], OK
    for number, plan in enumerate(steps, 1):
        print(f"\nStep {number} of {len(steps)} of {flow['name']!r}")
        found = review(operator, args, plan)
        if found == NOT_RUN:
            print("The workflow ends here.")
            return code
        code = found
        if code and flow["stopOnFailure"]:
            print("The workflow stops: this step failed.")
            return code
    return code


def _line(prompt: str, text: str) -> str:
    """One line to edit at the terminal, the text already in it."""
    if "\n" in text:
        print("This command has several lines; what you type takes the place of all of them.")
        return _typed(prompt)
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        return input(prompt)
    except EOFError:
        return ""
    finally:
        readline.set_startup_hook()


def _typed(prompt: str) -> str:
    with controlling() as terminal:
        return terminal.ask(prompt).strip()


def _code(found: int) -> int:
    return OK if found == NOT_RUN else found
