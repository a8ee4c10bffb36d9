"""Opens the daemon's sockets, or takes over those that systemd holds open."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from interlock.config import Config
from interlock.identity.isolation import FOLDER, SOCKET
from interlock.socket_peers import answers, too_long

FIRST = 3  # the first descriptor that systemd passes


class CannotServe(Exception):
    """The daemon does not start; the message is a sentence for a person."""


class ListeningSockets(Struct):
    """The sockets, and the paths to unlink when the daemon ends."""

    port: socket.socket
    unix: list[socket.socket] = field(default_factory=list)
    created: list[Path] = field(default_factory=list)

    @property
    def all(self) -> list[socket.socket]:
        return [self.port, *self.unix]

    def close(self) -> None:
        """Closes the sockets; inherited ones keep their paths, so that nobody else can take them meanwhile."""
        for sock in self.all:
            sock.close()
        for path in self.created:
            with contextlib.suppress(OSError):
                path.unlink()


def open_sockets(config: Config, given: Sequence[socket.socket] = ()) -> ListeningSockets:
    known = {_place(sock): sock for sock in given}
    found = ListeningSockets(known.get(f"{config.daemon.port}") or _tcp(config))
    jails = config.folder / FOLDER / SOCKET
    paths = [(config.socket_path, 0o700), (jails, 0o700)]
    # Another replica on this machine may own this folder's jails.
    if not config.store.startswith("sqlite:") and answers(jails):
        paths = paths[:1]
    if config.separate.on:  # peers are checked by the kernel's credentials
        paths = [(config.socket_path, 0o666), (config.agents_socket, 0o666)]
    try:
        for path, mode in paths:
            if str(path) in known:
                found.unix.append(known[str(path)])
            else:
                found.unix.append(unix(path, mode))
                found.created.append(path)
    except CannotServe:
        found.close()
        raise
    return found


def inherited_sockets() -> list[socket.socket]:
    count = os.environ.get("LISTEN_FDS", "")
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or not count.isdigit():
        return []
    found = []
    for number in range(FIRST, FIRST + min(int(count), 16)):
        os.set_inheritable(number, False)
        found.append(socket.socket(fileno=number))
    return found


def _place(sock: socket.socket) -> str:
    name = sock.getsockname()
    return str(name) if sock.family == socket.AF_UNIX else str(name[1])


def is_taken(config: Config) -> bool:
    try:
        _bound(config).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def _bound(config: Config) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in config.daemon.host else socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((config.daemon.host, config.daemon.port))
    except OSError:
        sock.close()
        raise
    return sock


def _tcp(config: Config) -> socket.socket:
    try:
        return _bound(config)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"port {config.daemon.port} is taken; set daemon.port, or start with --port") from None
        raise CannotServe(f"{config.daemon.host}:{config.daemon.port}: {error.strerror}") from None


def unix(path: Path, mode: int = 0o700) -> socket.socket:
    """A unix socket; replaces a dead daemon's socket, and refuses where one answers."""
    if path.is_symlink() or path.exists():
        if path.is_symlink() or not stat.S_ISSOCK(path.stat().st_mode):
            raise CannotServe(f"{path} is no socket; move it away, or set daemon.socket")
        if answers(path):
            raise CannotServe(f"another daemon answers on {path}")
        path.unlink()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o077)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        words = too_long(path) if "too long" in str(error) else f"{path}: {error.strerror or error}"
        raise CannotServe(words) from None
    finally:
        os.umask(mask)
    path.chmod(mode)
    return sock
