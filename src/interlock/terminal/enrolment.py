"""The first operator: made only by somebody who reads this terminal and types into it."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING

from interlock.core.records import OperatorRow
from interlock.terminal.agents import is_agents_terminal
from interlock.terminal.device import Terminal, TerminalError, controlling

if TYPE_CHECKING:
    from interlock.keys import Kdf

CODE_SECONDS = 300.0
TRIES = 5  # at a name or a passphrase that is taken
_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no look-alikes; five bits each
_CODE_LENGTH = 12


class EnrolmentError(Exception):
    """No operator was made; the message says why."""


def enrol_first(
    operators: Collection[OperatorRow],
    now: float,
    *,
    name: str = "",
    seconds: float = CODE_SECONDS,
    kdf: Kdf | None = None,
) -> tuple[OperatorRow, bytes]:
    """The first operator, an admin, and the installation's seal key; refuses where there is one, and at an agent's terminal."""
    if operators:
        raise EnrolmentError("there is an operator already; an admin adds others with `interlock operator add`")
    if why := is_agents_terminal():
        raise EnrolmentError(f"this looks like an agent's terminal: {why}; open one of your own and try again there")
    from interlock.keys import enrol

    try:
        with controlling() as terminal:
            _prove(terminal, seconds)
            name = name or _ask_name(terminal)
            passphrase = _ask_passphrase(terminal, name)
            return enrol(name, passphrase, None, now=now, by="terminal", roles=("admin",), kdf=kdf)
    except TerminalError as error:
        raise EnrolmentError(str(error)) from None


def _prove(terminal: Terminal, seconds: float) -> None:
    """A new code, good for one try: a wrong one ends it."""
    code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
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
    from interlock.keys.operators import EnrolError, operator_name

    offered = _usual_name()
    for _ in range(TRIES):
        try:
            typed = terminal.ask(f"Your name [{offered}]: " if offered else "Your name: ").strip()
            return operator_name(typed or offered)
        except EnrolError as error:
            terminal.say(f"{error}\n")
    raise EnrolmentError("no name was given")


def _usual_name() -> str:
    """The name that later sign-ins offer too, where it can be an operator's."""
    from interlock.keys.operators import EnrolError, operator_name

    try:
        return operator_name(os.environ.get("USER", ""))
    except EnrolError:
        return ""


def _ask_passphrase(terminal: Terminal, name: str) -> str:
    from interlock.keys import passphrase_problem

    for _ in range(TRIES):
        first = terminal.secret("Passphrase (at least 8 characters): ")
        if problem := passphrase_problem(first, name):
            terminal.say(f"{problem}\n")
        elif hmac.compare_digest(terminal.secret("The same again: ").encode(), first.encode()):
            return first
        else:
            terminal.say("the two are not the same\n")
    raise EnrolmentError("no passphrase was given")
