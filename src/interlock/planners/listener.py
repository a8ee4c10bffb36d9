"""Finds out which user's program listens on a port of this machine; it connects, and sends nothing."""

from __future__ import annotations

import ipaddress
import pwd
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from interlock.ports import UNKNOWN_USER, Listener

_CONNECT = 0.5  # seconds; on this machine a listener takes a connection at once
_LISTENS = "0A"  # the state of a socket in the kernel's tables
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def listener_at(url: str) -> Listener | None:
    """Who listens there; None where nobody does."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((host, port), _CONNECT) as there:
            address = there.getpeername()[0]
    except OSError:
        return None
    uid = next((uid for at, uid in _bound(port) if at == address or ipaddress.ip_address(at).is_unspecified), None)
    return Listener(UNKNOWN_USER, "") if uid is None else Listener(uid, _name(uid))


def _bound(port: int) -> list[tuple[str, int]]:
    """The addresses that this port is listened on, with the user of each; those of one address before those of all."""
    found = [row for table in _TABLES for row in _rows(table, port)]
    return sorted(found, key=lambda row: ipaddress.ip_address(row[0]).is_unspecified)


def _rows(table: Path, port: int) -> Iterator[tuple[str, int]]:
    try:
        lines = table.read_text("ascii").splitlines()[1:]
    except (OSError, ValueError):
        return
    for line in lines:
        words = line.split()
        host, _, number = words[1].partition(":")
        if words[3] == _LISTENS and int(number, 16) == port:
            yield _address(host), int(words[7])


def _address(text: str) -> str:
    """An address as the kernel writes it: words of four bytes, each in the machine's own order."""
    words = struct.pack(f"={len(text) // 8}I", *(int(text[at : at + 8], 16) for at in range(0, len(text), 8)))
    found = ipaddress.ip_address(words)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
