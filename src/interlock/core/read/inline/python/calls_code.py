"""Functions that run Python text, scripts and pickles, or make and end processes."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.facts import known
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, fetched, made_from, text_of
from interlock.core.read.inline.python.walk import Answer, Walk


def _execute(walk: Walk, call: Call) -> Value:
    walk.world.execute(call.get(0, "source", call.named.get("stmt", UNKNOWN)))
    return made_from(call.get(0))


def _time(walk: Walk, call: Call) -> Value:
    if isinstance(call.get(0, "stmt"), (str, bytes)):
        walk.world.execute(call.get(0, "stmt"))
    return UNKNOWN


def _compile(walk: Walk, call: Call) -> Value:
    given = call.get(0, "source")
    if isinstance(given, (str, bytes)) and known(text_of(given)):
        walk.world.code("python", text_of(given))
    return given if given is not UNKNOWN else Sym("?")


def _unpickle(walk: Walk, call: Call) -> Value:
    if fetched(call.get(0)):
        walk.world.effect("run_download", fetched(call.get(0)))
    return made_from(call.get(0))


def _run_path(walk: Walk, call: Call) -> Value:
    path = call.text(0, "path_name")
    if path in walk.world.downloads:
        walk.world.effect("run_download", walk.world.downloads[path])
    else:
        walk.world.touch("run_script", path)
    return UNKNOWN


def _fork(walk: Walk, call: Call) -> Value:
    walk.forks += 1
    if walk.endless:
        walk.world.effect("fork_bomb")
    return UNKNOWN


def _kill(walk: Walk, call: Call) -> Value:
    if call.get(1, "signal") != 0:
        who = call.text(0, "pid")
        walk.world.effect("kill", who, *(("all",) if who == "-1" else ()))
    return None


CALLS: Mapping[str, Answer] = {
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
METHODS: Mapping[str, Answer] = dict.fromkeys(["runsource", "runcode", "run_cell"], _execute)
