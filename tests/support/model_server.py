"""A model that always wants to run one command, in the words of four vendors' APIs; for agents that are checked without a real one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHELLS = ("Bash", "bash", "run_shell_command", "shell_command", "exec_command", "shell", "local_shell", "terminal")
_ANSWERED = ("tool_result", "function_call_output", "functionResponse", '"role":"tool"', '"role": "tool"')


@dataclass
class Model:
    """The command that the model wants, and the requests it received."""

    command: str = "true"
    port: int = 0
    heard: list[str] = field(default_factory=list)  # paths and bodies

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def fake_model() -> Iterator[Model]:
    model = Model()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._send("application/json", json.dumps({"data": [{"id": "fake", "object": "model"}], "object": "list"}))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
            model.heard.append(f"{self.path} {body}")
            kind, text = answer(self.path, body, model.command)
            self._send(kind, text)

        def _send(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def answer(path: str, body: str, command: str) -> tuple[str, str]:
    """The reply to one request: the command where a shell is offered and nothing was answered yet, else the end."""
    try:
        given = json.loads(body) if body else {}
    except ValueError:
        given = {}
    tool = None if any(mark in body for mark in _ANSWERED) else _shell(given)
    call = (tool, _arguments(given, tool, command)) if tool else None
    if "count_tokens" in path or "countTokens" in path:
        return "application/json", json.dumps({"input_tokens": 1, "totalTokens": 1})
    if "/messages" in path:
        return _events(_anthropic(call), given.get("stream"))
    if "/responses" in path:
        return _events(_responses(call), True)
    if "enerateContent" in path:
        return _gemini(call, "stream" in path)
    return _chat(call, given.get("stream"))


def _tools(given: Any) -> Iterator[dict[str, Any]]:
    for tool in given.get("tools") or () if isinstance(given, dict) else ():
        yield from tool.get("functionDeclarations") or [tool.get("function") or tool]


def _shell(given: Any) -> str | None:
    names = [tool.get("name") for tool in _tools(given)]
    return next((name for name in SHELLS if name in names), None)


def _arguments(given: Any, name: str, command: str) -> dict[str, Any]:
    tool = next(tool for tool in _tools(given) if tool.get("name") == name)
    schema = tool.get("input_schema") or tool.get("parameters") or tool.get("parametersJsonSchema") or {}
    known = schema.get("properties") or {}
    wanted: dict[str, Any] = {"cmd" if "cmd" in known else "command": command}
    if known.get("command", {}).get("type") in ("array", "ARRAY"):
        wanted["command"] = ["bash", "-lc", command]
    return wanted | {key: "check" for key in schema.get("required") or () if key not in wanted}


def _events(events: list[dict[str, Any]], stream: Any) -> tuple[str, str]:
    if not stream:
        return "application/json", json.dumps(events[0].get("message") or events[-1])
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return "text/event-stream", "".join(lines)


def _anthropic(call: tuple[str, dict[str, Any]] | None) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    empty = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": "done"}
    if call:
        block = {"type": "tool_use", "id": "toolu_1", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**empty, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(call: tuple[str, dict[str, Any]] | None) -> list[dict[str, Any]]:
    text = {"type": "output_text", "text": "done", "annotations": []}
    item: dict[str, Any] = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    if call:
        item = {
            "type": "function_call",
            "id": "f1",
            "call_id": "call_1",
            "name": call[0],
            "arguments": json.dumps(call[1]),
        }
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    whole = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {"id": "r1", "object": "response", "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def _gemini(call: tuple[str, dict[str, Any]] | None, stream: bool) -> tuple[str, str]:
    part: dict[str, Any] = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "done"}
    said = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    }
    if stream:
        return "text/event-stream", f"data: {json.dumps(said)}\n\n"
    return "application/json", json.dumps(said)


def _chat(call: tuple[str, dict[str, Any]] | None, stream: Any) -> tuple[str, str]:
    message: dict[str, Any] = {"role": "assistant", "content": "done"}
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}],
        }
    finish = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c1", "created": 0, "model": "fake", "usage": usage}
    if not stream:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return "application/json", json.dumps({**head, "object": "chat.completion", "choices": [choice]})
    chunks = [{"index": 0, "delta": message, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": finish}]
    lines = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [chunk]}) for chunk in chunks]
    return "text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
