"""What do the functions and methods of Ruby do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from interlock.core.read.inline.common import doing, records, values
from interlock.core.read.inline.common.dialect import Call
from interlock.core.read.inline.common.values import EMPTY, UNKNOWN, Value, glued, text, unknown
from interlock.core.read.inline.common.walk import Walk
from interlock.core.read.inline.ruby.blocks import looped, run_blocks
from interlock.core.read.inline.ruby.files import FILES, same
from interlock.core.read.inline.ruby.texts import ruby_text

_IDLE = frozenset({"close", "flush", "closed?", "path", "sync="})
_HTTP = frozenset(("HTTParty Faraday RestClient Excon HTTP Typhoeus Net.HTTP URI OpenURI Down").split())


def _constant(_walk: Walk, call: Call) -> Value:
    return Value(ref=call.arg(0).text.replace("::", ".")) if call.arg(0).known else UNKNOWN


def _method_named(_walk: Walk, call: Call) -> Value:
    return Value(ref=call.arg(0).text) if call.arg(0).known else UNKNOWN


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
    run_blocks(walk, call, (made,))
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
    run_blocks(walk, call, (value,))
    return value


def _socket(walk: Walk, call: Call) -> Value:
    value = doing.socket(walk, call.arg(0), call.plain[1] if len(call.plain) > 1 else None)
    run_blocks(walk, call, (value,))
    return value


def _listen(walk: Walk, call: Call) -> Value:
    walk.out.effect("listen", call.plain[-1].text if call.plain else "")
    return Value(ref="socket")


def _base64(_walk: Walk, call: Call) -> Value:
    return values.unbase64(call.arg(0))


def _print(walk: Walk, call: Call) -> Value:
    return UNKNOWN


_CALLS: Mapping[str, Callable[[Walk, Call], Value | None]] = {
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
        return looped(walk, call, on)
    found = records.active_record(walk, call)
    if found is not None:
        return found
    if on.url:
        return replace(on, ref="")
    return ruby_text(call, on) if not on.ref or on.ref == "path" or on.known else None
