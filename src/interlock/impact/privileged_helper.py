"""Root's helper: one forked child a request becomes the agent's user, then reads, inspects or snapshots; never as root, nothing else."""

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
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from interlock.impact import GRACE, MILLISECONDS
from interlock.impact.files import decode, find_project_files, read_text, real_paths
from interlock.impact.inspector import MAX_REQUEST, answer_request, confine
from interlock.model import Json

MOST_AT_ONCE = 32
SECONDS = 5.0
LONGEST = 60.0
_PEER = struct.Struct("3i")  # pid, uid, gid
_DEADLINE = struct.Struct("id")  # a child, and how many seconds it may take


class TargetUser(Struct, frozen=True):
    uid: int
    gid: int
    groups: tuple[int, ...]


class UserTask(Struct, frozen=True):
    """Given that user's home, once the child has become that user."""

    answer: Callable[[Any, str], Any]
    seconds: Callable[[Any], float] = lambda _: SECONDS


Answers = Mapping[str, UserTask]


def target_users(names: Collection[str]) -> dict[int, TargetUser]:
    """Refuses unknown ones and root."""
    found = {}
    for name in names:
        entry = pwd.getpwnam(name)
        if entry.pw_uid == 0:
            raise ValueError("root's files are read for nobody")
        found[entry.pw_uid] = TargetUser(entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(name, entry.pw_gid)))
    return found


def answer(
    listening: socket.socket, daemon: int, agents: dict[int, TargetUser], wanted: Callable[[], bool], more: Answers | None = None
) -> None:  # fmt: skip
    """Each in a child that has become the agent's user; refuses all peers but the daemon and root."""
    decode(b"\xff")  # loads its codec now: the agent's user may not be able to read it later
    answers = {**ANSWERS, **(more or {})}
    children: dict[int, float] = {}
    deadline_reader, deadline_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    listening.settimeout(1.0)
    while wanted():
        with contextlib.suppress(BlockingIOError):  # the time limits that children wrote while they were root
            for pid, seconds in _DEADLINE.iter_unpack(os.read(deadline_reader, _DEADLINE.size * 256)):
                if pid in children:
                    children[pid] = time.monotonic() + min(seconds, LONGEST) + 1
        _reap(children)
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
            peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
            if _PEER.unpack(peer)[1] in (0, daemon):
                child = os.fork()
                if child == 0:
                    listening.close()
                    _serve_one(connection, agents, answers, deadline_writer)
                children[child] = time.monotonic() + SECONDS


def _reap(children: dict[int, float]) -> None:
    """Forgets those that ended, and kills those past their deadline: their user could have stopped them."""
    for pid, until in list(children.items()):
        if time.monotonic() > until:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        del children[pid]


def _serve_one(
    connection: socket.socket, agents: dict[int, TargetUser], answers: Answers, deadline_writer: int
) -> None:
    """Any failure gives no answer, which the daemon takes for a no."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        connection.settimeout(SECONDS)
        given = json.loads(connection.makefile("rb").readline(MAX_REQUEST + 1))
        uid = int(given.pop("uid"))
        ((kind, question),) = given.items()
        how, seconds = answers[kind].answer, min(answers[kind].seconds(question), LONGEST)
        os.write(deadline_writer, _DEADLINE.pack(os.getpid(), seconds))
        kept, most = connection.fileno(), resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        # Nothing root had open reaches the agent's user, and new files find room.
        os.closerange(3, kept)
        os.closerange(kept + 1, most if 0 < most <= 1 << 20 else 1 << 20)
        home = pwd.getpwuid(uid).pw_dir
        _become(agents[uid])
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # it ends, whatever it is doing then
        connection.sendall(json.dumps(how(question, home)).encode() + b"\n")  # without its end, an answer is none
    except BaseException:
        os._exit(1)
    os._exit(0)


def _inspect(question: Any, home: str) -> Json:
    confine()
    return answer_request(question, home)


ANSWERS: Answers = {
    "path": UserTask(lambda path, _: read_text(os.path.join("/", str(path)))),
    "look": UserTask(_inspect, lambda question: float(question.get("ms", MILLISECONDS)) / 1000 + GRACE),
    "real": UserTask(lambda asked, _: real_paths([(str(path), bool(follow)) for path, follow in asked])),
    "project": UserTask(lambda asked, _: list(map(astuple, find_project_files(str(asked.get("cwd", "")))))),
}


def _become(agent: TargetUser) -> None:
    """Becomes the agent's user for good: groups first, the user last; refuses root."""
    os.setgroups(agent.groups)
    os.setresgid(agent.gid, agent.gid, agent.gid)
    os.setresuid(agent.uid, agent.uid, agent.uid)
    if os.getresuid() != (agent.uid,) * 3 or agent.uid == 0:
        raise PermissionError
