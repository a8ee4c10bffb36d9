"""Enrols the first operator at the controlling terminal; refuses an agent's terminal and a second first operator."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Collection

from interlock.identity.agent_detection import is_agents_terminal
from interlock.identity.keys import Kdf, enrol, passphrase_problem
from interlock.identity.keys.passphrases import EnrolError, operator_name
from interlock.identity.terminal import EnrolmentError, Terminal, TerminalError, controlling_terminal
from interlock.records import OperatorRow

CODE_SECONDS = 300.0
TRIES = 5  # at a valid name or passphrase
_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no look-alikes; five bits each
_CODE_LENGTH = 12


def enrol_at_terminal(
    operators: Collection[OperatorRow],
    now: float,
    *,
    name: str = "",
    seconds: float = CODE_SECONDS,
    kdf: Kdf | None = None,
) -> tuple[OperatorRow, bytes]:
    """Enrols the first operator, an admin: its row and the seal key; refuses where there is one, and at an agent's terminal."""
    if operators:
        raise EnrolmentError("there is an operator already; an admin adds others with `interlock operator add`")
    if why := is_agents_terminal():
        raise EnrolmentError(f"this looks like an agent's terminal: {why}; open one of your own and try again there")
    try:
        with controlling_terminal() as terminal:
            _prove(terminal, seconds)
            name = name or _ask_name(terminal)
            passphrase = _ask_passphrase(terminal, name)
            return enrol(name, passphrase, None, now=now, by="terminal", roles=("admin",), kdf=kdf)
    except TerminalError as error:
        raise EnrolmentError(str(error)) from None


def _prove(terminal: Terminal, seconds: float) -> None:
    """Shows a new code and asks for it once; refuses a wrong one."""
    code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))
    shown = "-".join(code[at : at + 4] for at in range(0, _CODE_LENGTH, 4))
    minutes = f"{seconds / 60:g} min"
    terminal.say(f"Interlock has no operator yet. Whoever types this code becomes its first.\n\n    {shown}\n\n")
    try:
        typed = terminal.ask(f"Code (valid {minutes}, once): ", seconds)
    except TerminalError as error:
        raise EnrolmentError(f"the code was not typed: {error}; start again for a new one") from None
    given = typed.upper().replace("-", "").replace(" ", "")
    if not hmac.compare_digest(given.encode(), code.encode()):
        raise EnrolmentError("that is not the code; start again for a new one")


def _ask_name(terminal: Terminal) -> str:
    offered = _usual_name()
    for _ in range(TRIES):
        try:
            typed = terminal.ask(f"Your name [{offered}]: " if offered else "Your name: ").strip()
            return operator_name(typed or offered)
        except EnrolError as error:
            terminal.say(f"{error}\n")
    raise EnrolmentError("no name was given")


def _usual_name() -> str:
    """The login name, which later sign-ins offer too; empty where it is not valid for an operator."""
    try:
        return operator_name(os.environ.get("USER", ""))
    except EnrolError:
        return ""


def _ask_passphrase(terminal: Terminal, name: str) -> str:
    for _ in range(TRIES):
        first = terminal.secret("Passphrase (at least 8 characters): ")
        if problem := passphrase_problem(first, name):
            terminal.say(f"{problem}\n")
        elif hmac.compare_digest(terminal.secret("The same again: ").encode(), first.encode()):
            return first
        else:
            terminal.say("the two passphrases differ\n")
    raise EnrolmentError("no passphrase was given")
