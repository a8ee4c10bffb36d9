"""One command in a pseudo-terminal of its own: its output as it comes, its exit code, and its end on request."""

from __future__ import annotations

import codecs
import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from interlock.analysis.display_text import visible

GRACE = 3.0  # seconds between asking a command to end and ending it
_LINGER = 0.5  # seconds to wait for output once the command has ended
_AT_ONCE = 65_536
# A shell that takes the terminal as its own (the first one that a session leader opens), then becomes the command's.
_TAKE = 'exec 0<>"$1" 1>&0 2>&0; shift; exec "$@"'
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_NAMES = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_])", re.DOTALL)
_UNFINISHED = re.compile(r"\x1b[^\x1b]{0,200}$")

Below = Callable[[Sequence[str]], list[str]]
OnEnd = Callable[[int, bool, str, bool], None]  # exit code, whether somebody ended it, output, whether it was cut


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command gets of the daemon's environment: nothing that could be a key."""
    own = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat"}
    return {name: environ[name] for name in _NAMES if name in environ} | own


class RunningCommand:
    """A thread of its own reads the output, others poll it."""

    def __init__(
        self, command: str, cwd: str, environ: Mapping[str, str], most: int, seconds: float, ended: OnEnd, below: Below
    ) -> None:
        """`below` adds another program's words before the command; raises OSError."""
        self._most, self._ended, self._until = most, ended, time.monotonic() + seconds
        self._output, self._lock = bytearray(), threading.Lock()
        self.cut = self.over = self.stopped = False
        self._killing = 0.0
        self._master, slave = pty.openpty()
        try:
            name, shell = os.ttyname(slave), next(path for path in _SHELLS if os.path.exists(path))
            self._child = subprocess.Popen(
                ["/bin/sh", "-c", _TAKE, "sh", name, *below([shell, "-c", command])],
                cwd=cwd, env=dict(environ), start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except BaseException:
            os.close(self._master)
            os.close(slave)
            raise
        os.set_blocking(self._master, False)  # typing never blocks
        self._slave = slave  # open until the command has ended, so that the terminal does not end before it began
        self._thread = threading.Thread(target=self._run, name="interlock-plan", daemon=True)
        self._thread.start()

    def output(self, start: int) -> tuple[str, int]:
        """Printable, since byte `start`, and the next start; half an escape or letter waits for its rest."""
        with self._lock:
            data, over = bytes(self._output[max(0, start) :]), self.over
        end = len(data) if over else _whole(data)
        return printable_output(data[:end].decode("utf-8", "replace")), max(0, start) + end

    def type(self, text: str) -> bool:
        with self._lock:
            if self.over or self._master < 0:
                return False
            try:
                return os.write(self._master, text.encode() + b"\n") > 0
            except OSError:  # nobody reads what was typed before, or it ended just now
                return False

    def cancel(self) -> None:
        """All processes of its group, and kills them soon after."""
        self.stopped = True

    def wait(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        quiet_at = 0.0
        try:
            while self._read():
                now = time.monotonic()
                self._end_if_due(now)
                if self._child.poll() is not None:
                    if self._slave >= 0:
                        os.close(self._slave)
                        self._slave = -1
                    quiet_at = quiet_at or now + _LINGER
                    if now > quiet_at:
                        break
        finally:
            self._finish()

    def _read(self) -> bool:
        waiting = select.poll()  # select() takes no file beyond the first 1024, and a busy daemon has more
        waiting.register(self._master, select.POLLIN)
        if not waiting.poll(100):
            return True
        try:
            data = os.read(self._master, _AT_ONCE)
        except BlockingIOError:
            return True
        except OSError:  # EIO: the last one closed it
            return False
        if not data:
            return False
        with self._lock:
            room = self._most - len(self._output)
            self._output += data[: max(0, room)]
            self.cut = self.cut or len(data) > room
        return True

    def _end_if_due(self, now: float) -> None:
        if now > self._until:
            self.stopped = True
        if not self.stopped or self._child.poll() is not None:
            return
        if not self._killing:
            self._killing = now + GRACE
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGHUP)
        elif now > self._killing:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, number)

    def _finish(self) -> None:
        try:
            self._child.wait(GRACE)
        except subprocess.TimeoutExpired:  # the terminal is gone and it goes on: nobody would see it
            self._signal(signal.SIGKILL)
        code = self._child.wait()
        self._signal(signal.SIGHUP)  # what it left behind in its group
        with self._lock:
            for handle in (self._slave, self._master):
                with contextlib.suppress(OSError):
                    os.close(handle)
            self._master = -1  # the number may be another file's soon
            text, self.over = printable_output(self._output.decode("utf-8", "replace")), True
        self._ended(code, self.stopped, text, self.cut)


def printable_output(text: str) -> str:
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(visible(line.replace("\t", "    ").replace("\x08", "")) for line in plain.split("\n"))


def _whole(data: bytes) -> int:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    end = len(data) - len(decoder.getstate()[0])  # half a letter
    if end and data[end - 1 : end] == b"\r":
        end -= 1
    half = _UNFINISHED.search(data[:end].decode("latin-1"))
    if half and not _ESCAPES.match(half[0]):
        end = half.start()
    return end
