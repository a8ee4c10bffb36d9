"""An MCP server for tests, without any library: it writes down every line it gets, and misbehaves when a tool's name says so."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

LOG = os.environ.get("ODD_LOG", os.devnull)
MORE = json.loads(os.environ.get("ODD_TOOLS", "{}"))  # descriptions that are others by now
NAMES = "get_note list_notes delete_note archive_note crash hang huge invalid stray twice ask_client report_progress".split()


def say(message: Any) -> None:
    raw(json.dumps(message).encode())


def raw(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def answer(id: Any, text: str) -> None:
    say({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})


def tools() -> list[dict[str, Any]]:
    found = [
        {"name": name, "description": MORE.get(name, f"the tool {name}"), "inputSchema": {"type": "object"}}
        for name in NAMES
    ]
    hints: dict[str, Any] = {
        "archive_note": {"destructiveHint": True, "readOnlyHint": False},
        **{key: {"readOnlyHint": True} for key in ("list_notes", "delete_note", "stray")},
    }
    return [{**one, "annotations": hints[one["name"]]} if one["name"] in hints else one for one in found]


def call(id: Any, params: dict[str, Any]) -> None:
    name, arguments = params.get("name"), params.get("arguments") or {}
    if name == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    elif name == "hang":
        time.sleep(600)
    elif name == "huge":
        raw(b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 300_000 + b'"}')
    elif name == "invalid":
        for line in (b"{not json", b"[]]", b"\xff\xfe", b"42", b'{"id":1,"id":2,"result":{}}'):
            raw(line)
        answer(id, "after nonsense")
    elif name == "stray":
        for other in arguments.get("ids", []):
            answer(other, "a stray answer")
        answer(id, "after strays")
    elif name == "twice":
        answer(id, "first")
        answer(id, "second")
    elif name == "ask_client":
        say({"jsonrpc": "2.0", "id": arguments.get("id", "s1"), "method": "sampling/createMessage", "params": {"x": 1}})
        answer(id, "asked")
    elif name == "report_progress":
        progress = {"progressToken": params.get("_meta", {}).get("progressToken"), "progress": 1}
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
        answer(id, "reported")
    else:
        answer(id, f"{name} {json.dumps(arguments, sort_keys=True)}")


def one(message: Any) -> None:
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return
    id, method, params = message["id"], message["method"], message.get("params") or {}
    if method == "initialize":
        about = {"name": "odd", "version": "1"}
        version = params.get("protocolVersion")
        say({"jsonrpc": "2.0", "id": id, "result": {
            "protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": about,
        }})  # fmt: skip
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": id, "result": {"tools": tools()}})
    elif method == "tools/call":
        call(id, params)
    else:
        say({"jsonrpc": "2.0", "id": id, "result": {"echo": method, "params": params}})


with open(LOG, "ab", buffering=0) as log:
    for line in sys.stdin.buffer:
        log.write(line)
        given = json.loads(line)
        for message in given if isinstance(given, list) else [given]:
            one(message)
