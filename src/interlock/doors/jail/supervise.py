"""Starts the agent in its jail, once the daemon knows of it; passes signals in, and its exit code out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from interlock.doors.jail.bubblewrap import CannotJail, Files
from interlock.doors.jail.terminal import both_ends, raw, relay, resized

Words = Callable[[Files, bool], list[str]]  # of bubblewrap
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def supervise(words: Words, environ: Mapping[str, str], tell: Callable[[int], None]) -> int:
    """The agent's exit code; `tell` hears the jail's first process before the agent starts. Raises CannotJail."""
    tty = both_ends()
    with ExitStack() as ending:
        told, info = _pipe(ending)
        stands, ready = _pipe(ending)
        go, let_go = _pipe(ending)
        master, slave = os.openpty() if tty else (-1, -1)
        if tty:
            ending.callback(os.close, master)
        process = _started(words(Files(info, ready, go), tty), environ, (info, ready, go), slave)
        for end in (info, ready):
            os.close(end)  # so that a jail that could not be made is heard
        if tty:
            os.close(slave)
        first = _first_of(told, process)
        ending.enter_context(_forwarding(first))
        if not os.read(stands, 1):
            raise CannotJail(f"bubblewrap ended at once, with {process.wait()}")
        tell(first)
        os.write(let_go, b"\n")
        if tty:
            ending.enter_context(resized(master))
            ending.enter_context(raw())
        return _ended(process, master) if tty else _code(process.wait())


def _pipe(ending: ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        ending.callback(_close, end)
    return ends


def _close(file: int) -> None:
    with suppress(OSError):
        os.close(file)


def _started(
    words: Sequence[str], environ: Mapping[str, str], files: Sequence[int], slave: int
) -> subprocess.Popen[bytes]:
    streams: dict[str, Any] = (
        {"stdin": slave, "stdout": slave, "stderr": slave if os.isatty(2) else None} if slave >= 0 else {}
    )
    return subprocess.Popen(words, env=dict(environ), pass_fds=files, start_new_session=True, **streams)


def _first_of(told: int, process: subprocess.Popen[bytes]) -> int:
    """The first process of the jail, as it is numbered here."""
    data = b""
    while part := os.read(told, 4096):
        data += part
        with suppress(ValueError):
            return int(json.loads(data)["child-pid"])
    raise CannotJail(f"bubblewrap ended at once, with {process.wait()}")


@contextmanager
def _forwarding(first: int) -> Iterator[None]:
    """Signals to this process are the agent's."""

    def forward(sig: int, frame: FrameType | None) -> None:
        for pid in _children(first):
            with suppress(OSError):
                os.kill(pid, sig)

    before = {sig: signal.signal(sig, forward) for sig in _FORWARDED}
    try:
        yield
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def _children(pid: int) -> list[int]:
    """The agent: what the first process of the jail started itself."""
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()][:1]
    except (OSError, ValueError):
        return []


def _ended(process: subprocess.Popen[bytes], master: int) -> int:
    handle = os.pidfd_open(process.pid)
    try:
        return relay(master, handle, lambda: _code(process.wait()))
    finally:
        os.close(handle)


def _code(code: int) -> int:
    """As a shell says it."""
    return 128 - code if code < 0 else code
