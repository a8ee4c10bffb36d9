"""Real clients of the SDK: elicitation in both eras, a server at an address, many servers in one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from proxy_clients import talking

from proxy_client import ODD, PATIENCE, Bench

pytestmark = pytest.mark.xdist_group("proxy")
VALIDATED = ["--trust", "validated"]


@pytest.fixture(autouse=True)
def _nothing_waits(bench: Bench) -> Iterator[None]:
    yield
    bench.reject_all()


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_the_clients_user_is_asked_in_the_way_of_each_era(address: str, bench: Bench, era: str) -> None:
    questions: list[str] = []

    async def callback(context: Any, params: Any) -> types.ElicitResult:
        questions.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": len(questions) == 1})

    words = [*VALIDATED, "--name", "notes", "--url", address, "--header-file", str(bench.folder / "headers")]
    with talking(bench, words, era, elicitation_callback=callback) as talk:
        for number, answer in enumerate((True, False)):
            made, said = talk.call("delete_note", id=int(era) * 10 + number)
            assert made is answer, said
            assert answer or ("said no" in said and "interlock approve" not in said and "Nobody" not in said), said
        assert len(questions) == 2
        assert "delete_note" in questions[0]


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_server_at_an_address_is_gated_in_both_eras(address: str, bench: Bench, era: str) -> None:
    words = [*VALIDATED, "--name", "notes", "--url", address, "--header-file", str(bench.folder / "headers")]
    before = (bench.folder / "sdk.log").read_text().count("delete_note") if (bench.folder / "sdk.log").exists() else 0
    with talking(bench, words, era) as talk:
        assert talk.tools() == ["get_note", "delete_note"]
        assert talk.call("get_note", id=1) == (True, "get_note {'id': 1}")
        assert talk.call("delete_note", id=int(era))[0] is False
        assert (bench.folder / "sdk.log").read_text().count("delete_note") == before
        bench.approve()
        assert talk.call("delete_note", id=int(era))[0] is True
    assert (bench.folder / "sdk.log").read_text().count("delete_note") == before + 1


def test_many_servers_in_one_have_prefixes_and_a_gate_each(bench: Bench, tmp_path: Path) -> None:
    command, *args = ODD
    logs = {name: str(tmp_path / f"{name}.log") for name in ("one", "two")}
    servers: dict[str, Any] = {
        "one": {"command": command, "args": args, "env": {"ODD_LOG": logs["one"]}, "trust": "validated"},
        "two": {"command": command, "args": [*args, "--second"], "env": {"ODD_LOG": logs["two"]}},
        "gone": {"command": "/nowhere/server"},
    }
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    with talking(bench, ["--config", str(path)]) as talk:
        tools = talk.tools()
        assert {"one__get_note", "two__get_note"} <= set(tools)
        assert talk.call("one__get_note", id=1) == (True, 'get_note {"id": 1}')
        made, said = talk.call("two__get_note", id=1)
        assert not made and "interlock adapter trust two generated" in said
        made, said = talk.call("one__delete_note", id=77)
        assert not made and "pdact_" in said
        bench.approve()
        assert talk.call("one__delete_note", id=77) == (True, 'delete_note {"id": 77}')
        assert talk.call("three__get_note")[0] is False
        assert talk.call("get_note")[0] is False
        with pytest.raises(Exception, match="signal 9"):
            talk.call("one__crash")
        assert talk.call("one__get_note")[0] is False, "what is gone is said, and the others go on"
        assert "two__get_note" in talk.tools()


@pytest.fixture(scope="module")
def address(bench: Bench) -> Iterator[str]:
    """A server of the SDK over HTTP, which wants a header."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (bench.folder / "headers").write_text("# a key\nX-Key: abc\n")
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("sdk_server.py")), str(port)],
        env={**os.environ, "ODD_LOG": str(bench.folder / "sdk.log")},
    )
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < end and server.poll() is None
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.kill()
        server.wait()
