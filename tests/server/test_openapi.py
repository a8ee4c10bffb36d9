"""The OpenAPI document is complete, true, and no request from it makes the daemon fail."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from daemons import Daemon, bearer, daemon, in_process_daemon
from effort import EFFORT
from interlock.server.app import documented_app
from interlock.server.routes import document
from interlock.web.evaluate_body import KEYS
from repository import ROOT

DOCUMENT = document(documented_app())
SECONDS = 60.0
EXAMPLES = 2 * EFFORT  # of each operation
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


def test_the_kept_document_is_the_one_that_is_served() -> None:
    kept = ROOT / "docs" / "reference" / "openapi.json"
    assert json.loads(kept.read_text()) == DOCUMENT, "run `make docs`"


def test_the_document_has_every_key_that_a_question_may_have() -> None:
    assert set(DOCUMENT["components"]["schemas"]["Ask"]["properties"]) == KEYS


PROMISED = """
POST /api/v1/evaluate · POST /api/v1/evaluate/batch
GET /api/v1/tickets · GET /api/v1/tickets/{id} · GET /api/v1/tickets/{id}/wait · GET /api/v1/tickets/{id}/grant
POST /api/v1/tickets/{id}/approve · POST /api/v1/tickets/{id}/reject · POST /api/v1/tickets/{id}/revoke
POST /api/v1/tickets/{id}/executed
GET /api/v1/grants · POST /api/v1/grants · DELETE /api/v1/grants/{id}
GET /api/v1/standing · POST /api/v1/standing · POST /api/v1/standing/trial
POST /api/v1/preview · GET /api/v1/patterns · POST /api/v1/patterns · DELETE /api/v1/patterns/{id}
GET /api/v1/agents · POST /api/v1/agents · PATCH /api/v1/agents
GET /api/v1/blocks · POST /api/v1/blocks · DELETE /api/v1/blocks/{principal}
GET /api/v1/challenges · POST /api/v1/challenges/{id}/reveal · POST /api/v1/challenges/{id}/reissue
GET /api/v1/operators · POST /api/v1/operators · PATCH /api/v1/operators/{name} · POST /api/v1/operators/first
POST /api/v1/session · GET /api/v1/session · DELETE /api/v1/session · PUT /api/v1/session/passphrase · POST /api/v1/session/link
POST /api/v1/session/resume · DELETE /api/v1/session/resume
GET /api/v1/pause · POST /api/v1/pause · DELETE /api/v1/pause
GET /api/v1/undo · GET /api/v1/undo/{id} · POST /api/v1/undo/{id}
GET /api/v1/mode · PUT /api/v1/mode · GET /api/v1/policy · GET /api/v1/status · GET /api/v1/metrics
GET /api/v1/adapters · PUT /api/v1/adapters/{name}/trust · GET /api/v1/quota · POST /api/v1/quota
GET /api/v1/channels · POST /api/v1/channels/{name}/test
POST /api/v1/servers · POST /api/v1/servers/{name}/accept
POST /api/v1/hooks · POST /api/v1/jails · GET /api/v1/coverage
GET /api/v1/planner · PUT /api/v1/planner
GET /api/v1/plans · POST /api/v1/plans · GET /api/v1/plans/{id} · PUT /api/v1/plans/{id} · POST /api/v1/plans/{id}/again
POST /api/v1/plans/{id}/reject · POST /api/v1/plans/{id}/run · GET /api/v1/plans/{id}/output · POST /api/v1/plans/{id}/cancel
POST /api/v1/plans/{id}/done · GET /api/v1/workflows · POST /api/v1/workflows · DELETE /api/v1/workflows/{id}
POST /api/v1/workflows/{id}/open · POST /api/v1/workflows/{id}/freeze · POST /api/v1/workflows/{id}/run
GET /api/v1/workflows/{id}/run · POST /api/v1/workflows/{id}/cancel
GET /api/v1/audit · GET /api/v1/audit/verify · GET /api/v1/audit/export
GET /metrics · GET /healthz · GET /readyz
"""


def test_exactly_what_is_promised_is_documented_with_its_errors() -> None:
    promised = {entry.strip() for line in PROMISED.splitlines() for entry in line.split("·") if entry.strip()}
    found = {f"{method.upper()} {path}" for path, ways in DOCUMENT["paths"].items() for method in ways}
    assert found == promised
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            assert {"200", "400", "401", "403", "429", "503"} <= set(operation["responses"]), (method, path)
            assert operation["summary"] and "security" in operation and "422" not in operation["responses"]


def test_who_asks_is_checked_before_the_body(tmp_path: Path) -> None:
    """An agent, or nobody, learns from no operator's route what its body should have been."""
    routes = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, ways in DOCUMENT["paths"].items()
        for method, way in ways.items()
        if way["security"] == [{"operatorSession": []}]
    ]
    assert len(routes) > 30
    with in_process_daemon(tmp_path) as app:
        callers: list[tuple[dict[str, str], int]] = [({}, 401), (app.agent(), 403)]
        for method, path in routes:
            for headers, status in callers:
                for body in (b"{not json", b'{"nonsense": 1}') if method != "GET" else (b"",):
                    app.clock.forward(1)  # for the limit of requests a minute
                    sent = {**headers, "content-type": "application/json"}
                    answer = app.call(method, f"{path}?limit=x", headers=sent, content=body)
                    assert (answer.status_code, answer.json()["error"]["code"]) == (status, "PERMISSION_DENIED"), path


def test_evaluate_always_promises_allowed() -> None:
    answers = DOCUMENT["paths"]["/api/v1/evaluate"]["post"]["responses"]
    assert set(answers) == {"200", "202", "400", "401", "403", "413", "429", "500", "503"}
    for answer in answers.values():
        name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert "allowed" in DOCUMENT["components"]["schemas"][name]["required"]


@pytest.mark.slow(why="a minute of hostile requests against a real daemon, capped at sixty seconds")
def test_no_request_from_the_document_makes_it_fail(tmp_path: Path) -> None:
    toml = "[limits]\nrequests_per_minute = 10000000\nlong_poll_seconds = 1"
    with daemon(tmp_path, toml=toml) as running:
        operator, witness = running.sign_in(), running.sign_in("bo")
        made = running.here().post("/api/v1/agents", json={"name": "fuzz"}, headers=operator).json()
        agent = running.tcp(headers=bearer(made["token"]))
        tickets = [
            agent.post("/api/v1/evaluate", json={"action": name}).json()["pendingId"]
            for name in ("drop_database", "delete_account", "ban_user")
        ]
        waited = agent.get(f"/api/v1/tickets/{tickets[0]}/wait")
        assert (waited.status_code, waited.json()["state"]) == (200, "pending_approval")
        callers = {"agentToken": bearer(made["token"]), "operatorSession": operator}
        operations = [found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()]
        # The last ones sign us out, or lock us out; and who waits for tickets that were answered meanwhile need not wait.
        operations.sort(key=lambda operation: ("/session" in operation.path, operation.path.endswith("/wait")))
        end = time.monotonic() + SECONDS
        tried = [attack(operation, running, callers, tickets, end) for operation in operations]
        assert len(tried) == sum(len(operations) for operations in DOCUMENT["paths"].values())
        assert min(tried) >= 1 and sum(tried) > 300, tried
        assert running.process.poll() is None
        assert running.here(headers=witness).get("/api/v1/audit/verify").json()["ok"] is True


def attack(operation: Any, running: Daemon, callers: dict[str, dict[str, str]], tickets: list[str], end: float) -> int:
    """Valid and invalid requests of one operation, by whoever may ask, half of them about real tickets; how many there were."""
    wanted = [name for scheme in operation.definition.raw["security"] for name in scheme]
    headers = callers[wanted[0]] if wanted else {}
    count = 0
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Exception:  # nothing can be wrong with a request that has no parameters
            continue

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=strategy)
        def one(case: Any) -> None:
            nonlocal count
            if time.monotonic() > end and count:
                return
            count += 1
            if "/tickets/{id}" in operation.path and count % 2:
                case.path_parameters["id"] = tickets[count % len(tickets)]
            case.headers = {**dict(case.headers or {}), **headers}
            answer = case.call(base_url=f"http://127.0.0.1:{running.port}")
            case.validate_response(answer, checks=CHECKS)

        try:
            one()
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__ and "Skip" not in type(error).__name__:
                raise
    return count
