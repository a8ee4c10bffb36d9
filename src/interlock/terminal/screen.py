"""Text that a person sees once: on the alternate screen, erased after a key or some seconds, in nobody's scrollback."""

from __future__ import annotations

import os
import select
import signal
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from interlock.terminal.device import Terminal, TerminalError

SECONDS = 60.0
_ENTER, _LEAVE = b"\x1b[?1049h\x1b[?25l\x1b[2J", b"\x1b[?25h\x1b[?1049l"
_NO_SCREEN = frozenset({"", "dumb", "unknown"})
_LOCAL, _CONTROL = 3, 6  # in what tcgetattr gives


def show_once(terminal: Terminal, lines: Sequence[str], seconds: float = SECONDS) -> bool:
    """Shows lines until a key is pressed; False when nobody pressed one. Refuses a terminal that cannot erase what it showed."""
    if os.environ.get("TERM", "") in _NO_SCREEN:
        raise TerminalError("this terminal cannot take a text back (TERM); use another one")
    with _interruptible(), _keys(terminal):
        try:
            _write(terminal, _ENTER)
            for row, line in enumerate(lines, 1):
                _write(terminal, f"\x1b[{row};1H".encode())
                terminal.say(line.replace("\n", " "))
            return _pressed(terminal, seconds)
        finally:
            for row in range(1, len(lines) + 1):  # each line by itself: clearing a screen keeps it in some terminals
                _write(terminal, f"\x1b[{row};1H\x1b[2K".encode())
            _write(terminal, _LEAVE)


def _pressed(terminal: Terminal, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal.file], [], [], left)[0]:
            os.read(terminal.file, 4096)
            return True
    return False


@contextmanager
def _keys(terminal: Terminal) -> Iterator[None]:
    """Single keys, unseen; Ctrl-C and Ctrl-Z are keys like others."""
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
    """A signal that ends this process ends it after the screen is erased."""

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
