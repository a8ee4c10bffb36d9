"""Rewrites one server's table in a TOML configuration; refuses a table that is not written in the plain way."""

from __future__ import annotations

import json
import re

from interlock.agents.jsonc import EditError
from interlock.proxy.adoption import CommandSwap, quoted_list

_HEADER = re.compile(r"^[ \t]*\[[^\n]*\][ \t]*(?:#[^\n]*)?$", re.MULTILINE)
_COMMAND = re.compile(r"^([ \t]*command[ \t]*=[ \t]*)(\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')", re.MULTILINE)
_ARGS = re.compile(r"^[ \t]*args[ \t]*=[ \t]*\[", re.MULTILINE)


def rewrite_entry(text: str, name: str, swap: CommandSwap, undo: bool) -> str:
    """Refuses a table that is not written in the plain way: a header, then a line for its command."""
    start, end = _table(text, name)
    body = text[start:end]
    command = _COMMAND.search(body)
    if command is None:
        raise EditError(f"[mcp_servers.{name}] has no plain line `command = …`; change it by hand")
    body = body[: command.start(2)] + json.dumps(swap.command, ensure_ascii=False) + body[command.end(2) :]
    made = f"\nargs = [ {quoted_list(swap.leading)} ]"
    args = _ARGS.search(body)
    if args is None:
        at = _COMMAND.search(body).end()  # type: ignore[union-attr]
        return text[:start] + body[:at] + made + body[at:] + text[end:]
    ours = quoted_list(swap.leading) + (", " if swap.rest else "")
    if not undo:
        body = body[: args.end()] + ours + body[args.end() :]
    elif made in body:
        body = body.replace(made, "", 1)
    elif body.startswith(ours, args.end()):
        body = body[: args.end()] + body[args.end() + len(ours) :]
    else:
        raise EditError(f"the arguments of {name} were written anew since; take them out by hand")
    return text[:start] + body + text[end:]


def _table(text: str, name: str) -> tuple[int, int]:
    """From behind the header of a server to the next header."""
    spelled = "|".join(map(re.escape, {name, json.dumps(name), f"'{name}'"}))
    header = re.search(
        rf"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?:{spelled})[ \t]*\][ \t]*(?:#[^\n]*)?$", text, re.MULTILINE
    )
    if header is None:
        raise EditError(f"expected a header [mcp_servers.{name}]; change it by hand")
    after = _HEADER.search(text, header.end())
    return header.end(), after.start() if after else len(text)
