"""Tables and arrays of pandas, polars, NumPy and their like: which files they read, and which they write."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.values import File, Sym, Value, file_traits
from interlock.core.read.inline.python.walk import Answer, Walk

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


def _path(call: Call, at: int) -> Value:
    """What is given as the file: the argument, or the keyword that such functions have for it."""
    if at < len(call.args):
        return call.args[at]
    return next((call.named[name] for name in _KEYWORDS if name in call.named), None)


def _touched(walk: Walk, verb: str, path: Value) -> None:
    if isinstance(path, str) and path and not path.startswith(_ADDRESSES):
        walk.world.touch(verb, path)


def _reading(at: int = 0) -> Answer:
    def read(walk: Walk, call: Call) -> Value:
        path = _path(call, at)
        _touched(walk, "read", path)
        return Sym("?", traits=file_traits(path) if isinstance(path, str) else frozenset())

    return read


def _writing(at: int = 0) -> Answer:
    def write(walk: Walk, call: Call) -> Value:
        path = _path(call, at)
        if not isinstance(path, File):  # an open file is told of when it is closed
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
