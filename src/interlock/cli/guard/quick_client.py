"""One request to the daemon without importing the rest of Interlock: for what a prompt waits for."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from interlock.socket_peers import foreign_peer

_MOST_BYTES = 4_000_000
_PIECE = 65_536


def quick_request(path: Path, target: str, body: object = None, seconds: float = 2.0) -> dict[str, Any] | None:
    """The JSON of a successful answer; None where no daemon of ours gives one in time."""
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} /api/v1{target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(seconds)
            sock.connect(str(path))
            if foreign_peer(sock, path) is not None:
                return None
            sock.sendall(head.encode() + data)
            answer = _read(sock)
        status, _, rest = answer.partition(b"\r\n")
        found = json.loads(rest.partition(b"\r\n\r\n")[2]) if status.split()[1:2] == [b"200"] else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _read(sock: socket.socket) -> bytes:
    parts = []
    while piece := sock.recv(_PIECE):
        parts.append(piece)
        if len(parts) * _PIECE > _MOST_BYTES:
            raise ValueError("the answer is too long")
    return b"".join(parts)
