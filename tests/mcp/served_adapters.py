"""Real servers of adapter files and their clients, in front of a real daemon and a real service."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from servers import ERAS, Servers, Talk, serving

import warm_processes
from shop import KEY, Shop, open_shop
from shop_adapter import text


@dataclass
class World:
    servers: Servers
    shop: Shop
    folder: Path
    files: tuple[str, ...]

    def talk(self, era: str) -> Talk:
        """A client of a server of all the files, under tools of their own."""
        paths = [str(self.folder / f"{name}.yaml") for name in self.files]
        words = [
            "-m",
            "interlock",
            "adapter",
            "serve",
            *paths,
            "--config",
            str(self.servers.config),
            "--agent",
            f"a{era}",
        ]

        async def enter(stack: AsyncExitStack) -> Client:
            server = StdioServerParameters(command=sys.executable, args=words, env={**os.environ, "SHOP_KEY": KEY})
            return await stack.enter_async_context(Client(server, mode=ERAS[era]))

        with warm_processes.forking():
            client, close = self.servers.loop.open(enter)
        made = Talk(f"stdio-{era}", client, self.servers.loop, closing=close)
        self.servers.opened.append(made)
        return made


@contextmanager
def served(
    folder: Path, files: Mapping[str, Mapping[str, Any]], toml: str = "", policy: str = "default"
) -> Iterator[World]:
    """A daemon that knows these files; `files` says what is special about each."""
    with open_shop() as shop:
        for name, more in files.items():
            (folder / f"{name}.yaml").write_text(text(shop.url, name, **more))
        known = f"[adapters]\nfiles = {[f'{name}.yaml' for name in files]}\n{toml}"
        with serving(folder, known, policy) as servers:
            yield World(servers, shop, folder, tuple(files))


def code(said: dict[str, Any]) -> str:
    return str(said.get("error", {}).get("code", "allowed"))
