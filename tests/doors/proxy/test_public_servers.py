"""The proxy in front of public MCP servers, driven by the SDK's client: tools work, what destroys is held, an approval is good for one call."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from proxy_clients import Talk, talking

from proxied import Bench

pytestmark = pytest.mark.xdist_group("proxy")
SERVERS = Path(__file__).parents[3] / ".venv" / "servers"
NODE = SERVERS / "node_modules" / "@modelcontextprotocol"
PYTHON = SERVERS / "python" / "bin"


@pytest.fixture(autouse=True, scope="module")
def _installed() -> None:
    if not (SERVERS / ".installed").exists():
        pytest.skip("a set of public MCP servers is missing: make test installs it")


@pytest.fixture(autouse=True)
def _nothing_waits(bench: Bench) -> Iterator[None]:
    yield
    bench.reject_all()


def node(name: str, *more: str) -> list[str]:
    return ["--name", name, "--trust", "validated", "--", "node", str(NODE / name / "dist" / "index.js"), *more]


def once_agreed(bench: Bench, talk: Talk, tool: str, **arguments: object) -> str:
    """Held, then approved, then let through once; what the server said."""
    made, said = talk.call(tool, **arguments)
    assert not made and "interlock approve pdact_" in said, said
    bench.approve()
    made, answer = talk.call(tool, **arguments)
    assert made, answer
    made, said = talk.call(tool, **arguments)
    assert not made and "pdact_" in said, said
    return answer


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_memory(bench: Bench, tmp_path: Path, era: str) -> None:
    path = tmp_path / "memory.json"
    with talking(bench, node("server-memory"), era, {"MEMORY_FILE_PATH": str(path)}) as talk:
        assert {"create_entities", "delete_entities", "read_graph"} <= set(talk.tools())
        entity = {"name": f"ana {era}", "entityType": "person", "observations": ["likes tea"]}
        assert talk.call("create_entities", entities=[entity])[0]
        once_agreed(bench, talk, "delete_entities", entityNames=[entity["name"]])
        assert json.loads(talk.call("read_graph")[1])["entities"] == []


def test_filesystem(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with talking(bench, node("server-filesystem", str(tmp_path))) as talk:
        assert "old" in talk.call("read_text_file", path=str(tmp_path / "a.txt"))[1]
        once_agreed(bench, talk, "write_file", path=str(tmp_path / "a.txt"), content="new")
        assert (tmp_path / "a.txt").read_text() == "new"
        moved = {"source": str(tmp_path / "a.txt"), "destination": str(tmp_path / "b.txt")}
        made, said = talk.call("move_file", **moved)
        assert made or "pdact_" in said
        assert (tmp_path / "b.txt").exists() is made


def test_everything(bench: Bench) -> None:
    seen: list[float] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    with talking(bench, node("server-everything")) as talk:
        assert "hello" in talk.call("echo", message="hello")[1]
        call = talk.client.call_tool(
            "trigger-long-running-operation", {"duration": 1, "steps": 3}, progress_callback=progressed
        )
        assert not talk.run(call).is_error
        assert seen
        assert talk.run(talk.client.list_resources()).resources
        assert talk.run(talk.client.list_prompts()).prompts


def test_time(bench: Bench) -> None:
    words = ["--trust", "validated", "--", str(PYTHON / "mcp-server-time"), "--local-timezone", "UTC"]
    with talking(bench, words) as talk:
        assert "get_current_time" in talk.tools()
        made, said = talk.call("get_current_time", timezone="Europe/Vienna")
        assert made and "Europe/Vienna" in said


def test_sqlite(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    words = [
        "--trust",
        "validated",
        "--name",
        "sqlite",
        "--",
        str(PYTHON / "mcp-server-sqlite"),
        "--db-path",
        str(path),
    ]
    with talking(bench, words) as talk:
        assert talk.call("create_table", query="CREATE TABLE users (id INTEGER, name TEXT)")[0]
        assert talk.call("write_query", query="INSERT INTO users VALUES (1, 'ana'), (2, 'bo')")[0]
        assert "ana" in talk.call("read_query", query="SELECT * FROM users")[1]
        made, said = talk.call("write_query", query="DELETE FROM users")
        assert not made, said
        once_agreed(bench, talk, "write_query", query="DELETE FROM users WHERE id = 2")
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT name FROM users").fetchall() == [("ana",)]
