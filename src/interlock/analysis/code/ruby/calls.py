"""Effects and results of Ruby's functions and methods, text and list methods included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from interlock.analysis.code import effects, orm, values
from interlock.analysis.code.dialect import CodeCall
from interlock.analysis.code.ruby.files import FILES, looped, run_blocks, same
from interlock.analysis.code.values import EMPTY, UNKNOWN, Value, glued, text, unknown
from interlock.analysis.code.walk import CodeWalk

_IDLE = frozenset({"close", "flush", "closed?", "path", "sync="})
_HTTP = frozenset(("HTTParty Faraday RestClient Excon HTTP Typhoeus Net.HTTP URI OpenURI Down").split())


def _constant(_walk: CodeWalk, call: CodeCall) -> Value:
    return Value(ref=call.arg(0).text.replace("::", ".")) if call.arg(0).known else UNKNOWN


def _method_named(_walk: CodeWalk, call: CodeCall) -> Value:
    return Value(ref=call.arg(0).text) if call.arg(0).known else UNKNOWN


def _command(walk: CodeWalk, call: CodeCall) -> Value:
    """system, exec, spawn: an environment may come first, options last."""
    words = tuple(value for value in call.plain if not (value.many and not value.items))
    if words and words[0].many and len(words[0].items) == 2 and len(words) > 1:
        words = (text(words[0].items[0]), *words[1:])
    return effects.command(walk, words)


def _popen(walk: CodeWalk, call: CodeCall) -> Value:
    first = call.plain[0] if call.plain else EMPTY
    made = (
        effects.run(walk, [first])
        if first.many
        else effects.command(walk, call.plain[:1] if _has_mode(call) else call.plain)
    )
    run_blocks(walk, call, (made,))
    return made


def _has_mode(call: CodeCall) -> bool:
    return len(call.plain) < 2 or len(call.plain[1].text) <= 2


def _send(walk: CodeWalk, call: CodeCall) -> Value | None:
    """send(:name, …): a call whose name is a value."""
    chosen = call.arg(0)
    on = None if call.on is None or call.on.ref in ("Kernel", "Object", "self") else call.on
    if chosen.known:
        return walk.invoke(CodeCall(chosen.text, call.args[1:], on))
    if len(call.args) > 1:
        walk.out.unreadable("a function chosen at run time", "command")
    return UNKNOWN


def _eval(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.evaluate(walk, call.plain[0], "ruby", "Ruby") if call.plain else UNKNOWN


def _kill(walk: CodeWalk, call: CodeCall) -> Value:
    return effects.kill(walk, call.plain[1:]) if call.arg(0).text not in ("0", "EXIT") else UNKNOWN


def _fetch(walk: CodeWalk, call: CodeCall) -> Value:
    value = effects.fetch(walk, call.arg(0))
    run_blocks(walk, call, (value,))
    return value


def _socket(walk: CodeWalk, call: CodeCall) -> Value:
    value = effects.socket(walk, call.arg(0), call.plain[1] if len(call.plain) > 1 else None)
    run_blocks(walk, call, (value,))
    return value


def _listen(walk: CodeWalk, call: CodeCall) -> Value:
    walk.out.effect("listen", call.plain[-1].text if call.plain else "")
    return Value(ref="socket")


def _base64(_walk: CodeWalk, call: CodeCall) -> Value:
    return values.unbase64(call.arg(0))


def _print(walk: CodeWalk, call: CodeCall) -> Value:
    return UNKNOWN


_CALLS: Mapping[str, Callable[[CodeWalk, CodeCall], Value | None]] = {
    **FILES,
    "URI.open": _fetch,
    "OpenURI.open_uri": _fetch,
    "String": same,
    "String.new": same,
    "Shellwords.escape": same,
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
    "URI": same,
    "URI.parse": same,
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


def call_ruby(walk: CodeWalk, call: CodeCall) -> Value | None:
    path = call.path
    known = _CALLS.get(path)
    if known:
        return known(walk, call)
    if call.on is None:
        return (
            _CALLS[f"FileUtils.{call.name}"](walk, call) if f"FileUtils.{call.name}" in _CALLS and call.args else None
        )
    return _method(walk, call, call.on)


def _method(walk: CodeWalk, call: CodeCall, on: Value) -> Value | None:
    if on.ref in ("file", effects.PIPE):
        if call.name in ("write", "puts", "print", "printf", "<<", "syswrite") or (
            on.ref == "file" and call.name not in _IDLE
        ):
            effects.written(walk, on, call.plain)
        return on
    if call.name in ("/", "join", "+") and on.ref == "path":
        return Value(glued([Value(on.items), *call.plain], "/").items, ref="path")
    if call.name in _ON_PATH and (
        on.ref == "path" or (on.traits and not on.many and call.name in ("delete", "rmtree", "unlink"))
    ):
        verb, traits = _ON_PATH[call.name]
        effects.paths(walk, verb, [on], *traits)
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
        return looped(walk, call, on)
    found = orm.active_record(walk, call)
    if found is not None:
        return found
    if on.url:
        return replace(on, ref="")
    return ruby_text(call, on) if not on.ref or on.ref == "path" or on.known else None


_KEEPS = frozenset(
    (
        "read body to_s to_str strip chomp freeze dup string itself to_path expand_path realpath each "
        "each_with_index map select reject sort to_a flatten compact uniq reverse_each lazy filter sort_by "
        "each_entry cleanpath collect value shellescape force_encoding encode"
    ).split()
)


def ruby_text(call: CodeCall, on: Value) -> Value | None:
    """A method of a text or a list that makes another."""
    name, args = call.name, call.plain
    if name in ("+", "concat", "<<"):
        return glued([on, *args])
    if name == "join":
        return values.joined(args[0] if args else EMPTY, on)
    if name in ("reverse",):
        return values.turned(on) if on.many else values.backwards(on)
    if name == "pack":
        return values.packed(args[0], [on]) if args else UNKNOWN
    if name == "unpack1" or name == "unpack":
        return values.unbase64(on) if args and args[0].text.startswith("m") else UNKNOWN
    if name == "chr":
        return values.character(on)
    if name in ("downcase", "upcase"):
        return values.lower(on) if name == "downcase" else values.upper(on)
    if name in ("gsub", "sub", "tr", "delete") and len(args) == 2 and name != "tr":
        return values.swapped(on, args[0], args[1])
    if name == "hex":
        return values.from_hex(on)
    if name == "split":
        return values.split(on, args[0].text if args else None)
    if name in ("first", "last") and on.many:
        return on.at(text("0" if name == "first" else "-1"))
    if name == "to_sym" or name in _KEEPS:
        return replace(on, ref="" if on.ref != "path" else on.ref)
    return None
