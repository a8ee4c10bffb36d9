"""Warm child processes: one request at a time, killed on overrun and restarted; an inspection without an answer means an unknown impact."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.impact import GRACE, MILLISECONDS
from interlock.policy.impact import Impact, impact_of, unknown_impact

READY = b"ready\n"
STARTING = 10.0  # seconds that a new child has until it is ready
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}  # nothing of the daemon's


class ChildBusy(OSError):
    """Other requests occupy the child for longer than this one can wait."""


class ChildTimeout(OSError):
    """The child exceeded its time limit and was killed."""


class WarmChild:
    """`python -I -m MODULE FD WORDS…` as the user of this process; one request a line, one answer a line."""

    def __init__(self, module: str, words: Sequence[str] = (), most: int = 65_536) -> None:
        self._module, self._words, self._most = module, tuple(words), most
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None

    def ask(self, question: Mapping[str, Any], seconds: float, waiting: float) -> Any:
        """The answer; raises ChildBusy, ChildTimeout, OSError and ValueError, and then the next request goes to a new child."""
        if not self._lock.acquire(timeout=waiting):
            raise ChildBusy("too many requests are waiting already")
        try:
            return self._exchange(question, seconds)
        except (OSError, ValueError):
            self._kill()
            raise
        finally:
            self._lock.release()

    @property
    def pid(self) -> int | None:
        """Of the child that is warm."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _exchange(self, question: Mapping[str, Any], seconds: float) -> Any:
        if self.pid is None:
            self._start()
        assert self._sock is not None
        self._sock.sendall(json.dumps(question).encode("utf-8", "surrogatepass") + b"\n")
        line = self._line(time.monotonic() + seconds)
        if line is None:
            raise ChildTimeout("no answer in time")
        return json.loads(line)

    def _start(self) -> None:
        self._kill()
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", self._module, str(number), *self._words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                close_fds=True,
                pass_fds=(number,),
                start_new_session=True,
            )
        self._sock = ours
        ours.setblocking(False)
        if self._line(time.monotonic() + STARTING) != READY:
            raise OSError("the child does not start")
        ours.setblocking(True)
        ours.settimeout(STARTING)

    def _line(self, until: float) -> bytes | None:
        assert self._sock is not None
        waiting = select.poll()  # select() takes no file beyond the first 1024, and a busy daemon has more
        waiting.register(self._sock, select.POLLIN)
        parts: list[bytes] = []
        size = 0
        while not parts or not parts[-1].endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or size > self._most:
                return None
            if not waiting.poll(left * 1000):
                return None
            part = self._sock.recv(65_536)
            if not part:
                return None
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _kill(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._child is not None:
            with contextlib.suppress(OSError):
                self._child.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(1.0)  # one that the kernel holds is left to it
            self._child = None


class WarmInspector:
    """Inspects targets as the user of this process."""

    def __init__(self) -> None:
        self._child = WarmChild("interlock.impact.inspector")

    def __call__(self, question: Mapping[str, Any]) -> Impact:
        seconds = int(question.get("ms", MILLISECONDS)) / 1000 + GRACE
        try:
            return impact_of(self._child.ask(question, seconds, seconds * 4))
        except ChildBusy:
            return unknown_impact("too many inspections are waiting already")
        except ChildTimeout:
            return unknown_impact("it takes too long")
        except (OSError, ValueError, KeyError, TypeError):
            return unknown_impact("the inspection failed")

    @property
    def pid(self) -> int | None:
        """Of the child that is warm."""
        return self._child.pid

    def close(self) -> None:
        self._child.close()
