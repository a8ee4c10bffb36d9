"""Planners against a local server that speaks their APIs: good answers, and everything that a server can do wrong."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace

from cases import each
from interlock.config.plans import PlannerSettings
from interlock.plans.draft import parse_draft
from interlock.plans.planners import known, open_planner
from interlock.plans.planners.mock import NOTICE, REQUESTS
from interlock.ports import PlannerError

CONTEXT = {"system": "Linux", "shell": "bash", "folder": "/work"}
PLAN = {
    "command": "ls -la", "explanation": "Lists.", "assumptions": [], "confidence": 0.9, "expectedEffect": "Nothing.", "risk": "low",
    "flags": {"destructive": False, "touchesFiles": True, "touchesNetwork": False, "escalatesPrivileges": False, "requiresConfirmation": False},
}  # fmt: skip
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Model:
    """A server with a model behind it."""

    url: str
    answer: Answer
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


@pytest.fixture(scope="module")
def served() -> Iterator[Model]:
    model = Model("", lambda handler: None)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            model.asked.append(
                (self.path, {key.lower(): value for key, value in self.headers.items()}, json.loads(body))
            )
            with contextlib.suppress(OSError):  # whoever asked has gone
                model.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield model
    server.shutdown()
    server.server_close()


@pytest.fixture
def model(served: Model) -> Model:
    served.asked.clear()
    return served


def says(body: Any, status: int = 200) -> Answer:
    """A whole answer, at once."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def work(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return work


def drips(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then, each in time, without an end."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(300):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def hangs(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(5)


def breaks(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"message"')


def settings(at: Model, use: str = "ollama", **more: Any) -> PlannerSettings:
    return replace(PlannerSettings(), use=use, host=at.url, **{"seconds": 2, **more})


def chat(content: Any, **more: Any) -> dict[str, Any]:
    return {"model": "llama3.2", "message": {"role": "assistant", "content": content, **more}, "done": True}


def test_the_folder_is_the_registry() -> None:
    assert known() == ["auto", "mock", "ollama", "openai_compatible"]
    with pytest.raises(PlannerError, match=r"no planner 'oracle'; known: auto, mock"):
        open_planner(replace(PlannerSettings(), use="oracle"), {})


def test_ollama_is_asked_for_one_plan_in_its_own_words_and_held_to_the_schema(model: Model) -> None:
    model.answer = says(chat(json.dumps(PLAN)))
    found = open_planner(settings(model), {}).plan("list files", CONTEXT)
    assert (found.planner, found.notice) == ("Ollama (llama3.2)", "") and parse_draft(found.said).command == "ls -la"
    path, headers, asked = model.asked[0]
    assert path == "/api/chat" and asked["stream"] is False and asked["format"]["required"][0] == "command"
    assert asked["messages"][-1]["content"].endswith("Request: list files") and "authorization" not in headers


@pytest.mark.parametrize(
    "content",
    [
        f"Here you are:\n```json\n{json.dumps(PLAN)}\n```",
        f"<think>first {{ then }}</think>{json.dumps(PLAN)}",
        f'{{"thought": "no plan"}} {json.dumps(PLAN)} trailing',
    ],
)
def test_a_plan_is_found_in_what_a_model_writes_around_it(model: Model, content: str) -> None:
    model.answer = says(chat(content))
    assert parse_draft(open_planner(settings(model), {}).plan("list files", CONTEXT).said).command == "ls -la"


BAD: dict[str, tuple[Answer, str]] = {
    "no json": (says(b"<html>gateway</html>"), "no JSON"),
    "nested deep": (says(b"[" * 100_000), "no JSON"),
    "a list": (says([]), "no message"),
    "an error": (says({"error": "model not found"}), "no message"),
    "no text": (says(chat(None)), "no text"),
    "tool calls": (says(chat("", tool_calls=[{"function": {"name": "bash", "arguments": {"command": "rm -rf /"}}}])), "no text"),
    "half an object": (says(chat('{"command": "ls", "risk"')), "no JSON object with a command"),
    "only words": (says(chat("I cannot help with that {sorry}.")), "no JSON object with a command"),
    "brackets": (says(chat("{" * 50_000)), "no JSON object with a command"),
    "huge": (says(chat("x" * 400_000)), "more than 256 KB"),
    "404": (says({"error": "x"}, 404), "does not know the model"),
    "500": (says(b"trace sk-secret", 500), "status 500"),
    "a redirect": (says(b"", 302), "status 302"),
    "hangs": (hangs, "did not answer within 1 s"),
    "drips": (drips, "did not finish its answer in time"),
    "breaks off": (breaks, "broke off"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_whatever_a_server_does_wrong_is_an_error_in_words_in_time(model: Model, kind: str) -> None:
    model.answer, words = BAD[kind]
    with pytest.raises(PlannerError, match=words) as error:
        open_planner(settings(model, seconds=1), {}).plan("list files", CONTEXT)
    assert "secret" not in str(error.value)


def test_an_answer_that_is_wrong_is_no_reason_to_ask_another_planner(model: Model) -> None:
    model.answer = says(chat("no"))
    with pytest.raises(PlannerError, match="Ollama"):
        open_planner(settings(model, "auto"), {}).plan("list files", CONTEXT)


def test_without_ollama_the_mock_planner_answers_and_says_so() -> None:
    nobody = replace(PlannerSettings(), host="http://127.0.0.1:9", seconds=2)
    found = open_planner(nobody, {}).plan("list files", CONTEXT)
    assert (found.planner, found.notice) == ("mock", "Mock planner: Ollama not connected")
    with pytest.raises(PlannerError, match="is not connected"):
        open_planner(replace(nobody, use="ollama"), {}).plan("list files", CONTEXT)


def test_an_openai_compatible_endpoint_gets_its_key_from_the_environment(model: Model) -> None:
    model.answer = says({"choices": [{"message": {"content": json.dumps(PLAN)}}]})
    planner = open_planner(settings(model, "openai_compatible", model="tiny", key_env="PLAN_KEY"), {"PLAN_KEY": "sk-1"})
    assert parse_draft(planner.plan("list files", CONTEXT).said).command == "ls -la" and "sk-1" not in repr(planner)
    path, headers, asked = model.asked[0]
    assert path == "/chat/completions" and headers["authorization"] == "Bearer sk-1" and asked["model"] == "tiny"
    assert asked["response_format"]["json_schema"]["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "body",
    [{}, {"choices": []}, {"choices": [None]}, {"choices": [{"message": {"tool_calls": [1]}}]}, {"choices": "x"}],
)
def test_an_openai_compatible_endpoint_can_say_nothing_useful(model: Model, body: Any) -> None:
    model.answer = says(body)
    with pytest.raises(PlannerError, match="no text"):
        open_planner(settings(model, "openai_compatible"), {}).plan("list files", CONTEXT)


def test_a_key_is_missed_and_never_sent_where_others_can_read_it(model: Model) -> None:
    with pytest.raises(PlannerError, match="there is no PLAN_KEY"):
        open_planner(settings(model, "openai_compatible", key_env="PLAN_KEY"), {})
    far = replace(settings(model, "openai_compatible", key_env="PLAN_KEY"), host="http://models.example.com/v1")
    with pytest.raises(PlannerError, match="over https alone"):
        open_planner(far, {"PLAN_KEY": "sk-1"})


def mock(words: str) -> Any:
    return open_planner(replace(PlannerSettings(), use="mock"), {}).plan(words, CONTEXT)


def test_the_mock_planner_knows_thirty_everyday_requests_and_more() -> None:
    assert len(REQUESTS) >= 30


@each("everyday", REQUESTS, ids=lambda one: one.example)
def test_each_everyday_request_gets_its_own_plan_each_time_the_same(everyday: Any) -> None:
    found = mock(everyday.example)
    assert found.said["explanation"] == everyday.explanation and found == mock(everyday.example + ".")
    assert found.notice == NOTICE and parse_draft(found.said).notes == ()
    assert subprocess.run(["bash", "-n", "-c", found.said["command"]], capture_output=True).returncode == 0


HOSTILE = [
    "x; rm -rf ~",
    "$(reboot)",
    "`id`",
    "a'b",
    'a"b',
    "x && y",
    "x | sh",
    "> /etc/passwd",
    "-rf",
    "--help",
    "$HOME",
    "a\\",
    "*",
    "x\ty",
]


@each("word", HOSTILE)
@each(
    "request_",
    ["delete the file {}", "create a folder called {}", "find files named {}", "move {} to b", "search for {}"],
)
def test_whatever_comes_from_the_request_is_one_quoted_word(request_: str, word: str) -> None:
    found = mock(request_.format(word)).said["command"]
    words = shlex.split(found)
    plain = mock(request_.format("plain")).said["command"]
    assert len(words) == len(shlex.split(plain)), found
    assert [a for a, b in zip(words, shlex.split(plain)) if a != b and a.startswith("-")] == []


def test_an_unknown_request_is_answered_with_what_is_known() -> None:
    with pytest.raises(PlannerError, match=r"Mock planner: Ollama not connected.*list files"):
        mock("translate this poem")
