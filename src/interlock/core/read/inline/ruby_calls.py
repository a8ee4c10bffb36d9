"""What do the functions and methods of Ruby do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from interlock.core.read.inline import doing, records, values
from interlock.core.read.inline.dialect import PAIRS, Call
from interlock.core.read.inline.ruby_texts import ruby_text
from interlock.core.read.inline.values import EMPTY, UNKNOWN, Value, computed, glued, listed, text, unknown
from interlock.core.read.inline.walk import Walk

_IDLE = frozenset({"close", "flush", "closed?", "path", "sync="})
_HTTP = frozenset(("HTTParty Faraday RestClient Excon HTTP Typhoeus Net.HTTP URI OpenURI Down").split())


def _delete(*traits: str) -> Callable[[Walk, Call], Value]:
    return lambda walk, call: doing.delete(walk, call.plain, *traits)


def _mv(walk: Walk, call: Call) -> Value:
    doing.paths(walk, "move", call.plain[:1])
    doing.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _cp(walk: Walk, call: Call) -> Value:
    doing.paths(walk, "write", call.plain[1:2])
    return UNKNOWN


def _chmod(*traits: str) -> Callable[[Walk, Call], Value]:
    return lambda walk, call: doing.chmod(walk, call.arg(0), call.plain[1:], *traits)


def _chown(*traits: str) -> Callable[[Walk, Call], Value]:
    def tell(walk: Walk, call: Call) -> Value:
        doing.paths(walk, "chown", call.plain[2:], *traits)
        return UNKNOWN

    return tell


def _write(walk: Walk, call: Call) -> Value:
    mode = call.args[-1].at(text("mode")).text if call.args and call.args[-1].ref == PAIRS else ""
    if mode.startswith("a"):
        walk.out.effect("append", call.arg(0).text)
        return UNKNOWN
    return doing.write_file(walk, call.arg(0), call.plain[1] if len(call.plain) > 1 else None)


def _open(walk: Walk, call: Call) -> Value:
    path = call.arg(0)
    if path.text.lstrip().startswith("|"):
        return doing.shell(walk, text(path.text.lstrip()[1:].strip()))
    if values.is_url(path.text):
        return doing.fetch(walk, path)
    mode = call.plain[1].text if len(call.plain) > 1 else "r"
    handle = doing.opened(walk, path, mode)
    _run_blocks(walk, call, (handle,))
    return handle


def _truncate(walk: Walk, call: Call) -> Value:
    doing.paths(walk, "truncate", call.plain[:1])
    return UNKNOWN


def _read(walk: Walk, call: Call) -> Value:
    path = call.arg(0)
    if path.text.startswith("|"):
        return doing.shell(walk, text(path.text[1:].strip()))
    return doing.read_file(walk, path)


def _glob(walk: Walk, call: Call) -> Value:
    pattern = doing.listing(
        listed(call.plain), *(["recursive"] if any("**" in value.text for value in call.plain) else [])
    )
    _run_blocks(walk, call, (pattern.each(),))
    return pattern


def _children(walk: Walk, call: Call) -> Value:
    """The names inside a directory, to be joined to it."""
    names = computed()
    _run_blocks(walk, call, (names.each(),))
    return names


def _constant(_walk: Walk, call: Call) -> Value:
    return Value(ref=call.arg(0).text.replace("::", ".")) if call.arg(0).known else UNKNOWN


def _method_named(_walk: Walk, call: Call) -> Value:
    return Value(ref=call.arg(0).text) if call.arg(0).known else UNKNOWN


def _find(walk: Walk, call: Call) -> Value:
    files = Value(listed(call.plain).items, True, frozenset({"bulk", "recursive"}))
    _run_blocks(walk, call, (files.each(),))
    return files


def _run_blocks(walk: Walk, call: Call, given: tuple[Value, ...]) -> None:
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, given)


def _command(walk: Walk, call: Call) -> Value:
    """system, exec, spawn: an environment may come first, options last."""
    words = tuple(value for value in call.plain if not (value.many and not value.items))
    if words and words[0].many and len(words[0].items) == 2 and len(words) > 1:
        words = (text(words[0].items[0]), *words[1:])
    return doing.command(walk, words)


def _popen(walk: Walk, call: Call) -> Value:
    first = call.plain[0] if call.plain else EMPTY
    made = (
        doing.run(walk, [first])
        if first.many
        else doing.command(walk, call.plain[:1] if _has_mode(call) else call.plain)
    )
    _run_blocks(walk, call, (made,))
    return made


def _has_mode(call: Call) -> bool:
    return len(call.plain) < 2 or len(call.plain[1].text) <= 2


def _send(walk: Walk, call: Call) -> Value | None:
    """send(:name, …): a call whose name is a value."""
    chosen = call.arg(0)
    on = None if call.on is None or call.on.ref in ("Kernel", "Object", "self") else call.on
    if chosen.known:
        return walk.invoke(Call(chosen.text, call.args[1:], on))
    if len(call.args) > 1:
        walk.out.unreadable("a function chosen at run time", "command")
    return UNKNOWN


def _eval(walk: Walk, call: Call) -> Value:
    return doing.evaluate(walk, call.plain[0], "ruby", "Ruby") if call.plain else UNKNOWN


def _kill(walk: Walk, call: Call) -> Value:
    return doing.kill(walk, call.plain[1:]) if call.arg(0).text not in ("0", "EXIT") else UNKNOWN


def _fetch(walk: Walk, call: Call) -> Value:
    value = doing.fetch(walk, call.arg(0))
    _run_blocks(walk, call, (value,))
    return value


def _socket(walk: Walk, call: Call) -> Value:
    value = doing.socket(walk, call.arg(0), call.plain[1] if len(call.plain) > 1 else None)
    _run_blocks(walk, call, (value,))
    return value


def _listen(walk: Walk, call: Call) -> Value:
    walk.out.effect("listen", call.plain[-1].text if call.plain else "")
    return Value(ref="socket")


def _join(_walk: Walk, call: Call) -> Value:
    return glued(call.plain, "/")


def _same(_walk: Walk, call: Call) -> Value:
    return call.arg(0)


def _path(_walk: Walk, call: Call) -> Value:
    return Value(call.arg(0).items, ref="path")


def _base64(_walk: Walk, call: Call) -> Value:
    return values.unbase64(call.arg(0))


def _home(_walk: Walk, _call: Call) -> Value:
    return unknown("HOME")


def _print(walk: Walk, call: Call) -> Value:
    return UNKNOWN


_RECURSIVE = _delete("recursive")
_CALLS: Mapping[str, Callable[[Walk, Call], Value | None]] = {
    **{f"FileUtils.{name}": _delete() for name in ("rm", "rm_f", "remove", "remove_file", "safe_unlink")},
    **{
        f"FileUtils.{name}": _RECURSIVE
        for name in ("rm_r", "rm_rf", "remove_dir", "remove_entry", "remove_entry_secure", "rmtree", "uninstall")
    },
    "FileUtils.rmdir": _delete("empty_only"),
    "Dir.rmdir": _delete("empty_only"),
    "Dir.delete": _delete("empty_only"),
    "Dir.unlink": _delete("empty_only"),
    "File.delete": _delete(),
    "File.unlink": _delete(),
    "FileUtils.mv": _mv,
    "FileUtils.move": _mv,
    "File.rename": _mv,
    "FileUtils.cp": _cp,
    "FileUtils.cp_r": _cp,
    "FileUtils.copy": _cp,
    "FileUtils.copy_file": _cp,
    "FileUtils.install": _cp,
    "IO.copy_stream": _cp,
    "FileUtils.ln_sf": _cp,
    "FileUtils.chmod": _chmod(),
    "FileUtils.chmod_R": _chmod("recursive"),
    "File.chmod": _chmod(),
    "FileUtils.chown": _chown(),
    "FileUtils.chown_R": _chown("recursive"),
    "File.chown": _chown(),
    "File.write": _write,
    "IO.write": _write,
    "File.binwrite": _write,
    "IO.binwrite": _write,
    "File.truncate": _truncate,
    "File.open": _open,
    "File.new": _open,
    "Kernel.open": _open,
    "open": _open,
    "URI.open": _fetch,
    "OpenURI.open_uri": _fetch,
    "File.read": _read,
    "IO.read": _read,
    "File.readlines": _read,
    "File.binread": _read,
    "File.foreach": _read,
    "IO.readlines": _read,
    "Dir.glob": _glob,
    "Dir.[]": _glob,
    "Dir.children": _children,
    "Dir.entries": _children,
    "Dir.each_child": _children,
    "Dir.foreach": _children,
    "Find.find": _find,
    "Pathname.glob": _glob,
    "Dir.home": _home,
    "Dir.pwd": lambda walk, call: text("."),
    "Rails.root": lambda walk, call: Value((".",), ref="path"),
    "Rails.root.join": lambda walk, call: Value(glued(call.plain, "/").items, ref="path"),
    "File.join": _join,
    "File.expand_path": _same,
    "File.realpath": _same,
    "File.absolute_path": _same,
    "String": _same,
    "Pathname.new": _path,
    "Pathname": _path,
    "String.new": _same,
    "Shellwords.escape": _same,
    "system": _command,
    "exec": _command,
    "spawn": _command,
    "`": _command,
    "Kernel.system": _command,
    "Kernel.exec": _command,
    "Kernel.spawn": _command,
    "Process.spawn": _command,
    "Process.exec": _command,
    "Kernel.`": _command,
    "IO.popen": _popen,
    "PTY.spawn": _command,
    "sh": _command,
    **{
        f"Open3.{name}": _command
        for name in ("capture2", "capture2e", "capture3", "popen2", "popen2e", "popen3", "pipeline")
    },
    "send": _send,
    "public_send": _send,
    "__send__": _send,
    "Kernel.send": _send,
    "Kernel.public_send": _send,
    "eval": _eval,
    "Kernel.eval": _eval,
    "instance_eval": _eval,
    "class_eval": _eval,
    "module_eval": _eval,
    "binding.eval": _eval,
    "Process.kill": _kill,
    "Net.HTTP.get": _fetch,
    "Net.HTTP.get_response": _fetch,
    "Net.HTTP.get_print": _fetch,
    "HTTParty.get": _fetch,
    "Faraday.get": _fetch,
    "RestClient.get": _fetch,
    "HTTP.get": _fetch,
    "Excon.get": _fetch,
    "URI": _same,
    "URI.parse": _same,
    "TCPSocket.new": _socket,
    "TCPSocket.open": _socket,
    "Socket.tcp": _socket,
    "TCPServer.new": _listen,
    "TCPServer.open": _listen,
    "Base64.decode64": _base64,
    "Base64.strict_decode64": _base64,
    "Base64.urlsafe_decode64": _base64,
    "format": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "sprintf": lambda walk, call: values.formatted(call.arg(0), call.args[1:]),
    "ENV.fetch": lambda walk, call: unknown(call.arg(0).text),
    "puts": _print,
    "print": _print,
    "p": _print,
    "Kernel.const_get": _constant,
    "Object.const_get": _constant,
    "Module.const_get": _constant,
    "method": _method_named,
    "Kernel.fork": lambda walk, call: None,
}
_ON_PATH: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "rmtree": ("delete", ("recursive",)),
    "delete": ("delete", ()),
    "unlink": ("delete", ()),
    "rmdir": ("delete", ("empty_only",)),
    "write": ("write", ()),
    "binwrite": ("write", ()),
    "truncate": ("truncate", ()),
    "rename": ("move", ()),
}


def call_ruby(walk: Walk, call: Call) -> Value | None:
    path = call.path
    known = _CALLS.get(path)
    if known:
        return known(walk, call)
    if call.on is None:
        return (
            _CALLS[f"FileUtils.{call.name}"](walk, call) if f"FileUtils.{call.name}" in _CALLS and call.args else None
        )
    return _method(walk, call, call.on)


def _method(walk: Walk, call: Call, on: Value) -> Value | None:
    if on.ref in ("file", doing.PIPE):
        if call.name in ("write", "puts", "print", "printf", "<<", "syswrite") or (
            on.ref == "file" and call.name not in _IDLE
        ):
            doing.written(walk, on, call.plain)
        return on
    if call.name in ("/", "join", "+") and on.ref == "path":
        return Value(glued([Value(on.items), *call.plain], "/").items, ref="path")
    if call.name in _ON_PATH and (
        on.ref == "path" or (on.traits and not on.many and call.name in ("delete", "rmtree", "unlink"))
    ):
        verb, traits = _ON_PATH[call.name]
        doing.paths(walk, verb, [on], *traits)
        return UNKNOWN
    if call.name in ("send", "public_send", "__send__"):
        return _send(walk, call)
    if call.name in ("instance_eval", "class_eval", "module_eval", "eval") and call.plain and call.plain[0].items:
        return _eval(walk, call)
    if call.name == "call" and (on.body >= 0 or on.ref in _CALLS):
        return walk.called(on, call.args)
    if call.name == "method" and call.plain and call.arg(0).known:
        owner = "" if on.ref in ("Kernel", "self", "Object") else on.ref
        return Value(ref=f"{owner}.{call.arg(0).text}" if owner else call.arg(0).text)
    if (
        call.name in ("get", "body", "read")
        and (on.url or on.ref in _HTTP)
        and call.plain
        and values.is_url(call.arg(0).text)
    ):
        return _fetch(walk, call)
    if on.ref in _HTTP and call.name in ("delete", "post", "put", "patch"):
        walk.out.effect("http", call.arg(0).text, call.name)
        return UNKNOWN
    if call.name in (
        "each",
        "each_entry",
        "map",
        "each_child",
        "children",
        "select",
        "reject",
        "each_slice",
        "collect",
        "filter",
        "find_each",
        "find_in_batches",
        "in_batches",
        "each_with_index",
        "times",
    ):
        return _looped(walk, call, on)
    found = records.active_record(walk, call)
    if found is not None:
        return found
    if on.url:
        return replace(on, ref="")
    return ruby_text(call, on) if not on.ref or on.ref == "path" or on.known else None


def _looped(walk: Walk, call: Call, on: Value) -> Value:
    """each and its kin: the block, or the function after `&`, gets one item at a time."""
    named = on.ref and on.ref != "path"
    one = replace(on.each(), ref=f"{on.ref}.each" if named else on.ref, traits=on.traits if named else on.each().traits)
    for value in call.args:
        if value.body >= 0:
            walk.run(value.body, (one,))
        elif value.ref and value.ref != PAIRS:
            walk.called(value, (one,))
        elif value.known and value.text.isidentifier():
            walk.invoke(Call(value.text, (), one))
    return replace(on, many=True) if on.ref in ("", "path") else replace(on, ref=f"{on.ref}.{call.name}")
