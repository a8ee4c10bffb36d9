"""`interlock` processes forked from one that has its modules loaded: real ones, with a process id, files and signals, and there in a third of the time.

Tests of what a start itself does (imports, its command line and environment in /proc, sockets handed over) run `python -m interlock`.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time
from asyncio import unix_events
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

INTERLOCK = [sys.executable, "-m", "interlock"]
_LOADED = "cli.guard.serve server.daemon cli.answer.operator cli.answer.audit cli.guard.mcp mcp.stdio cli.guard.proxy proxy.running proxy.relay mcp.adapters.serving"
_ADOPTS = 36  # PR_SET_CHILD_SUBREAPER
_MOST = 1 << 17  # bytes of one request
_ONE = threading.Lock()


def _pythons(environ: Mapping[str, str]) -> set[tuple[str, str]]:
    """What decides how Python itself starts: whoever sets more of it wants a start."""
    return {(name, value) for name, value in environ.items() if name.startswith(("PYTHON", "LD_"))}


PYTHONS = _pythons(os.environ)


class Popen(subprocess.Popen[Any]):
    """A child like any of `subprocess`; what asks for more than words, files, a folder and an environment is started anew."""

    def _execute_child(self, args: Any, *given: Any) -> None:
        executable, preexec_fn, _, pass_fds, cwd, env, _, _, shell, *pipes = given[:15]
        env = dict(os.environ if env is None else env)
        _, gid, gids, uid, umask, session = given[15:21]
        more = executable or preexec_fn or pass_fds or shell or (gid, gids, uid, umask) != (None, None, None, -1)
        if more or list(args[:3]) != INTERLOCK or not _pythons(env) <= PYTHONS:
            super()._execute_child(args, *given)
            return
        files = [file if file != -1 else own for own, file in enumerate((pipes[0], pipes[3], pipes[5]))]
        asked = {"words": [str(word) for word in args[3:]], "cwd": str(cwd or os.getcwd()), "session": bool(session)}
        self.pid = _born({**asked, "env": env}, files)
        self._child_created = True
        self._close_pipe_fds(*pipes)


def run(*words: str, given: str = "", timeout: float = 60, **how: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end; returns its output."""
    pipes = {
        "stdin": subprocess.PIPE if given else subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with Popen([*INTERLOCK, *words], text=True, **pipes, **how) as process:
        try:
            out, err = process.communicate(given or None, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextmanager
def forking() -> Iterator[None]:
    """What asyncio starts meanwhile, for a library that starts its servers by itself, is forked as well."""
    own = unix_events.subprocess  # type: ignore[attr-defined]
    unix_events.subprocess = SimpleNamespace(**{**vars(own), "Popen": Popen})  # type: ignore[attr-defined]
    try:
        yield
    finally:
        unix_events.subprocess = own  # type: ignore[attr-defined]


def at_terminal(terminal: str, argv: Sequence[str], env: Mapping[str, str]) -> None:
    """A command that is nobody's child, with a terminal for its own; how it ended is said there, as a shell's `echo "EXIT $?"` would."""
    assert list(argv[:3]) == INTERLOCK, argv
    _born({"words": list(argv[3:]), "cwd": os.getcwd(), "env": dict(env), "terminal": terminal}, [0, 1, 2])


class Mother:
    """The process that has everything loaded; it ends with the one that asks it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            argv = [sys.executable, __file__, str(theirs.fileno())]
            env = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}  # no agent's
            self.process = subprocess.Popen(
                argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=env | dict(PYTHONS)
            )


_known: list[Mother] = []


def _born(asked: Mapping[str, Any], files: list[int]) -> int:
    """The id of a new process, a child of this one unless it has a terminal; whoever asks has a mother of its own."""
    with _ONE:
        if not _known or _known[0].owner != os.getpid():
            _known[:] = [Mother()]
        _adopting("terminal" not in asked)
        try:
            socket.send_fds(_known[0].line, [json.dumps(asked).encode()], files)
            answer = _known[0].line.recv(64)
        finally:
            _adopting(False)
    if not answer:
        raise OSError("the process that has the modules loaded has ended")
    return int(answer)


def _adopting(whether: bool) -> None:
    """Whether grandchildren whose parent ends become children of this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(_ADOPTS, int(whether), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _serve(asking: socket.socket) -> None:
    """Answers requests until whoever asks has gone; a child does not come back."""
    while True:
        message, files, _, _ = socket.recv_fds(asking, _MOST, 3)
        if not message:
            return
        ours, theirs = os.pipe()
        between = os.fork()  # ends at once, so that its child becomes one of whoever asks
        if between == 0:
            parent = os.getpid()
            if child := os.fork():
                os.write(theirs, str(child).encode())
                os._exit(0)
            asking.close()
            asked = json.loads(message)
            os._exit(_watched(asked, parent) if "terminal" in asked else _become(asked, files))
        os.waitpid(between, 0)
        asking.send(os.read(ours, 64))
        for used in (ours, theirs, *files):
            os.close(used)


def _watched(asked: Mapping[str, Any], parent: int) -> int:
    """What a shell on a terminal does with one command."""
    while os.getppid() == parent:
        time.sleep(0.002)
    os.setsid()
    file = os.open(asked["terminal"], os.O_RDWR)
    child = os.fork()
    if child == 0:
        os._exit(_become(asked, [file] * 3))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(file, b"EXIT %d\n" % (code if code >= 0 else 128 - code))
    return 0


def _become(asked: Mapping[str, Any], files: list[int]) -> int:
    """The command that was asked for, with its files, folder and environment; it ends as Python does, but for taking modules apart."""
    from interlock.cli.main import main

    for number, file in enumerate([os.dup(file) for file in files]):  # the copies are above 2, whatever was given
        os.dup2(file, number)
    os.closerange(3, 256)  # all that it has
    sys.stdin, sys.stdout = os.fdopen(0, "r", closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    if asked.get("session"):
        os.setsid()
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["interlock", *asked["words"]]
    code = 1
    try:
        code = main()
        threading._shutdown()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # `python -m interlock` has it not
    for name in _LOADED.split():
        with suppress(ModuleNotFoundError):  # beside a framework that takes an older mcp
            import_module(f"interlock.{name}")
    import_module("interlock.analysis.rules.load").load()
    gc.freeze()  # so that children share it
    try:
        _serve(socket.socket(fileno=int(sys.argv[1])))
    except KeyboardInterrupt:
        sys.exit(130)
