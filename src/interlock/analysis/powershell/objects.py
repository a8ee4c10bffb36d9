"""Effects of method calls on .NET and COM objects."""

from __future__ import annotations

from collections.abc import Callable

from interlock.analysis.facts import hole
from interlock.analysis.places import place
from interlock.analysis.powershell.file_cmdlets import write_file
from interlock.analysis.powershell.members import method, static_method
from interlock.analysis.powershell.programs import RUN_TIME, run_line, run_program, run_value, split_line
from interlock.analysis.powershell.session_cmdlets import make_object
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

_FILE_TYPES = ("io.file", "io.directory", "fileio.filesystem", "io.fileinfo", "io.directoryinfo")

# What a static method of the file types does to its first and second path.
_FILE_EFFECTS: dict[str, tuple[str, str]] = {
    "delete": ("delete", ""),
    "deletefile": ("delete", ""),
    "deletedirectory": ("delete", ""),
    "writealltext": ("write", ""),
    "writealllines": ("write", ""),
    "writeallbytes": ("write", ""),
    "appendalltext": ("append", ""),
    "appendalllines": ("append", ""),
    "create": ("truncate", ""),
    "createtext": ("truncate", ""),
    "openwrite": ("write", ""),
    "createdirectory": ("write", ""),
    "move": ("move", "write"),
    "movefile": ("move", "write"),
    "movedirectory": ("move", "write"),
    "replace": ("move", "overwrite"),
    "copy": ("read", "write"),
    "copyfile": ("read", "write"),
    "copydirectory": ("read", "write"),
    "readalltext": ("read", ""),
    "readalllines": ("read", ""),
    "readallbytes": ("read", ""),
    "openread": ("read", ""),
}
_LISTS = frozenset({"getfiles", "getdirectories", "enumeratefiles", "enumeratedirectories", "getfilesystementries"})


def call_static(session: PsReading, kind: str, name: str, arguments: list[Value]) -> Value:
    """`[kind]::name(arguments)`."""
    if name == "new":
        return make_object(session, kind, arguments)
    if kind.endswith(_FILE_TYPES):
        return _call_file(session, kind, name, arguments)
    if kind.endswith("diagnostics.process") and name == "start":
        _start(session, arguments)
        return hole("process")
    if kind.endswith("reflection.assembly") and name in ("load", "loadfile", "loadfrom", "unsafeloadfrom"):
        return _load(session, arguments)
    if kind.endswith("webrequest") and name.startswith("create"):
        session.out.effect("fetch", plain_holes(plain(arguments[0])) if arguments else "")
        return download_mark(plain(arguments[0])) if arguments else hole()
    return static_method(kind, name, arguments)


def _call_file(session: PsReading, kind: str, name: str, arguments: list[Value]) -> Value:
    first, second = ([texts(one) for one in arguments] + [[], []])[:2]
    if name in _LISTS:
        pattern = second[0] if second else "*"
        deep = any("alldirectories" in text.lower() for one in arguments[2:] for text in texts(one))
        return Items(tuple(path if deep and pattern == "*" else f"{path}\\{pattern}" for path in first), deep, True)
    verbs = _FILE_EFFECTS.get(name)
    if verbs is None:
        return static_method("io.file", name, arguments)
    whole = name == "deletedirectory" or (
        "directory" in kind and len(arguments) > 1 and truth(arguments[1]) is not False
    )
    traits = ["recursive"] if verbs[0] == "delete" and whole else []
    traits += ["empty_only"] if name == "delete" and "directory" in kind and not whole else []
    for path in first:
        if name.startswith("write"):
            write_file(session, path, arguments[1:2], append=False)
        else:
            bulk = ["bulk"] if arguments and isinstance(arguments[0], Items) and arguments[0].bulk else []
            session.out.effect(verbs[0], plain_holes(path), *traits, *bulk)
    for path in second if verbs[1] else []:
        session.out.effect(verbs[1], plain_holes(path))
    if name.startswith("read") and first and (url := session.files.url(first[0])) is not None:
        return download_mark(url)
    return hole(name)


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
    act = _BY_METHOD.get(name)
    return act(session, thing, arguments) if act else method(thing, name, arguments)


def _download_text(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    url = plain(arguments[0]) if arguments else ""
    session.out.effect("fetch", plain_holes(url))
    return download_mark(url)


def _download_file(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    url, path = ([plain(one) for one in arguments] + ["", ""])[:2]
    session.out.effect("fetch", plain_holes(url))
    session.out.effect("write", plain_holes(path))
    session.files.download(path, url)
    return None


def _upload(session: PsReading, thing: PsObject, arguments: list[Value]) -> Value:
    given = [text for one in arguments for text in texts(one)]
    url, leaks = (
        first_url(given),
        ["secret"] if any(place(text.replace("\\", "/")) == "secret" for text in given) else [],
    )
    session.out.effect("send", url or plain_holes(plain(arguments[0]) if arguments else ""), *leaks)
    return hole("response")


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
    "downloadstring": _download_text,
    "downloaddata": _download_text,
    "downloadstringtaskasync": _download_text,
    "openread": _download_text,
    "getstringasync": _download_text,
    "getbytearrayasync": _download_text,
    "getasync": _download_text,
    "downloadfile": _download_file,
    "downloadfileasync": _download_file,
    "downloadfiletaskasync": _download_file,
    "uploadstring": _upload,
    "uploadfile": _upload,
    "uploaddata": _upload,
    "uploadvalues": _upload,
    "postasync": _upload,
    "open": _open_request,
    "run": _run,
    "exec": _run,
    "shellexecute": _shell_execute,
    "create": _create,
    "deletefolder": _delete_com(recursive=True),
    "deletefile": _delete_com(recursive=False),
}
