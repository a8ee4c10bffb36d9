"""Every error is one of the registry (1.9), with its details and no others, in words that give nothing of the inside away."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import interlock
from daemons import InProcessDaemon, bearer, in_process_daemon
from interlock.error_codes import codes
from interlock.web.errors import STATUSES

LIMIT = "limit remaining window resets_at retry_after_seconds"
REGISTRY = {  # promises: code -> status by itself, details; changed only on purpose, everywhere at once
    "VALIDATION_MISSING_PARAM": (400, "param_name operation"),
    "VALIDATION_INVALID_TYPE": (400, "param_name expected_type actual_type"),
    "VALIDATION_INVALID_VALUE": (400, "param_name expected http_status upstream_error"),
    "VALIDATION_UNKNOWN_PARAM": (400, "operation unknown_params valid_params"),
    "VALIDATION_INVALID_ENCODING": (400, "location byte_offset"),
    "VALIDATION_ENDPOINT_MISMATCH": (400, "operation expected_endpoint actual_endpoint"),
    "VALIDATION_PAYLOAD_TOO_LARGE": (413, "limit_type limit_value actual_value unit"),
    "NOT_FOUND_OPERATION": (404, "operation available"),
    "NOT_FOUND_RESOURCE": (404, "resource_type resource_id http_status"),
    "PERMISSION_DENIED": (403, "reason required_scope http_status"),
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": (403, "operation required_trust actual_trust danger_level"),
    "PERMISSION_DANGER_LEVEL_DENIED": (403, "operation danger_level adapter_trust minimum_trust_required reasons"),
    "CONFIRMATION_REQUIRED": (
        202,
        "operation danger_level reasons confirmation_message confirmation_token expires_at",
    ),
    "RATE_LIMIT_EXCEEDED": (429, LIMIT),
    "RATE_LIMIT_QUOTA_PAUSE": (
        429,
        "metric current pause_threshold hard_stop_threshold confirmation_token expires_at",
    ),
    "RATE_LIMIT_QUOTA_EXHAUSTED": (429, "metric current hard_stop_threshold resets_at retry_after_seconds"),
    "TOKEN_INVALID": (404, "token"),
    "TOKEN_EXPIRED": (409, "token expired_at current_time"),
    "TOKEN_ALREADY_USED": (409, "token consumed_at"),
    "TOKEN_SCOPE_MISMATCH": (409, "token token_operation requested_operation"),
    "PLANNER_FAILED": (502, ""),
    "PLANNER_TIMEOUT": (504, ""),
    "PLANNER_NOT_CHOSEN": (409, ""),
    "INTERNAL_ERROR": (500, "http_status upstream_error"),
}
# What the public runner takes for a leak, and more of the kind.
LEAKS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"typeerror", r"referenceerror", r"syntaxerror", r"at\s+\S+", r"/src/", r"/node_modules/", r"\.ts:\d+", r"\.js:\d+",
        r"traceback", r"exception", r"\bline \d", r"\.py\b", r"site-packages", r"<class", r"\bnonetype\b", r"/(home|tmp|usr|var|root)/",
    )
] + [re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")]  # the name of a class  # fmt: skip
PACKAGE = Path(interlock.__file__).parent
WHOLE = "server server/routes web identity/keys/passphrases.py identity/keys/roster.py identity/sessions.py"  # every text may be an answer
RAISED = "approvals audit engine identity notify runtime policy/registry.py"  # what these raise is one
REFUSALS = {"AnswerRefused", "SignInRefused", "MoveRefused", "PatternError", "EnrolError"}
# Words for people who look after the daemon, and for the OpenAPI document; never an answer to a request.
ASIDE = {
    "routes",
    "Field",
    "Query",
    "table",
    "getLogger",
    "error",
    "warning",
    "exception",
    "trouble",
    "compile",
    "ValueError",
}
NOT_ANSWERS = {"schemas.py", "openapi.py", "daemon.py", "logs.py", "prometheus.py", "otel.py"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state")) as made:
        yield made


def leaks(text: str) -> list[str]:
    return [leak.pattern for leak in LEAKS if leak.search(text)]


def test_the_registry_is_this() -> None:
    found = {code: (STATUSES.get(code, 400), " ".join(one.details)) for code, one in codes().items()}
    assert found == REGISTRY
    assert set(STATUSES) <= set(codes()) and all(re.fullmatch(r"[A-Z][A-Z0-9_]*", code) for code in codes())


def test_what_a_code_says_by_itself_leaks_nothing() -> None:
    assert {code: leaks(one.message) for code, one in codes().items() if leaks(one.message)} == {}
    assert len({one.message for one in codes().values()}) == len(codes())


def files(sources: str) -> list[Path]:
    paths = [PACKAGE / source for source in sources.split()]
    found = [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]
    return [path for path in found if path.name not in NOT_ANSWERS]


def words(node: ast.AST) -> str:
    """A text as it is written, with a quoted word for each value; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "'value'" for part in node.values)
    return ""


def templates(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text that could be part of an answer: no docstrings, no log lines, nothing that describes the API."""
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ASIDE or called.endswith("_routes"):
            return
    if text := words(node):
        if " " in text.strip():
            yield getattr(node, "lineno", 0), text
        return
    for name, child in ast.iter_fields(node):
        for one in child if isinstance(child, list) else [child]:
            if isinstance(one, ast.AST) and name != "annotation" and not _docstring(one):
                yield from templates(one)


def _docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def refusals(path: Path) -> Iterator[ast.AST]:
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and getattr(node.exc.func, "id", "") in REFUSALS
        ):
            yield node


@pytest.mark.parametrize("path", files(WHOLE), ids=lambda path: path.name)
def test_no_text_of_the_api_can_be_taken_for_a_leak(path: Path) -> None:
    found = [(line, text) for line, text in templates(ast.parse(path.read_text())) if leaks(text)]
    assert found == []


@pytest.mark.parametrize("path", files(RAISED), ids=lambda path: path.name)
def test_no_refusal_of_the_service_can_be_taken_for_a_leak(path: Path) -> None:
    found = [(line, text) for node in refusals(path) for line, text in templates(node) if leaks(text)]
    assert found == []


def test_every_code_that_the_source_names_is_in_the_registry() -> None:
    pattern = re.compile(r"(VALIDATION|NOT_FOUND|PERMISSION|CONFIRMATION|RATE_LIMIT|TOKEN|INTERNAL)_[A-Z_]+")
    events = {"TOKEN_ISSUED", "TOKEN_VALIDATED", "TOKEN_REJECTED", "TOKEN_REVOKED", "CONFIRMATION_GRANTED"}
    named = {
        node.value
        for path in files(f"{WHOLE} {RAISED}")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and pattern.fullmatch(node.value)
    }
    assert named - events <= set(codes()) and len(named) > 12


REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/api/v1/evaluate", body)
    for body in (
        b"", b"{", b'{"a":1,}', b'{"a":"\x01"}', b'{"command":"\\x"}', b"[]", b"{}", b'{"command":"ls","command":"rm"}', b'{"risk":NaN}',
        b'{"command":"\xff"}', b'{"command":"\\ud800"}', b"[" * 200_000, b'{"command":"ls","extra":1}', b'{"command":7}',
        b'{"command":"ls","action":"x"}', b'{"command":"ls","cwd":"' + b"x" * 5_000 + b'"}', b'{"command":" "}',
        b'{"action":"x","params":{"_confirmation":1}}', b'{"action":"drop_table","params":{"_confirmation":"conf_x"}}',
        b'{"action":"drop_table","pendingId":"pdact_x"}', b'{"action":"drop_table"}', b'{"action":"drop_database"}',
        b'{"command":"mkfs.ext4 /dev/sda1"}', b'{"command":"ls","risk":1000}', b'{"action":"x","crude":"x"}',
    )
] + [
    ("GET", "/api/v1/nothing", None), ("PUT", "/api/v1/tickets", None), ("GET", "/api/v1/evaluate", None),
    ("GET", "/api/v1/tickets?state=x", None), ("GET", "/api/v1/tickets?limit=x", None), ("GET", "/api/v1/tickets?limit=1000", None),
    ("GET", "/api/v1/tickets?before=soon", None), ("GET", "/api/v1/tickets/pdact_x", None), ("GET", "/api/v1/audit?newest=x", None),
    ("POST", "/api/v1/tickets/pdact_x/approve", {}), ("POST", "/api/v1/tickets/pdact_x/reject", {"reason": ""}),
    ("POST", "/api/v1/tickets/pdact_x/executed", {"outcome": 7}), ("GET", "/api/v1/tickets/pdact_x/grant", None),
    ("POST", "/api/v1/agents", {}), ("POST", "/api/v1/agents", {"name": "x" * 300}), ("POST", "/api/v1/agents", [1]),
    ("PATCH", "/api/v1/agents", {"principal": "x", "revoked": "yes"}), ("POST", "/api/v1/blocks", {"principal": "", "reason": "x"}),
    ("DELETE", "/api/v1/blocks/uid:77", None), ("DELETE", "/api/v1/grants/grant_x", None),
    ("POST", "/api/v1/grants", {"why": "x"}), ("POST", "/api/v1/grants", {"effect": "x", "targets": ["*"], "why": "x"}),
    ("POST", "/api/v1/grants", {"effect": "x", "targets": ["a"] * 200, "why": "x"}), ("POST", "/api/v1/grants", {"count": 0, "why": "x"}),
    ("POST", "/api/v1/grants", {"count": 10**9, "why": "x"}), ("POST", "/api/v1/grants", {"targets": "x", "why": "x"}),
    ("POST", "/api/v1/patterns", {"id": "x", "pattern": "(", "category": "data_deletion", "severity": "low"}),
    ("POST", "/api/v1/patterns", {"id": " ", "pattern": "x", "category": "x", "severity": "x"}),
    ("DELETE", "/api/v1/patterns/x", None), ("PUT", "/api/v1/mode", {"mode": "off"}), ("PUT", "/api/v1/mode", None),
    ("DELETE", "/api/v1/pause", None), ("POST", "/api/v1/pause", {"seconds": 86_000, "reason": "x"}), ("POST", "/api/v1/pause", {}),
    ("POST", "/api/v1/operators", {"name": "cy", "passphrase": "short"}), ("POST", "/api/v1/operators", {"name": "cy", "passphrase": "x" * 900}),
    ("POST", "/api/v1/operators", {"name": "cy!", "passphrase": "walnut harbour 12"}),
    ("POST", "/api/v1/operators", {"name": "admin", "passphrase": "password1"}),
    ("PATCH", "/api/v1/operators/nobody", {"roles": []}), ("PATCH", "/api/v1/operators/ana", {"disabled": True}),
    ("POST", "/api/v1/operators/first", {"row": {}, "seal_key": "00" * 32}), ("POST", "/api/v1/operators/first", {"row": {}, "seal_key": "x"}),
    ("PUT", "/api/v1/session/passphrase", {"passphrase": "short"}), ("POST", "/api/v1/session", {"operator": "ana", "passphrase": "no"}),
    ("POST", "/api/v1/session", {"operator": "ana"}), ("GET", "/api/v1/audit/export?format=xml", None),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS, ids=lambda value: str(value)[:40])
def test_whatever_is_refused_is_an_error_of_the_registry(
    app: InProcessDaemon, method: str, path: str, body: Any
) -> None:
    """Asked by everybody: nobody, an agent, an operator, and somebody with a credential that is none."""
    seen = 0
    for headers in (None, app.agent(), app.sign_in(), bearer("ses_x")):
        given = {"content": body} if isinstance(body, bytes) else {"body": body}
        answer = app.call(method, path, headers=headers, **given)
        if answer.status_code == 200:
            continue
        seen += 1
        error = answer.json()["error"]
        assert error["code"] in codes() and set(error) <= {"code", "message", "details"}
        assert set(error.get("details", {})) <= set(codes()[error["code"]].details), error
        assert leaks(error["message"]) == [], error["message"]
    assert seen >= 3


def test_a_store_that_cannot_be_used_names_no_file(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        agent = app.agent()
        app.state.store.close()
        for method, path, body in (
            ("POST", "/api/v1/evaluate", {"action": "drop_database"}),
            ("GET", "/api/v1/tickets", None),
            ("GET", "/readyz", None),
        ):
            answer = app.call(method, path, body, agent)
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (503, "INTERNAL_ERROR")
            assert leaks(error["message"]) == [] and str(tmp_path) not in json.dumps(error)
