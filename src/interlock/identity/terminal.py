"""Asks a person at the controlling terminal and shows a text once; no answer comes from stdin or arguments."""

from __future__ import annotations

import os
import select
import signal
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from msgspec import Struct

DEVICE = "/dev/tty"
PATIENCE = 300.0  # seconds
MAX_LINE = 4096  # bytes
SCREEN_SECONDS = 60.0
_ENTER, _LEAVE = b"\x1b[?1049h\x1b[?25l\x1b[2J", b"\x1b[?25h\x1b[?1049l"
_NO_SCREEN = frozenset({"", "dumb", "unknown"})
_LOCAL, _CONTROL = 3, 6  # indices of the local modes and the control characters in the result of tcgetattr


class TerminalError(Exception):
    """There is no terminal, nobody answered at it, or no operator was enrolled there; the message says why."""


class Terminal(Struct, frozen=True):
    file: int

    def say(self, text: str) -> None:
        shown = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
        _write(self, shown.encode("utf-8", "replace"))

    def ask(self, prompt: str, seconds: float = PATIENCE) -> str:
        return self._line(prompt, seconds, echo=True)

    def secret(self, prompt: str) -> str:
        return self._line(prompt, PATIENCE, echo=False)

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
    """Refuses where there is none, whatever stdin is."""
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
    with controlling_terminal() as terminal:
        return terminal.secret(prompt)


def show_once(terminal: Terminal, lines: Sequence[str], seconds: float) -> bool:
    """Until a key is pressed; False where none was. Refuses a terminal that cannot erase the lines again."""
    if os.environ.get("TERM", "") in _NO_SCREEN:
        raise TerminalError("this terminal cannot erase a text (TERM); use another one")
    with _interruptible(), _single_keys(terminal):
        try:
            _write(terminal, _ENTER)
            for row, line in enumerate(lines, 1):
                _write(terminal, f"\x1b[{row};1H".encode())
                terminal.say(line.replace("\n", " "))
            if pressed := bool(select.select([terminal.file], [], [], seconds)[0]):
                os.read(terminal.file, MAX_LINE)
            return pressed
        finally:
            for row in range(1, len(lines) + 1):  # each line by itself: clearing a screen keeps it in some terminals
                _write(terminal, f"\x1b[{row};1H\x1b[2K".encode())
            _write(terminal, _LEAVE)


@contextmanager
def _single_keys(terminal: Terminal) -> Iterator[None]:
    """Without echo; Ctrl-C and Ctrl-Z are ordinary keys."""
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
