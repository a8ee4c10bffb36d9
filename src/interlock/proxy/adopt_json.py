"""Rewrites one server's entry in a JSON configuration to another command and arguments; comments stay in place."""

from __future__ import annotations

import json
from collections.abc import Iterator

from interlock.agents.jsonc import EditError, Node, error_at, parse_jsonc
from interlock.proxy.adoption import TABLES, CommandSwap, quoted_list

EntryPath = tuple[str, ...]
_DEEPEST = 4  # projects.NAME.mcpServers, mcp.servers


def entries(text: str) -> list[tuple[EntryPath, Node]]:
    """Every server, by where it stands."""
    root = parse_jsonc(text).root
    if not isinstance(root.value, dict):
        raise EditError("expected an object at the top", 1, 1)
    return list(_entries(root, ()))


def _entries(node: Node, path: EntryPath) -> Iterator[tuple[EntryPath, Node]]:
    for key, _, child in node.children:
        if not isinstance(child.value, dict) or not isinstance(key, str):
            continue
        if key in TABLES:
            yield from (((*path, key, str(name)), entry) for name, _, entry in child.children)
        elif len(path) < _DEEPEST:
            yield from _entries(child, (*path, key))


def rewrite_entry(text: str, entry: Node, swap: CommandSwap, undo: bool) -> str:
    """The edits from the back to the front, so that places stay true."""
    command, args = entry.child("command"), entry.child("args")
    assert command is not None
    edits = [(command.start, command.end, json.dumps(swap.command, ensure_ascii=False))]
    if args is None:
        edits.append((command.end, command.end, f', "args": [ {quoted_list(swap.leading)} ]'))
    elif undo:
        edits.append(_taken_out(text, entry, command, args, swap))
    else:
        more = ", " if args.children else ""
        edits.append((args.start + 1, args.start + 1, quoted_list(swap.leading) + more))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _taken_out(text: str, entry: Node, command: Node, args: Node, swap: CommandSwap) -> tuple[int, int, str]:
    ours = quoted_list(swap.leading)
    made = f', "args": [ {ours} ]'
    if text.startswith(made, command.end):
        return command.end, command.end + len(made), ""
    ours += ", " if swap.rest else ""
    if not text.startswith(ours, args.start + 1):
        raise error_at(text, args.start, "these arguments were written anew since; take them out by hand")
    return args.start + 1, args.start + 1 + len(ours), ""
