"""The proxy in front of public MCP servers, driven by the SDK's client: tools work, what destroys is held, an approval is good for one call."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from proxy_clients import Talk, talking

from proxy_client import Bench
from repository import ROOT

pytestmark = pytest.mark.xdist_group("proxy")
SERVERS = ROOT / ".venv" / "servers"
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


@pytest.fixture
def desk() -> Iterator[Path]:
    """A folder of somebody's own: what is under a temporary one is made again."""
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix="proxy-desk-") as folder:
        yield Path(folder)


def test_files_are_written_edited_and_moved_as_an_agents_own_tools_do_and_copied_first(
    bench: Bench, desk: Path
) -> None:
    a, b = str(desk / "a.txt"), str(desk / "b.txt")
    with talking(bench, node("server-filesystem", str(desk))) as talk:
        made, said = talk.call("write_file", path=a, content="first")
        assert made and "interlock undo" not in said, said
        (desk / "a.txt").write_text("first" + "!" * 2_000_000)
        made, said = talk.call("write_file", path=a, content="second")
        assert (
            made
            and "Interlock took a snapshot of what this changes: `interlock undo u_" in said
            and "trust" not in said
        ), said
        made, said = talk.call("edit_file", path=a, edits=[{"oldText": "second", "newText": "third"}])
        assert made and "interlock undo u_" in said, said
        assert talk.call("move_file", source=a, destination=b)[0]
        assert "third" in talk.call("read_text_file", path=b)[1]
    answer = bench.daemon.here().get("/api/v1/undo", headers=bench.operator).json()
    assert [(one["command"], one["files"]) for one in answer["snapshots"]][:2] == [
        ("mcp__server-filesystem__edit_file", 1),
        ("mcp__server-filesystem__write_file", 1),
    ]


def test_what_is_too_much_to_copy_waits_for_a_person(bench: Bench, desk: Path) -> None:
    big = desk / "big"
    with big.open("wb") as file:
        file.truncate(2_000_000_000)
    with talking(bench, node("server-filesystem", str(desk))) as talk:
        made, said = talk.call("write_file", path=str(big), content="x")
    assert not made and "pdact_" in said and big.stat().st_size == 2_000_000_000, said


def test_what_an_agents_own_tools_may_not_write_a_server_may_not_either(bench: Bench, desk: Path) -> None:
    with talking(bench, node("server-filesystem", str(desk))) as talk:
        for path in ("~/.ssh/authorized_keys", "~/.claude/settings.json", "notes.txt"):
            made, said = talk.call("write_file", path=path, content="x")
            assert not made and said.startswith(("Held", "Denied")), said


def test_a_server_that_nobody_vouches_for_reads_and_does_nothing_else(bench: Bench, desk: Path) -> None:
    (desk / "a.txt").write_text("old")
    words = [word for word in node("server-filesystem", str(desk)) if word not in ("--trust", "validated")]
    with talking(bench, ["--name", "unvouched", *words[2:]]) as talk:
        assert "old" in talk.call("read_text_file", path=str(desk / "a.txt"))[1]
        assert "a.txt" in talk.call("search_files", path=str(desk), pattern="*.txt")[1]
        made, said = talk.call("write_file", path=str(desk / "b.txt"), content="new")
        assert not made and "--trust validated" in said
        made, said = talk.call("create_directory", path=str(desk / "c"))
        assert not made and sorted(one.name for one in desk.iterdir()) == ["a.txt"]


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
