"""Methods of open files, texts, lists, dictionaries and data frames; which files frames read and write."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import (
    MAX_ITEMS,
    UNKNOWN,
    OpenFile,
    Sym,
    Value,
    file_traits,
    flat,
    made_from,
)
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.python.pure import text_method

_IDLE = frozenset({
    "close", "flush", "seek", "tell", "fileno", "read", "readline", "readlines", "isatty", "readable",
    "__enter__", "__exit__",
})  # fmt: skip


def on_file(walk: ProgramWalk, file: OpenFile, call: LibraryCall) -> Value:
    """A method of an open file."""
    if call.name in ("write", "writelines"):
        walk.world.fill(file, call.get(0))
    elif call.name == "truncate":
        walk.world.effect("truncate", file.path)
    elif call.name not in _IDLE and "w" in file.mode:
        file.written = True
    return file if call.name in ("__enter__", "fileno") else Sym("?", traits=file_traits(file.path))


def on_value(call: LibraryCall) -> Value:
    """A method of a text, a list or a dictionary; UNKNOWN when it cannot be known."""
    owner = call.owner
    if isinstance(owner, (str, bytes)):
        return text_method(owner, call.name, call.args, call.named)
    if isinstance(owner, list):
        return _list_method(owner, call)
    return _dict_method(owner, call) if isinstance(owner, dict) else UNKNOWN


def _list_method(items: list[Value], call: LibraryCall) -> Value:
    given = call.get(0)
    if call.name in ("append", "extend", "insert"):
        _grow(items, call.name, given, call.get(1))
    elif call.name == "pop" and items:
        return items[-1]
    elif call.name == "reverse":
        items.reverse()
    elif call.name == "copy":
        return list(items)
    return UNKNOWN


def _grow(items: list[Value], how: str, given: Value, second: Value) -> None:
    if len(items) >= MAX_ITEMS:
        items[-1] = Sym("?")
    elif how == "append":
        items.append(given)
    elif how == "extend":
        items.extend((flat(given) or [made_from(given)])[:MAX_ITEMS])
    elif isinstance(given, int):
        items.insert(given, second)


_VIEWS: Mapping[str, Callable[[dict[Value, Value]], Value]] = {
    "items": lambda items: list(items.items()),
    "values": lambda items: list(items.values()),
    "keys": list,
    "copy": dict,
}


def _dict_method(items: dict[Value, Value], call: LibraryCall) -> Value:
    given = call.get(0)
    if call.name in ("get", "pop", "setdefault"):
        return items[given] if isinstance(given, (str, int)) and given in items else call.get(1)
    if call.name == "update" and isinstance(given, dict):
        items.update(given)
    return _VIEWS[call.name](items) if call.name in _VIEWS else UNKNOWN


_FRAMES = "csv excel parquet feather json pickle hdf table stata spss sas orc fwf xml ipc ndjson avro".split()
_KEYWORDS = (
    "path",
    "path_or_buf",
    "excel_writer",
    "fname",
    "file",
    "filename",
    "filepath_or_buffer",
    "io",
    "source",
    "f",
)
_ADDRESSES = ("http://", "https://", "s3://", "gs://", "ftp://")


def _path(call: LibraryCall, at: int) -> Value:
    """What is given as the file: the argument, or the keyword that such functions have for it."""
    if at < len(call.args):
        return call.args[at]
    return next((call.named[name] for name in _KEYWORDS if name in call.named), None)


def _touched(walk: ProgramWalk, verb: str, path: Value) -> None:
    if isinstance(path, str) and path and not path.startswith(_ADDRESSES):
        walk.world.touch(verb, path)


def _reading(at: int = 0) -> Answer:
    def read(walk: ProgramWalk, call: LibraryCall) -> Value:
        path = _path(call, at)
        _touched(walk, "read", path)
        return Sym("?", traits=file_traits(path) if isinstance(path, str) else frozenset())

    return read


def _writing(at: int = 0) -> Answer:
    def write(walk: ProgramWalk, call: LibraryCall) -> Value:
        path = _path(call, at)
        if not isinstance(path, OpenFile):  # an open file is told of when it is closed
            _touched(walk, "append" if call.named.get("mode") == "a" else "write", path)
        return Sym("?")

    return write


CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(
        [
            f"{library}.read_{kind}"
            for library in ("pandas", "polars", "modin.pandas", "dask.dataframe")
            for kind in _FRAMES
        ],
        _reading(),
    ),
    **dict.fromkeys([f"polars.scan_{kind}" for kind in _FRAMES], _reading()),
    **dict.fromkeys(["geopandas.read_file", "pyarrow.parquet.read_table"], _reading()),
    **dict.fromkeys(["numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "openpyxl.load_workbook"], _reading()),
    **dict.fromkeys(["numpy.save", "numpy.savetxt", "numpy.savez", "numpy.savez_compressed"], _writing()),
    **dict.fromkeys(["joblib.dump", "torch.save", "pyarrow.parquet.write_table"], _writing(1)),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys([f"to_{kind}" for kind in [*_FRAMES, "file"]], _writing()),
    **dict.fromkeys([f"{way}_{kind}" for way in ("write", "sink") for kind in _FRAMES], _writing()),
}
