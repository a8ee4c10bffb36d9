"""Puts a client's configured MCP servers behind proxies, or restores them, leaving every other character of the file as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.agents.jsonc import EditError

TABLES = ("mcpServers", "servers", "mcp_servers")  # where clients keep servers
MARK = ["-m", "interlock", "proxy"]
_OWN = frozenset({"interlock", "mcpaql-safety-dongle"})


@dataclass(frozen=True, slots=True)
class ProxyCommand:
    """How a proxy is started."""

    python: str  # by its absolute path, so that nothing on a project's path stands in for it
    trust: str
    config: str = ""

    def words(self, name: str) -> list[str]:
        config = ["--config", self.config] if self.config else []
        return ["-I", *MARK, *config, "--name", short_name(name), "--trust", self.trust]


@dataclass(slots=True)
class AdoptionResult:
    """A text, and what became of each server in it."""

    text: str
    changed: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)  # name -> why


@dataclass(frozen=True, slots=True)
class CommandSwap:
    """What one server's entry becomes: its command, and what stands in front of its arguments (or does not any more)."""

    command: str
    leading: list[str]
    rest: int  # arguments that follow


def short_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).strip("._-")[:64] or "server"


def swap_for(name: str, entry: Any, proxying: ProxyCommand | None) -> CommandSwap | str:
    """The change for one server, in either direction; or why there is none."""
    if not isinstance(entry, Mapping):
        return "it is no table"
    command, args = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command:
        return "it has an address and no command: `interlock proxy --url …` takes its place by hand"
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return "its arguments are no list of texts"
    behind = _behind(args)
    if proxying is None:
        return "it is not behind a proxy" if behind is None else _undone(args, behind)
    if behind is not None:
        return "it is behind a proxy already"
    if command.replace("\\", "/").rpartition("/")[2] in _OWN or args[:2] == ["-m", "interlock"]:
        return "it is Interlock's own"
    return CommandSwap(proxying.python, [*proxying.words(name), "--", command], len(args))


def _behind(args: Sequence[str]) -> int | None:
    """Where the server's own command stands in the arguments of a proxy."""
    if list(args[1:4]) != MARK or "--" not in args:
        return None
    at = args.index("--") + 1
    return at if at < len(args) else None


def _undone(args: list[str], at: int) -> CommandSwap:
    return CommandSwap(args[at], args[: at + 1], len(args) - at - 1)


def adopt_json(text: str, proxying: ProxyCommand | None) -> AdoptionResult:
    """The text of a JSON file, comments and all; raises EditError for a broken one, and where it names no servers."""
    from interlock.proxy.adopt_json import entries, rewrite_entry

    found = AdoptionResult(text)
    names = [path for path, _ in entries(text)]
    if not names:
        raise EditError(f"no MCP servers in it: expected a table {' or '.join(TABLES[:2])}")
    for path in names:
        entry = dict(entries(found.text))[path]
        swap = swap_for(path[-1], entry.value, proxying)
        if isinstance(swap, str):
            found.left[path[-1]] = swap
        else:
            found.text = rewrite_entry(found.text, entry, swap, proxying is None)
            found.changed.append(path[-1])
    return found


def adopt_toml(text: str, proxying: ProxyCommand | None) -> AdoptionResult:
    """The same for TOML."""
    from interlock.agents.toml_edit import parse_toml
    from interlock.proxy.adopt_toml import rewrite_entry

    found, tables = AdoptionResult(text), parse_toml(text).get("mcp_servers")
    if not isinstance(tables, dict) or not tables:
        raise EditError("no MCP servers in it: expected tables [mcp_servers.…]")
    for name, entry in tables.items():
        swap = swap_for(name, entry, proxying)
        if isinstance(swap, str):
            found.left[name] = swap
            continue
        found.text = rewrite_entry(found.text, name, swap, proxying is None)
        _same_but_for(parse_toml(text), parse_toml(found.text), name)
        text = found.text
        found.changed.append(name)
    return found


def _same_but_for(before: dict[str, Any], after: dict[str, Any], name: str) -> None:
    """What was edited as text is compared as values: nothing but this server may be another."""
    for tables in (before, after):
        entry = tables["mcp_servers"][name]
        entry.pop("command", None), entry.pop("args", None)
    if before != after:
        raise EditError(f"{name} cannot be rewritten without changing something else")


def quoted_list(items: Sequence[str]) -> str:
    """Texts in a row, in a spelling that JSON and TOML share."""
    return ", ".join(json.dumps(item, ensure_ascii=False) for item in items)
