"""Warm child processes: one request at a time, killed on overrun and restarted; an inspection without an answer means an unknown impact."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO, Any

from interlock.impact import GRACE, MILLISECONDS
from interlock.model import Json
from interlock.policy.impact import Impact, impact_of

READY = b"ready\n"
STARTING = 10.0  # seconds that a new child has until it is ready
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}  # nothing of the daemon's


class ChildBusy(OSError):
    """Other requests occupy it for longer than this one can wait."""


class ChildTimeout(OSError):
    """It exceeded its time limit and was killed."""


class WarmChild:
    """`python -I -m MODULE FD WORDS…`: one request a line, one answer a line."""

    def __init__(self, module: str, words: Sequence[str] = (), most: int = 65_536) -> None:
        self._argv, self._most = [sys.executable, "-I", "-m", module], most
        self._words, self._lock = tuple(words), threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._lines: IO[bytes] = io.BytesIO()

    def ask(self, question: Json, seconds: float, waiting: float) -> Any:
        """Raises ChildBusy, ChildTimeout, OSError and ValueError; the next request then goes to a new child."""
        if not self._lock.acquire(timeout=waiting):
            raise ChildBusy
        try:
            return self._exchange(question, seconds)
        except (OSError, ValueError):
            self._kill()
            raise
        finally:
            self._lock.release()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _exchange(self, question: Json, seconds: float) -> Any:
        if self.pid is None:
            self._start()
        assert self._sock is not None
        self._sock.settimeout(STARTING)
        self._sock.sendall(json.dumps(question).encode() + b"\n")
        line = self._line(seconds)
        if not line.endswith(b"\n"):
            raise ChildTimeout
        return json.loads(line)

    def _start(self) -> None:
        self._kill()
        ours, theirs = socket.socketpair()
        with theirs:
            number, none = theirs.fileno(), subprocess.DEVNULL
            self._child = subprocess.Popen(
                [*self._argv, str(number), *self._words], stdin=none, stdout=none, stderr=none, env=_ENVIRONMENT, cwd="/",
                close_fds=True, pass_fds=(number,), start_new_session=True,
            )  # fmt: skip
        self._sock, self._lines = ours, ours.makefile("rb")
        if self._line(STARTING) != READY:
            raise OSError("the child does not start")

    def _line(self, seconds: float) -> bytes:
        """None, or less than one, where it does not come in time or is too long."""
        assert self._sock is not None
        self._sock.settimeout(seconds)
        try:
            return self._lines.readline(self._most + 1)
        except TimeoutError:
            return b""

    def _kill(self) -> None:
        if self._sock is not None:
            self._lines.close()
            self._sock.close()
            self._sock = None
        if self._child is not None:
            with contextlib.suppress(OSError):
                self._child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(1.0)  # one that the kernel holds is left to it
            self._child = None


class WarmInspector:
    def __init__(self) -> None:
        self._child = WarmChild("interlock.impact.inspector")

    def __call__(self, question: Json) -> Impact:
        seconds = int(question.get("ms", MILLISECONDS)) / 1000 + GRACE
        try:
            return impact_of(self._child.ask(question, seconds, seconds * 4))
        except ChildBusy:
            return Impact(problem="too many inspections are waiting already")
        except ChildTimeout:
            return Impact(problem="it takes too long")
        except (OSError, ValueError, KeyError, TypeError):
            return Impact(problem="the inspection failed")

    def close(self) -> None:
        self._child.close()
