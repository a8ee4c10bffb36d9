"""Kiro CLI and IDE: a hooks file of our own; exit 2 blocks, and nothing else does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from interlock.agents.calls import mcp_name
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import is_ours
from interlock.agents.hook_protocol import AgentCall, Event, Json, required_text, table, text
from interlock.strict_json import list_in, table_in

FACTS = all_facts()["kiro"]
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _off(path: Path, data: Json) -> Iterator[str]:
    for entry in list_in(data, "hooks"):
        if is_ours(entry) and entry.get("enabled") is False:
            yield f"{entry.get('name')} has enabled false, so it does not run"


def _fill(given: Json, event: Event) -> Event:
    calls = _calls(required_text(given, "tool_name"), table(given, "tool_input"), required_text(given, "cwd"))
    return replace(event, calls=calls)


def _calls(name: str, inner: Json, cwd: str) -> tuple[AgentCall, ...]:
    if name in ("use_aws", "aws"):
        calls = FACTS.tools.judged("aws command", {"command": _aws(inner)}, cwd)
        return tuple(replace(call, tool=name, input=inner) for call in calls)
    if name.startswith("@") and "/" in name:
        server, _, plain = name[1:].partition("/")
        return FACTS.tools.judged(mcp_name(server, plain), inner, cwd)
    return FACTS.tools.judged(name, inner, cwd)


def _aws(inner: Json) -> str:
    words = ["aws", required_text(inner, "service_name"), _kebab(required_text(inner, "operation_name"))]
    for key, value in table_in(inner, "parameters").items():
        words += [f"--{_kebab(str(key))}", *([] if value == "" or value is True else [str(value)])]
    if region := text(inner, "region"):
        words += ["--region", region]
    return shlex.join(words)


def _kebab(name: str) -> str:
    return _HUMP.sub("-", name).replace("_", "-").lower().lstrip("-")


AGENT = FACTS.agent(_fill, disabling=_off)
