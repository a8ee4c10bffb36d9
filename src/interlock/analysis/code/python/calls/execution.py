"""Calls that start programs or run Python text, scripts and pickles, or that fork and signal processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.analysis.code.program.objects import LibraryCall, Partial
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, concat, fetched, listed, made_from, text_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.facts import known
from interlock.analysis.programs.languages import input_language, is_shell

_TASKS = frozenset({"fabric", "invoke", "c", "ctx", "conn", "connection", "fabric2"})


def _shell(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.given():  # platform.system() and its like
        return UNKNOWN
    walk.world.shell(call.get(0, "cmd", call.named.get("command", UNKNOWN)), call)
    return Sym(f"{call.path}()", None, tuple(call.args), call.named)


def _sudo(walk: ProgramWalk, call: LibraryCall) -> Value:
    return walk.world.shell(concat(("sudo ", call.get(0))), call)


def _subprocess(walk: ProgramWalk, call: LibraryCall) -> Value:
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


def _read_input(walk: ProgramWalk, words: Sequence[Value], given: Value) -> None:
    """Text that a shell, an interpreter or a database client reads from its standard input."""
    if given is None or not words:
        return
    program = text_of(words[0]).rpartition("/")[2]
    if is_shell(program):
        walk.world.shell(given)
    elif language := input_language(program):
        walk.world.code(language, text_of(given))


def _communicate(walk: ProgramWalk, call: LibraryCall) -> Value:
    started = call.owner.owner if isinstance(call.owner, Sym) and call.owner.name == "stdin" else call.owner
    if isinstance(started, Sym) and started.path.startswith("subprocess.Popen()") and started.args:
        _read_input(walk, started.args[0], call.get(0, "input", None))
    return UNKNOWN


def _words(skip: int, in_list: bool) -> Answer:
    """exec and spawn: the program, then its words as a list or as arguments; the first word names it again."""

    def start(walk: ProgramWalk, call: LibraryCall) -> Value:
        program = call.get(skip, "path", call.named.get("file", UNKNOWN))
        given = call.get(skip + 1, "args", call.named.get("argv", ())) if in_list else call.args[skip + 1 :]
        words = listed(given)
        rest = [UNKNOWN] if words is None else words[1:]
        if not in_list and call.name.endswith("e") and words and isinstance(words[-1], (dict, Sym)):
            rest = words[1:-1]  # the last is the environment
        return walk.world.run([program, *rest], call)

    return start


def _spawn(walk: ProgramWalk, call: LibraryCall) -> Value:
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


def _run_arguments(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.run(call.args or [UNKNOWN], call)
    return UNKNOWN


def sh(walk: ProgramWalk, call: LibraryCall) -> Value:
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


def plumbum(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The plumbum package: `cmd.rm("-rf", "x")`."""
    walk.world.run([call.path.removeprefix("plumbum.cmd."), *call.args], call)
    return Sym("?")


def _task(walk: ProgramWalk, call: LibraryCall) -> Value:
    """fabric and invoke: `c.run("…")`."""
    root = call.path.partition(".")[0].rstrip("()").lower()
    if root in _TASKS and isinstance(call.get(0), str):
        (_sudo if call.name == "sudo" else _shell)(walk, call)
    return UNKNOWN


def _manage(walk: ProgramWalk, call: LibraryCall) -> Value:
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


def _execute(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.execute(call.get(0, "source", call.named.get("stmt", UNKNOWN)))
    return made_from(call.get(0))


def _time(walk: ProgramWalk, call: LibraryCall) -> Value:
    if isinstance(call.get(0, "stmt"), (str, bytes)):
        walk.world.execute(call.get(0, "stmt"))
    return UNKNOWN


def _compile(walk: ProgramWalk, call: LibraryCall) -> Value:
    given = call.get(0, "source")
    if isinstance(given, (str, bytes)) and known(text_of(given)):
        walk.world.code("python", text_of(given))
    return given if given is not UNKNOWN else Sym("?")


def _unpickle(walk: ProgramWalk, call: LibraryCall) -> Value:
    if fetched(call.get(0)):
        walk.world.effect("run_download", fetched(call.get(0)))
    return made_from(call.get(0))


def _run_path(walk: ProgramWalk, call: LibraryCall) -> Value:
    path = call.text(0, "path_name")
    if path in walk.world.downloads:
        walk.world.effect("run_download", walk.world.downloads[path])
    else:
        walk.world.touch("run_script", path)
    return UNKNOWN


def _fork(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.forks += 1
    if walk.endless:
        walk.world.effect("fork_bomb")
    return UNKNOWN


def _kill(walk: ProgramWalk, call: LibraryCall) -> Value:
    if call.get(1, "signal") != 0:
        who = call.text(0, "pid")
        walk.world.effect("kill", who, *(("all",) if who == "-1" else ()))
    return None


CODE_CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(["exec", "eval", "cProfile.run", "profile.run", "pdb.run"], _execute),
    **dict.fromkeys(["types.FunctionType", "types.CodeType"], _execute),
    **dict.fromkeys(["timeit.timeit", "timeit.repeat"], _time),
    "compile": _compile,
    **dict.fromkeys(["pickle.loads", "pickle.load", "marshal.loads", "marshal.load"], _unpickle),
    **dict.fromkeys(["yaml.unsafe_load", "jsonpickle.decode", "joblib.load"], _unpickle),
    **dict.fromkeys(["execfile", "runpy.run_path"], _run_path),
    **dict.fromkeys(["os.fork", "os.forkpty"], _fork),
    **dict.fromkeys(["os.kill", "os.killpg"], _kill),
}
CODE_METHODS: Mapping[str, Answer] = dict.fromkeys(["runsource", "runcode", "run_cell"], _execute)
