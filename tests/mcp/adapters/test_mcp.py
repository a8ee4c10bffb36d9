"""Seed 000 through a real MCP client over stdio, in both eras: `interlock adapter serve`, a real daemon, a real service, a real operator."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import warm_processes
from aql_lint import lint
from daemons import Daemon, daemon
from shop import KEY, Shop, open_shop
from shop_adapter import text

pytestmark = pytest.mark.xdist_group("mcp")
ERAS = ("legacy", "2026-07-28")


@dataclass
class World:
    daemon: Daemon
    shop: Shop
    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "interlock.toml"

    def arm(self, title: str) -> None:
        """An operator says yes to what waits under this title."""
        here, operator = self.daemon.here(), self.daemon.sign_in()
        tickets = here.get("/api/v1/tickets", headers=operator).json()["tickets"]
        (one,) = [one for one in tickets if one["state"] == "pending_approval" and title in one["title"]]
        answer = here.post(f"/api/v1/tickets/{one['id']}/approve", json={"reason": "seen"}, headers=operator)
        assert answer.status_code == 200, answer.text


@dataclass
class Talk:
    """One client, and every byte it was sent."""

    client: Client
    heard: list[str]

    async def call(self, tool: str, operation: str, **params: Any) -> Any:
        result = await self.client.call_tool(tool, {"operation": operation, "params": params})
        said = result.content[0].text  # type: ignore[union-attr]
        self.heard.append(said)
        envelope = json.loads(said)
        lint(envelope, operation == "introspect")
        return envelope


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    with open_shop() as shop:
        (folder / "things.yaml").write_text(text(shop.url, timeout=3))
        (folder / "others.yaml").write_text(text(shop.url, "others"))
        toml = '[adapters]\nfiles = ["things.yaml", "others.yaml"]'
        with daemon(folder, toml=toml, policy="default") as running:
            yield World(running, shop, folder)


@asynccontextmanager
async def talking(
    world: World, era: str, *words: str, files: tuple[str, ...] = ("things.yaml",), **more: Any
) -> AsyncIterator[Talk]:
    paths = [str(world.folder / name) for name in files]
    given = [
        "-m",
        "interlock",
        "adapter",
        "serve",
        *paths,
        "--config",
        str(world.config),
        "--agent",
        f"a-{era}",
        *words,
    ]
    with (world.folder / "stderr.txt").open("a") as errors:
        server = StdioServerParameters(command=sys.executable, args=given, env={**os.environ, "SHOP_KEY": KEY})
        async with AsyncExitStack() as stack:
            with warm_processes.forking():
                client = await stack.enter_async_context(Client(stdio_client(server, errors), mode=era, **more))
            yield Talk(client, [])
    assert KEY not in (world.folder / "stderr.txt").read_text()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.slow(why="starts a server of its own, which imports MCP")
def test_create_update_confirm_and_delete_through_a_real_client(world: World, era: str) -> None:
    async def story() -> None:
        world.shop.forget()
        async with talking(world, era) as talk:
            tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
            assert {f"mcp_aql_{one}" for one in ("create", "read", "update", "delete", "execute")} <= set(tools)
            assert tools["mcp_aql_read"].annotations.read_only_hint is True  # type: ignore[union-attr]
            assert "introspect" in tools["mcp_aql_delete"].description  # type: ignore[operator]
            await _story(world, talk)
            assert KEY not in "".join(talk.heard)

    asyncio.run(story())


async def _story(world: World, talk: Talk) -> None:
    shop = world.shop
    made = await talk.call("mcp_aql_create", "create_thing", title="one")
    assert made["data"]["id"] == "t1"
    changed = await talk.call("mcp_aql_update", "update_thing", id="t1", input={"title": "two", "colour": None})
    assert changed["data"] == {"id": "t1", "title": "two"}

    held = await talk.call("mcp_aql_delete", "delete_thing", id="t1")
    assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
    token = held["error"]["details"]["confirmation_token"]
    alone = await talk.call("mcp_aql_delete", "delete_thing", id="t1", _confirmation=token)
    assert alone["error"]["code"] == "PERMISSION_DENIED" and list(shop.things()) == ["t1"]
    world.arm("delete_thing")
    tampered = await talk.call("mcp_aql_delete", "delete_thing", id="t2", _confirmation=token)
    assert tampered["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    done = await talk.call("mcp_aql_delete", "delete_thing", id="t1", _confirmation=token)
    assert done["success"] and shop.things() == {}
    again = await talk.call("mcp_aql_delete", "delete_thing", id="t1", _confirmation=token)
    assert again["error"]["code"] == "TOKEN_ALREADY_USED"

    await talk.call("mcp_aql_create", "create_thing", title="three")
    bulk = await talk.call("mcp_aql_delete", "bulk_delete_things")
    assert bulk["error"]["code"] == "PERMISSION_DANGER_LEVEL_DENIED"
    assert bulk["error"]["details"]["minimum_trust_required"] == "community_reviewed" and shop.things()
    climbed = await talk.call("mcp_aql_read", "get_thing", id="../things")
    assert climbed["error"]["code"] == "VALIDATION_INVALID_VALUE"
    wrong = await talk.call("mcp_aql_read", "delete_thing", id="t1")
    assert wrong["error"]["code"] == "VALIDATION_ENDPOINT_MISMATCH" and "mcp_aql_delete" in wrong["error"]["message"]
    slow = await talk.call("mcp_aql_read", "get_page", page="slow")
    assert slow["error"]["code"] == "INTERNAL_ERROR" and "within 3 s" in slow["error"]["message"]
    echo = await talk.call("mcp_aql_read", "get_page", page="echo")
    assert echo["data"]["headers"]["Authorization"] == "Bearer [secret]"

    started = await talk.call("mcp_aql_execute", "execute_agent", element_name="builder")
    assert started["error"]["code"] == "CONFIRMATION_REQUIRED"  # the loop beside it
    state = await talk.call("mcp_aql_read", "introspect", query="capabilities")
    assert state["data"]["capabilities"]["execution_safety_loop"] == "enforcing"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.slow(why="starts a server of its own, which imports MCP")
def test_the_clients_own_user_can_confirm_a_destructive_operation_and_nothing_more(world: World, era: str) -> None:
    """MCP elicitation: unattested, good for a confirm; a no is a no."""
    asked: list[str] = []
    answers = ["decline", "accept"]

    async def user(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        action: Any = answers.pop(0)
        return types.ElicitResult(action=action, content={"approve": True} if action == "accept" else None)

    async def story() -> None:
        world.shop.forget()
        async with talking(world, era, "--agent", f"eli-{era}", elicitation_callback=user) as talk:
            for _ in range(2 * ERAS.index(era)):  # a no holds for the same target in every session
                await talk.call("mcp_aql_create", "create_thing", title="another")
            await talk.call("mcp_aql_create", "create_thing", title="one")
            before = list(world.shop.things())
            held = await talk.call("mcp_aql_delete", "delete_thing", id=before[-1])
            assert held["success"] is False and list(world.shop.things()) == before
            await talk.call("mcp_aql_create", "create_thing", title="two")
            done = await talk.call("mcp_aql_delete", "delete_thing", id=f"t{len(before) + 1}")
            assert done["success"], (done, asked)
            assert list(world.shop.things()) == before
            assert (await talk.call("mcp_aql_delete", "bulk_delete_things"))["success"] is False
        assert len(asked) == 2 and all("delete_thing" in words or "Delete thing" in words for words in asked)

    asyncio.run(story())


@pytest.mark.slow(why="starts a server of its own, which imports MCP")
def test_files_are_read_again_while_it_runs_and_several_have_their_own_tools(world: World) -> None:
    async def story() -> None:
        path = world.folder / "others.yaml"
        before = path.read_text()
        async with talking(world, "legacy", files=("things.yaml", "others.yaml")) as talk:
            names = [tool.name for tool in (await talk.client.list_tools()).tools]
            assert len(names) == len(set(names)) and {"things_mcp_aql_read", "others_mcp_aql_read", "mcp_aql"} <= set(
                names
            )
            assert (await talk.call("others_mcp_aql_read", "list_things"))["success"]
            path.write_text(before.replace("All things", "Every thing"))
            held = await talk.call("others_mcp_aql_read", "list_things")
            assert held["error"]["code"] == "PERMISSION_TRUST_LEVEL_INSUFFICIENT"  # until the operator loads it too
            detail = await talk.call("others_mcp_aql_read", "introspect", query="operations", name="list_things")
            assert "Every thing" in detail["data"]["operation"]["description"]
            path.write_text(before)
            assert (await talk.call("others_mcp_aql_read", "list_things"))["success"]
        path.write_text(before)

    asyncio.run(story())


@pytest.mark.parametrize(
    ("content", "said"),
    [("operations: {", "things.yaml"), (text("http://x.example").replace("type: bearer", "type: oauth"), "auth.type")],
)
def test_a_file_that_cannot_be_served_ends_it_with_words(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "things.yaml"
    path.write_text(content)
    command = [sys.executable, "-m", "interlock", "adapter", "serve", str(path)]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and said in ended.stderr and ended.stdout == ""
