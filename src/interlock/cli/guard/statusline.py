"""`interlock statusline`: one line for an agent's status bar; and one request to the daemon, without imports that take time."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.socket_peers import foreign_peer

_SECONDS = 1.0
_MOST = 1_000_000  # characters of the agent's own JSON, which is read and not needed


def main(argv: Sequence[str]) -> int:
    """A SOCKET as the only argument saves reading the configuration."""
    if not sys.stdin.isatty() and argv != ["--help"]:
        sys.stdin.read(_MOST)
    path = Path(argv[0]) if len(argv) == 1 and not argv[0].startswith("-") else _configured(argv)
    print(status_text(quick_request(path, "/status", seconds=_SECONDS)))
    return 0


def status_text(status: Mapping[str, Any] | None) -> str:
    """Whatever weakens the guard comes first."""
    if status is None:
        return "interlock: NO DAEMON, destructive calls are denied"
    mode, pause = str(status.get("mode", "")), status.get("pause")
    if isinstance(pause, Mapping) and pause.get("paused"):
        return "interlock: PAUSED, nothing is stopped"
    if mode != "enforcing":
        return f"interlock: {mode}, nothing is stopped"
    waiting = int(status.get("openTickets") or 0) + int(status.get("openChallenges") or 0)
    parts = ["guarded", str(status.get("policy", ""))]
    if not status.get("operators"):
        parts.append("no operator yet")
    elif not status.get("unlocked"):
        parts.append("run `interlock unlock`")
    parts.append(f"{waiting} waiting" if waiting else "nothing waits")
    return f"interlock: {' · '.join(filter(None, parts))}"


def _configured(argv: Sequence[str]) -> Path:
    """Its imports would cost more than the whole line."""
    from interlock.cli.arguments import declared_parser
    from interlock.cli.command import settings

    args = declared_parser("interlock.cli.guard.statusline", "statusline").parse_args(list(argv))
    return Path(args.socket) if args.socket else settings(args).agents_socket


_MOST_ANSWER = 4_000_000
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
        if len(parts) * _PIECE > _MOST_ANSWER:
            raise ValueError("the answer is too long")
    return b"".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
