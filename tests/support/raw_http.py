"""One whole HTTP request off a socket: whoever answers before it has read everything breaks off what is still being sent."""

from __future__ import annotations

import socket


def request(sock: socket.socket) -> bytes:
    """The head, and as much body as it announces; less where the other side has gone."""
    data = b""
    while b"\r\n\r\n" not in data and (more := sock.recv(65536)):
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length and (more := sock.recv(65536)):
        body += more
    return head + b"\r\n\r\n" + body
