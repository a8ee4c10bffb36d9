"""Who is at the other end of a socket, as the kernel says; imports nothing of Interlock."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from functools import lru_cache
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid, as the kernel gives them
_SOCK_DIAG = 4  # a netlink protocol
_BY_FAMILY = 20  # SOCK_DIAG_BY_FAMILY
_REQUEST = 1  # NLM_F_REQUEST
_ESTABLISHED = 1 << 1
_HEAD = struct.Struct("=IHHII")  # length, kind, flags, number, port
_ASKED = {  # family, protocol, extensions, padding, states
    family: struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, _ESTABLISHED)
    for family in (socket.AF_INET, socket.AF_INET6)
}
_PLACE = struct.Struct(">HH16s16s")
_ANY_PLACE = b"\0" * 4 + b"\xff" * 8  # any interface, no cookie
_LENGTH = _HEAD.size + len(_ASKED[socket.AF_INET]) + _PLACE.size + len(_ANY_PLACE)
_UID_AT = _HEAD.size + 4 + _PLACE.size + len(_ANY_PLACE) + 4 * 3  # behind the state, the place and three counters


def too_long(place: object) -> str:
    """What to do about a socket that cannot have this path."""
    return f"{place}: a socket's path may have 107 characters; set daemon.socket to a shorter one"


def peer_of(sock: socket.socket) -> tuple[int, int] | None:
    """Process and user; None where the kernel does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    pid, uid, _ = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def answers(path: Path, broken: bool = True) -> bool:
    """Whether a process listens on a unix socket; `broken` where one may be there that answers badly."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return broken
    return True


def foreign_peer(sock: socket.socket, path: Path) -> int | None:
    """The peer's user where it is not our own, root, or the folder's owner, who could have planted the socket; else None."""
    if (peer := peer_of(sock)) is None:
        return None
    folder = path.parent.stat()
    owners = {0, os.getuid()} | ({folder.st_uid} if not folder.st_mode & 0o022 else set())
    return peer[1] if peer[1] not in owners else None


class LoopbackPeers:
    """One netlink socket, used on the event loop only; the kernel answers at once."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._number = 0

    def uid_of(self, client: tuple[str, int], server: tuple[str, int]) -> int | None:
        """The uid that opened this connection; None where it cannot be determined."""
        if sys.platform != "linux":
            return None
        for _ in range(2):  # a connection has its answer for good
            try:
                return self._query(client, server)
            except (OSError, ValueError, struct.error):
                self.close()
        return None

    def close(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None

    def _query(self, client: tuple[str, int], server: tuple[str, int]) -> int | None:
        family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
        place = _PLACE.pack(client[1], server[1], _pack(family, client[0]), _pack(family, server[0]))
        if self._socket is None:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
            self._socket.setblocking(False)  # the kernel's answer is there once the query is sent
        self._number += 1
        head = _HEAD.pack(_LENGTH, _BY_FAMILY, _REQUEST, self._number, 0)
        self._socket.send(head + _ASKED[family] + place + _ANY_PLACE)
        answer = self._socket.recv(512)
        length, kind, _, number, _ = _HEAD.unpack_from(answer)
        if number != self._number:
            raise ValueError("the answer to another query")
        found = kind == _BY_FAMILY and length >= _UID_AT + 4 and answer[_HEAD.size] == family
        if not found or answer[_HEAD.size + 4 : _HEAD.size + 8] != place[:4]:
            return None
        return int.from_bytes(answer[_UID_AT : _UID_AT + 4], sys.byteorder)


@lru_cache(maxsize=64)
def _pack(family: int, address: str) -> bytes:
    return socket.inet_pton(family, address)
