"""Signs an operator in at this terminal for one command; refuses an agent's terminal and keeps the token in memory only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress

from interlock.cli.command import Args, CommandError, Row, UsageError, daemon, list_of
from interlock.cli.output import report
from interlock.client import ApiError, DaemonClient, NoDaemon
from interlock.identity.agent_detection import is_agents_terminal
from interlock.identity.terminal import controlling_terminal, read_passphrase

CHANNEL = "cli"
TRIES = 3
OK_STATUS = 200
NO_TERMINAL = "is not a terminal"  # how `is_agents_terminal` ends where there is none
_YES = frozenset({"y", "yes"})
_WRONG = "the passphrase is wrong"
_WHY = "say why, with --reason WORDS"


@contextmanager
def operator_session(args: Args, reading: bool = False, why: str = "") -> Iterator[DaemonClient]:
    server = daemon(args)
    status = server.get("/status")
    if status["operators"] is None:
        raise CommandError("; ".join(status["problems"]) or "the daemon cannot use its store")
    if not status["operators"]:
        raise CommandError(f"{_lead(why)}there is no operator yet; make the first one with `interlock operator add`")
    require_person(reading, why)
    name = args.operator or status["operator"] or ask_name()
    with ending_session(server.on_behalf(_token(server, name))) as operator:
        yield operator


def operator_rows(args: Args, kind: str) -> list[Row]:
    with operator_session(args, reading=True) as operator:
        return list_of(operator, kind)


def operator_change(args: Args, method: str, path: str, body: Row | None, words: str) -> int:
    with operator_session(args) as operator:
        after = operator.call(method, path, body)
    return report(args, after, words)


@contextmanager
def unlocked_session(args: Args, light: bool = True) -> Iterator[DaemonClient | None]:
    """On behalf of who unlocked this terminal; None where nobody did, or the command is not `light`."""
    server = daemon(args)
    answer = server.ask("POST", "/session/resume", {"operator": args.operator or ""}) if light else None
    if answer is None or answer.status != OK_STATUS:
        yield None
        return
    with ending_session(server.on_behalf(str(answer.body["token"]))) as operator:
        yield operator


@contextmanager
def ending_session(operator: DaemonClient) -> Iterator[DaemonClient]:
    try:
        yield operator
    finally:
        with suppress(ApiError, NoDaemon):
            operator.call("DELETE", "/session")


def _token(server: DaemonClient, name: str) -> str:
    left = TRIES
    while True:
        left -= 1
        try:
            return session_token(server, name)
        except ApiError as error:
            if not left or _WRONG not in str(error):
                raise
            print(f"{error}; {'one more try' if left == 1 else f'{left} more tries'}.", file=sys.stderr)


def session_token(server: DaemonClient, name: str) -> str:
    passphrase = read_passphrase(f"Passphrase of {name}: ")
    return str(server.post("/session", {"operator": name, "passphrase": passphrase, "channel": CHANNEL})["token"])


@contextmanager
def reading_session(args: Args, sees_all: Callable[[DaemonClient], bool], why: str) -> Iterator[DaemonClient]:
    """Without a sign-in where `sees_all` holds; else on behalf of an operator, for the reason in `why`."""
    server = daemon(args)
    if not args.operator and sees_all(server):
        yield server
        return
    with unlocked_session(args) as operator:
        if operator is not None:
            yield operator
            return
    with operator_session(args, True, "" if args.operator else why) as operator:
        yield operator


def require_person(reading: bool = False, why: str = "") -> None:
    """Refuses an agent's terminal, and none; the output of a command that only reads may go into a pipe."""
    piped = reading and os.isatty(0) and not os.isatty(1)
    with _stdout_at_the_terminal() if piped else nullcontext():
        found = is_agents_terminal()
    if not found:
        return
    words = f"this looks like an agent's terminal: {found}; open one of your own and try again there"
    if found.endswith(NO_TERMINAL):
        words = f"{found}: run it at a terminal of your own; programs sign in with POST /api/v1/session"
    raise CommandError(f"{_lead(why)}an operator has to sign in for this, and {words}")


def _lead(why: str) -> str:
    return f"{why}; " if why else ""


def ask_name() -> str:
    offered = os.environ.get("USER", "")
    typed = ask_line(f"Operator [{offered}]: " if offered else "Operator: ")
    if not typed and not offered:
        raise CommandError("no operator was named")
    return typed or offered


def require_reason_or_person(args: Args) -> None:
    if not args.reason.strip() and is_agents_terminal():
        raise UsageError(_WHY)


def require_reason(args: Args, reads: str = "") -> None:
    """Asks the person at the terminal; `reads` names who reads it."""
    require_reason_or_person(args)
    if not args.reason.strip():
        args.reason = ask_line(f"Why{f' ({reads})' if reads else ''}: ")
    if not args.reason:
        raise UsageError(_WHY)


def confirm(question: str) -> bool:
    return ask_line(f"{question} [y/N] ").casefold() in _YES


def ask_line(prompt: str) -> str:
    with controlling_terminal() as terminal:
        return terminal.ask(prompt).strip()


@contextmanager
def _stdout_at_the_terminal() -> Iterator[None]:
    """Points stdout at stdin's terminal: a person may send a list into a pipe."""
    sys.stdout.flush()
    stdout = os.dup(1)
    try:
        os.dup2(0, 1)
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
