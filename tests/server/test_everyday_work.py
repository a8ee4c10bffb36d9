"""Under `default`, everyday commands pass; what is held there is held over HTTP too."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from daemons import InProcessDaemon, in_process_daemon
from repository import TESTS

CORPUS = TESTS / "corpus"
BATCH = 100


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        yield made


def test_every_benign_command_of_the_sample_is_allowed(app: InProcessDaemon) -> None:
    rows = [json.loads(line) for line in (CORPUS / "commands_ok.jsonl").read_text().splitlines()]
    everyday = [row for row in rows if row["max_level"] <= 1]
    assert len(everyday) > 100
    agent, refused = app.agent(), []
    for start in range(0, len(everyday), BATCH):
        part = everyday[start : start + BATCH]
        actions = [{"command": row["command"], **({"cwd": row["cwd"]} if row.get("cwd") else {})} for row in part]
        results = app.call("POST", "/api/v1/evaluate/batch", {"actions": actions}, agent).json()["results"]
        refused += [row["command"] for row, found in zip(part, results, strict=True) if found["allowed"] is not True]
    assert refused == []


@pytest.mark.parametrize(
    ("action", "decision", "status"),
    [
        ({"command": "git status"}, "allow", 200),
        ({"command": "npm install"}, "allow", 200),
        ({"command": "git reset --hard"}, "confirm", 202),
        ({"command": "git push --force origin main"}, "verify", 202),
        ({"command": "rm -rf ~/"}, "verify", 202),
        ({"command": ":(){ :|:& };:"}, "block", 403),
        ({"action": "drop_table", "params": {"name": "users"}}, "verify", 202),
        ({"hint": "doing something"}, "confirm", 202),
        ({"tool": "execute_sql", "input": {"query": "SELECT 1"}}, "allow", 200),
        ({"tool": "execute_sql", "input": {"query": "DROP TABLE users"}}, "verify", 202),
    ],
    ids=lambda value: str(value)[:40],
)
def test_each_kind_of_action_is_decided(
    app: InProcessDaemon, action: dict[str, object], decision: str, status: int
) -> None:
    name = f"a{abs(hash(str(action)))}"  # each has a queue of its own
    answer = app.call(
        "POST", "/api/v1/evaluate", {"agent": name, **action}, peer=f"uid:{abs(hash(name)) % 9999 + 2000}"
    )
    assert (answer.status_code, answer.json()["decision"]) == (status, decision), answer.text


def test_what_an_agent_claims_of_its_risk_can_only_raise(app: InProcessDaemon) -> None:
    for body, status in (
        ({"command": "npm install", "risk": 90}, 202),
        ({"command": "npm install", "risk": 0}, 200),
        ({"command": "rm -rf ~/", "risk": 0}, 202),
    ):
        assert app.call("POST", "/api/v1/evaluate", body, peer="uid:1999").status_code == status
