"""Effects of calls that reach the network: fetch, send, connect, listen, and what clients ask their services for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from interlock.analysis.code.library import COMMON, Entry, chosen, flattened, library, pick, words
from interlock.analysis.code.performing.running import Work
from interlock.analysis.code.program.values import (
    UNKNOWN,
    LibraryCall,
    ProgramFunction,
    Sym,
    Value,
    concat,
    file_traits,
    links,
    listed,
    origin,
    text_of,
    traits_of,
)
from interlock.analysis.facts import HOLE, hole, known

_SECRET_NAME = re.compile(rf"{HOLE}\w*(?:SECRET|PASSWORD|PASSWD|TOKEN|PRIVATE_KEY|ACCESS_KEY|API_?KEY)\w*{HOLE}", re.I)


def leaks(values: Iterable[Value]) -> list[str]:
    marks = traits_of(list(values))
    return [trait for trait in ("environment", "secret") if trait in marks]


def file_content(url: str, values: Iterable[Value]) -> list[str]:
    """`content`, where that of a file goes to an unknown host with something else than the headers."""
    parts = [
        [one for key, one in value.items() if key != "headers"] if isinstance(value, dict) else value
        for value in values
    ]
    if not origin(parts, "file:"):
        return []
    from interlock.analysis.shell.network import of_the_machine

    return list(of_the_machine(url))


def _named_secrets(values: Iterable[Value]) -> list[str]:
    stack, left = list(values), 500
    while stack and left:
        value, left = stack.pop(), left - 1
        if isinstance(value, str) and not known(value) and _SECRET_NAME.search(value):
            return ["secret"]
        stack += value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return []


def _send(call: LibraryCall, entry: Entry) -> Value:
    content = [*pick(call, entry["send"]), *call.named.values()]
    peer = "".join(map(text_of, chosen(call, entry, "target")[:1]))
    peer = peer if "target" in entry else call.world.peer or entry.get("called", "")
    leak = leaks(content) or _named_secrets(content) or file_content(peer, content)
    if leak and peer:
        call.world.effect("send", peer, *leak)
    return UNKNOWN


def _wire(call: LibraryCall, entry: Entry) -> Value:
    """The standard streams become the connection."""
    call.world.wired |= bool(call.world.peer)
    return None


def request(call: LibraryCall, method: str, url: Value, given: Iterable[Value], bodies: Iterable[Value] = ()) -> Value:
    if isinstance(url, dict):  # in pieces
        host, port = url.get("hostname", url.get("host", UNKNOWN)), [":", url["port"]] if "port" in url else []
        url = concat([host, *port, url.get("path", "")])
    given, address = list(given), text_of(url)
    leak = leaks([url, *given]) or _named_secrets(bodies) or file_content(address, given)
    if leak:
        call.world.effect("send", address, *leak)
    if method in ("post", "put", "patch", "delete"):
        call.world.effect("http", address, method)
    elif not leak:
        call.world.effect("fetch", address, *_named_secrets([address]))
    return Sym("<response>", traits=frozenset({f"fetched:{address if known(address) else 'the network'}"}))


def _http(call: LibraryCall, entry: Entry) -> Value:
    """What an address gives goes into a file, which may have no name, where the call says so."""
    fetches = "fetch" in entry
    found = pick(call, entry["fetch" if fetches else "http"])
    if not found:
        return UNKNOWN
    url, sent = found[0], _sent(call, entry, found)
    method = "get" if fetches else entry.get("method", call.name.lower().removesuffix("async").rstrip("!"))
    if "by" in entry:
        method = text_of((pick(call, entry["by"]) or ["get"])[0]).lower()
    if "base" in entry:
        url = concat((entry["base"], *(pick(call, "from") or [UNKNOWN])[:1], url))
    if isinstance(url, Sym) and url.name == "Request()":  # made before it is sent
        asked = LibraryCall(call.walk, url.path, None, list(url.args), dict(url.named))
        url, sent = asked.get(0, "url"), [*sent, *pick(asked, [1, "data"])]
        method = text_of(asked.named.get("method", method)).lower()
        return request(call, "post" if method == "sends" and sent else method, url, [*sent, *asked.given()])
    made = request(call, "post" if method == "sends" and sent else method, url, sent, sent if "sends" in entry else ())
    unnamed = [f"/tmp/tmp{hole()}"] if fetches and "to" in entry else []
    for path in (chosen(call, entry, "to") or unnamed)[:1]:
        call.world.touch("write", path, "downloaded")
        call.world.download(path, text_of(url))
        made = (path, UNKNOWN) if fetches else made
    return made


def _sent(call: LibraryCall, entry: Entry, address: Sequence[Value]) -> list[Value]:
    files = [Sym("?", traits=file_traits(text_of(path))) for path in flattened(pick(call, entry.get("read", [])))]
    if "sends" in entry:
        return files + [one for one in pick(call, entry["sends"]) if one is not None]
    quiet = words(COMMON)["quiet"]
    named = [(key, value) for key, value in call.named.items() if key not in quiet]
    given = [*call.args, *({key: value} if key == "headers" else value for key, value in named)]
    return files + [value for value in given if not any(value is one for one in address)]


def _address(values: Sequence[Value]) -> list[str]:
    """Some languages give it as a pair."""
    return [text_of(part) for value in values[:1] for part in (listed(value) or [value])[:2]]


def _connect(call: LibraryCall, entry: Entry) -> Value:
    port = [text_of(value) for value in chosen(call, entry, "port")[:1]]
    call.world.peer = ":".join([*_address(pick(call, entry["connect"])), *port]) or "a connection"
    return Sym("socket", traits=frozenset({f"fetched:{call.world.peer}", "socket"}))


def _listen(call: LibraryCall, entry: Entry) -> Value:
    call.world.effect("listen", ":".join(_address(pick(call, entry["listen"]))))
    call.world.peer = call.world.peer or "a listening port"
    return Sym("socket")


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LISTS = re.compile(r"^(?:list|get|iter|search)_(?:all_)?")


def _ask_client(call: LibraryCall, entry: Entry) -> Value:
    if entry["client"] == "operation":  # a client whose methods are called what they do
        return _operation(call)
    operation, asks = _snake(call.name.removesuffix("Command")), words("services")
    parts = operation.split("_")
    made = call.name.endswith("Command") or any(link.path.endswith("()") for link in links(call.owner))
    if not made or len(parts) < 2 or not parts[0]:
        return UNKNOWN
    if parts[0] not in asks["reads"] or not asks["secrets"].isdisjoint(parts):
        service = (chosen(call, entry, "of") or [call.path.split(".")[1].removesuffix("()").lower()])[0]
        given = [(key, one) for key, one in call.named.items() if key != "**" and not isinstance(one, ProgramFunction)]
        options = [word for key, value in given for word in _option(_kebab(key), value)]
        call.world.run([entry["client"], library("services").canonical(text_of(service)), _kebab(operation), *options])
    return Sym("?")


def _option(name: str, value: Value) -> list[str]:
    flag = f"--{name}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{name}"]
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return [flag, " ".join(map(text_of, value))]
    if isinstance(value, (dict, list)):
        return [flag, json.dumps(value, default=text_of)]
    return [flag, text_of(value)]


def _kebab(name: str) -> str:
    return _snake(name).replace("_", "-")


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def _operation(call: LibraryCall) -> Value:
    if call.world.idle:
        return UNKNOWN
    asks, noun = words("services"), _noun(call)
    parts = _snake(call.name).removeprefix("begin_").split("_")
    if parts[0] not in asks["ends"] and not (parts[0] == "create" and noun in asks["pays"]):
        return UNKNOWN
    many = "bulk_" if ".[]" in call.path else ""
    name = "_".join(parts) if len(parts) > 1 else f"{parts[0]}_{noun}"
    from interlock.analysis.operations.operation import read_operation

    given = {key: text_of(value) for key, value in call.named.items() if key != "**"}
    read_operation(f"{many}{name}", given, "", call.world.out)
    return Sym("?")


def _noun(call: LibraryCall) -> str:
    """`containers.list()[0].remove` is about a container."""
    fillers = words("services")["fillers"]
    for link in links(call.owner):
        name = _LISTS.sub("", link.name.removesuffix("()"))
        filler = name in fillers or name.partition("_")[0] in fillers or name.endswith(("Api", "Client", "Service"))
        if name and name != "[]" and not filler:
            return _snake(name).removesuffix("s")
    return "item"


NETWORK_EFFECTS: Mapping[str, Work] = {
    "receive": lambda call, entry: (
        Sym("?", traits=frozenset({f"fetched:{call.world.peer}"})) if call.world.peer else UNKNOWN
    ),
    "fetch": _http, "http": _http, "connect": _connect, "client": _ask_client, "listen": _listen, "send": _send, "wire": _wire,
}  # fmt: skip
