"""Effects and results of Perl's functions and methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from interlock.analysis.code import effects, values
from interlock.analysis.code.dialect import PAIRS, CodeCall
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, computed, glued, listed, text
from interlock.analysis.code.walk import CodeWalk
from interlock.analysis.facts import hole

_PRINTS = frozenset({"print", "say", "printf", "syswrite", "binmode"})
_CONNECTS = ("IO.Socket.INET.new", "IO.Socket.IP.new", "IO.Socket.SSL.new", "IO.Socket.new", "IO.Socket.UNIX.new")


def _find(walk: CodeWalk, call: CodeCall) -> Value:
    """File::Find: the function gets every file below the directories."""
    places = listed(value for value in call.plain)
    files = Value(places.items or UNKNOWN.items, False, frozenset({"recursive", "bulk"}))
    wanted = [value.body for value in call.args if value.body >= 0]
    walk.names.update({"$_": files, "$File::Find::name": files, "$File::Find::dir": files})
    before = len(walk.bodies)
    for body in wanted or range(before):
        walk.run(body, (files,))
    walk.names["$_"] = Value((hole("_"),), traits=frozenset({"bulk"}))
    return UNKNOWN


def _unlink(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.delete(walk, call.plain or (walk.variable("$_"),))


def _rmdir(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.delete(walk, call.plain or (walk.variable("$_"),), "empty_only")


def _rmtree(walk: CodeWalk, call: CodeCall) -> Value:
    paths = [value for value in call.plain if value.many or not value.text.isdecimal()]
    return effects.delete(walk, paths, "recursive")


def _system(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.command(walk, call.plain)


def _rename(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "move", call.plain[:1])
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _copy(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _chmod(walk: CodeWalk, call: CodeCall) -> Value:
    flat = listed(call.plain)
    return (
        effects.chmod(walk, text(flat.items[0]), [Value(flat.items[1:], True, flat.traits)]) if flat.items else UNKNOWN
    )


def _chown(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "chown", call.plain[2:])
    return UNKNOWN


def _truncate(walk: CodeWalk, call: CodeCall) -> Value:
    effects.paths(walk, "truncate", call.plain[:1])
    return UNKNOWN


def _kill(walk: CodeWalk, call: CodeCall) -> Value:
    flat = listed(call.plain).items
    negative = flat[:1] and flat[0].startswith("-") and not flat[0][1:].isdecimal()
    return effects.kill(walk, [Value(flat[1:], True)]) if flat[:1] != ("0",) or negative else UNKNOWN


def _glob(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.listing(call.plain[0] if call.plain else walk.variable("$_"))


def _shift(walk: CodeWalk, call: CodeCall) -> Value:
    """The next argument of this function."""
    name = "@_" if not call.args else ""
    given = walk.names.get(name)
    if given is None or not given.items:
        return UNKNOWN
    walk.names[name] = Value(given.items[1:], True, given.traits) if len(given.items) > 1 else given
    return Value(given.items[:1], False, given.traits, url=given.url)


def _fetch(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.fetch(walk, call.arg(0))


def _store(walk: CodeWalk, call: CodeCall) -> Value:
    effects.fetch(walk, call.arg(0))
    effects.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _require(walk: CodeWalk, call: CodeCall) -> Value:
    if call.args and call.arg(0).url:
        walk.out.effect("run_download", call.arg(0).url)
    return UNKNOWN


def _connect(walk: CodeWalk, call: CodeCall) -> Value:
    options = call.args[-1] if call.args and call.args[-1].ref == PAIRS else listed(call.plain)
    peer = options.at(text("PeerAddr")) if "PeerAddr" in options.items else options.at(text("PeerHost"))
    port = options.at(text("PeerPort"))
    if "Listen" in options.items:
        walk.out.effect("listen", options.at(text("LocalPort")).text)
        walk.notes.socket = walk.notes.socket or "a listening port"
        return Value(ref="socket")
    first = call.plain[0] if call.plain else peer
    return effects.socket(walk, first if peer.blank and not first.blank else peer, None if port.blank else port)


def _sql(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.sql(walk, call.arg(0))


def _first(use: Callable[[Value], Value]) -> Callable[[CodeWalk, CodeCall], Value]:
    return lambda walk, call: use(call.plain[0] if call.plain else walk.variable("$_"))


def _reverse(_walk: CodeWalk, call: CodeCall) -> Value:
    return (
        values.backwards(call.arg(0))
        if len(call.args) == 1 and not call.arg(0).many
        else values.turned(listed(call.args))
    )


CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    "unlink": _unlink,
    "rmdir": _rmdir,
    "rmtree": _rmtree,
    "remove_tree": _rmtree,
    "pathrmdir": _rmtree,
    "pathempty": _rmtree,
    "find": _find,
    "finddepth": _find,
    "system": _system,
    "exec": _system,
    "`": _system,
    "readpipe": _system,
    "rename": _rename,
    "move": _rename,
    "mv": _rename,
    "copy": _copy,
    "cp": _copy,
    "chmod": _chmod,
    "chown": _chown,
    "truncate": _truncate,
    "kill": _kill,
    "glob": _glob,
    "bsd_glob": _glob,
    "shift": _shift,
    "getstore": _store,
    "mirror": _store,
    "require": _require,
    "getprint": _fetch,
    "opendir": lambda walk, call: EMPTY,
    "readdir": lambda walk, call: computed(),
    "join": lambda walk, call: values.joined(call.arg(0), listed(call.args[1:])),
    "pack": lambda walk, call: values.packed(call.arg(0), call.args[1:]),
    "sprintf": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "substr": lambda walk, call: values.substring(
        call.arg(0), call.arg(1), call.args[2] if len(call.args) == 3 else None
    ),
    "split": lambda walk, call: values.split(call.arg(1), call.arg(0).text if call.arg(0).known else None),
    "decode_base64": _first(values.unbase64),
    "chr": _first(values.character),
    "hex": _first(values.from_hex),
    "oct": _first(values.from_octal),
    "lc": _first(values.lower),
    "uc": _first(values.upper),
    "reverse": _reverse,
    "quotemeta": _first(lambda value: value),
    "getcwd": lambda walk, call: text("."),
    "cwd": lambda walk, call: text("."),
    "catfile": lambda walk, call: glued(call.plain, "/"),
    "catdir": lambda walk, call: glued(call.plain, "/"),
    "fork": lambda walk, call: UNKNOWN,
}
_METHODS: Mapping[str, Callable[[CodeWalk, CodeCall], Value]] = {
    "do": _sql,
    "prepare": _sql,
    "selectall_arrayref": _sql,
    "selectrow_array": _sql,
    "selectcol_arrayref": _sql,
    "selectrow_hashref": _sql,
    "selectall_hashref": _sql,
    "selectrow_arrayref": _sql,
}
_PATH_METHODS = {"remove": (), "remove_tree": ("recursive",), "rmtree": ("recursive",)}


def call_perl(walk: CodeWalk, call: CodeCall) -> Value | None:
    if call.on is None:
        return _function(walk, call)
    path = call.path.replace("::", ".")
    if path in _CONNECTS:
        return _connect(walk, call)
    if call.on.ref in ("file", effects.PIPE):
        if call.name in _PRINTS:
            effects.written(walk, call.on, call.plain)
        return UNKNOWN
    if path.endswith((".get", ".getprint")) and values.is_url(call.arg(0).text):
        return _fetch(walk, call)
    if call.on.ref == "path" and call.name in _PATH_METHODS:
        return effects.delete(walk, [call.on], *_PATH_METHODS[call.name])
    if call.name in ("spew", "spew_utf8") and call.on.ref == "path":
        return effects.write_file(walk, call.on, call.arg(0))
    if path in ("File.Path.remove_tree", "File.Path.rmtree"):
        return _rmtree(walk, call)
    known = _METHODS.get(call.name)
    return known(walk, call) if known else None


def _function(walk: CodeWalk, call: CodeCall) -> Value | None:
    name = call.name.removeprefix("CORE::GLOBAL::").removeprefix("CORE::").rpartition("::")[2]
    if name == "get" and values.is_url(call.arg(0).text):
        return _fetch(walk, call)
    if name == "path" and len(call.plain) == 1:
        return Value(call.plain[0].items, ref="path")
    if name == "connect":
        return effects.socket(walk, call.arg(1))
    if name == "syscall":
        walk.out.unreadable("a system call by number", "command")
    known = CALLS.get(name)
    return known(walk, call) if known else None
