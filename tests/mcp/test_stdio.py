"""`interlock mcp` as a process: settings, bytes that are no text, a daemon that is not there, and a session that ends with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from servers import Servers, fresh
from wire import Wire, until, wired

from aql_lint import lint
from daemons import daemon, enrol_in_folder, write_config
from interlock.client.connection import daemon_environment
from interlock.mcp import PROMPT
from interlock.mcp.server import decode_message, decoding_problem

pytestmark = pytest.mark.xdist_group("mcp")


def words(servers: Servers) -> list[str]:
    return servers.words(servers.token())[3:]  # without `-m interlock mcp`


UNDECODABLE = {
    "bytes that are no UTF-8": b'{"operation":"introspect","params":{"query":"\xff\xfe"}}',
    "half a character": b'{"operation":"introspect","params":{"query":"\\ud800"}}',
    "half a character in a key": b'{"operation":"introspect","\\udc00":1}',
    "a NUL": b'{"operation":"introspect","params":{"query":"a\\u0000"}}',
}


@pytest.fixture(scope="module")
def wire(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with wired(words(servers), tmp_path_factory.mktemp("wire") / "errors") as made:
        yield made


@pytest.mark.parametrize("why", UNDECODABLE)
def test_ep_11_what_is_no_text_is_an_error_of_the_domain(wire: Wire, why: str) -> None:
    found = wire.raw_call(UNDECODABLE[why])
    assert found.pop("isError") is True
    lint(found)
    assert found["error"]["code"] == "VALIDATION_INVALID_ENCODING"


def test_text_in_any_script_goes_through(wire: Wire) -> None:
    arguments = {"operation": "get_execution_state", "params": {"element_name": "größe 数据 \U0001f600"}}
    for encoded in (json.dumps(arguments).encode(), json.dumps(arguments, ensure_ascii=False).encode()):
        assert wire.raw_call(encoded)["error"]["code"] == "NOT_FOUND_RESOURCE"


def test_a_megabyte_is_refused_with_the_limit(wire: Wire) -> None:
    found = wire.call("mcp_aql", {"operation": "introspect", "params": {"query": "x" * 1_100_000}})
    assert found["error"]["code"] == "VALIDATION_PAYLOAD_TOO_LARGE" and not found["isError"]


def test_garbage_does_not_end_it(wire: Wire) -> None:
    for line in (b"", b"garbage", b"[]", b'{"jsonrpc":"2.0"}', b"\xff" * 100):
        wire.send(line)
    assert wire.call("mcp_aql_read", {"operation": "introspect", "params": {"query": "types"}})["success"]


def test_a_tool_that_nobody_has_is_an_error_of_mcp(wire: Wire) -> None:
    for tool in ("mcp_aql_update", "mcp_aql_delete", "permission_prompt", "x"):
        assert (
            wire.request("tools/call", {"name": tool, "arguments": {"operation": "introspect"}})["error"]["code"]
            == -32602
        )


def test_what_is_readable_stays_as_it_is() -> None:
    for text in ('{"a":"\\ud83d\\ude00"}', '{"a":"\\u0041"}', "no json \\ud800"):
        assert decode_message(text.encode()) == text
    assert decoding_problem({"operation": "x"}) == ""


@pytest.mark.parametrize(
    ("env", "names"),
    [
        ({"MCP_AQL_ENDPOINT_MODE": "single"}, ["mcp_aql"]),
        ({"MCP_AQL_ENDPOINT_MODE": "semantic", "MCP_AQL_TOOL_PREFIX": "safe_"}, ["safe_mcp_aql_create", "safe_mcp_aql_read", "safe_mcp_aql_execute"]),
    ],
    ids=["single", "semantic with a prefix"],
)  # fmt: skip
def test_ep_01_ep_04_mode_and_prefix_change_the_tools_and_no_answer(
    servers: Servers, tmp_path: Path, env: dict[str, str], names: list[str]
) -> None:
    with wired(words(servers), tmp_path / "errors", env) as wire:
        assert [tool["name"] for tool in wire.request("tools/list", {})["result"]["tools"]] == names
        held = wire.call(names[-1], {"operation": "execute_agent", "params": {"element_name": fresh()}})
        assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
        refused = wire.call(
            names[0],
            {"operation": "record_execution_step", "params": {"element_name": fresh(), "next_action_hint": "ls"}},
        )
        assert refused["error"]["code"] == "NOT_FOUND_RESOURCE"
        listed = wire.call(names[len(names) // 2], {"operation": "introspect", "params": {"query": "operations"}})
        assert listed["data"]["_protocol"]["mode"] == env["MCP_AQL_ENDPOINT_MODE"]


def test_r_2_strict_introspection_keeps_to_the_closed_schemas(servers: Servers, tmp_path: Path) -> None:
    with wired([*words(servers), "--strict-introspection"], tmp_path / "errors") as wire:
        found = wire.call(
            "mcp_aql_read", {"operation": "introspect", "params": {"query": "operations", "name": "execute_agent"}}
        )
        assert set(found["data"]) == {"operation"} and "danger" not in found["data"]["operation"]
        listed = wire.call("mcp_aql_read", {"operation": "introspect", "params": {"query": "operations"}})
        assert set(listed["data"]) == {"_protocol", "operations"}


def test_daemon_strict_introspection_counts_for_every_connection(tmp_path: Path) -> None:
    with daemon(tmp_path, toml="[daemon]\nstrict_introspection = true\n", policy="default") as running:
        body = {
            "endpoint": "read",
            "session": "mcp_" + "a" * 32,
            "arguments": {"operation": "introspect", "params": {"query": "operations", "name": "introspect"}},
        }
        found = running.here().post("/api/v1/aql", json=body).json()["envelope"]
        assert set(found["data"]) == {"operation"}
        if os.geteuid() == 0:  # the daemon hides its memory from its own user
            maps = Path(f"/proc/{running.process.pid}/maps").read_text()
            assert "pydantic_core" in maps  # FastAPI's own
        assert running.here().get("/healthz").status_code == 200


def test_r_15_a_permission_prompt_is_a_tool_of_its_own_where_it_is_asked_for(servers: Servers, tmp_path: Path) -> None:
    with wired([*words(servers), "--permission-prompt"], tmp_path / "errors") as wire:
        tools = {tool["name"]: tool for tool in wire.request("tools/list", {})["result"]["tools"]}
        assert tools["permission_prompt"]["inputSchema"]["required"] == ["tool_name", "input"]
        for command, behavior in (("git status", "allow"), ("rm -rf /", "deny")):
            given = {"tool_name": "Bash", "input": {"command": command}, "tool_use_id": "t1"}
            found = wire.request("tools/call", {"name": "permission_prompt", "arguments": given})["result"]
            said = json.loads(found["content"][0]["text"])
            assert said["behavior"] == behavior and not found.get("isError")
            assert said.get("updatedInput", {"command": command}) == {"command": command}


@pytest.mark.slow("starts two servers")
def test_r_12_flags_and_environment_tighten_and_never_loosen(servers: Servers, tmp_path: Path) -> None:
    env = {"MCPAQL_SAFETY_LOOP": "disabled"}
    with wired([*words(servers), "--safety-mode", "monitoring"], tmp_path / "errors", env) as wire:
        listed = wire.call("mcp_aql_read", {"operation": "introspect", "params": {"query": "capabilities"}})
        assert listed["data"]["capabilities"]["execution_safety_loop"] == "enforcing"
        assert (
            wire.call("mcp_aql", {"operation": "execute_agent", "params": {"element_name": fresh()}})["error"]["code"]
            == "CONFIRMATION_REQUIRED"
        )
    with wired([*words(servers), "--safety-mode", "off"], tmp_path / "unknown") as wire:
        assert "enforcing is used" in wire.errors.read_text()


def test_a_policy_of_the_agents_side_tightens(servers: Servers, tmp_path: Path) -> None:
    policy, token, name = tmp_path / "safety-policies.json", servers.token(), fresh()
    policy.write_text(json.dumps({"deny": ["launch_*"], "autoApprove": ["read_*"], "maxAutonomousSteps": 3}))
    with wired([*servers.words(token)[3:], "--policy", str(policy)], tmp_path / "errors") as wire:
        asked = {"operation": "execute_agent", "params": {"element_name": name}}
        held = wire.call("mcp_aql", asked)
        servers.approve(name)
        begun = wire.call(
            "mcp_aql", {**asked, "params": {**asked["params"], "_confirmation": held["confirmation"]["token"]}}
        )  # type: ignore[dict-item]
        assert begun["data"]["max_autonomous_steps"] == 3
        assert begun["warnings"][0]["code"] == "TIGHTENING_ONLY"


@pytest.mark.parametrize(
    "wrong", [("--policy", "nothing.json"), ("--config", "nothing.toml"), ("--token-file", "nothing")]
)
def test_settings_that_cannot_be_used_end_it_before_anything_is_served(tmp_path: Path, wrong: tuple[str, str]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "interlock", "mcp", *wrong],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )
    assert run.returncode == 2 and run.stdout == "" and "nothing" in run.stderr


def test_the_prompt_can_be_printed() -> None:
    run = subprocess.run([sys.executable, "-m", "interlock", "mcp", "--print-prompt"], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout == PROMPT


@pytest.mark.slow("starts a daemon through a server")
def test_a_daemon_is_started_where_none_runs_with_nothing_of_the_environment(tmp_path: Path) -> None:
    enrol_in_folder(tmp_path)
    config = write_config(tmp_path, "[daemon]\nport = 0\n", "default")
    env = {"MCPAQL_SAFETY_LOOP": "disabled", "PYTHONPATH": str(tmp_path), "SECRET_KEY": "x"}
    pid = 0
    try:
        with wired(["--config", str(config)], tmp_path / "errors", env) as wire:
            found = wire.call("mcp_aql_read", {"operation": "introspect", "params": {"query": "capabilities"}})
            assert found["data"]["capabilities"]["execution_safety_loop"] == "enforcing"
            pid = _daemon_of(config)
            if os.geteuid() == 0:  # as with its memory
                known = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                assert not [one for one in known if one.startswith((b"MCPAQL", b"PYTHON", b"SECRET"))]
            assert os.getsid(pid) == pid  # it outlives whoever started it
        assert (tmp_path / "state" / "daemon.log").stat().st_mode & 0o077 == 0
        assert (tmp_path / "errors").read_text() == ""
        os.kill(pid, 0)
    finally:
        if pid:
            os.kill(pid, signal.SIGTERM)
            until(lambda: not Path(f"/proc/{pid}").exists() or _zombie(pid), "the daemon did not stop")
    assert daemon_environment({"PATH": "/bin", "LD_PRELOAD": "x"}) == {"PATH": "/bin"}


@pytest.mark.slow("starts, kills and starts daemons")
def test_without_a_daemon_every_call_is_a_failure_and_with_the_next_one_it_goes_on(tmp_path: Path) -> None:
    with daemon(tmp_path, policy="default") as running:
        config = tmp_path / "interlock.toml"
        with wired(["--config", str(config)], tmp_path / "errors") as wire:
            asked = {"operation": "introspect", "params": {"query": "types"}}
            assert wire.call("mcp_aql_read", asked)["success"]
            running.stop(signal.SIGKILL)
            config.write_text("this is no configuration")  # none can be started
            for operation in ("introspect", "execute_agent", "record_execution_step"):
                found = wire.call(
                    "mcp_aql", {"operation": operation, "params": {"element_name": "a", "next_action_hint": "ls"}}
                )
                assert found.pop("isError") is True and found["success"] is False
                assert found["error"]["code"] == "INTERNAL_ERROR"
            write_config(tmp_path, "[daemon]\nport = 0\n", "default")
            found = wire.call("mcp_aql_read", asked)
            assert found["success"], found
            pid = _daemon_of(config)
    os.kill(pid, signal.SIGTERM)
    until(lambda: not Path(f"/proc/{pid}").exists() or _zombie(pid), "the daemon did not stop")


@pytest.mark.parametrize("how", ["closed", "killed"])
def test_esl_13_a_session_ends_with_its_server_however_that_ends(servers: Servers, tmp_path: Path, how: str) -> None:
    token, name = servers.token(), fresh()
    with wired(servers.words(token)[3:], tmp_path / "errors") as wire:
        asked: dict[str, Any] = {"element_name": name}
        held = wire.call("mcp_aql", {"operation": "execute_agent", "params": asked})
        servers.approve(name)
        begun = wire.call(
            "mcp_aql",
            {"operation": "execute_agent", "params": {**asked, "_confirmation": held["confirmation"]["token"]}},
        )
        assert begun["data"]["status"] == "running"
        session = begun["_meta"]["session_id"]
        if how == "killed":
            wire.process.kill()
        else:
            wire.close()

    def ended() -> bool:
        body = {
            "endpoint": "read",
            "session": session,
            "arguments": {"operation": "get_execution_state", "params": {"element_name": name}},
        }
        found = (
            servers.daemon.here(headers={"authorization": f"Bearer {token}"})
            .post("/api/v1/aql", json=body)
            .json()["envelope"]
        )
        return bool(found["data"]["status"] in ("cancelled", "failed"))

    until(ended, "the execution outlived its connection")


def test_nothing_but_the_protocol_is_written_and_no_token_or_code(servers: Servers, tmp_path: Path) -> None:
    token = servers.token()
    with wired(servers.words(token)[3:], tmp_path / "errors", anew=True) as wire:
        code = "ABCD-EFGH-IJKL-MNOP-QRST-UVWX-YZ"
        wire.call("mcp_aql", {"operation": "verify_challenge", "params": {"challenge_id": "x", "code": code}})
        wire.call(
            "mcp_aql", {"operation": "verify_challenge", "params": {"challenge_id": code, "code": code, "more": code}}
        )
        wire.call("mcp_aql", {"operation": code})
        environ = (
            Path(f"/proc/{wire.process.pid}/environ").read_bytes()
            + Path(f"/proc/{wire.process.pid}/cmdline").read_bytes()
        )
        assert token.encode() not in environ
        assert (
            token.encode() not in wire.seen and wire.seen.count(code.encode()) <= 1
        )  # its own name of an operation, back
        assert wire.errors.read_text() == ""


def test_the_library_is_loaded_by_the_first_request_and_by_nothing_else() -> None:
    code = "import sys, interlock.server.app, interlock.server.daemon, interlock.cli.guard.mcp, interlock.loop.protocol.loop_surface"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint([m for m in sys.modules if m.split('.')[0] in ('mcp', 'mcp_types')])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "[]"


def _daemon_of(config: Path) -> int:
    """The process that serves a configuration."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            argv = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve" in argv and str(config).encode() in argv and not _zombie(int(path.parent.name)):
            return int(path.parent.name)
    raise AssertionError("no daemon runs")


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
