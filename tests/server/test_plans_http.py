"""Plans over HTTP: for operators alone, with every check of the service behind them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemons import InProcessDaemon, in_process_daemon
from interlock.config.plans import PlannerSettings
from interlock.plans.planner_choice import PlannerOffer
from interlock.plans.planners import PlannerNotConnected
from interlock.plans.planners.mock import Mock
from interlock.plans.running import stop_all
from interlock.ports import PlannerError, PlannerTimeout, PortListener, UnknownRequest
from planner_desk import ScriptedPlanner

AGENTS_MAY_NOT = [
    ("GET", "/plans"), ("POST", "/plans"), ("GET", "/plans/x"), ("PUT", "/plans/x"), ("POST", "/plans/x/again"), ("POST", "/plans/x/run"),
    ("POST", "/plans/x/reject"), ("GET", "/plans/x/output"), ("POST", "/plans/x/cancel"), ("POST", "/plans/x/done"), ("GET", "/workflows"),
    ("POST", "/workflows"), ("DELETE", "/workflows/x"), ("POST", "/workflows/x/open"), ("POST", "/workflows/x/freeze"),
    ("POST", "/workflows/x/run"), ("GET", "/workflows/x/run"), ("POST", "/workflows/x/cancel"), ("GET", "/planner"), ("PUT", "/planner"),
]  # fmt: skip
BODIES: dict[str, Any] = {
    "/plans": {"intent": "list files"}, "/plans/x": {"command": "ls"}, "/plans/x/run": {"command": "ls", "mark": "x", "understood": True},
    "/plans/x/done": {"exitCode": 0}, "/planner": {"use": "mock"}, "/workflows": {"name": "x", "steps": [{"command": "ls"}]},
    "/workflows/x/freeze": {"steps": [{"id": "x"}]}, "/workflows/x/run": {"steps": [{"id": "x"}]},
}  # fmt: skip


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("plans"), policy={"use": "default"}) as made:
        made.state.plans.planner = Mock()
        yield made
        stop_all(made.state)


def call(app: InProcessDaemon, method: str, path: str, body: Any = None, headers: Any = None, status: int = 200) -> Any:
    answer = app.call(method, f"/api/v1{path}", body, headers or app.sign_in())
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize(("method", "path"), AGENTS_MAY_NOT, ids=" ".join)
def test_no_agent_sees_makes_or_runs_a_plan(app: InProcessDaemon, method: str, path: str) -> None:
    body = BODIES.get(path) if method != "GET" else None
    for headers, peer, status in ((app.agent(), "", 403), (None, "uid:0", 403), (None, "", 401)):
        answer = app.call(method, f"/api/v1{path}", body, headers, peer)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, "PERMISSION_DENIED")


def test_a_viewer_looks_and_changes_nothing(app: InProcessDaemon) -> None:
    body = {"name": "vi", "passphrase": "orchid lantern 47 river", "roles": ["viewer"]}
    call(app, "POST", "/operators", body)
    viewer = app.sign_in("vi")
    assert call(app, "GET", "/plans", headers=viewer)["plans"] is not None
    call(app, "POST", "/plans", {"intent": "list files"}, viewer, 403)


def test_a_plan_is_made_edited_run_and_found_again(app: InProcessDaemon, tmp_path: Path) -> None:
    by = app.sign_in()
    plan = call(app, "POST", "/plans", {"intent": "create a file called one", "cwd": str(tmp_path)}, by)
    assert (plan["command"], plan["risk"], plan["notice"]) == (
        "touch -- one",
        "medium",
        "Mock planner: Ollama not connected",
    )
    path = f"/plans/{plan['id']}"
    after = call(app, "PUT", path, {"command": "echo hello > two"}, by)
    assert after["mark"] != plan["mark"] and after["edited"] and after["generated"] == "touch -- one"
    yes = {"command": after["command"], "mark": after["mark"], "understood": True}
    for wrong, status in (
        ({**yes, "understood": False}, 403),
        ({**yes, "mark": plan["mark"]}, 409),
        ({**yes, "command": plan["command"]}, 409),
        ({**yes, "understood": "yes"}, 400),
    ):
        call(app, "POST", f"{path}/run", wrong, by, status)
    assert list(tmp_path.iterdir()) == []
    call(app, "POST", f"{path}/run", yes, app.sign_in("bo"), 404)
    assert call(app, "POST", f"{path}/run", yes, by)["status"] == "running"
    assert app.state.plans.processes[plan["id"]].wait(30)
    assert (tmp_path / "two").read_text() == "hello\n"
    call(app, "POST", f"{path}/run", yes, by, 409)
    assert [one["id"] for one in call(app, "GET", "/plans?q=hello", headers=by)["plans"]] == [plan["id"]]


def test_what_the_gate_holds_is_answered_with_its_ticket(app: InProcessDaemon, tmp_path: Path) -> None:
    by = app.sign_in()
    plan = call(app, "POST", "/plans", {"intent": "where am i", "cwd": str(tmp_path)}, by)
    path = f"/plans/{plan['id']}"
    plan = call(app, "PUT", path, {"command": "rm -rf /home/nobody-7f3/photos"}, by)
    yes = {"command": plan["command"], "mark": plan["mark"], "understood": True, "at": "terminal"}
    held = call(app, "POST", f"{path}/run", yes, by)
    assert held["status"] == "held" and held["ticket"]["agent"]["principal"] == "person:ana"
    call(app, "POST", f"/tickets/{held['ticket']['id']}/approve", {}, by)
    assert call(app, "POST", f"{path}/run", yes, by)["command"] == plan["command"]
    assert call(app, "POST", f"{path}/done", {"exitCode": 1}, by)["status"] == "failure"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (PlannerError("it broke off"), 502, "PLANNER_FAILED"),
        (PlannerNotConnected("nobody answers"), 502, "PLANNER_FAILED"),
        (PlannerTimeout("it did not answer within 1 s"), 504, "PLANNER_TIMEOUT"),
        (UnknownRequest("it knows everyday requests only"), 400, "VALIDATION_INVALID_VALUE"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_planner_that_fails_has_a_status_and_a_code_of_its_own(
    app: InProcessDaemon, monkeypatch: pytest.MonkeyPatch, error: PlannerError, status: int, code: str
) -> None:
    monkeypatch.setattr(app.state.plans, "planner", ScriptedPlanner(error))
    assert call(app, "POST", "/plans", {"intent": "list files"}, status=status)["error"] == {
        "code": code,
        "message": str(error),
    }


@pytest.mark.parametrize("said", [{}, {"command": ""}, {"command": "ls\u202e"}, []])
def test_an_answer_that_is_no_plan_is_the_planners_failure(
    app: InProcessDaemon, monkeypatch: pytest.MonkeyPatch, said: Any
) -> None:
    monkeypatch.setattr(app.state.plans, "planner", ScriptedPlanner(said))
    assert call(app, "POST", "/plans", {"intent": "list files"}, status=502)["error"]["code"] == "PLANNER_FAILED"


def test_the_planner_is_chosen_over_http_by_an_admin(app: InProcessDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.state.plans, "planner", None)
    offer = PlannerOffer(PlannerSettings(), lambda settings: Mock(), lambda url: PortListener(998, "ollama"))
    monkeypatch.setattr(app.state.plans, "offer", offer)
    assert call(app, "POST", "/plans", {"intent": "list files"}, status=409)["error"]["code"] == "PLANNER_NOT_CHOSEN"
    stands = call(app, "GET", "/planner")
    assert (stands["use"], stands["listener"], stands["choices"]) == ("", "ollama", ["ollama", "mock"])
    call(app, "PUT", "/planner", {"use": "mock"}, app.sign_in("bo"), 403)
    call(app, "PUT", "/planner", {"use": "oracle"}, status=400)
    assert call(app, "PUT", "/planner", {"use": "mock"})["chosenBy"] == "ana"
    assert call(app, "POST", "/plans", {"intent": "list files"})["command"] == "ls -la"


@pytest.mark.parametrize("intent", ["", "x" * 2001, "translate this poem"])
def test_a_request_without_a_plan_is_said_in_words(app: InProcessDaemon, intent: str) -> None:
    assert call(app, "POST", "/plans", {"intent": intent}, status=400)["error"]["message"]
