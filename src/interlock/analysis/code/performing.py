"""Performs on the record of a program what the tables say of a call, and gives what the call would give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from interlock.analysis.code.library import ON_PATHS, Entry, pick
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.results import items, result
from interlock.analysis.code.program.values import (
    UNKNOWN,
    OpenFile,
    Sym,
    Value,
    concat,
    fetched,
    file_traits,
    looks_like_sql,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import ProgramWalk, is_bare_shell
from interlock.analysis.facts import known, without_holes
from interlock.analysis.programs.load import shipped_programs

_URL = re.compile(r"(?i)(?:https?|ftp)://[^\s'\"|;)]*")
SHELL = "<shell>"  # the path of a shell that waits for text
FEW = 64  # items that a function is called with
_CLOSED = frozenset({False, None, "", "0", "false", "FALSE"})


def is_url(value: Value) -> bool:
    return isinstance(value, str) and bool(_URL.match(value))


def holds(values: Sequence[Value]) -> bool:
    """Whether an option is set; one that is not known is."""
    return any(not isinstance(value, (str, int, float, type(None))) or value not in _CLOSED for value in values)


def flattened(values: Iterable[Value]) -> list[Value]:
    """The values, lists taken apart; pairs are options."""
    return [one for value in values if not isinstance(value, dict) for one in items(value)]


# -- files -----------------------------------------------------------------------------------------------------------


def _traits(call: LibraryCall, entry: Entry) -> tuple[str, ...]:
    deep = ("recursive",) if "recursive" in entry and holds(pick(call, entry["recursive"])) else ()
    return (*entry.get("traits", ()), *deep)


def _touching(verb: str) -> Callable[[ProgramWalk, LibraryCall, Entry, object], Value]:
    def touch(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
        given: Value = UNKNOWN
        for path in flattened(pick(call, where)):
            if entry.get("known") and not without_holes(text_of(path)).strip():
                continue
            if verb == "read" and (is_url(path) or fetched(path)):
                given = request(walk, "get", path, ())
            elif verb == "run_script" and (is_url(path) or fetched(path)):
                walk.world.effect("run_download", fetched(path) or path)
            elif isinstance(path, OpenFile):
                walk.world.fill(path, UNKNOWN) if verb != "read" else None
                given = Sym("?", traits=file_traits(path.path))
            elif verb == "read" and not known(text_of(path)):
                given = Sym("?", traits=traits_of(path))
            else:
                many = ("bulk",) if entry.get("globs") and "*" in text_of(path) else ()
                walk.world.touch(
                    _how(verb, call, entry), path, *_traits(call, entry), *many, *_rights(verb, call, entry)
                )
                given = _after(walk, verb, call, entry, path)
        return given

    return touch


def _how(verb: str, call: LibraryCall, entry: Entry) -> str:
    """A write adds where it is told to, and empties where there is nothing to write."""
    if verb != "write":
        return verb
    added = pick(call, entry["appends"]) if "appends" in entry else []
    if added and any(_adds(value) for value in added):
        return "append"
    content = pick(call, entry["content"]) if "content" in entry else [UNKNOWN]
    return "truncate" if content and content[0] == "" else "write"


def _adds(value: Value) -> bool:
    words = [text_of(one) if not isinstance(one, Sym) else one.path for one in items(value)]
    return value is True or value == 8 or any(word[:1] == "a" or "append" in word.lower() for word in words)


def _rights(verb: str, call: LibraryCall, entry: Entry) -> list[str]:
    if verb != "chmod":
        return []
    mode = (pick(call, entry.get("mode", 1)) or [UNKNOWN])[0]
    if isinstance(mode, str) and mode.isdigit() and len(mode) <= 5 and not set(mode) & {"8", "9"}:
        mode = int(mode, 8)
    if isinstance(mode, int):
        found = {"world_writable": mode & 0o002, "no_access": not mode & 0o777, "setuid": mode & 0o6000}
        return [trait for trait, there in found.items() if there]
    letters = text_of(mode)
    open_to_all = re.search(r"[ao][^,]*[+=][rx]*w", letters) or re.fullmatch(r"[-rwx]{7}w[-x]", letters)
    return ["world_writable"] if open_to_all else []


def _after(walk: ProgramWalk, verb: str, call: LibraryCall, entry: Entry, path: Value) -> Value:
    if verb == "read":
        return Sym("?", traits=file_traits(text_of(path)))
    content = pick(call, entry["content"]) if "content" in entry else []
    if verb == "write" and content and fetched(content[0]):
        walk.world.downloads[text_of(path).removeprefix("./")] = fetched(content[0])
    return UNKNOWN


def _open(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    paths = pick(call, where)
    if not paths:
        return UNKNOWN
    path, text = paths[0], text_of(paths[0])
    mode = entry.get("opens") or open_mode((pick(call, entry["mode"]) if "mode" in entry else []) or ["r"])
    if text.lstrip().startswith("|"):
        return shell_line(walk, text.lstrip()[1:].strip(), call)
    return request(walk, "get", path, ()) if is_url(path) else walk.world.open(path, mode)


def open_mode(given: Sequence[Value]) -> str:
    """The letters of a mode: `r`, `w` or `a`, in whatever way they are written."""
    mode = text_of(given[0])
    if isinstance(given[0], Sym) or not known(mode):
        mode = given[0].path if isinstance(given[0], Sym) else "x"
    if "APPEND" in mode.upper() or mode.startswith((">>", "a", ":a")):
        return "a"
    if "+" in mode and "r" in mode[:1]:
        return "r+x"
    written = any(word in mode.upper() for word in ("WRITE", "WRONLY", "RDWR", "TRUNC", "CREAT"))
    return "w" if mode.startswith((">", "w", "+>", "c", "x", ":w")) or written else "r"


def _fill(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """Something is written: to an open file, to a shell that runs it, or over a connection."""
    at = entry.get("target")
    target = call.get(at) if isinstance(at, int) else call.owner
    content = pick(call, where)
    if isinstance(target, OpenFile):
        walk.world.fill(target, concat(content) if content else UNKNOWN)
    elif isinstance(target, Sym) and target.path == SHELL:
        walk.world.shell(concat(content))
    elif isinstance(target, Sym) and target.path.startswith("socket") and (leak := leaks(content)):
        walk.world.effect("send", walk.world.peer, *leak)
    return target if isinstance(target, OpenFile) else UNKNOWN


# -- programs and code -----------------------------------------------------------------------------------------------


def _fetches(text: str) -> bool:
    """Whether a command line begins with a program that fetches what it prints."""
    program = shipped_programs().get("".join(text.split(maxsplit=1)[:1]))
    return program is not None and (bool(program.http) or "fetch" in program.reader)


def _printed(text: str) -> Value:
    """What a command prints: not known, but fetched where the command fetches."""
    found = _URL.search(text)
    traits = {f"fetched:{found.group() if found else 'the network'}"} if _fetches(text) else set()
    return Sym("?", traits=frozenset(traits))


def shell_line(walk: ProgramWalk, line: Value, call: LibraryCall) -> Value:
    """A line is handed to a shell; a shell without commands waits for text."""
    walk.world.shell(line, call)
    return Sym(SHELL) if is_bare_shell(text_of(line)) else _printed(text_of(line))


def _shell(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    found = pick(call, where)
    words = flattened(found)
    if not words:
        return UNKNOWN
    return shell_line(walk, words[0] if len(words) == 1 else result("join", [" ", words]), call)


def _run(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    words = [*entry.get("words", ()), *flattened(pick(call, where))]
    if not words:
        return UNKNOWN
    walk.world.run(words, call)
    return _printed(" ".join(map(text_of, words)))


def _command(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """One text goes through a shell; several words, or a list, do not."""
    found = [value for value in pick(call, where) if not isinstance(value, dict)]
    if len(found) == 1 and not isinstance(found[0], (list, tuple)):
        return shell_line(walk, found[0], call)
    return _run(walk, call, entry, where)


def _code(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    for value in pick(call, where)[:1]:
        language = entry.get("language", walk.world.language)
        if language == walk.world.language or fetched(value):
            walk.world.execute(value)
        elif known(text_of(value)):
            walk.world.code(language, text_of(value))
        else:
            walk.world.unreadable(f"{language} made at run time", "payload")
    return Sym("?")


def _sql(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    for value in flattened(pick(call, where)):
        by_name = "." in call.path and not call.path.startswith(".")
        if looks_like_sql(text_of(value)) or (
            entry.get("target") == "on" and by_name and without_holes(text_of(value)).strip()
        ):
            walk.world.code("sql", text_of(value))
    return UNKNOWN


# -- network ---------------------------------------------------------------------------------------------------------


def leaks(values: Iterable[Value]) -> list[str]:
    """What of the machine's secrets is in what is sent."""
    marks = traits_of(list(values))
    return [trait for trait in ("environment", "secret") if trait in marks]


def request(walk: ProgramWalk, method: str, url: Value, given: Iterable[Value]) -> Value:
    """One HTTP request; what it returns was fetched."""
    address, leak = text_of(url), leaks([url, *given])
    if leak:
        walk.world.effect("send", address, *leak)
    if method in ("post", "put", "patch", "delete"):
        walk.world.effect("http", address, method)
    elif not leak:
        walk.world.effect("fetch", address)
    return Sym("<response>", traits=frozenset({f"fetched:{address if known(address) else 'the network'}"}))


def _fetch(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    found = pick(call, where)
    return request(walk, "get", found[0], _sent(call, entry, found)) if found else UNKNOWN


def _http(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    found = pick(call, where)
    if not found:
        return UNKNOWN
    sent = _sent(call, entry, found)
    method = entry.get("method", call.name.lower().removesuffix("async").rstrip("!"))
    return request(walk, "post" if method == "sends" and sent else method, found[0], sent)


def _sent(call: LibraryCall, entry: Entry, address: Sequence[Value]) -> list[Value]:
    if "sends" in entry:
        return pick(call, entry["sends"])
    return [value for value in call.given() if not any(value is one for one in address)]


def _connect(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    host = [text_of(value) for value in pick(call, where)[:1]]
    port = [text_of(value) for value in (pick(call, entry["port"]) if "port" in entry else [])[:1]]
    walk.world.peer = ":".join([*host, *port]) or "a connection"
    return Sym("socket", traits=frozenset({f"fetched:{walk.world.peer}"}))


def _listen(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    walk.world.effect("listen", "".join(text_of(value) for value in pick(call, where)[:1]))
    walk.world.peer = walk.world.peer or "a listening port"
    return Sym("socket")


# -- processes, functions, and what a table tells by itself ----------------------------------------------------------


def _kill(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    signal = pick(call, entry["signal"]) if "signal" in entry else []
    if signal and text_of(signal[0]) in ("0", "EXIT"):
        return UNKNOWN
    for who in map(text_of, flattened(pick(call, where))):
        walk.world.effect("kill", who, *(("all",) if who == "-1" else ()))
    return UNKNOWN


def _fork(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    walk.forks += 1
    if walk.endless:
        walk.world.effect("fork_bomb")
    return UNKNOWN


def _calls(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """Functions that are called with each item of a list, or with the arguments that are named."""
    given = pick(call, entry["with"]) if "with" in entry else []
    each = pick(call, entry["each"]) if "each" in entry else None
    rows = [[one, *given] for value in each for one in walk.items(value)[:FEW]] if each is not None else [given]
    made = [walk.call(func, row, {}) for func in pick(call, where)[:1] if func is not call.owner for row in rows]
    return made if each is not None else made[0] if made else UNKNOWN


def _tell(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    targets = flattened(pick(call, entry["target"])) if "target" in entry else []
    for target in targets or [""]:
        walk.world.effect(str(where), text_of(target), *_traits(call, entry))
    return UNKNOWN


def _close(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    return call.owner


_WORK: Mapping[str, Callable[[ProgramWalk, LibraryCall, Entry, object], Value]] = {
    **{verb: _touching(verb) for verb in ON_PATHS},
    "open": _open, "fill": _fill, "run": _run, "shell": _shell, "command": _command, "code": _code, "sql": _sql, "fetch": _fetch,
    "http": _http, "connect": _connect, "listen": _listen, "kill": _kill, "fork": _fork, "calls": _calls, "tell": _tell,
    "close": _close,
}  # fmt: skip


def perform(walk: ProgramWalk, call: LibraryCall, entry: Entry) -> Value:
    """Tell everything that a call does, in the order of its table; what it gives."""
    given: Value = UNKNOWN
    dry = pick(call, entry["dry"]) if "dry" in entry else []
    if dry and dry[0] is True:
        return UNKNOWN
    for key, where in entry.items():
        work = _WORK.get(key)
        made = work(walk, call, entry, where) if work is not None else UNKNOWN
        given = made if made is not UNKNOWN else given
    kind = entry.get("gives", "")
    if kind == "module":
        named = text_of(call.get(0))
        return walk.language.look_up(walk, named) if known(named) else Sym("?")
    if kind.startswith("ref:"):
        args = tuple(pick(call, entry["of"]) if "of" in entry else call.args)
        return Sym(kind[4:], Sym(call.path, None, args, call.named), args, call.named, traits_of(list(args)))
    if kind:
        of = entry.get("of", "*")
        places = of if isinstance(of, list) else [of]
        on = [call.owner] if call.path.startswith((".", "<")) and "." in call.path and "of" not in entry else []
        return result(kind, [*on, *(value for place in places for value in pick(call, place))])
    return given
