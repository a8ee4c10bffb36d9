"""What is refused before anybody looks at it; evaluate's refusals always say `allowed: false`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from daemons import InProcessDaemon, bearer, in_process_daemon

EVALUATE = "/api/v1/evaluate"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state")) as made:
        yield made


@pytest.fixture(scope="module")
def agent(app: InProcessDaemon) -> dict[str, str]:
    return app.agent()


def denied(answer: httpx.Response, status: int, code: str) -> None:
    body = answer.json()
    assert (answer.status_code, body["error"]["code"], body["success"], body["allowed"]) == (status, code, False, False)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7310",
        "127.0.0.1:80",
        "127.0.0.1",
        "localhost.evil:7310",
        "",
        "127.0.0.1:7310.evil",
    ],
)
def test_another_host_is_not_answered(app: InProcessDaemon, agent: dict[str, str], host: str) -> None:
    denied(app.call("POST", EVALUATE, {"command": "ls"}, {**agent, "host": host}), 403, "PERMISSION_DENIED")


@pytest.mark.parametrize("host", ["localhost:7310", "127.0.0.1:7310", "[::1]:7310", "LOCALHOST:7310"])
def test_our_own_names_are_answered(app: InProcessDaemon, agent: dict[str, str], host: str) -> None:
    assert app.call("POST", EVALUATE, {"command": "ls"}, {**agent, "host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:7310", "http://127.0.0.1:7311", "file://"]
)
def test_another_origin_is_not_answered(app: InProcessDaemon, agent: dict[str, str], origin: str) -> None:
    answer = app.call("POST", EVALUATE, {"command": "ls"}, {**agent, "origin": origin})
    denied(answer, 403, "PERMISSION_DENIED")
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_our_own_origin_is_answered_without_cors(app: InProcessDaemon, agent: dict[str, str]) -> None:
    answer = app.call("POST", EVALUATE, {"command": "ls"}, {**agent, "origin": "http://127.0.0.1:7310"})
    assert answer.status_code == 200
    preflight = app.call("OPTIONS", EVALUATE, headers={**agent, "origin": "http://127.0.0.1:7310"})
    for found in (answer, preflight):
        assert not [name for name in found.headers if name.startswith("access-control")]


def test_a_browser_has_no_business_on_the_socket(app: InProcessDaemon) -> None:
    denied(
        app.call("POST", EVALUATE, {"command": "ls"}, {"origin": "http://127.0.0.1:7310"}, peer="uid:1"),
        403,
        "PERMISSION_DENIED",
    )


def test_a_large_body_is_refused(app: InProcessDaemon, agent: dict[str, str]) -> None:
    denied(app.call("POST", EVALUATE, {"command": "x" * 1_100_000}, agent), 413, "VALIDATION_PAYLOAD_TOO_LARGE")
    answer = app.call("POST", "/api/v1/session", {"operator": "x" * 1_100_000}, agent)
    assert answer.status_code == 413


def nested(depth: int) -> bytes:
    return b'{"action":"x","params":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


BAD: list[tuple[bytes, int, str]] = [
    (b"", 400, "VALIDATION_INVALID_TYPE"),
    (b"{", 400, "VALIDATION_INVALID_TYPE"),
    (b"[]", 400, "VALIDATION_INVALID_TYPE"),
    (b"null", 400, "VALIDATION_INVALID_TYPE"),
    (b"{}", 400, "VALIDATION_MISSING_PARAM"),
    (b'{"command":"ls","command":"rm -rf /"}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"ls","risk":NaN}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"ls","risk":Infinity}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"ls","risk":' + b"9" * 5_000 + b"}", 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"ls","risk":101}', 400, "VALIDATION_INVALID_VALUE"),
    (b'{"command":"ls","risk":true}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"ls","extra":1}', 400, "VALIDATION_UNKNOWN_PARAM"),
    (b'{"command":"ls","approved":true}', 400, "VALIDATION_UNKNOWN_PARAM"),
    (b'{"command":"ls","agent":{"name":"a","principal":"uid:0"}}', 400, "VALIDATION_UNKNOWN_PARAM"),
    (b'{"command":"ls","agent":[1]}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":["ls"]}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"  "}', 400, "VALIDATION_INVALID_VALUE"),
    (b'{"command":"ls","action":"x"}', 400, "VALIDATION_INVALID_VALUE"),
    (b'{"command":"ls","params":{}}', 400, "VALIDATION_UNKNOWN_PARAM"),
    (b'{"action":"x","params":[]}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"action":"x","resource":"a","params":{"resource":"b"}}', 400, "VALIDATION_INVALID_VALUE"),
    (b'{"action":"x","params":{"_confirmation":1}}', 400, "VALIDATION_INVALID_TYPE"),
    (b'{"command":"\xff"}', 400, "VALIDATION_INVALID_ENCODING"),
    (b'{"command":"a\\u0000b"}', 400, "VALIDATION_INVALID_ENCODING"),
    (b'{"command":"\\ud800"}', 400, "VALIDATION_INVALID_ENCODING"),
    (b'{"action":"x","params":{"\\udfff":1}}', 400, "VALIDATION_INVALID_ENCODING"),
    (nested(40), 413, "VALIDATION_PAYLOAD_TOO_LARGE"),
    (nested(100_000), 413, "VALIDATION_PAYLOAD_TOO_LARGE"),
    (b'{"action":"x","params":' + b"[" * 500_000, 413, "VALIDATION_PAYLOAD_TOO_LARGE"),
    (b'{"action":"x","params":{"a":[' + b"1," * 10_000 + b"1]}}", 413, "VALIDATION_PAYLOAD_TOO_LARGE"),
    (b'{"command":"ls","cwd":"' + b"x" * 5_000 + b'"}', 413, "VALIDATION_PAYLOAD_TOO_LARGE"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "status", "code"), BAD, ids=lambda value: str(value)[:50])
def test_a_body_that_asks_nothing_clear_is_denied(
    app: InProcessDaemon, agent: dict[str, str], content: bytes, status: int, code: str
) -> None:
    denied(app.call("POST", EVALUATE, headers=agent, content=content), status, code)


def test_fractions_are_no_reason_to_refuse(app: InProcessDaemon, agent: dict[str, str]) -> None:
    body = {"action": "get_price", "crude": "READ", "params": {"factor": 1.5}}
    assert app.call("POST", EVALUATE, body, agent).status_code == 200


def test_nobody_is_denied(app: InProcessDaemon) -> None:
    denied(app.call("POST", EVALUATE, {"command": "ls"}), 401, "PERMISSION_DENIED")
    denied(app.call("POST", EVALUATE, {"command": "ls"}, bearer("agt_x")), 401, "PERMISSION_DENIED")
    denied(app.call("POST", f"{EVALUATE}/batch", {"actions": []}), 401, "PERMISSION_DENIED")


def test_a_header_that_decides_must_not_stand_twice(app: InProcessDaemon, agent: dict[str, str]) -> None:
    scope = {
        "type": "http", "method": "POST", "path": EVALUATE, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 7310),
        "headers": [(b"host", b"127.0.0.1:7310"), (b"host", b"evil"), (b"authorization", agent["authorization"].encode())],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b'{"command":"ls"}'}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    import asyncio

    asyncio.run(app.daemon(scope, receive, send))
    assert sent[0]["status"] == 400 and json.loads(sent[1]["body"])["allowed"] is False


def test_too_many_requests_are_denied_until_time_has_passed(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path, limits={"requests_per_minute": 60}) as app:
        one, other = app.agent("one"), app.agent("other")
        answers = [app.call("POST", EVALUATE, {"command": "ls"}, one) for _ in range(61)]
        assert [answer.status_code for answer in answers[:60]] == [200] * 60
        denied(answers[60], 429, "RATE_LIMIT_EXCEEDED")
        assert answers[60].json()["error"]["details"]["retry_after_seconds"] == 1
        assert answers[60].headers["retry-after"] == "1"
        assert app.call("POST", EVALUATE, {"command": "ls"}, other).status_code == 200
        app.clock.forward(1)
        assert app.call("POST", EVALUATE, {"command": "ls"}, one).status_code == 200
        assert app.call("POST", EVALUATE, {"command": "ls"}, one).status_code == 429
        batch = {"actions": [{"command": "ls"}] * 61}
        assert app.call("POST", f"{EVALUATE}/batch", batch, other).status_code == 429


def test_a_batch_answers_each_action_by_itself(app: InProcessDaemon, agent: dict[str, str]) -> None:
    actions = [{"command": "ls"}, {"nonsense": 1}, {"action": "drop_database"}, 7]
    answer = app.call("POST", f"{EVALUATE}/batch", {"actions": actions}, agent)
    assert answer.status_code == 200
    assert [found["allowed"] for found in answer.json()["results"]] == [True, False, False, False]
    for count in (0, 101):
        body = {"actions": [{"command": "ls"}] * count}
        denied(app.call("POST", f"{EVALUATE}/batch", body, agent), 400, "VALIDATION_INVALID_VALUE")


def test_errors_elsewhere_have_the_same_shape(app: InProcessDaemon) -> None:
    operator = app.sign_in()
    for method, path, body, status, code in (
        ("GET", "/api/v1/nothing", None, 404, "NOT_FOUND_OPERATION"),
        ("PUT", "/api/v1/tickets", None, 405, "NOT_FOUND_OPERATION"),
        ("GET", "/api/v1/tickets?state=x", None, 400, "VALIDATION_INVALID_VALUE"),
        ("GET", "/api/v1/tickets?before=yesterday", None, 400, "VALIDATION_INVALID_VALUE"),
        ("GET", "/api/v1/tickets/pdact_x", None, 404, "NOT_FOUND_RESOURCE"),
        ("POST", "/api/v1/tickets/pdact_x/approve", {}, 404, "TOKEN_INVALID"),
        ("POST", "/api/v1/agents", {}, 400, "VALIDATION_MISSING_PARAM"),
        ("POST", "/api/v1/agents", {"name": "x", "principal": "uid:0"}, 400, "VALIDATION_UNKNOWN_PARAM"),
        ("POST", "/api/v1/agents", {"name": 1}, 400, "VALIDATION_INVALID_TYPE"),
        ("PUT", "/api/v1/mode", {"mode": "off"}, 400, "VALIDATION_INVALID_VALUE"),
        ("POST", "/api/v1/patterns", {"id": "x", "pattern": "(", "category": "data_deletion", "severity": "low"}, 400, "VALIDATION_INVALID_VALUE"),
        ("POST", "/api/v1/operators", {"name": "cy", "passphrase": "short"}, 400, "VALIDATION_INVALID_VALUE"),
    ):  # fmt: skip
        answer = app.call(method, path, body, operator)
        found = answer.json()
        assert (answer.status_code, found["error"]["code"], found["success"]) == (status, code, False), path


def test_a_wrong_passphrase_is_not_repeated_and_not_endless(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        for number in range(11):
            answer = app.call("POST", "/api/v1/session", {"operator": "ana", "passphrase": "hunter2 hunter2"})
            assert answer.status_code == (401 if number < 10 else 429)
            assert "hunter2" not in answer.text
        too_long = app.call("POST", "/api/v1/session", {"operator": "ana", "passphrase": ["hunter2"]})
        assert too_long.status_code == 400 and "hunter2" not in too_long.text


@pytest.mark.parametrize("kind", [None, "application/x-www-form-urlencoded", "text/plain", "application/jsonx"])
def test_a_body_that_does_not_call_itself_json_is_told_what_to_send(app: InProcessDaemon, kind: str | None) -> None:
    body = json.dumps({"operator": "ana", "passphrase": "x"}).encode()
    headers = {"content-type": kind} if kind else {}
    answer = app.call("POST", "/api/v1/session", headers=headers, content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "VALIDATION_INVALID_TYPE")
    said = answer.json()["error"]["message"]
    assert "add the header Content-Type: application/json" in said and (kind or "as JSON:") in said


def test_json_by_any_of_its_names_is_read(app: InProcessDaemon) -> None:
    body = json.dumps({"operator": "ana"}).encode()
    for kind in ("application/json", "Application/JSON; charset=utf-8", "application/problem+json"):
        answer = app.call("POST", "/api/v1/session", headers={"content-type": kind}, content=body)
        assert "passphrase" in answer.json()["error"]["message"]


def test_an_agent_is_told_how_operators_sign_in_over_http_and_at_a_terminal(
    app: InProcessDaemon, agent: dict[str, str]
) -> None:
    said = app.call("GET", "/api/v1/blocks", headers=agent).json()["error"]["message"]
    assert "POST /api/v1/session" in said and "a terminal" in said and "interlock unlock" not in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"comand": "ls"}, "unknown parameter 'comand'; did you mean 'command'?"),
        ({"cwd": "/"}, "missing required parameter: one of 'command', 'operation', 'tool' and 'hint'"),
    ],
)
def test_a_question_that_is_not_clear_is_answered_with_what_was_meant(
    app: InProcessDaemon, agent: dict[str, str], body: dict[str, Any], said: str
) -> None:
    assert app.call("POST", EVALUATE, body, agent).json()["error"]["message"] == said


def test_a_word_that_is_not_known_is_answered_with_those_that_are(app: InProcessDaemon, agent: dict[str, str]) -> None:
    answer = app.call("GET", "/api/v1/tickets?state=open-ish", headers=agent)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("'state': expected one of open, pending_cooling, ")
