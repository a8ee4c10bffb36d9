"""Calls that reach the network: fetch, send, connect, listen."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.code.performing import leaks
from interlock.analysis.code.performing import request as send_request
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, concat, listed, text_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.facts import hole

LIBRARIES = ("requests.", "httpx.", "aiohttp.", "urllib3.", "urllib.request.", "http.client.", "socket.")
_QUIET = frozenset({"auth", "cert", "verify", "timeout", "context"})  # arguments that are meant to be secret


def _from(address: str) -> frozenset[str]:
    return frozenset({f"fetched:{address}"})


def _sent(call: LibraryCall) -> list[Value]:
    return [*call.args, *(value for key, value in call.named.items() if key not in _QUIET)]


def request(walk: ProgramWalk, call: LibraryCall) -> Value:
    """requests.get and its like, on the library, a session or anything that is given a URL."""
    url = call.get(0, "url")
    root = call.path.rpartition(".")[0]
    web = call.path.startswith(LIBRARIES) and (root in ("requests", "httpx", "requests.api") or root.endswith("()"))
    address = isinstance(url, str) and url.startswith(("http://", "https://"))
    if web or (address and isinstance(call.owner, Sym)):
        return send_request(walk, call.name, url, _sent(call))
    return UNKNOWN


def _request_by_name(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`request("DELETE", url)`; http.client knows the host from its connection."""
    if not call.path.startswith(LIBRARIES) and not call.text(1, "url").startswith("http"):
        return UNKNOWN
    url: Value = call.get(1, "url")
    if call.path.startswith("http.client.") and isinstance(call.owner, Sym):
        scheme = "https" if "HTTPS" in call.path else "http"
        url = concat((f"{scheme}://", call.owner.args[0] if call.owner.args else UNKNOWN, url))
    return send_request(walk, call.text(0, "method").lower(), url, _sent(call))


def _urlopen(walk: ProgramWalk, call: LibraryCall) -> Value:
    asked = call.get(0, "url")
    url, data, method = asked, call.get(1, "data", None), ""
    if isinstance(asked, Sym) and asked.path.endswith("Request()"):
        inner = LibraryCall(asked.path, None, list(asked.args), dict(asked.named))
        url, data = inner.get(0, "url"), inner.get(1, "data", data)
        method = text_of(inner.named.get("method", ""))
    return send_request(walk, (method or ("get" if data is None else "post")).lower(), url, [asked, *_sent(call)])


def _retrieve(walk: ProgramWalk, call: LibraryCall) -> Value:
    url, path = call.text(0, "url"), call.get(1, "filename", f"/tmp/tmp{hole()}")
    walk.world.effect("fetch", url)
    walk.world.touch("write", path, "downloaded")
    walk.world.downloads[text_of(path).removeprefix("./")] = url
    return (path, UNKNOWN)


def _address(value: Value) -> str:
    parts = listed(value)
    return ":".join(text_of(part) for part in ([value] if parts is None else parts[:2]))


def _connect(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.path.startswith("socket."):
        return UNKNOWN
    walk.world.peer = _address(call.get(0, "address"))
    if call.name == "bind":
        return walk.world.effect("listen", walk.world.peer)
    return Sym("socket.socket()", traits=_from(walk.world.peer))


def _receive(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not call.path.startswith("socket.") or not walk.world.peer:
        return UNKNOWN
    return Sym("?", traits=_from(walk.world.peer))


def _send(walk: ProgramWalk, call: LibraryCall) -> Value:
    leak = leaks(call.given())
    if leak and (walk.world.peer or call.name in ("sendmail", "send_message")):
        walk.world.effect("send", walk.world.peer or "mail", *leak)
    return UNKNOWN


def _wire(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.wired = walk.world.wired or bool(walk.world.peer)
    return None


def _listen(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.effect("listen", _address(call.get(0)))
    return UNKNOWN


CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(["urllib.request.urlopen", "urllib.urlopen", "urlopen"], _urlopen),
    **dict.fromkeys(["urllib.request.urlretrieve", "urllib.urlretrieve", "wget.download"], _retrieve),
    "socket.create_connection": _connect,
    "os.dup2": _wire,
    **dict.fromkeys(["http.server.HTTPServer", "socketserver.TCPServer"], _listen),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(["get", "post", "put", "patch", "head"], request),
    "request": _request_by_name,
    **dict.fromkeys(["connect", "bind"], _connect),
    **dict.fromkeys(["recv", "recvfrom"], _receive),
    **dict.fromkeys(["send", "sendall", "sendto", "sendmail", "send_message"], _send),
}
