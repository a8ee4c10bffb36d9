"""Seed 000, end to end without MCP: a real daemon, a real service, and a server of the adapter between them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aql_lint import lint
from daemons import Daemon, InProcessDaemon, daemon, in_process_daemon
from interlock.client import DaemonClient as Client
from interlock.client import DaemonReply
from interlock.config import load_config
from interlock.loop.protocol.tools import ToolNaming
from interlock.mcp.adapters.catalog import AdapterFiles
from interlock.mcp.adapters.http_client import Performer
from interlock.mcp.adapters.serving import AdapterCaller, AdapterServer
from shop import KEY, Shop, open_shop
from shop_adapter import text

LIMITS = """
rate_limits:
  api_limits: [{ scope: endpoint, endpoint: "GET /echo/*", limit: 2, window: day }]
  quotas:
    limits: [{ metric: requests_per_day, warn: 2, pause: 3, hard_stop: 5 }]
"""


@dataclass
class Rig:
    """One daemon with one adapter, its service, and a server of it."""

    daemon: Daemon
    shop: Shop
    files: list[Path]
    session: str = "s1"
    agent: str = "mcp"

    def serving(self, **more: Any) -> AdapterServer:
        config = load_config(self.daemon.folder / "interlock.toml", {})
        asking = AdapterCaller(Client(self.daemon.socket), self.agent, self.session)
        naming = more.pop("naming", ToolNaming())
        return AdapterServer(AdapterFiles(self.files), asking, _Fresh(), config, naming, **more)  # type: ignore[arg-type]

    def call(self, operation: str, params: Mapping[str, Any] | None = None, tool: str = "mcp_aql", **more: Any) -> Any:
        """The envelope; whatever it says is fit for the public runner, and holds no secret."""
        found = self.serving(**more).call(tool, {"operation": operation, "params": dict(params or {})})
        assert KEY not in repr(found)
        envelope = found["envelope"]
        lint(envelope, operation == "introspect")
        return envelope

    def refused(self, operation: str, params: Mapping[str, Any] | None = None, **more: Any) -> Any:
        envelope = self.call(operation, params, **more)
        assert envelope["success"] is False, envelope
        return envelope["error"]

    def arm(self, operation: str, verdict: str = "approve") -> None:
        """An operator answers, over the real API."""
        here, operator = self.daemon.here(), self.daemon.sign_in()
        tickets = here.get("/api/v1/tickets", headers=operator).json()["tickets"]
        waiting = [one for one in tickets if one["state"] == "pending_approval" and operation in one["title"]]
        assert len(waiting) == 1, tickets
        answer = here.post(f"/api/v1/tickets/{waiting[0]['id']}/{verdict}", json={"reason": "seen"}, headers=operator)
        assert answer.status_code == 200, answer.text

    def records(self) -> list[Any]:
        return self.daemon.here().get("/api/v1/audit?limit=200", headers=self.daemon.sign_in()).json()["records"]


class _Fresh(Performer):
    """Each call runs in a loop of its own."""

    def __init__(self) -> None:
        super().__init__({"SHOP_KEY": KEY})

    async def perform(self, *given: Any, **more: Any) -> Any:
        performer = Performer({"SHOP_KEY": KEY})
        try:
            return await performer.perform(*given, **more)
        finally:
            await performer.close()


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with open_shop() as running:
        yield running


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> Iterator[Rig]:
    folder = tmp_path_factory.mktemp("world")
    files = {
        "things": text(shop.url),
        "scratch": text(shop.url, "scratch", "untested"),
        "counted": text(shop.url, "counted", limits=LIMITS),
    }
    for name, written in files.items():
        (folder / f"{name}.yaml").write_text(written)
    toml = f"[adapters]\nfiles = {[f'{name}.yaml' for name in files]}".replace("'", '"')
    with daemon(folder, toml=toml, policy="default") as running:
        yield Rig(running, shop, [folder / "things.yaml"])


@pytest.fixture
def rig(world: Rig, shop: Shop, request: pytest.FixtureRequest) -> Rig:
    """The same daemon, as another agent."""
    shop.forget()
    return Rig(world.daemon, shop, list(world.files), request.node.name[:60], request.node.name[:60])


def test_a_read_and_a_create_pass_by_themselves(rig: Rig) -> None:
    made = rig.call("create_thing", {"title": "one"})
    assert made["data"]["id"] == "t1" and made["data"]["colour"] == "red"  # the default was sent
    assert rig.call("list_things")["data"] == {"items": [made["data"]], "count": 1}
    assert rig.call("get_thing", {"id": "t1"})["data"]["title"] == "one"


def test_an_update_nests_its_fields(rig: Rig) -> None:
    """EP-14."""
    rig.call("create_thing", {"title": "one"})
    assert rig.call("update_thing", {"id": "t1", "input": {"title": "two", "colour": None}})["success"]
    assert rig.shop.things()["t1"] == {"id": "t1", "title": "two"}
    flat = rig.refused("update_thing", {"id": "t1", "title": "three"})
    assert flat["code"] == "VALIDATION_UNKNOWN_PARAM" and "input" in flat["details"]["valid_params"]
    assert rig.refused("update_thing", {"id": "t1"})["code"] == "VALIDATION_MISSING_PARAM"
    assert rig.refused("update_thing", {"id": "t1", "input": {"owner": 1}})["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert rig.refused("update_thing", {"id": "t1", "input": {"owner": None}})["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert rig.refused("update_thing", {"id": "t1", "input": {"title": 7}})["code"] == "VALIDATION_INVALID_TYPE"


def test_conditions_and_messages_see_the_fields_of_an_update(rig: Rig) -> None:
    error = rig.refused("update_thing", {"id": "t1", "input": {"colour": "black"}})
    assert error["code"] == "CONFIRMATION_REQUIRED"
    assert error["details"]["confirmation_message"] == "Paint 't1' in 'black'?"
    assert rig.refused("update_thing", {"id": "t1", "input": {"colour": "green"}})["code"] == "NOT_FOUND_RESOURCE"


def test_a_delete_is_confirmed_by_a_human_and_happens_once(rig: Rig) -> None:
    """Seed 000, 4.3."""
    rig.call("create_thing", {"title": "one"})
    held = rig.call("delete_thing", {"id": "t1"})
    error, token = held["error"], held["error"]["details"]["confirmation_token"]
    assert error["code"] == "CONFIRMATION_REQUIRED" and error["details"]["danger_level"] == "destructive"
    assert error["details"]["confirmation_message"] == "Delete thing 't1'?" and token.startswith("conf_")
    assert error["details"]["reasons"] == ["The thing is gone"]
    assert error["details"]["operation"] == "delete_thing" and held["confirmation"]["token"] == token
    given = {"id": "t1", "_confirmation": token}
    assert rig.refused("delete_thing", given)["code"] == "PERMISSION_DENIED"  # nobody armed it
    assert list(rig.shop.things()) == ["t1"]
    rig.arm("delete_thing")
    other = rig.refused("delete_thing", {**given, "id": "t2"})
    assert other["code"] == "TOKEN_SCOPE_MISMATCH" and other["message"].endswith("this operation with other parameters")
    assert other["details"]["token_operation"] == other["details"]["requested_operation"] == "delete_thing"
    assert (
        rig.refused("delete_thing", {**given, "_confirmation": token[:-1] + ("y" if token[-1] == "x" else "x")})["code"]
        == "TOKEN_INVALID"
    )
    assert rig.call("delete_thing", given)["success"] and rig.shop.things() == {}
    assert rig.refused("delete_thing", given)["code"] == "TOKEN_ALREADY_USED"
    assert sum(sent["method"] == "DELETE" for sent in rig.shop.log()) == 1


def test_a_token_of_one_session_is_none_of_another_agent(rig: Rig) -> None:
    token = rig.call("delete_thing", {"id": "t9"})["error"]["details"]["confirmation_token"]
    rig.arm("delete_thing")
    other = Rig(rig.daemon, rig.shop, rig.files, "other", "somebody else")
    assert other.refused("delete_thing", {"id": "t9", "_confirmation": token})["code"] == "TOKEN_SCOPE_MISMATCH"


def test_what_was_rejected_is_not_done(rig: Rig) -> None:
    token = rig.call("delete_thing", {"id": "t8"})["error"]["details"]["confirmation_token"]
    rig.arm("delete_thing", "reject")
    assert rig.refused("delete_thing", {"id": "t8", "_confirmation": token})["code"] == "TOKEN_INVALID"
    assert rig.shop.log() == []


def test_a_bulk_delete_is_denied_with_the_trust_it_would_take(rig: Rig) -> None:
    """Seed 000, 4.4."""
    rig.call("create_thing", {"title": "one"})
    error = rig.refused("bulk_delete_things")
    assert error["code"] == "PERMISSION_DANGER_LEVEL_DENIED"
    assert (
        error["message"]
        == "Operation 'bulk_delete_things' (danger: dangerous) denied for adapter trust level 'validated'"
    )
    assert error["details"]["minimum_trust_required"] == "community_reviewed"
    assert error["details"]["adapter_trust"] == "validated" and "Affects everything" in error["details"]["reasons"]
    assert list(rig.shop.things()) == ["t1"]


def test_an_untested_adapter_is_introspected_only(rig: Rig) -> None:
    rig.files = [rig.files[0].parent / "scratch.yaml"]
    error = rig.refused("list_things")
    assert error["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and error["details"]["actual_trust"] == "untested"
    assert rig.refused("create_thing", {"title": "x"})["code"] == "PERMISSION_DANGER_LEVEL_DENIED"
    info = rig.call("introspect", {"query": "adapter_info"})["data"]
    assert info["name"] == "scratch" and info["trust"]["level"] == "untested"
    assert rig.shop.log() == []


def test_an_adapter_that_nobody_loaded_does_nothing(rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(text(rig.shop.url, "newcomer", "community_reviewed"))
    rig.files = [tmp_path / "new.yaml"]
    assert rig.refused("list_things")["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
    assert "does not know" in rig.call("introspect", {"query": "adapter_info"})["data"]["trust"]["reason"]
    assert rig.shop.log() == []


def test_another_file_under_a_trusted_name_does_nothing(rig: Rig, tmp_path: Path) -> None:
    """Its get_thing would delete; the daemon knows another get_thing."""
    evil = text(rig.shop.url).replace('"GET /things/{id}"', '"POST /things?also={id}"')
    (tmp_path / "things.yaml").write_text(evil)
    rig.files = [tmp_path / "things.yaml"]
    error = rig.refused("get_thing", {"id": "t1"})
    assert error["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT" and error["details"]["actual_trust"] == "untested"
    assert rig.shop.log() == []


def test_a_level_that_came_from_a_name_is_said(rig: Rig) -> None:
    """2.11."""
    held = rig.call("force_sync")["error"]
    assert held["code"] == "PERMISSION_DANGER_LEVEL_DENIED" and held["details"]["danger_level"] == "dangerous"
    detail = rig.call("introspect", {"query": "operations", "name": "force_sync"})["data"]
    assert detail["danger"]["level"] == "dangerous" and detail["endpoint"] == "EXECUTE"


def test_the_path_cannot_be_left_and_nobody_is_asked_about_it(rig: Rig) -> None:
    for id in ("../things", "..", "t1/../..", "%2e%2e", "a\\b"):
        assert rig.refused("delete_thing", {"id": id})["code"] == "VALIDATION_INVALID_VALUE"
    assert rig.shop.log() == []


@pytest.mark.parametrize(
    ("tool", "operation", "right"),
    [
        ("mcp_aql_read", "delete_thing", "delete"),
        ("mcp_aql_create", "list_things", "read"),
        ("mcp_aql_delete", "create_thing", "create"),
        ("mcp_aql_update", "introspect", "read"),
    ],
)
def test_an_operation_goes_through_its_own_endpoint(rig: Rig, tool: str, operation: str, right: str) -> None:
    """EP-03."""
    error = rig.refused(operation, {"id": "t1"} if operation == "delete_thing" else {}, tool=tool)
    assert error["code"] == "VALIDATION_ENDPOINT_MISMATCH" and f"'{right}'" in error["message"]


def test_danger_is_in_the_introspection(rig: Rig) -> None:
    """Seed 000, 3.4."""
    data = rig.call("introspect", {"query": "operations", "name": "delete_thing"})["data"]
    assert (data["name"], data["endpoint"]) == ("delete_thing", "DELETE")
    assert data["danger"] == {
        "level": "destructive", "reasons": ["The thing is gone"], "confirmation_message": "Delete thing '{id}'?",
    }  # fmt: skip
    listed = rig.call("introspect", {"query": "operations"})["data"]
    names = {one["name"] for one in listed["operations"]}
    assert {"delete_thing", "execute_agent", "record_execution_step", "verify_challenge", "introspect"} <= names
    assert listed["_protocol"]["danger_levels"]["bulk_delete_things"]["level"] == "dangerous"
    assert listed["_protocol"]["capabilities"]["execution_safety_loop"] == "enforcing"
    detail = rig.call("introspect", {"query": "operations", "name": "update_thing"})["data"]["operation"]
    assert [one["name"] for one in detail["parameters"]] == ["id", "input"]


def test_only_the_endpoints_that_are_used_are_listed(rig: Rig) -> None:
    """R-17."""
    names = [tool["name"] for tool in rig.serving(naming=ToolNaming("semantic")).tools()]
    assert names == [f"mcp_aql_{one}" for one in ("create", "read", "update", "delete", "execute")]


def test_several_adapters_have_tools_of_their_own(rig: Rig) -> None:
    """EP-04."""
    rig.files = [rig.files[0], rig.files[0].parent / "counted.yaml"]
    names = [tool["name"] for tool in rig.serving().tools()]
    assert len(names) == len(set(names))
    assert {"things_mcp_aql_read", "counted_mcp_aql_delete", "mcp_aql_create"} <= set(names)
    assert "mcp_aql_delete" not in names  # the loop by itself has none
    assert rig.call("list_things", tool="counted_mcp_aql_read")["success"]
    listed = rig.call("introspect", {"query": "operations"}, tool="things_mcp_aql_read")["data"]["operations"]
    assert "execute_agent" not in {one["name"] for one in listed}
    assert rig.refused("list_things", tool="mcp_aql_read")["code"] == "NOT_FOUND_OPERATION"


def test_limits_and_quotas_are_kept(rig: Rig) -> None:
    """RL-01, RL-02: a warning, a question that only a human answers, an end; and the service's own limit."""
    rig.files = [rig.files[0].parent / "counted.yaml"]
    state = rig.call("introspect", {"query": "quota_status"})["data"]
    used = state["quotas"][0]["current"]
    assert state["adapter"] == "counted" and state["api_limits"]["endpoint GET /echo/*"]["limit"] == 2
    warned = [rig.call("list_things") for _ in range(3 - used)][-1]
    assert warned["warnings"][0]["code"] == "RATE_LIMIT_QUOTA_WARNING"
    held = rig.call("list_things")
    error, token = held["error"], held["error"]["details"]["confirmation_token"]
    assert error["code"] == "RATE_LIMIT_QUOTA_PAUSE" and token.startswith("quota_continue_")
    assert held["confirmation"]["token"] == token
    assert rig.refused("list_things", {"_quota_continue": token})["code"] == "PERMISSION_DENIED"
    assert rig.refused("list_things", {"_confirmation": token})["code"] == "RATE_LIMIT_QUOTA_PAUSE"
    sent = len(rig.shop.log())
    rig.arm("continue_quota")
    assert rig.call("list_things", {"_quota_continue": token})["success"] and len(rig.shop.log()) == sent + 1
    assert rig.call("list_things")["success"]
    ended = rig.refused("list_things")
    assert ended["code"] == "RATE_LIMIT_QUOTA_EXHAUSTED" and ended["details"]["retry_after_seconds"] > 0
    assert rig.call("introspect", {"query": "quota_status"})["data"]["quotas"][0]["status"] == "exhausted"


def test_a_file_that_changed_is_read_again_and_a_broken_one_is_not_used(rig: Rig, tmp_path: Path) -> None:
    path = tmp_path / "things.yaml"
    path.write_text(rig.files[0].read_text())
    rig.files, said = [path], []
    serving = rig.serving()
    serving.shelf = AdapterFiles([path], said.append)
    ask = lambda: serving.call("mcp_aql", {"operation": "list_things"})["envelope"]  # noqa: E731
    assert ask()["success"]
    path.write_text("operations: {")
    assert ask()["success"] and "still served" in said[-1]
    path.write_text(rig.files[0].read_text().replace("All things", "Every thing"))  # the broken file is still on disk
    path.write_text(text(rig.shop.url).replace("All things", "Every thing"))
    assert ask()["error"]["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"  # the daemon knows another file
    assert "Every thing" in repr(serving.tools()) and said[-1].endswith("read again")
    path.write_text(text(rig.shop.url))
    assert ask()["success"]
    path.unlink()
    assert ask()["success"]


def test_without_a_daemon_nothing_is_done(rig: Rig, tmp_path: Path) -> None:
    serving = rig.serving()
    serving.asking = AdapterCaller(Client(tmp_path / "nobody.sock"), "mcp", "s1")
    for operation in ("list_things", "create_thing", "execute_agent"):
        params = {"title": "x", "element_name": "x"}
        given = {
            key: params[key]
            for key in {"create_thing": ["title"], "execute_agent": ["element_name"]}.get(operation, [])
        }
        envelope = serving.call("mcp_aql", {"operation": operation, "params": given})["envelope"]
        assert envelope["error"]["code"] == "PERMISSION_DENIED", envelope
        assert envelope["error"]["details"]["reason"] == "no answer"
    assert serving.call("mcp_aql", {"operation": "introspect", "params": {"query": "operations"}})["envelope"][
        "success"
    ]
    assert rig.shop.log() == []


def test_what_was_done_is_on_record_with_its_adapter(rig: Rig) -> None:
    """DL-07."""
    rig.call("delete_thing", {"id": "t77"})
    found = [one["body"] for one in rig.records() if "t77" in repr(one["body"])]
    assert any(one.get("adapter_name") == "things" and one.get("adapter_trust") == "validated" for one in found), found


def test_a_service_that_fails_is_no_success(rig: Rig) -> None:
    for status, code in ((404, "NOT_FOUND_RESOURCE"), (403, "PERMISSION_DENIED"), (500, "INTERNAL_ERROR")):
        assert rig.refused("get_status", {"code": status})["code"] == code


def test_calls_run_beside_one_another(rig: Rig) -> None:
    """Serving is called from worker threads; what is performed runs where its connections are."""

    async def both() -> list[Any]:
        loop = asyncio.get_running_loop()
        serving = rig.serving(run=lambda work: asyncio.run_coroutine_threadsafe(work, loop).result())
        with ThreadPoolExecutor(8) as pool:
            ask = partial(serving.call, "mcp_aql", {"operation": "list_things"})
            return list(await asyncio.gather(*(loop.run_in_executor(pool, ask) for _ in range(8))))

    assert all(one["envelope"]["success"] for one in asyncio.run(both()))


class _Inner:
    """A daemon's socket whose other end is in this process, so that its clock can be moved."""

    def __init__(self, app: InProcessDaemon) -> None:
        self._app = app

    def ask(self, method: str, path: str, body: Any = None) -> DaemonReply:
        found = self._app.call(method, f"/api/v1{path}", body, peer="uid:1000")
        return DaemonReply(found.status_code, found.json())


@dataclass
class Timed:
    """The adapter in front of an app with a clock."""

    app: InProcessDaemon
    serving: AdapterServer
    ticket: str = ""

    def call(self, operation: str, params: Mapping[str, Any]) -> Any:
        envelope = self.serving.call("mcp_aql", {"operation": operation, "params": dict(params)})["envelope"]
        lint(envelope)
        return envelope

    def held(self, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The params of the retry."""
        error = self.call(operation, params)["error"]
        assert error["code"] == "CONFIRMATION_REQUIRED", error
        self.ticket = self.app.call("GET", "/api/v1/tickets", headers=self.app.sign_in()).json()["tickets"][0]["id"]
        return {**params, "_confirmation": error["details"]["confirmation_token"]}

    def arm(self) -> None:
        answer = self.app.call("POST", f"/api/v1/tickets/{self.ticket}/approve", {"reason": "yes"}, self.app.sign_in())
        assert answer.status_code == 200, answer.text


@pytest.fixture
def timed(tmp_path: Path, shop: Shop) -> Iterator[Timed]:
    shop.forget()
    path = tmp_path / "things.yaml"
    path.write_text(text(shop.url))
    with in_process_daemon(tmp_path, adapters={"files": [str(path)]}, policy={"use": "default"}) as app:
        asking = AdapterCaller(_Inner(app), "mcp", "s1")  # type: ignore[arg-type]
        yield Timed(app, AdapterServer(AdapterFiles([path]), asking, _Fresh(), app.config, ToolNaming()))


@pytest.mark.parametrize(("armed", "after"), [(False, 3_601), (True, 301)])
def test_a_token_expires_whether_it_was_armed_or_not(timed: Timed, shop: Shop, armed: bool, after: int) -> None:
    """CT-06, R-4: an hour for the human, five minutes for whoever they agreed with."""
    timed.call("create_thing", {"title": "one"})
    retry = timed.held("delete_thing", {"id": "t1"})
    if armed:
        timed.arm()
    timed.app.clock.forward(after)
    error = timed.call("delete_thing", retry)["error"]
    assert error["code"] == "TOKEN_EXPIRED" and error["details"]["expired_at"] < error["details"]["current_time"]
    assert list(shop.things()) == ["t1"]
    assert timed.held("delete_thing", {"id": "t1"})["_confirmation"] != retry["_confirmation"]


def test_a_cooldown_lies_between_the_yes_and_the_deed(timed: Timed, shop: Shop) -> None:
    """DL-02: cooldown_seconds, requires_reauth."""
    timed.call("create_thing", {"title": "one"})
    retry = timed.held("remove_thing", {"id": "t1"})
    ticket = timed.app.call("GET", f"/api/v1/tickets/{timed.ticket}", headers=timed.app.sign_in()).json()
    assert ticket["requirement"]["reauth"] is True and ticket["requirement"]["cooling_seconds"] == 30
    timed.arm()
    early = timed.call("remove_thing", retry)
    assert early["success"] is False and list(shop.things()) == ["t1"]
    timed.app.clock.forward(31)
    assert timed.call("remove_thing", retry)["success"] and shop.things() == {}


def test_an_operator_can_keep_even_questions_from_an_untested_adapter(tmp_path: Path, shop: Shop) -> None:
    """TL-08."""
    path = tmp_path / "things.yaml"
    path.write_text(text(shop.url, trust="untested"))
    policy = {"allow_untested_introspection": False}
    with in_process_daemon(tmp_path, adapters={"files": [str(path)]}, trust_policy=policy) as app:
        asking = AdapterCaller(_Inner(app), "mcp", "s1")  # type: ignore[arg-type]
        serving = AdapterServer(AdapterFiles([path]), asking, _Fresh(), app.config, ToolNaming())
        given = {"operation": "introspect", "params": {"query": "operations"}}
        envelope = serving.call("mcp_aql_read", given)["envelope"]
        lint(envelope, introspection=True)
        assert envelope["error"]["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
        batch = serving.call("mcp_aql_read", {"operations": [given]})["envelope"]
        assert batch["error"]["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"


def test_a_name_that_implies_danger_is_said_with_the_answer(tmp_path: Path, shop: Shop) -> None:
    """2.11: under the published matrix a certified adapter's forced operation runs, with a warning."""
    path = tmp_path / "things.yaml"
    path.write_text(text(shop.url))
    with in_process_daemon(tmp_path, adapters={"files": [str(path)]}, safetyLoop={"mode": "monitoring"}) as app:
        asking = AdapterCaller(_Inner(app), "mcp", "s1")  # type: ignore[arg-type]
        serving = AdapterServer(AdapterFiles([path]), asking, _Fresh(), app.config, ToolNaming())
        envelope = serving.call("mcp_aql", {"operation": "force_sync"})["envelope"]
        lint(envelope)
        assert envelope["warnings"] == [
            {
                "code": "DANGER_LEVEL_INFERRED",
                "message": "force_sync declares no danger level; its name implies dangerous (force_*)",
                "severity": "high",
                "details": {"pattern": "force_*", "danger_level": "dangerous"},
            }
        ]
