"""Cline: one executable script for each event; a JSON object with `cancel` always, since silence lets the call run."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents.calls import mcp_name
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import MARK, HookClient, HookFile
from interlock.agents.hook_protocol import Event, Json, MalformedInput, required_text, table, text
from interlock.agents.jsonc import EditError

FACTS = all_facts()["cline"]
_GONE = "Interlock's hook client cannot be run; the call was not made."


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    folders = {
        "user": (home / "Documents" / "Cline" / "Hooks", home / ".cline" / "hooks"),
        "project": (project / ".clinerules" / "hooks",),
    }
    return tuple(HookFile(folder / name, "script", 0o755) for folder in folders.get(scope, ()) for name in FACTS.hooked)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    if text is not None and text.strip() and MARK not in text:
        raise EditError("Cline has one script for each event, and this one is not ours; move it away first", 1, 1)
    gone = json.dumps({"cancel": place.path.name == "PreToolUse", "errorMessage": _GONE})
    path = shlex.quote(client.path)
    missing = f"[ -x {path} ] || {{ printf '%s\\n' {shlex.quote(gone)}; exit 0; }}"
    return f"#!/bin/sh\n# {MARK}\n{missing}\nexec {shlex.join(client.argv(FACTS.word, place.path.name))}\n"


def _fill(given: Json, event: Event) -> Event:
    name, inner, id = _call(given)
    if name == "use_mcp_tool":
        name = mcp_name(text(inner, "server_name"), required_text(inner, "tool_name"))
        inner = table(inner, "arguments") if "arguments" in inner else {}
    pair = f"{event.session}/{id}" if id else ""  # the terminal runs the scripts of both folders
    return replace(event, calls=FACTS.tools.judged(name, inner, event.cwd, id), pair=pair)


def _call(given: Json) -> tuple[str, dict[str, Any], str]:
    for key in ("tool_call", "tool_result"):
        if isinstance(call := given.get(key), Mapping):
            name = required_text(call, "name")
            return name, _object(name, call.get("input")), text(call, "id")
    for key in ("preToolUse", "postToolUse"):
        if isinstance(call := given.get(key), Mapping):
            name = required_text(call, "toolName", "tool")
            inner = dict(table(call, "parameters"))
            if isinstance(listed := inner.get("commands"), str):
                inner["commands"] = _unpacked(listed)
            return name, inner, ""
    raise MalformedInput("tool_call: missing")


def _object(name: str, value: Any) -> dict[str, Any]:
    """A tool's input as an object; Cline takes lists and bare text as well."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (str, list)):
        return {"input" if name == "apply_patch" else "commands": value}
    raise MalformedInput("input: expected an object, a list or text")


def _unpacked(value: str) -> Any:
    try:
        return json.loads(value) if value.lstrip().startswith("[") else value
    except (ValueError, RecursionError):
        raise MalformedInput("commands: a list that cannot be read") from None


AGENT = FACTS.agent(_fill, places=_places, installed=_write)
