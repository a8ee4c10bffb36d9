"""Requests, uploads and connections of a JavaScript program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.methods import unknown_call
from interlock.analysis.code.javascript.values import (
    UNKNOWN,
    JsFunction,
    JsOrigin,
    JsPath,
    Value,
    options,
    strongest,
    to_text,
)
from interlock.analysis.facts import HOLE, hole
from interlock.analysis.place_names import is_secret

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk

_CLIENTS = frozenset({"axios", "got", "ky", "superagent", "request", "needle", "undici", "http", "phin", "wretch"})
_METHODS = frozenset({"get", "post", "put", "patch", "delete", "del", "head", "request", "stream", "fetch", "options"})
_CHANGES = frozenset({"post", "put", "patch", "delete"})
_BODIES = ("body", "data", "json", "form", "formData", "payload", "params", "searchParams", "qs")
_SECRET_NAME = re.compile(rf"{HOLE}\w*(?:SECRET|PASSWORD|PASSWD|TOKEN|PRIVATE_KEY|ACCESS_KEY|API_?KEY)\w*{HOLE}", re.I)


def leak(values: list[Value]) -> str:
    """What leaves with these values: "environment", "secret" or nothing."""
    origin = strongest(values)
    if origin is not None and origin.kind == "environment":
        return "environment"
    if origin is not None and origin.kind == "content" and is_secret(origin.source[-300:]):
        return "secret"
    return "secret" if any(_SECRET_NAME.search(text) for text in _texts(values)) else ""


def _texts(values: list[Value]) -> list[str]:
    found: list[str] = []
    stack: list[Value] = list(values)
    for _ in range(500):
        if not stack:
            break
        value = stack.pop()
        if isinstance(value, dict):
            stack += value.values()
        elif isinstance(value, list):
            stack += value[:100]
        elif isinstance(value, str):
            found.append(value)
    return found


def _ask(walk: JsWalk, url: Value, method: str, body: list[Value], callbacks: list[Value]) -> Value:
    """Report one request."""
    for option in options(url):
        text = to_text(option) or hole()
        carried = leak(body) or (leak([option]) if isinstance(option, JsOrigin) else "")
        if carried:
            walk.out.effect("send", text, carried)
        if method in _CHANGES:
            walk.out.effect("http", text, method)
        elif not carried:
            walk.out.effect("fetch", text, *(("secret",) if _SECRET_NAME.search(text) else ()))
    made = JsOrigin("fetched", to_text(url))
    for callback in callbacks:
        if isinstance(callback, JsFunction):
            walk.invoke(callback, [made] * 3)
    return made


def _where(args: list[Value]) -> Value:
    """The address of a request, given as text or in pieces."""
    for value in args:
        if isinstance(value, dict):
            for key in ("url", "uri", "href"):
                if key in value:
                    found: Value = value[key]
                    return found
            host = value.get("hostname", value.get("host"))
            if host is not None:
                port = f":{to_text(value['port'])}" if "port" in value else ""
                return f"{to_text(host)}{port}{to_text(value.get('path', ''))}"
        elif not isinstance(value, JsFunction) and value is not None:
            return value
    return UNKNOWN


def _method(callee: JsPath, args: list[Value]) -> str:
    for value in args:
        if isinstance(value, dict) and "method" in value:
            return to_text(value["method"]).lower()
    name = callee.last.lower()
    return "delete" if name == "del" else name if name in _METHODS - {"request", "stream", "fetch"} else "get"


def _request(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    method = _method(callee, args)
    held = [value[key] for value in args if isinstance(value, dict) for key in _BODIES if key in value]
    positional = args[1:2] if method in ("post", "put", "patch") and callee.last not in ("request", "fetch") else []
    return _ask(walk, _where(args), method, held + positional, args)


def _connect(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    host = _where([value for value in args if isinstance(value, str | dict | JsOrigin) or value is UNKNOWN])
    walk.host = to_text(host) if args and host is not UNKNOWN else walk.host
    made = JsOrigin("socket", walk.host)
    for value in args:
        if isinstance(value, JsFunction):
            walk.invoke(value, [made])
    return made


def _lookup(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    carried = leak(args)
    if carried:
        walk.out.effect("send", to_text(args[0]), carried)
    return unknown_call(walk, callee, args)


def _listen(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    walk.out.effect("listen", to_text(args[0]) if args and not isinstance(args[0], dict | JsFunction) else "")
    return unknown_call(walk, callee, args)


def _server(walk: JsWalk, callee: JsPath, args: list[Value]) -> Value:
    for value in args:
        if isinstance(value, JsFunction):
            walk.invoke(value, [JsOrigin("socket")] if callee.name.startswith("net") else [UNKNOWN, UNKNOWN])
    return JsPath("server")


NET: dict[str, Callable[[JsWalk, JsPath, list[Value]], Value]] = {
    "fetch": _request, "Bun.fetch": _request, "net.connect": _connect, "net.createConnection": _connect,
    "net.Socket": _connect, "Bun.connect": _connect, "Deno.connect": _connect, "net.createServer": _server,
    "http.createServer": _server, "server.listen": _listen, "dns.lookup": _lookup, "dns.resolve": _lookup,
    "WebSocket": _connect, "ws": _connect, "ws.WebSocket": _connect,
}  # fmt: skip


def network(walk: JsWalk, callee: JsPath, args: list[Value], base: Value) -> Value:
    """A request made by a client library or on an open connection; None when this is something else."""
    if isinstance(base, JsOrigin):
        return _on_connection(walk, callee, args, base)
    root = callee.name.partition(".")[0].removesuffix("()")
    if root in _CLIENTS and (callee.last in _METHODS or callee.name in _CLIENTS) and args:
        return _request(walk, callee, args)
    return None


def _on_connection(walk: JsWalk, callee: JsPath, args: list[Value], base: JsOrigin) -> Value:
    if base.kind == "socket" and callee.last == "connect":
        return _connect(walk, callee, args)
    if callee.last in ("write", "end", "send", "sendall") and base.kind in ("socket", "fetched"):
        carried = leak(args)
        if carried:
            walk.out.effect("send", base.source or walk.host, carried)
    return UNKNOWN
