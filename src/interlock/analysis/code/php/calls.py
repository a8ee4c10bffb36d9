"""Effects and results of PHP's functions and methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from interlock.analysis.code import effects, orm, values
from interlock.analysis.code.dialect import CodeCall
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, computed, glued, listed, text, unknown
from interlock.analysis.code.walk import CodeWalk

_RUNNERS = frozenset({"system", "exec", "shell_exec", "passthru", "popen", "`", "expect_popen"})


def _unlink(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.delete(walk, call.plain[:1])


def _rmdir(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.delete(walk, call.plain[:1], "empty_only")


def _runs(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.shell(walk, call.plain[0]) if call.plain else UNKNOWN


def _proc_open(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.run(walk, call.plain[:1]) if call.arg(0).many else _runs(walk, call)


def _pcntl_exec(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.run(walk, call.plain[:2])


def _put(walk: CodeWalk, call: CodeCall) -> Value:
    if any("FILE_APPEND" in item for value in call.args[2:] for item in (value.ref, value.text)) or (
        len(call.args) > 2 and call.args[2].text == "8"
    ):
        walk.out.effect("append", call.arg(0).text)
        return UNKNOWN
    return effects.write_file(walk, call.arg(0), call.args[1] if len(call.args) > 1 else None)


def _fopen(walk: CodeWalk, call: CodeCall) -> Value:
    if values.is_url(call.arg(0).text):
        return effects.fetch(walk, call.arg(0))
    return effects.opened(walk, call.arg(0), call.arg(1).text or "r")


def _fwrite(walk: CodeWalk, call: CodeCall) -> Value:
    effects.written(walk, call.arg(0), call.args[1:2])
    return UNKNOWN


def _ftruncate(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "truncate", call.plain[:1])
    return UNKNOWN


def _rename(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "move", call.plain[:1])
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _copy(walk: CodeWalk, call: CodeCall) -> Value:
    if values.is_url(call.arg(0).text):
        effects.fetch(walk, call.arg(0))
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _chmod(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.chmod(walk, call.arg(1), call.plain[:1])


def _chown(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "chown", call.plain[:1])
    return UNKNOWN


def _get(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.read_file(walk, call.arg(0)) if call.args else UNKNOWN


def _eval(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.evaluate(walk, call.arg(0), "php", "PHP")


def _assert(walk: CodeWalk, call: CodeCall) -> Value:
    """assert of a text runs it in old versions; of anything else it is a check."""
    first = call.arg(0)
    is_code = first.url or (first.known and not first.ref and "(" in first.text)
    return _eval(walk, call) if is_code else UNKNOWN


def _create_function(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.evaluate(walk, call.arg(1), "php", "PHP")


def _call_user(walk: CodeWalk, call: CodeCall) -> Value:
    return walk.called(_callable(call.arg(0)), call.args[1:])


def _call_user_array(walk: CodeWalk, call: CodeCall) -> Value:
    return walk.called(_callable(call.arg(0)), tuple(text(item) for item in call.arg(1).items))


def _callable(value: Value) -> Value:
    return Value(ref=".".join(value.items)) if value.many and len(value.items) == 2 and value.known else value


def _each(walk: CodeWalk, call: CodeCall) -> Value:
    """array_map(f, list) and array_walk(list, f): f gets one item at a time."""
    function, items = (
        (call.arg(1), call.arg(0)) if call.name in ("array_walk", "array_filter") else (call.arg(0), call.arg(1))
    )
    if function.body >= 0 or (function.known and not function.many and function.text) or function.ref:
        return replace(walk.called(function, (items.each(),)), many=True)
    return items


def _glob(_walk: CodeWalk, call: CodeCall) -> Value:
    return effects.listing(call.arg(0))


def _scandir(_walk: CodeWalk, call: CodeCall) -> Value:
    return computed()


def _socket(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.socket(walk, call.arg(0), call.args[1] if len(call.args) > 1 else None)


def _socket_connect(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.socket(walk, call.arg(1), call.args[2] if len(call.args) > 2 else None)


def _sql(walk: CodeWalk, call: CodeCall) -> Value:
    query = next((value for value in call.plain if orm.looks_like_sql(value)), None)
    return effects.sql(walk, query) if query else UNKNOWN


def _kill(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.kill(walk, call.plain[:1]) if call.arg(1).text != "0" else UNKNOWN


def _curl(walk: CodeWalk, call: CodeCall) -> Value:
    return Value(ref="curl", items=call.arg(0).items if call.args else UNKNOWN.items)


def _curl_exec(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.fetch(walk, Value(call.arg(0).items))


def _first(use: Callable[[Value], Value]) -> Callable[[CodeWalk, CodeCall], Value]:
    return lambda _walk, call: use(call.arg(0))


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    "unlink": _unlink,
    "rmdir": _rmdir,
    **dict.fromkeys(_RUNNERS, _runs),
    "proc_open": _proc_open,
    "pcntl_exec": _pcntl_exec,
    "file_put_contents": _put,
    "fopen": _fopen,
    "fwrite": _fwrite,
    "fputs": _fwrite,
    "fputcsv": _fwrite,
    "fprintf": _fwrite,
    "stream_copy_to_stream": lambda walk, call: _fwrite(walk, CodeCall("fwrite", call.args[1:])),
    "ftruncate": _ftruncate,
    "rename": _rename,
    "move_uploaded_file": _rename,
    "copy": _copy,
    "chmod": _chmod,
    "chown": _chown,
    "chgrp": _chown,
    "file_get_contents": _get,
    "file": _get,
    "readfile": _get,
    "eval": _eval,
    "assert": _assert,
    "create_function": _create_function,
    "call_user_func": _call_user,
    "call_user_func_array": _call_user_array,
    "array_map": _each,
    "array_walk": _each,
    "array_filter": _each,
    "glob": _glob,
    "scandir": _scandir,
    "readdir": _scandir,
    "fsockopen": _socket,
    "pfsockopen": _socket,
    "stream_socket_client": _socket,
    "socket_connect": _socket_connect,
    "posix_kill": _kill,
    "curl_init": _curl,
    "curl_exec": _curl_exec,
    **dict.fromkeys(
        (
            "mysqli_query",
            "mysql_query",
            "pg_query",
            "pg_exec",
            "sqlite_query",
            "sqlsrv_query",
            "mysqli_multi_query",
            "oci_parse",
            "odbc_exec",
            "mysqli_real_query",
            "pg_query_params",
            "db_query",
            "pg_send_query",
        ),
        _sql,
    ),
    "base64_decode": _first(values.unbase64),
    "hex2bin": _first(values.unhex),
    "strrev": _first(values.backwards),
    "str_rot13": _first(values.rotated),
    "chr": _first(values.character),
    "strtolower": _first(values.lower),
    "strtoupper": _first(values.upper),
    "trim": _first(values.stripped),
    "hexdec": _first(values.from_hex),
    "escapeshellarg": _first(lambda value: value),
    "realpath": _first(lambda value: value),
    "strval": _first(lambda value: value),
    "array_values": _first(lambda value: value),
    "array_merge": lambda walk, call: listed(call.args),
    "array_diff": lambda walk, call: call.arg(0),
    "implode": lambda walk, call: values.joined(
        *((call.arg(0), call.arg(1)) if len(call.args) > 1 else (EMPTY, call.arg(0)))
    ),
    "join": lambda walk, call: values.joined(call.arg(0), call.arg(1)),
    "explode": lambda walk, call: values.split(call.arg(1), call.arg(0).text or None),
    "sprintf": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "pack": lambda walk, call: values.packed(call.arg(0), call.args[1:]),
    "str_replace": lambda walk, call: values.swapped(call.arg(2), call.arg(0), call.arg(1)),
    "substr": lambda walk, call: values.substring(
        call.arg(0), call.arg(1), call.args[2] if len(call.args) > 2 else None
    ),
    "str_repeat": lambda walk, call: values.repeated(call.arg(0), call.arg(1)),
    "array_reverse": _first(values.turned),
    "getenv": lambda walk, call: unknown(call.arg(0).text),
    "env": lambda walk, call: unknown(call.arg(0).text),
    "getcwd": lambda walk, call: text("."),
    "base_path": lambda walk, call: glued([text("./"), *call.plain]),
    "storage_path": lambda walk, call: glued([text("./storage/"), *call.plain]),
    "app": lambda walk, call: Value(ref="app"),
    **dict.fromkeys(
        ("gzinflate", "gzuncompress", "gzdecode", "convert_uudecode"),
        lambda walk, call: replace(UNKNOWN, url=call.arg(0).url),
    ),
}
_FACADES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "File.delete": ("delete", ()),
    "File.deleteDirectory": ("delete", ("recursive",)),
    "File.cleanDirectory": ("delete", ("recursive", "bulk")),
    "Storage.delete": ("delete", ()),
    "Storage.deleteDirectory": ("delete", ("recursive",)),
    "File.put": ("write", ()),
    "Storage.put": ("write", ()),
    "File.append": ("append", ()),
    "File.move": ("move", ()),
}
_FILE_NAMES = frozenset(
    {"getPathname", "getRealPath", "getFilename", "getPath", "__toString", "current", "key", "getBasename"}
)
_FETCHED = frozenset({"body", "getBody", "getContents", "json", "__toString", "content", "getContent"})


def call_php(walk: CodeWalk, call: CodeCall) -> Value | None:
    if call.on is None:
        known = _CALLS.get(call.name.lower())
        return known(walk, call) if known else None
    return _method(walk, call, call.on)


def _method(walk: CodeWalk, call: CodeCall, on: Value) -> Value | None:
    if on.ref in ("files", "files.each") and call.name in _FILE_NAMES:
        return replace(on, ref="")
    if on.ref == "file":
        if call.name in ("fwrite", "fputcsv", "fputs"):
            effects.written(walk, on)
        return on
    if on.url and call.name in _FETCHED:
        return on
    if on.ref == "COM" and call.name.lower() in ("exec", "run", "shellexecute"):
        return _runs(walk, call)
    if call.path in _FACADES:
        verb, traits = _FACADES[call.path]
        effects.paths(walk, verb, call.plain[:1], *traits)
        return UNKNOWN
    if on.ref == "Filesystem" and call.name in ("remove", "deleteDirectory", "cleanDirectory", "delete"):
        return effects.delete(walk, call.plain, "recursive")
    if on.ref in ("Http", "Client", "Guzzle", "Http.timeout") and call.name in (
        "get",
        "post",
        "put",
        "patch",
        "delete",
    ):
        if call.name == "get":
            return effects.fetch(walk, call.arg(0))
        walk.out.effect("http", call.arg(0).text, call.name)
        return UNKNOWN
    if on.ref == "Process" and call.name in ("run", "fromShellCommandline", "start"):
        return effects.command(walk, call.plain[:1])
    return orm.eloquent(walk, call)
