"""Asks a person at the controlling terminal, shows a text once, and enrols the first operator; no answer comes from stdin or arguments."""

from __future__ import annotations

import hmac
import os
import secrets
import select
import signal
import termios
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.identity.agent_detection import is_agents_terminal
from interlock.records import OperatorRow

if TYPE_CHECKING:
    from interlock.identity.keys import Kdf


__all__ = [
    "EnrolmentError",
    "Terminal",
    "TerminalError",
    "controlling_terminal",
    "enrol_at_terminal",
    "is_agents_terminal",
    "read_passphrase",
]


DEVICE = "/dev/tty"
PATIENCE = 300.0  # seconds
MAX_LINE = 4096  # bytes
SCREEN_SECONDS = 60.0
CODE_SECONDS = 300.0
TRIES = 5  # at a valid name or passphrase
_CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no look-alikes; five bits each
_CODE_LENGTH = 12
_ENTER, _LEAVE = b"\x1b[?1049h\x1b[?25l\x1b[2J", b"\x1b[?25h\x1b[?1049l"
_NO_SCREEN = frozenset({"", "dumb", "unknown"})
_LOCAL, _CONTROL = 3, 6  # indices of the local modes and the control characters in the result of tcgetattr


class TerminalError(Exception):
    """There is no terminal, or nobody answered at it."""


class Terminal(Struct, frozen=True):
    """An open terminal that a person is assumed to sit at."""

    file: int

    def say(self, text: str) -> None:
        """Shows text; control and invisible characters become replacement characters."""
        shown = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
        data = shown.encode("utf-8", "replace")
        while data:
            data = data[os.write(self.file, data) :]

    def ask(self, prompt: str, seconds: float = PATIENCE) -> str:
        """Reads one line, typed after the prompt was shown."""
        return self._line(prompt, seconds, echo=True)

    def secret(self, prompt: str, seconds: float = PATIENCE) -> str:
        """Reads one line without echo."""
        return self._line(prompt, seconds, echo=False)

    def _line(self, prompt: str, seconds: float, echo: bool) -> str:
        before = termios.tcgetattr(self.file)
        asking = list(before)
        asking[_LOCAL] |= termios.ICANON | termios.ISIG
        asking[_LOCAL] = asking[_LOCAL] | termios.ECHO if echo else asking[_LOCAL] & ~termios.ECHO
        try:
            termios.tcsetattr(self.file, termios.TCSAFLUSH, asking)  # discards what was typed ahead
            self.say(prompt)
            line = self._read(time.monotonic() + seconds)
        finally:
            termios.tcsetattr(self.file, termios.TCSADRAIN, before)
            if not echo:
                self.say("\n")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise TerminalError("the input is not UTF-8") from None

    def _read(self, until: float) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.file], [], [], left)[0]:
                raise TerminalError("nobody answered in time")
            got = os.read(self.file, MAX_LINE)
            line += got
            if not got or len(line) > MAX_LINE:
                raise TerminalError("the line is too long" if got else "the terminal was closed")
        return line.rstrip(b"\r\n")


@contextmanager
def controlling_terminal() -> Iterator[Terminal]:
    """The terminal that this process belongs to; refuses where there is none, whatever stdin is."""
    try:
        file = os.open(DEVICE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise TerminalError(f"{DEVICE}: {error.strerror}; run this in a terminal") from None
    try:
        yield Terminal(file)
    except (OSError, termios.error) as error:
        raise TerminalError(f"{DEVICE}: {error}") from None
    finally:
        os.close(file)


def read_passphrase(prompt: str = "Passphrase: ") -> str:
    """Reads a passphrase from the controlling terminal, without echo."""
    with controlling_terminal() as terminal:
        return terminal.secret(prompt)


def show_once(terminal: Terminal, lines: Sequence[str], seconds: float = SCREEN_SECONDS) -> bool:
    """Shows lines until a key is pressed; False where none was. Refuses a terminal that cannot erase them again."""
    if os.environ.get("TERM", "") in _NO_SCREEN:
        raise TerminalError("this terminal cannot erase a text (TERM); use another one")
    with _interruptible(), _single_keys(terminal):
        try:
            _write(terminal, _ENTER)
            for row, line in enumerate(lines, 1):
                _write(terminal, f"\x1b[{row};1H".encode())
                terminal.say(line.replace("\n", " "))
            return _key_pressed(terminal, seconds)
        finally:
            for row in range(1, len(lines) + 1):  # each line by itself: clearing a screen keeps it in some terminals
                _write(terminal, f"\x1b[{row};1H\x1b[2K".encode())
            _write(terminal, _LEAVE)


def _key_pressed(terminal: Terminal, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal.file], [], [], left)[0]:
            os.read(terminal.file, 4096)
            return True
    return False


@contextmanager
def _single_keys(terminal: Terminal) -> Iterator[None]:
    """Reads single keys without echo; Ctrl-C and Ctrl-Z are ordinary keys."""
    before = termios.tcgetattr(terminal.file)
    single = list(before)
    single[_LOCAL] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
    single[_CONTROL] = [*before[_CONTROL]]
    single[_CONTROL][termios.VMIN], single[_CONTROL][termios.VTIME] = 1, 0
    termios.tcsetattr(terminal.file, termios.TCSAFLUSH, single)
    try:
        yield
    finally:
        termios.tcsetattr(terminal.file, termios.TCSAFLUSH, before)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Turns signals into SystemExit, so that the screen is erased first."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write(terminal: Terminal, data: bytes) -> None:
    while data:
        data = data[os.write(terminal.file, data) :]


class EnrolmentError(Exception):
    """No operator was enrolled; the message says why."""


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
    from interlock.identity.keys import enrol

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
    from interlock.identity.keys.passphrases import EnrolError, operator_name

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
    from interlock.identity.keys.passphrases import EnrolError, operator_name

    try:
        return operator_name(os.environ.get("USER", ""))
    except EnrolError:
        return ""


def _ask_passphrase(terminal: Terminal, name: str) -> str:
    from interlock.identity.keys import passphrase_problem

    for _ in range(TRIES):
        first = terminal.secret("Passphrase (at least 8 characters): ")
        if problem := passphrase_problem(first, name):
            terminal.say(f"{problem}\n")
        elif hmac.compare_digest(terminal.secret("The same again: ").encode(), first.encode()):
            return first
        else:
            terminal.say("the two passphrases differ\n")
    raise EnrolmentError("no passphrase was given")
