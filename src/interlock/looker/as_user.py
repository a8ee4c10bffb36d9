"""Reads scripts and looks at targets as the user who asks, for a daemon that has a user of its own: root's one helper, and it does nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from interlock.looker.budget import GRACE, MILLISECONDS
from interlock.looker.child import answered, confine
from interlock.looker.files import decode, read_text

MOST_ASKED = 65_536  # bytes of a question
MOST_AT_ONCE = 32
SECONDS = 5  # that one reading may take
NOTHING, TEXT = b"n", b"t"
HEAD = struct.Struct(">cI")  # which of them, and how many bytes follow
_PEER = struct.Struct("3i")  # pid, uid, gid


@dataclass(frozen=True, slots=True)
class Agent:
    """A user whose files may be read, as that user and as nobody else."""

    uid: int
    gid: int
    groups: tuple[int, ...]


def agents_of(names: Collection[str]) -> dict[int, Agent]:
    """The users by number; refuses unknown ones and root."""
    found = {}
    for name in names:
        entry = pwd.getpwnam(name)
        if entry.pw_uid == 0:
            raise ValueError("root's files are read for nobody")
        found[entry.pw_uid] = Agent(entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(name, entry.pw_gid)))
    return found


def answer(listening: socket.socket, daemon: int, agents: dict[int, Agent], wanted: Callable[[], bool]) -> None:
    """Answers the daemon's questions as long as it is wanted; each in a child that has become the agent's user."""
    decode(b"\xff")  # what that needs is loaded now: its user may not be able to read it later
    children: dict[int, float] = {}
    listening.settimeout(1.0)
    while wanted():
        _ended(children)
        if len(children) >= MOST_AT_ONCE:
            time.sleep(0.02)
            continue
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        except OSError:
            return
        with connection:
            if _peer(connection) in (0, daemon):
                child = os.fork()
                if child == 0:
                    listening.close()
                    _serve_one(connection, agents)
                children[child] = time.monotonic() + SECONDS


def _ended(children: dict[int, float]) -> None:
    """Forgets those that ended, and ends those that take too long: their user could have stopped them."""
    for pid, until in list(children.items()):
        if time.monotonic() > until:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        del children[pid]


def _serve_one(connection: socket.socket, agents: dict[int, Agent]) -> None:
    """In the child: one question, one answer; whatever goes wrong is no answer, which the daemon takes for a no."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _holds_only(connection.fileno())
        uid, given = _asked(connection)
        home = pwd.getpwuid(uid).pw_dir
        _become(agents[uid])
        data = _looked(given["look"], home) if "look" in given else _text(str(given["path"]))
        head = HEAD.pack(NOTHING if data is None else TEXT, len(data or b""))
        connection.sendall(head + (data or b""))  # the daemon counts: an answer that was cut off is none
    except BaseException:
        os._exit(1)
    os._exit(0)


def _holds_only(kept: int) -> None:
    """Nothing that root had open goes along to the agent's user, and what is to be opened finds room."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    os.closerange(3, kept)
    os.closerange(kept + 1, most if 0 < most <= 1 << 20 else 1 << 20)


def _text(path: str) -> bytes | None:
    text = read_text(os.path.join("/", path))
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _looked(question: dict[str, Any], home: str) -> bytes:
    """What is there of an action's targets; a look that takes too long is ended from outside, whatever it is doing."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, float(question.get("ms", MILLISECONDS)) / 1000 + GRACE)
    confine()
    return answered(json.dumps(question).encode(), home)


def _asked(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    connection.settimeout(SECONDS)
    data = b""
    while not data.endswith(b"\n") and len(data) <= MOST_ASKED:
        part = connection.recv(MOST_ASKED)
        if not part:
            break
        data += part
    given = json.loads(data)
    return int(given["uid"]), given


def _become(agent: Agent) -> None:
    """For good: groups first, the user last."""
    os.setgroups(agent.groups)
    os.setresgid(agent.gid, agent.gid, agent.gid)
    os.setresuid(agent.uid, agent.uid, agent.uid)
    if os.getresuid() != (agent.uid,) * 3 or agent.uid == 0:
        raise PermissionError


def _peer(connection: socket.socket) -> int:
    _, uid, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return int(uid)
