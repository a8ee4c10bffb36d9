"""A person at a terminal of their own: a real pseudo-terminal, its screen, and programs started on it."""

from __future__ import annotations

import codecs
import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from interlock.identity.agent_detection import ProcessInfo, agent_in

PATIENCE = 60.0

LAUNCH = """
import os, signal, sys, time
terminal, argv, start = sys.argv[1], sys.argv[2:], os.getpid()
signal.signal(signal.SIGINT, signal.SIG_DFL)  # which is ignored by whatever was started in the background
if os.fork():
    os._exit(0)
while os.getppid() == start:
    time.sleep(0.002)
os.setsid()
file = os.open(terminal, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(file, number)
os.execv(argv[0], argv)
"""


class Screen:
    """The other end of a terminal: what a person sees and types."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.seen = ""
        self._text = codecs.getincrementaldecoder("utf-8")()  # a letter may come in two pieces
        self._waiting = select.poll()  # takes files beyond the first 1024 as well
        self._waiting.register(file, select.POLLIN)

    def pressed(self, key: bytes, pattern: str) -> str:
        """As people do: once more where nothing happens, for a signal right before a read waits with it."""
        for _ in range(int(PATIENCE)):
            os.write(self.file, key)
            with contextlib.suppress(AssertionError):
                return self.until(pattern, 1.0)
        return self.until(pattern, 0.0)

    def until(self, pattern: str, seconds: float = PATIENCE) -> str:
        """What matched, as soon as it was shown."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen)):
            ready = self._waiting.poll(max(0.0, end - time.monotonic()) * 1000)
            assert ready, f"waited for {pattern!r}, saw {self.seen!r}"
            self.seen += self._text.decode(os.read(self.file, 65536))
        self.seen = self.seen[found.end() :]
        return found.group(found.lastindex or 0)

    def type(self, line: str) -> None:
        os.write(self.file, line.encode() + b"\n")

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.file)[3] & termios.ECHO)


def _launched(terminal: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, "-c", LAUNCH, terminal, *argv], env=env, check=True, timeout=PATIENCE)


Start = Callable[[str, Sequence[str], Mapping[str, str]], None]


@contextmanager
def person_at(*argv: str, env: Mapping[str, str] | None = None, start: Start = _launched) -> Iterator[Screen]:
    """A real process on a real pseudo-terminal of its own, which no agent started; it is hung up at the end."""
    first = Path("/proc/1/cmdline").read_text().split("\0")
    if agent_in(ProcessInfo(1, 0, 0, Path("/proc/1/comm").read_text().strip(), tuple(first))):
        pytest.skip("an agent is process 1 here: every terminal is its own")
    master, slave = pty.openpty()
    try:
        clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **(env or {})}
        start(os.ttyname(slave), argv, clean)
        yield Screen(master)
    finally:
        os.close(slave)
        os.close(master)


def python_at(code: str, *argv: str, env: Mapping[str, str] | None = None) -> AbstractContextManager[Screen]:
    return person_at(sys.executable, "-c", code, *argv, env=env)


def shell_at(
    script: str, code: str, *more: str, env: Mapping[str, str] | None = None, shell: str = "/bin/sh"
) -> AbstractContextManager[Screen]:
    """The shell runs the script, in which $0 is Python and $1 the code."""
    return person_at(shell, "-c", script, sys.executable, code, *more, env=env)
