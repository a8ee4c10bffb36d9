"""Starts the agent in its sandbox once the daemon knows of it; relays its terminal, signals and exit code."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from interlock.journal.build import JournalRun
from interlock.sandbox.command_line import CannotJail, Handshake

_CHUNK = 65_536
_NO_SIZE = struct.pack("HHHH", 0, 0, 0, 0)
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
Words = Callable[[Handshake, bool], list[str]]  # of bubblewrap


@contextmanager
def raw_mode() -> Iterator[None]:
    """Passes every key through, Ctrl-C too; restores the terminal afterwards."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    try:
        yield
    finally:
        termios.tcsetattr(0, termios.TCSAFLUSH, before)


def _resize(master: int) -> None:
    with suppress(OSError):
        fcntl.ioctl(master, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, _NO_SIZE))


@contextmanager
def _handling(work: Callable[[int], None], *signals: int) -> Iterator[None]:
    before = {sig: signal.signal(sig, lambda sig, frame: work(sig)) for sig in signals}
    try:
        yield
    finally:
        for sig, handler in before.items():
            signal.signal(sig, handler)


def relay(master: int, ended: int) -> None:
    open_stdin, over = True, False
    while True:
        watched = [master] if over else [master, ended, *([0] if open_stdin else [])]
        ready, _, _ = select.select(watched, [], [], 0.1 if over else None)
        if 0 in ready:
            open_stdin = _forward(0, master)
            if not open_stdin:
                _write(master, b"\x04")
        if (master in ready and not _forward(master, 1)) or (over and not ready):
            return
        over = over or ended in ready


def _forward(source: int, to: int) -> bool:
    """False at the end, which a terminal reports with an error once its other end is closed."""
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


def supervise(
    words: Words, environ: Mapping[str, str], tell: Callable[[int], None], journal: JournalRun | None = None
) -> int:
    """The agent's exit code; `tell` receives the pid of the sandbox's first process before the agent starts. Raises CannotJail.

    The supervisor of a journal starts the sandbox, stays outside, and gets its listener from inside over a socket.
    """
    tty = sys.stdin.isatty() and sys.stdout.isatty()
    with ExitStack() as ending:
        (info_reader, info), (stands, ready), (go, let_go) = (_closed_by(ending, *os.pipe()) for _ in range(3))
        master, slave = os.openpty() if tty else (-1, -1)
        if tty:
            ending.callback(os.close, master)
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) if journal is not None else ()
        sockets = _closed_by(ending, *(one.detach() for one in pair))
        made = words(Handshake(info, ready, go, *sockets[1:]), tty)
        made = journal.argv(made, "--jail", ",".join(map(str, sockets))) if journal is not None else made
        process = _start(made, environ, (info, ready, go, *sockets), slave)
        for end in (info, ready, *sockets):
            os.close(end)  # so that reading ends where the sandbox could not be created
        if tty:
            os.close(slave)
        first = _first_of(info_reader, process)
        ending.enter_context(_handling(partial(_forward_signal, first), *_FORWARDED))
        if not os.read(stands, 1):
            raise CannotJail(f"bubblewrap ended at once, with {process.wait()}")
        tell(first)
        os.write(let_go, b"\n")
        if tty:
            _resize(master)
            ending.enter_context(_handling(lambda sig: _resize(master), signal.SIGWINCH))
            ending.enter_context(raw_mode())
            relay(master, *_closed_by(ending, os.pidfd_open(process.pid)))
        code = process.wait()
        return 128 - code if code < 0 else code  # as a shell's: 128 and its number for a signal


def _closed_by(ending: ExitStack, *files: int) -> tuple[int, ...]:
    def close(file: int) -> None:
        with suppress(OSError):
            os.close(file)

    for file in files:
        ending.callback(close, file)
    return files


def _start(
    words: Sequence[str], environ: Mapping[str, str], files: Sequence[int], slave: int
) -> subprocess.Popen[bytes]:
    streams: dict[str, Any] = {}
    if slave >= 0:
        streams = {"stdin": slave, "stdout": slave, "stderr": slave if os.isatty(2) else None}
    return subprocess.Popen(words, env=dict(environ), pass_fds=files, start_new_session=True, **streams)


def _first_of(info_reader: int, process: subprocess.Popen[bytes]) -> int:
    data = b""
    while part := os.read(info_reader, 4096):
        data += part
        with suppress(ValueError):
            return int(json.loads(data)["child-pid"])
    raise CannotJail(f"bubblewrap ended at once, with {process.wait()}")


def _forward_signal(first: int, sig: int) -> None:
    with suppress(OSError, ValueError):
        for child in Path(f"/proc/{first}/task/{first}/children").read_text().split()[:1]:
            os.kill(int(child), sig)
