"""Who serves a unix socket, as the kernel says; without the rest of Interlock, for programs that a prompt waits for."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid, as the kernel gives them


def too_long(place: object) -> str:
    """What to do about a socket that cannot have this path."""
    return f"{place}: a socket's path may have 107 characters; set daemon.socket to a shorter one"


def peer_of(sock: socket.socket) -> tuple[int, int] | None:
    """The process and the user at the other end; None where the kernel does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def foreign_peer(sock: socket.socket, path: Path) -> int | None:
    """The peer's user where it is not our own, root, or the folder's owner, who could have planted the socket; else None."""
    peer = peer_of(sock)
    if peer is None:
        return None
    folder = path.parent.stat()
    owners = {0, os.getuid()} | ({folder.st_uid} if not folder.st_mode & 0o022 else set())
    return peer[1] if peer[1] not in owners else None
