"""A terminal of the agent's own, and the person's relayed to it: nothing can be typed into the person's by those inside."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_CHUNK = 65_536
_NO_SIZE = struct.pack("HHHH", 0, 0, 0, 0)


def both_ends() -> bool:
    """Whether a person sits at both ends of this process."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def raw() -> Iterator[None]:
    """Every key goes through, Ctrl-C too; afterwards the terminal is as it was."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)


@contextmanager
def resized(master: int) -> Iterator[None]:
    """The agent's terminal has the size of the person's, now and whenever that changes."""

    def resize(sig: int = 0, frame: FrameType | None = None) -> None:
        with suppress(OSError):
            fcntl.ioctl(master, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, _NO_SIZE))

    resize()
    before = signal.signal(signal.SIGWINCH, resize)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


def relay(master: int, ended: int, collect: Callable[[], int]) -> int:
    """Passes bytes on until `ended` can be read and nothing more is to be said; answers what `collect` does."""
    open_stdin, over = True, False
    while True:
        watched = [master] if over else [master, ended, *([0] if open_stdin else [])]
        ready, _, _ = select.select(watched, [], [], 0.1 if over else None)
        if 0 in ready:
            open_stdin = _passed(0, master)
            if not open_stdin:
                _write(master, b"\x04")
        if master in ready and not _passed(master, 1):
            return collect()
        if over and not ready:
            return collect()
        over = over or ended in ready


def _passed(source: int, to: int) -> bool:
    """Whether there was something; a terminal whose other end is closed says so with an error."""
    try:
        data = os.read(source, _CHUNK)
    except OSError:
        return False
    return bool(data) and _write(to, data)


def _write(to: int, data: bytes) -> bool:
    with suppress(OSError):
        while data:
            data = data[os.write(to, data) :]
    return not data
