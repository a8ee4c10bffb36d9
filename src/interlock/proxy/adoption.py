"""Puts a client's configured MCP servers behind proxies, or restores them, leaving every other character of the file as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from interlock.agents.jsonc import EditError, Node, error_at, parse_jsonc
from interlock.agents.toml_edit import parse_toml

TABLES = ("mcpServers", "servers", "mcp_servers")  # where clients keep servers
MARK = ["-m", "interlock", "proxy"]
_OWN = frozenset({"interlock", "mcpaql-safety-dongle"})
_DEEPEST = 4  # projects.NAME.mcpServers, mcp.servers
_TOML_HEADER = re.compile(r"^[ \t]*\[[^\n]*\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_TOML_COMMAND = re.compile(r"^([ \t]*command[ \t]*=[ \t]*)(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')", re.MULTILINE)
_TOML_ARGS = re.compile(r"^[ \t]*args[ \t]*=[ \t]*\[", re.MULTILINE)

EntryPath = tuple[str, ...]


class ProxyCommand(Struct, frozen=True):
    """How a proxy is started."""

    python: str  # by its absolute path, so that nothing on a project's path stands in for it
    trust: str
    config: str = ""

    def arguments(self, name: str) -> list[str]:
        config = ["--config", self.config] if self.config else []
        return ["-I", *MARK, *config, "--name", short_name(name), "--trust", self.trust]


class AdoptionResult(Struct):
    """The new text of a file, the servers that changed in it, and why each of the others did not."""

    text: str
    changed: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)  # name -> why


class CommandSwap(Struct, frozen=True):
    """A server's new command, and the arguments to put in front of its own, or to remove from there."""

    command: str
    leading: list[str]
    rest: int  # arguments that follow


def short_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name).strip("._-")[:64] or "server"


def swap_for(name: str, entry: Any, proxy: ProxyCommand | None) -> CommandSwap | str:
    """The change that puts one server behind a proxy, or restores it where `proxy` is None; or why there is none."""
    if not isinstance(entry, Mapping):
        return "it is no table"
    command, args = entry.get("command"), entry.get("args", [])
    if not isinstance(command, str) or not command:
        return "it has an address and no command: `interlock proxy --url …` takes its place by hand"
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return "its arguments are no list of texts"
    own = _own_command(args)
    if proxy is None:
        return (
            "it is not behind a proxy" if own is None else CommandSwap(args[own], args[: own + 1], len(args) - own - 1)
        )
    if own is not None:
        return "it is behind a proxy already"
    if command.replace("\\", "/").rpartition("/")[2] in _OWN or args[:2] == ["-m", "interlock"]:
        return "it is Interlock's own"
    return CommandSwap(proxy.python, [*proxy.arguments(name), "--", command], len(args))


def _own_command(args: Sequence[str]) -> int | None:
    """The index of the server's own command in the arguments of a proxy; None for other arguments."""
    if list(args[1:4]) != MARK or "--" not in args:
        return None
    at = args.index("--") + 1
    return at if at < len(args) else None


def adopt_json(text: str, proxy: ProxyCommand | None) -> AdoptionResult:
    """Rewrites a JSON file and keeps its comments; raises EditError for a broken one, and where it names no servers."""
    result = AdoptionResult(text)
    paths = [path for path, _ in _json_entries(text)]
    if not paths:
        raise EditError(f"no MCP servers in it: expected a table {' or '.join(TABLES[:2])}")
    for path in paths:
        entry = dict(_json_entries(result.text))[path]
        swap = swap_for(path[-1], entry.value, proxy)
        if isinstance(swap, str):
            result.left[path[-1]] = swap
        else:
            result.text = _rewrite_json(result.text, entry, swap, proxy is None)
            result.changed.append(path[-1])
    return result


def _json_entries(text: str) -> list[tuple[EntryPath, Node]]:
    """Every server, with the path of keys that leads to it."""
    root = parse_jsonc(text).root
    if not isinstance(root.value, dict):
        raise EditError("expected an object at the top", 1, 1)
    return list(_entries_below(root, ()))


def _entries_below(node: Node, path: EntryPath) -> Iterator[tuple[EntryPath, Node]]:
    for key, _, child in node.children:
        if not isinstance(child.value, dict) or not isinstance(key, str):
            continue
        if key in TABLES:
            yield from (((*path, key, str(name)), entry) for name, _, entry in child.children)
        elif len(path) < _DEEPEST:
            yield from _entries_below(child, (*path, key))


def _rewrite_json(text: str, entry: Node, swap: CommandSwap, undo: bool) -> str:
    """Applies the edits from the back to the front, so that offsets stay valid."""
    command, args = entry.child("command"), entry.child("args")
    assert command is not None
    edits = [(command.start, command.end, json.dumps(swap.command, ensure_ascii=False))]
    if args is None:
        edits.append((command.end, command.end, f', "args": [ {_quoted_list(swap.leading)} ]'))
    elif undo:
        edits.append(_json_removal(text, command, args, swap))
    else:
        more = ", " if args.children else ""
        edits.append((args.start + 1, args.start + 1, _quoted_list(swap.leading) + more))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _json_removal(text: str, command: Node, args: Node, swap: CommandSwap) -> tuple[int, int, str]:
    """The edit that removes the proxy's arguments; refuses arguments that somebody has rewritten since."""
    ours = _quoted_list(swap.leading)
    added = f', "args": [ {ours} ]'
    if text.startswith(added, command.end):
        return command.end, command.end + len(added), ""
    ours += ", " if swap.rest else ""
    if not text.startswith(ours, args.start + 1):
        raise error_at(text, args.start, "these arguments were rewritten since; remove them by hand")
    return args.start + 1, args.start + 1 + len(ours), ""


def adopt_toml(text: str, proxy: ProxyCommand | None) -> AdoptionResult:
    """Rewrites a TOML file and keeps its comments; raises EditError as `adopt_json` does."""
    result, tables = AdoptionResult(text), parse_toml(text).get("mcp_servers")
    if not isinstance(tables, dict) or not tables:
        raise EditError("no MCP servers in it: expected tables [mcp_servers.…]")
    for name, entry in tables.items():
        swap = swap_for(name, entry, proxy)
        if isinstance(swap, str):
            result.left[name] = swap
            continue
        result.text = _rewrite_toml(result.text, name, swap, proxy is None)
        _check_only_changed(name, parse_toml(text), parse_toml(result.text))
        text = result.text
        result.changed.append(name)
    return result


def _check_only_changed(name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Compares the edited text as values, and refuses an edit that changed more than this server's command."""
    for tables in (before, after):
        entry = tables["mcp_servers"][name]
        entry.pop("command", None), entry.pop("args", None)
    if before != after:
        raise EditError(f"{name} cannot be rewritten without changing something else")


def _rewrite_toml(text: str, name: str, swap: CommandSwap, undo: bool) -> str:
    """Refuses a table other than a header followed by a line for its command."""
    start, end = _toml_table(text, name)
    body = text[start:end]
    command = _TOML_COMMAND.search(body)
    if command is None:
        raise EditError(f"[mcp_servers.{name}] has no plain line `command = …`; change it by hand")
    body = body[: command.start(2)] + json.dumps(swap.command, ensure_ascii=False) + body[command.end(2) :]
    added = f"\nargs = [ {_quoted_list(swap.leading)} ]"
    args = _TOML_ARGS.search(body)
    if args is None:
        at = _TOML_COMMAND.search(body).end()  # type: ignore[union-attr]
        return text[:start] + body[:at] + added + body[at:] + text[end:]
    ours = _quoted_list(swap.leading) + (", " if swap.rest else "")
    if not undo:
        body = body[: args.end()] + ours + body[args.end() :]
    elif added in body:
        body = body.replace(added, "", 1)
    elif body.startswith(ours, args.end()):
        body = body[: args.end()] + body[args.end() + len(ours) :]
    else:
        raise EditError(f"the arguments of {name} were rewritten since; remove them by hand")
    return text[:start] + body + text[end:]


def _toml_table(text: str, name: str) -> tuple[int, int]:
    """The range from behind a server's header to the next header."""
    spelled = "|".join(map(re.escape, {name, json.dumps(name), f"'{name}'"}))
    header = re.search(
        rf"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?:{spelled})[ \t]*\][ \t]*(?:#[^\n]*)?$", text, re.MULTILINE
    )
    if header is None:
        raise EditError(f"expected a header [mcp_servers.{name}]; change it by hand")
    after = _TOML_HEADER.search(text, header.end())
    return header.end(), after.start() if after else len(text)


def _quoted_list(items: Sequence[str]) -> str:
    """The items quoted and separated by commas, in a spelling that JSON and TOML share."""
    return ", ".join(json.dumps(item, ensure_ascii=False) for item in items)
