"""Parses one line of JSON-RPC, refuses ambiguous ones, and builds a proxy's own messages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import unquote

from interlock.strict_json import UnclearJson, decoder, number, table_in

Send = Callable[[bytes], None]
Key = tuple[str, object]  # an id: 1, 1.0, "1" and true are four
PARSE, INVALID, METHOD, SERVER = -32700, -32600, -32601, -32000
CALL, LIST, CANCELLED = "tools/call", "tools/list", "notifications/cancelled"
NOT_PASSED = "Interlock did not pass this on"
_FIELDS, _PARAMS = (
    {name.casefold(): name for name in names.split()}
    for names in ("jsonrpc id method params result error", "name arguments _meta task inputResponses requestState")
)
_PLAIN = re.compile(r"[!-~]+")  # every method and field of the protocol: visible ASCII
_ESCAPED = re.compile(r"\\+u([0-9a-f]{4})|\\+x([0-9a-f]{2})")
_DECODINGS = 4  # layers of encoding that a method is decoded through


class AmbiguousMessage(ValueError):
    """A line that two parsers could read differently."""


def parse_message(line: bytes) -> Any:
    """Raises AmbiguousMessage for text that is not JSON, duplicate keys and invalid numbers."""
    try:
        return _DECODER.decode(line.decode())
    except RecursionError:
        why = "it is nested too deeply"
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except json.JSONDecodeError as error:
        why = f"it is not JSON, see character {error.pos}"
    except UnclearJson as error:
        why = str(error)
    raise AmbiguousMessage(why)


def check_fields(message: Any) -> None:
    """Refuses what is no object, and a field that some parsers take for another: those that ignore case read `Method` as `method`."""
    if type(message) is not dict:
        raise AmbiguousMessage("a message is an object")
    _check_spelling(message, _FIELDS, "the field ")
    if message.get("method") == CALL and type(params := message.get("params")) is dict:
        _check_spelling(params, _PARAMS, "params.")


def _check_spelling(table: dict[str, Any], known: dict[str, str], where: str) -> None:
    for name in table:
        if known.get(name) != name and (known.get(name.casefold(), name) != name or not _PLAIN.fullmatch(name)):
            raise AmbiguousMessage(f"{where}{name!r:.40} is not spelled as in the protocol")


def mimics_call(method: str) -> bool:
    """Whether a server that is not strict could take a method for `tools/call`: another case, other separators, escapes,
    letters that are not ASCII; and every method of `tools/` that the protocol does not have."""
    if method in (CALL, LIST):
        return False
    if not _PLAIN.fullmatch(method):
        return True
    plain = method.lower()
    for _ in range(_DECODINGS):
        plain = unquote(_ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), plain)).lower()
    words = re.findall(r"[a-z0-9]+", plain)
    joined = "".join(words)
    return words[:1] in (["tool"], ["tools"]) or any(one in joined for one in ("toolcall", "toolscall", "calltool"))


def id_key(id: Any) -> Key:
    """Tells ids apart; raises AmbiguousMessage for one that is neither a text nor a number."""
    if id is not None and type(id) not in (str, int, float):
        raise AmbiguousMessage("its id is neither a text nor a number")
    return type(id).__name__, id


def encode_message(message: Any) -> bytes:
    return _ENCODER.encode(message).encode() + b"\n"


def request(method: str, params: Any, **id: str) -> bytes:
    """A notification where it has no id."""
    return encode_message({"jsonrpc": "2.0", **id, "method": method, "params": params})


def response(id: Any, result: Any) -> bytes:
    return encode_message({"jsonrpc": "2.0", "id": id, "result": result})


def denial(id: Any, words: str) -> bytes:
    """A denied call, as a result in every era of the protocol: models read results, and few clients show them errors."""
    return response(id, {"content": [{"type": "text", "text": words}], "isError": True, "resultType": "complete"})


def with_notice(message: dict[str, Any], words: str) -> dict[str, Any]:
    """Adds a text to a server's response, where it is a result with content."""
    result = table_in(message, "result")
    if not isinstance(content := result.get("content"), list):
        return message
    return {**message, "result": {**result, "content": [*content, {"type": "text", "text": words}]}}


def error(id: Any, code: int, words: str) -> bytes:
    return encode_message({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}})


class OwnRequests:
    """A proxy's own, to one side, which alone may answer them."""

    def __init__(self, send: Send, prefix: str) -> None:
        self._send, self._prefix, self._numbers = send, prefix, count(1)
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """None for an error."""
        id = f"{self._prefix}-{next(self._numbers)}"
        waiting = self._waiting[id] = asyncio.get_running_loop().create_future()
        try:
            self._send(request(method, params, id=id))
            return await waiting
        finally:
            self._waiting.pop(id, None)

    def answer(self, message: dict[str, Any]) -> bool:
        """False where it answers none of these requests."""
        id = message.get("id")
        waiting = self._waiting.pop(id, None) if type(id) is str else None
        if waiting is not None and not waiting.done():
            waiting.set_result(message.get("result"))
        return waiting is not None

    def give_up(self) -> None:
        for id in list(self._waiting):
            self.answer({"id": id})


_DECODER = decoder(number)
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
