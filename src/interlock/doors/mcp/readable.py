"""Bytes of a JSON-RPC message -> text that can be parsed; what no text holds becomes a call that is refused in MCP-AQL's words."""

from __future__ import annotations

import json
from typing import Any

MARK = "_undecodable"  # in the arguments of a call whose own could not be read
MOST_BYTES = 16 * 1024 * 1024  # of one message


def readable(message: bytes) -> str:
    """The message; where it is not UTF-8 or holds half a character, the same call with arguments that only say so (EP-11)."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        return _salvaged(message.decode("utf-8", "replace"), f"The request is not UTF-8; see byte {error.start}")
    if len(message) > MOST_BYTES:
        return _salvaged(text, "The request is too long to be read")
    if "\\u" in text and _halves(text):
        return _salvaged(text, "A text holds half of a character (a lone surrogate)")
    return text


def undecodable(arguments: Any) -> str:
    """Why the arguments of a call could not be read; empty where they could."""
    return str(arguments[MARK])[:200] if isinstance(arguments, dict) and set(arguments) == {MARK} else ""


def _halves(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass  # no JSON at all, which its parser will say
    return False


def _salvaged(text: str, why: str) -> str:
    """The call's frame, without what it carried."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return text
    params = {**message["params"], "arguments": {MARK: why}}
    return json.dumps({**message, "params": params}, ensure_ascii=True)
