"""Functions that start programs: which words or which shell line they start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.core.read.inline.python.objects import Call, Partial
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, concat, listed, text_of
from interlock.core.read.inline.python.walk import Answer, Walk
from interlock.core.read.inline.python.world import SHELLS

_CLIENTS = {  # what programs read from their standard input
    "psql": "sql",
    "mysql": "sql",
    "sqlite3": "sql",
    "python": "python",
    "python3": "python",
    "node": "javascript",
    "perl": "perl",
    "ruby": "ruby",
}
_TASKS = frozenset({"fabric", "invoke", "c", "ctx", "conn", "connection", "fabric2"})


def _shell(walk: Walk, call: Call) -> Value:
    if not call.given():  # platform.system() and its like
        return UNKNOWN
    walk.world.shell(call.get(0, "cmd", call.named.get("command", UNKNOWN)), call)
    return Sym(f"{call.path}()", None, tuple(call.args), call.named)


def _sudo(walk: Walk, call: Call) -> Value:
    return walk.world.shell(concat(("sudo ", call.get(0))), call)


def _subprocess(walk: Walk, call: Call) -> Value:
    command = call.get(0, "args")
    shell = call.named.get("shell", False) not in (False, None, 0)
    words = listed(command)
    if words is None and (shell or isinstance(command, str)):
        walk.world.shell(command, call)
    elif shell and words:
        walk.world.shell(words[0], call)
    else:
        walk.world.run([command] if words is None else words, call)
    _read_input(walk, words or [text_of(command)], call.named.get("input"))
    return Sym(f"{call.path}()", None, (words or [command],), call.named)


def _read_input(walk: Walk, words: Sequence[Value], given: Value) -> None:
    """Text that a shell, an interpreter or a database client reads from its standard input."""
    if given is None or not words:
        return
    program = text_of(words[0]).rpartition("/")[2]
    if program in SHELLS:
        walk.world.shell(given)
    elif program in _CLIENTS:
        walk.world.code(_CLIENTS[program], text_of(given))


def _communicate(walk: Walk, call: Call) -> Value:
    started = call.owner.owner if isinstance(call.owner, Sym) and call.owner.name == "stdin" else call.owner
    if isinstance(started, Sym) and started.path.startswith("subprocess.Popen()") and started.args:
        _read_input(walk, started.args[0], call.get(0, "input", None))
    return UNKNOWN


def _words(skip: int, in_list: bool) -> Answer:
    """exec and spawn: the program, then its words as a list or as arguments; the first word names it again."""

    def start(walk: Walk, call: Call) -> Value:
        program = call.get(skip, "path", call.named.get("file", UNKNOWN))
        given = call.get(skip + 1, "args", call.named.get("argv", ())) if in_list else call.args[skip + 1 :]
        words = listed(given)
        rest = [UNKNOWN] if words is None else words[1:]
        if not in_list and call.name.endswith("e") and words and isinstance(words[-1], (dict, Sym)):
            rest = words[1:-1]  # the last is the environment
        return walk.world.run([program, *rest], call)

    return start


def _spawn(walk: Walk, call: Call) -> Value:
    """pty and pexpect: a list of words, a program and its words, or a line."""
    given = call.get(0, "argv", call.named.get("command", UNKNOWN))
    words, more = listed(given), call.get(1, "args", [])
    if words is not None:
        walk.world.run(words, call)
    elif call.path.startswith("pexpect") and isinstance(more, list) and more:
        walk.world.run([given, *more], call)
    else:
        walk.world.shell(given, call)
    return UNKNOWN


def _run_arguments(walk: Walk, call: Call) -> Value:
    walk.world.run(call.args or [UNKNOWN], call)
    return UNKNOWN


def sh(walk: Walk, call: Call) -> Value:
    """The `sh` package: its functions are programs, and their attributes the first word."""
    name, _, attribute = call.path.removeprefix("sh.").partition(".")
    if name == "Command":
        return Sym(f"sh.{call.text(0)}")
    if call.name == "bake":
        return Partial(Sym(f"sh.{name}"), call.args, call.named)
    command = [call.name.replace("_", "-")] if attribute else []
    flags = [_flag(key) for key, value in call.named.items() if value is True and key[0] != "_"]
    walk.world.run([name.rstrip("()"), *command, *flags, *call.args], call)
    return Sym("?")


def _flag(name: str) -> str:
    return ("-" if len(name) == 1 else "--") + name.replace("_", "-")


def plumbum(walk: Walk, call: Call) -> Value:
    """The plumbum package: `cmd.rm("-rf", "x")`."""
    walk.world.run([call.path.removeprefix("plumbum.cmd."), *call.args], call)
    return Sym("?")


def _task(walk: Walk, call: Call) -> Value:
    """fabric and invoke: `c.run("…")`."""
    root = call.path.partition(".")[0].rstrip("()").lower()
    if root in _TASKS and isinstance(call.get(0), str):
        (_sudo if call.name == "sudo" else _shell)(walk, call)
    return UNKNOWN


def _manage(walk: Walk, call: Call) -> Value:
    flags = [f"--{key.replace('_', '-')}" for key, value in call.named.items() if value is True]
    flags += ["--noinput"] * (call.named.get("interactive") is False)
    return walk.world.run(["python", "manage.py", *call.args, *flags])


CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(["os.system", "os.popen", "os.popen2", "os.popen3", "os.startfile", "popen2.popen3"], _shell),
    **dict.fromkeys(["subprocess.getoutput", "subprocess.getstatusoutput"], _shell),
    **dict.fromkeys(["commands.getoutput", "commands.getstatusoutput"], _shell),
    **dict.fromkeys(["asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell"], _shell),
    **dict.fromkeys(["fabric.api.run", "fabric.api.local", "invoke.run"], _shell),
    "fabric.api.sudo": _sudo,
    **dict.fromkeys(
        [f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")], _subprocess
    ),
    **dict.fromkeys([f"os.exec{kind}" for kind in ("v", "ve", "vp", "vpe")], _words(0, True)),
    **dict.fromkeys([f"os.exec{kind}" for kind in ("l", "le", "lp", "lpe")], _words(0, False)),
    **dict.fromkeys([f"os.spawn{kind}" for kind in ("v", "ve", "vp", "vpe")], _words(1, True)),
    **dict.fromkeys([f"os.spawn{kind}" for kind in ("l", "le", "lp", "lpe")], _words(1, False)),
    **dict.fromkeys(["os.posix_spawn", "os.posix_spawnp"], _words(0, True)),
    **dict.fromkeys(["pty.spawn", "pexpect.spawn", "pexpect.run", "pexpect.runu"], _spawn),
    "pexpect.popen_spawn.PopenSpawn": _spawn,
    **dict.fromkeys(["asyncio.create_subprocess_exec", "asyncio.subprocess.create_subprocess_exec"], _run_arguments),
    "runpy.run_module": lambda walk, call: walk.world.run(["python3", "-m", call.get(0, "mod_name")]),
    **dict.fromkeys(["django.core.management.call_command", "call_command"], _manage),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(["communicate", "write"], _communicate),
    **dict.fromkeys(["run", "sudo", "local"], _task),
    **dict.fromkeys(["system", "popen", "getoutput", "getstatusoutput", "exec_command"], _shell),
    **dict.fromkeys(["check_output", "check_call"], _subprocess),
    **dict.fromkeys(["execve", "execvp", "execvpe", "execv"], _words(0, True)),
}
