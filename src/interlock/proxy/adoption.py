"""Puts a client's configured MCP servers behind proxies, or restores them, leaving every other character of the file as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import tomlkit
from msgspec import Struct, field

from interlock.agents.jsonc import EditError, Node, error_at, parse_jsonc
from interlock.agents.toml_edit import parse_toml
from interlock.proxy import SERVER_TABLES, plain_name

MARK = ["-m", "interlock", "proxy"]
_OWN = frozenset({"interlock", "mcpaql-safety-dongle"})
_DEEPEST = 4  # projects.NAME.mcpServers, mcp.servers

EntryPath = tuple[str, ...]


class ProxyCommand(Struct, frozen=True):
    python: str  # by its absolute path, so that nothing on a project's path stands in for it
    trust: str
    config: str = ""

    def arguments(self, name: str) -> list[str]:
        config = ["--config", self.config] if self.config else []
        short = plain_name(name).strip("._-")[:64] or "server"
        return ["-I", *MARK, *config, "--name", short, "--trust", self.trust]


class AdoptionResult(Struct):
    text: str
    changed: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)  # name -> why


class CommandSwap(Struct, frozen=True):
    """The new command, and arguments to put in front of the server's own, or to remove from there."""

    command: str
    leading: list[str]
    rest: int  # arguments that follow

    @property
    def quoted(self) -> str:
        """The arguments in front, separated by commas, in a spelling that JSON and TOML share."""
        return ", ".join(json.dumps(item, ensure_ascii=False) for item in self.leading)


def swap_for(name: str, entry: Any, proxy: ProxyCommand | None) -> CommandSwap | str:
    """Restores the server where `proxy` is None; or says why not."""
    if not isinstance(entry, Mapping):
        return "it is no table"
    command, args = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command:
        return "it has an address and no command: `interlock proxy --url …` takes its place by hand"
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return "its arguments are no list of texts"
    own = args.index("--") + 1 if args[1:4] == MARK and "--" in args else len(args)  # where the server's own begins
    if proxy is None:
        rest = len(args) - own - 1
        return "it is not behind a proxy" if rest < 0 else CommandSwap(args[own], args[: own + 1], rest)
    if own < len(args):
        return "it is behind a proxy already"
    if command.replace("\\", "/").rpartition("/")[2] in _OWN or args[:2] == ["-m", "interlock"]:
        return "it is Interlock's own"
    return CommandSwap(proxy.python, [*proxy.arguments(name), "--", command], len(args))


def adopt_json(text: str, proxy: ProxyCommand | None) -> AdoptionResult:
    """Keeps the file's comments; raises EditError for a broken file, and where it names no servers."""
    result = AdoptionResult(text)
    paths = list(_json_entries(text))
    if not paths:
        raise EditError(f"no MCP servers in it: expected a table {' or '.join(SERVER_TABLES[:2])}")
    for path in paths:
        entry, name = _json_entries(result.text)[path], path[-1]
        swap = swap_for(name, entry.value, proxy)
        if isinstance(swap, str):
            result.left[name] = swap
        else:
            result.text = _rewrite_json(result.text, entry, swap, proxy is None)
            result.changed.append(name)
    return result


def _json_entries(text: str) -> dict[EntryPath, Node]:
    return dict(_entries_below(parse_jsonc(text).root, ()))


def _entries_below(node: Node, path: EntryPath) -> Iterator[tuple[EntryPath, Node]]:
    for key, _, child in node.children:
        if not isinstance(child.value, dict) or not isinstance(key, str):
            continue
        if key in SERVER_TABLES:
            yield from (((*path, key, str(name)), entry) for name, _, entry in child.children)
        elif len(path) < _DEEPEST:
            yield from _entries_below(child, (*path, key))


def _rewrite_json(text: str, entry: Node, swap: CommandSwap, undo: bool) -> str:
    """Edits from the back to the front, so that offsets stay valid; refuses arguments that were rewritten since."""
    command, args = entry.child("command"), entry.child("args")
    assert command is not None
    edits = [(command.start, command.end, json.dumps(swap.command, ensure_ascii=False))]
    added = f', "args": [ {swap.quoted} ]'
    if args is None:
        edits.append((command.end, command.end, added))
    elif undo and text.startswith(added, command.end):
        edits.append((command.end, command.end + len(added), ""))
    else:
        first, ours = args.start + 1, swap.quoted + (", " if swap.rest else "")
        if undo and not text.startswith(ours, first):
            raise error_at(text, args.start, "these arguments were rewritten since; remove them by hand")
        edits.append((first, first + len(ours), "") if undo else (first, first, ours))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def adopt_toml(text: str, proxy: ProxyCommand | None) -> AdoptionResult:
    """Rewrites a TOML file and keeps its comments; raises EditError as `adopt_json` does."""
    parse_toml(text)
    result, document = AdoptionResult(text), tomlkit.parse(text)
    tables = document.get("mcp_servers")
    if not isinstance(tables, dict) or not tables:
        raise EditError("no MCP servers in it: expected tables [mcp_servers.…]")
    for name, entry in tables.items():
        swap = swap_for(name, entry, proxy)
        if isinstance(swap, str):
            result.left[name] = swap
        else:
            _rewrite_toml(entry, swap, proxy is None)
            result.changed.append(name)
    result.text = tomlkit.dumps(document)
    if _other_values(result.text) != _other_values(text):
        raise EditError("the servers cannot be rewritten without changing something else; change them by hand")
    return result


def _other_values(text: str) -> dict[str, Any]:
    """Without the commands and arguments of its servers."""
    found = parse_toml(text)
    for entry in found["mcp_servers"].values():
        for key in ("command", "args") if isinstance(entry, dict) else ():
            entry.pop(key, None)
    return found


def _rewrite_toml(entry: MutableMapping[str, Any], swap: CommandSwap, undo: bool) -> None:
    entry["command"] = swap.command
    args, added = entry.get("args"), f"[ {swap.quoted} ]"  # spelled with spaces where there were none
    if args is None:
        entry["args"] = tomlkit.array(added)
    elif undo and args.as_string() == added:
        del entry["args"]
    elif undo:
        del args[: len(swap.leading)]
    else:
        for at, word in enumerate(swap.leading):
            args.insert(at, word)
