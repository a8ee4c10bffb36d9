"""The text of a script as its user can read it, what its user could lose, and whatever else is asked of whoever may become that user; no answer is never a yes."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.core.loss import Seen, seen_of, unseen
from interlock.core.read.shell.session import MAX_SCRIPT
from interlock.looker.as_user import HEAD, NOTHING, TEXT
from interlock.looker.paths import Hidden, real_paths

SECONDS = 10.0
LOOKING = 3.0  # for a look, whose own time is shorter
_MOST = MAX_SCRIPT * 4 + 4_096


class CannotLook(OSError):
    """Nobody could say what is in a file: what depends on it must not pass."""


def read_as(place: str, uid: int, path: str) -> str | None:
    """What `read_text` finds for that user; raises CannotLook where there is no clear answer."""
    kind, data = _answer(place, {"uid": uid, "path": path}, SECONDS)
    return data.decode("utf-8", "surrogatepass") if kind == TEXT else None


def look_as(place: str, uid: int, question: Mapping[str, Any]) -> Seen:
    """What `look` finds for that user; where there is no clear answer, nothing is known."""
    try:
        _, data = _answer(place, {"uid": uid, "look": dict(question)}, LOOKING)
        return seen_of(json.loads(data))
    except (OSError, ValueError, KeyError, TypeError):
        return unseen("looking failed")


def resolve_as(place: str, uid: int, asked: Sequence[tuple[str, bool]]) -> list[str]:
    """What `real_paths` finds for that user; raises CannotLook where there is no clear answer."""
    try:
        found = real_paths(asked, strict=True)
    except Hidden:
        kind, data = _answer(place, {"uid": uid, "real": [list(one) for one in asked]}, SECONDS)
        found = json.loads(data) if kind == TEXT else []
    if len(found) != len(asked) or not all(isinstance(one, str) for one in found):
        raise CannotLook(f"{place}: no answer about where paths lead")
    return found


def ask_as(place: str, uid: int, kind: str, question: Mapping[str, Any], seconds: float, most: int) -> bytes:
    """The answer to another kind of question; raises CannotLook where there is none, or a longer one."""
    return _answer(place, {"uid": uid, kind: dict(question)}, seconds, most + HEAD.size)[1]


def _answer(place: str, question: Mapping[str, Any], seconds: float, most: int = _MOST) -> tuple[bytes, bytes]:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(seconds)
            sock.connect(place)
            sock.sendall(json.dumps(question).encode() + b"\n")
            answer = _whole(sock, most)
    except OSError as error:
        raise CannotLook(f"{place}: {error.strerror or error}") from None
    kind, size = HEAD.unpack_from(answer) if len(answer) >= HEAD.size else (b"", 0)
    data = answer[HEAD.size :]
    if kind not in (NOTHING, TEXT) or len(data) != size:
        raise CannotLook(f"{place}: no answer about {question.get('path', 'what is there')!r:.200}")
    return kind, data


def _whole(sock: socket.socket, most: int) -> bytes:
    parts, left = [], most
    while left > 0 and (part := sock.recv(65_536)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
