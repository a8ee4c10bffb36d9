"""Asking a person at the controlling terminal: never stdin, an argument or the environment, where an agent could answer."""

from __future__ import annotations

import os
import select
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

DEVICE = "/dev/tty"
PATIENCE = 300.0  # seconds
MAX_LINE = 4096  # bytes
_LOCAL = 3  # the local modes in what tcgetattr gives


class TerminalError(Exception):
    """There is no terminal, or nobody answered at it."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """An open terminal with, we hope, a person at it."""

    file: int

    def say(self, text: str) -> None:
        """Shows text; what could move the cursor or hide words shows as a replacement character."""
        shown = "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
        data = shown.encode("utf-8", "replace")
        while data:
            data = data[os.write(self.file, data) :]

    def ask(self, prompt: str, seconds: float = PATIENCE) -> str:
        """One line, typed after the prompt was shown."""
        return self._line(prompt, seconds, echo=True)

    def secret(self, prompt: str, seconds: float = PATIENCE) -> str:
        """One line that is not shown while it is typed."""
        return self._line(prompt, seconds, echo=False)

    def _line(self, prompt: str, seconds: float, echo: bool) -> str:
        before = termios.tcgetattr(self.file)
        asking = list(before)
        asking[_LOCAL] |= termios.ICANON | termios.ISIG
        asking[_LOCAL] = asking[_LOCAL] | termios.ECHO if echo else asking[_LOCAL] & ~termios.ECHO
        try:
            termios.tcsetattr(self.file, termios.TCSAFLUSH, asking)  # what was typed ahead answers nothing
            self.say(prompt)
            line = self._read(time.monotonic() + seconds)
        finally:
            termios.tcsetattr(self.file, termios.TCSADRAIN, before)
            if not echo:
                self.say("\n")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise TerminalError("what was typed is not UTF-8") from None

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
def controlling() -> Iterator[Terminal]:
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
    """A passphrase from the controlling terminal, unseen."""
    with controlling() as terminal:
        return terminal.secret(prompt)
