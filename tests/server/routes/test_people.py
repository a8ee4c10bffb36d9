"""Operators over HTTP: who guesses locks nobody else out, and everybody can change their own passphrase."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from daemons import PASSPHRASE, InProcessDaemon, in_process_daemon

PATH = "/api/v1/session/passphrase"
OTHER = "walnut harbour 12 comet"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        made.daemon.context.agent_above = lambda pid: None
        yield made


def sign_in(app: InProcessDaemon, name: str, passphrase: str = PASSPHRASE, peer: str = "") -> httpx.Response:
    return app.call("POST", "/api/v1/session", {"operator": name, "passphrase": passphrase}, peer=peer)


def test_a_new_passphrase_replaces_the_old_one_and_ends_the_session(app: InProcessDaemon) -> None:
    headers = app.sign_in("bo")
    assert app.call("PUT", PATH, {"passphrase": OTHER}, headers).json() == {"success": True}
    assert app.call("GET", "/api/v1/session", headers=headers).status_code == 401
    assert sign_in(app, "bo").status_code == 401
    assert sign_in(app, "bo", OTHER).status_code == 200
    assert sign_in(app, "ana").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "VALIDATION_MISSING_PARAM"),
        ({"passphrase": "short"}, 400, "VALIDATION_INVALID_VALUE"),
        ({"passphrase": ["x"]}, 400, "VALIDATION_INVALID_TYPE"),
        ({"passphrase": OTHER, "operator": "ana"}, 400, "VALIDATION_UNKNOWN_PARAM"),
    ],
)
def test_a_passphrase_that_is_none_changes_nothing(app: InProcessDaemon, body: object, status: int, code: str) -> None:
    answer = app.call("PUT", PATH, body, app.sign_in("bo"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert OTHER not in answer.text and sign_in(app, "bo").status_code == 200


def test_it_takes_a_fresh_sign_in_and_never_an_agent(app: InProcessDaemon) -> None:
    headers, agent = app.sign_in("bo"), app.agent()
    app.clock.forward(121)
    assert app.call("PUT", PATH, {"passphrase": OTHER}, headers).status_code == 403
    assert app.call("PUT", PATH, {"passphrase": OTHER}, agent).status_code == 403
    assert app.call("PUT", PATH, {"passphrase": OTHER}, peer="uid:0").status_code == 403
    assert app.call("PUT", PATH, {"passphrase": OTHER}).status_code == 401


def test_wrong_guesses_over_tcp_lock_nobody_out_on_the_socket(app: InProcessDaemon) -> None:
    for _ in range(10):
        assert sign_in(app, "ana", "a wrong guess").status_code == 401
    limited = sign_in(app, "ana")
    error = limited.json()["error"]
    assert (limited.status_code, error["code"]) == (429, "RATE_LIMIT_EXCEEDED")
    assert error["details"] == {"limit": 10, "remaining": 0, "window": "minute", "retry_after_seconds": 61}
    assert limited.headers["retry-after"] == "61"
    assert sign_in(app, "bo").status_code == 200
    assert sign_in(app, "ana", peer="uid:1000").status_code == 200


def test_an_agents_wrong_guesses_do_not_lock_out_its_own_user(app: InProcessDaemon) -> None:
    app.daemon.context.agent_above = lambda pid: "it runs under an agent"
    for _ in range(10):
        assert sign_in(app, "ana", "a wrong guess", "uid:1000").status_code == 401
    assert sign_in(app, "ana", peer="uid:1000").status_code == 429
    app.daemon.context.agent_above = lambda pid: None
    assert sign_in(app, "ana", peer="uid:1000").status_code == 200
