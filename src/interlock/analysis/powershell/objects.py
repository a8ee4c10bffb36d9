"""Effects of method calls on .NET and COM objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from interlock.analysis.code.library import ON_PATHS, Entry, library, pick
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.facts import hole
from interlock.analysis.powershell.file_cmdlets import write_file
from interlock.analysis.powershell.members import method, static_method
from interlock.analysis.powershell.programs import RUN_TIME, run_line, run_program, run_value, split_line
from interlock.analysis.powershell.session_cmdlets import make_object, request, save
from interlock.analysis.powershell.values import (
    MAX_ITEMS,
    Items,
    PsObject,
    PsReading,
    Records,
    Script,
    Value,
    plain,
    source_url,
    texts,
    truth,
)
from interlock.analysis.windows import download_mark, first_url, plain_holes

_LISTS = frozenset({"getfiles", "getdirectories", "enumeratefiles", "enumeratedirectories", "getfilesystementries"})


def call_static(session: PsReading, kind: str, name: str, arguments: list[Value]) -> Value:
    """`[kind]::name(arguments)`."""
    if name == "new":
        return make_object(session, kind, arguments)
    if name in _LISTS and kind.endswith(("directory", "filesystem")):
        return _listed(arguments)
    call = LibraryCall(f"{kind.rpartition('.')[2]}.{name}", None, arguments, {})
    if (entry := _dotnet().get(call.path)) is not None and not _TOLD.isdisjoint(entry):
        return _perform(session, entry, call)
    if kind.endswith("diagnostics.process") and name == "start":
        _start(session, arguments)
        return hole("process")
    if kind.endswith("reflection.assembly") and name in ("load", "loadfile", "loadfrom", "unsafeloadfrom"):
        return _load(session, arguments)
    if kind.endswith("webrequest") and name.startswith("create"):
        session.out.effect("fetch", plain_holes(plain(arguments[0])) if arguments else "")
        return download_mark(plain(arguments[0])) if arguments else hole()
    return static_method(kind, name, arguments)


def _listed(arguments: list[Value]) -> Value:
    """Directory.GetFiles and its like: the files of a folder, or of all below it."""
    first, second = ([texts(one) for one in arguments] + [[], []])[:2]
    pattern = second[0] if second else "*"
    deep = any("alldirectories" in text.lower() for one in arguments[2:] for text in texts(one))
    return Items(tuple(path if deep and pattern == "*" else f"{path}\\{pattern}" for path in first), deep, True)


@cache
def _dotnet() -> Mapping[str, Entry]:
    """The calls of .NET, whose names have no case here."""
    return {key.lower(): entry for key, entry in library("csharp").calls.items()}


_TOLD = frozenset({*ON_PATHS, "open", "fetch", "download", "http"})


def _perform(session: PsReading, entry: Entry, call: LibraryCall) -> Value:
    """Tells what the table of .NET says of a call; gives what it fetches or reads."""
    made: Value = hole(call.name)
    for effect, where in entry.items():
        given = [text for one in pick(call, where) for text in texts(one)] if effect in _TOLD else []
        if effect in ("fetch", "download", "http"):
            made = _request(session, effect, given, entry, call)
        for path in given if effect == "open" or effect in ON_PATHS else ():
            made = _touch(session, effect, path, entry, call) or made
    return made


def _request(session: PsReading, effect: str, given: list[str], entry: Entry, call: LibraryCall) -> Value:
    """An address is fetched, into a file or not, or something is sent to it."""
    words = [text for one in call.args for text in texts(one)]
    url = first_url(words) or "".join(given[:1])
    files = [text for one in pick(call, entry["read"]) for text in texts(one)] if "read" in entry else []
    sent = [hole(text) if text in files else text for text in words if text != url] if effect == "http" else []
    name = call.name.removesuffix("async")
    request(session, url, entry.get("method", name) if effect == "http" else "get", sent)
    for path in pick(call, entry["to"]) if effect == "download" else ():
        save(session, url, plain(path))
    return None if effect == "download" else download_mark(url)


def _touch(session: PsReading, effect: str, path: str, entry: Entry, call: LibraryCall) -> Value:
    """One file, changed or read by a call; what was fetched into it before."""
    if effect == "write" and "content" in entry:
        write_file(session, path, pick(call, entry["content"]), append=False)
        return None
    verb = ("append" if entry["opens"] == "a" else "truncate") if effect == "open" else effect
    traits = list(entry.get("traits", ()))
    if "recursive" in entry:
        whole = any(truth(value) is not False for value in pick(call, entry["recursive"]))
        traits.append("recursive" if whole else "empty_only")
    bulk = call.args and isinstance(call.args[0], Items) and call.args[0].bulk
    session.out.effect(verb, plain_holes(path), *traits, *["bulk"] * bool(bulk and verb != "read"))
    url = session.files.url(path) if effect == "read" else None
    return None if url is None else download_mark(url)


def _start(session: PsReading, arguments: list[Value]) -> None:
    if arguments:
        words = split_line(plain(arguments[1])) if len(arguments) > 1 else []
        for program in texts(arguments[0]):
            run_program(session, program, words)


def _load(session: PsReading, arguments: list[Value]) -> Value:
    url = next((url for one in arguments if (url := source_url(one)) is not None), None)
    if url is not None:
        session.out.effect("run_download", url)
    else:
        session.out.unreadable(RUN_TIME, "payload")
    return PsObject("assembly")


def call_method(session: PsReading, value: Value, name: str, arguments: list[Value]) -> Value:
    """`value.name(arguments)`."""
    if name.startswith("invoke") and (
        isinstance(value, Script) or (isinstance(value, PsObject) and value.kind == "script")
    ):
        made = run_value(session, value)
        return made[0] if len(made) == 1 else made
    if isinstance(value, (dict, list)) and name in _CONTAINER:
        return _CONTAINER[name](value, arguments)
    if isinstance(value, Items):
        return _call_item(session, value, name, arguments)
    if isinstance(value, Records):
        verb = {"delete": "remove", "kill": "stop", "terminate": "stop"}.get(name, name)
        session.out.run([f"{verb}-{value.noun}", *value.words])
        return value
    if isinstance(value, PsObject):
        return _call_thing(session, value, name, arguments)
    return method(value, name, arguments)


def _put(value: Value, arguments: list[Value]) -> None:
    """`.Add(…)` on a table or a list."""
    if isinstance(value, dict) and len(arguments) > 1:
        value[plain(arguments[0]).lower()] = arguments[1]
    elif isinstance(value, list) and arguments and len(value) < MAX_ITEMS:
        value.append(arguments[0])


def _take(value: Value, arguments: list[Value]) -> None:
    """`.Remove(…)` on a table; a list stays as it is."""
    if isinstance(value, dict) and arguments:
        value.pop(plain(arguments[0]).lower(), None)


_CONTAINER: dict[str, Callable[[Value, list[Value]], None]] = {"add": _put, "remove": _take}


def _call_item(session: PsReading, value: Items, name: str, arguments: list[Value]) -> Value:
    deep = value.recursive or (bool(arguments) and truth(arguments[0]) is True)
    traits = (["recursive"] if deep else []) + (["bulk"] if value.bulk else [])
    for path in value.paths:
        if name == "delete":
            session.out.effect("delete", plain_holes(path), *traits)
        elif name == "moveto":
            session.out.effect("move", plain_holes(path))
    if name in ("moveto", "copyto") and arguments:
        session.out.effect("write", plain_holes(plain(arguments[0])))
    if name in _LISTS:
        return Items(value.paths, True, True)
    return value if name in ("tostring", "getenumerator") else hole(name)


def _call_thing(session: PsReading, thing: PsObject, name: str, arguments: list[Value]) -> Value:
    kind = thing.kind
    if kind.endswith("getstream") or name == "getstream":
        return PsObject("stream", thing.note)
    if kind.endswith(("sockets.tcpclient", "sockets.socket")) and name.startswith("connect"):
        session.socket = ":".join(text for one in arguments for text in texts(one))
        return thing
    call = LibraryCall(f"{kind.rpartition('.')[2]}.new().{name}", thing, arguments, {})
    for path in (call.path, f"webclient.new().{name}", f"httpclient.new().{name}"):
        if (entry := _dotnet().get(path)) is not None and not _TOLD.isdisjoint(entry):
            return _perform(session, entry, call)
    act = _BY_METHOD.get(name)
    return act(session, thing, arguments) if act else method(thing, name, arguments)


def _open_request(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    if len(arguments) > 1 and plain(arguments[0]).lower() in ("delete", "put", "patch", "post"):
        session.out.effect("http", plain_holes(plain(arguments[1])), plain(arguments[0]).lower())
    return thing


def _run(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    if thing.kind.startswith("com:") and arguments:
        run_line(session, arguments[0])
    return hole("process")


def _shell_execute(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    _start(session, arguments)
    return None


def _create(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    if "win32_process" in thing.note.lower() and arguments:
        run_line(session, arguments[0])
    return hole("process")


def _delete_com(recursive: bool) -> Callable[[PsReading, PsObject, list[Value]], Value]:
    def act(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
        for path in texts(arguments[0]) if arguments and "filesystem" in thing.kind else []:
            session.out.effect("delete", plain_holes(path), *(["recursive"] if recursive else []))
        return None

    return act


_BY_METHOD: dict[str, Callable[[PsReading, PsObject, list[Value]], Value]] = {
    "open": _open_request,
    "run": _run,
    "exec": _run,
    "shellexecute": _shell_execute,
    "create": _create,
    "deletefolder": _delete_com(recursive=True),
    "deletefile": _delete_com(recursive=False),
}
