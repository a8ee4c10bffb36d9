"""A child that looks, kept warm: asked one thing at a time, killed when it overruns, and replaced the next time."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from interlock.core.loss import Seen, seen_of, unseen
from interlock.looker.budget import GRACE, MILLISECONDS
from interlock.looker.child import READY

STARTING = 10.0  # seconds that a new child has until it is ready
_MOST = 65_536  # bytes of an answer
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}  # nothing of the daemon's


class WarmLooker:
    """Looks as the user that this process runs as; whatever goes wrong, the answer is that nothing is known."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None

    def __call__(self, question: Mapping[str, Any]) -> Seen:
        seconds = int(question.get("ms", MILLISECONDS)) / 1000 + GRACE
        if not self._lock.acquire(timeout=seconds * 4):
            return unseen("too much is looked at already")
        try:
            return self._asked(question, seconds)
        except (OSError, ValueError, KeyError, TypeError):
            self._kill()
            return unseen("looking failed")
        finally:
            self._lock.release()

    @property
    def pid(self) -> int | None:
        """Of the child that is warm."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def close(self) -> None:
        with self._lock:
            self._kill()

    def _asked(self, question: Mapping[str, Any], seconds: float) -> Seen:
        if self.pid is None:
            self._start()
        assert self._sock is not None
        self._sock.sendall(json.dumps(question).encode("utf-8", "surrogatepass") + b"\n")
        line = self._line(time.monotonic() + seconds)
        if line is None:
            self._kill()
            return unseen("looking takes too long")
        return seen_of(json.loads(line))

    def _start(self) -> None:
        self._kill()
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-m", "interlock.looker.child", str(number)],
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
        """One line of the child, in time; None where there is none."""
        assert self._sock is not None
        data = b""
        while not data.endswith(b"\n"):
            left = until - time.monotonic()
            if left <= 0 or len(data) > _MOST:
                return None
            if not select.select([self._sock], [], [], left)[0]:
                return None
            part = self._sock.recv(_MOST)
            if not part:
                return None
            data += part
        return data

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
