"""Starts the agent in its sandbox once the daemon knows of it; relays its own terminal, passes signals in and its exit code out."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from interlock.sandbox.bubblewrap import CannotJail, Handshake

_CHUNK = 65_536
_NO_SIZE = struct.pack("HHHH", 0, 0, 0, 0)


def is_interactive() -> bool:
    """Whether a person sits at both ends of this process."""
    return sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def raw_mode() -> Iterator[None]:
    """Every key goes through, Ctrl-C too; afterwards the terminal is as it was."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)


@contextmanager
def follow_size(master: int) -> Iterator[None]:
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


Words = Callable[[Handshake, bool], list[str]]  # of bubblewrap
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def supervise(words: Words, environ: Mapping[str, str], tell: Callable[[int], None]) -> int:
    """The agent's exit code; `tell` hears the jail's first process before the agent starts. Raises CannotJail."""
    tty = is_interactive()
    with ExitStack() as ending:
        told, info = _pipe(ending)
        stands, ready = _pipe(ending)
        go, let_go = _pipe(ending)
        master, slave = os.openpty() if tty else (-1, -1)
        if tty:
            ending.callback(os.close, master)
        process = _started(words(Handshake(info, ready, go), tty), environ, (info, ready, go), slave)
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
            ending.enter_context(follow_size(master))
            ending.enter_context(raw_mode())
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
