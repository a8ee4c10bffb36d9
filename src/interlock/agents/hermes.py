"""Hermes Agent: lists below `hooks` in config.yaml, the consent to each command in a file beside it; nothing asks, and only stdout blocks."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import CLIENT
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import Hook, HookClient, HookFile, with_hooks
from interlock.agents.hook_protocol import Event, Json, required_text, table, text

FACTS = all_facts()["hermes"]
# It starts hooks without a shell, and version 0.19 runs the call when one fails, whatever its exit code.
_CLOSED = 'out=$("$@") && printf %s "$out" || { printf %s "$0"; exit 2; }'
_BLOCK = json.dumps({"decision": "block", "reason": "Denied: the hook client of Interlock cannot be run."})


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    folders = [home / ".hermes", *sorted((home / ".hermes" / "profiles").glob("*/"))] if scope == "user" else []
    names = {"config.yaml": "yaml", "shell-hooks-allowlist.json": "json"}
    return tuple(HookFile(folder / name, form, 0o600) for folder in folders for name, form in names.items())


def _entry(event: str, client: HookClient) -> dict[str, Any]:
    argv = client.argv(FACTS.word, event)
    if FACTS.events[event] != "before":
        return {"command": shlex.join(argv), "timeout": FACTS.limit_seconds}
    closed = shlex.join(["/bin/sh", "-c", _CLOSED, _BLOCK, *argv])
    return {"command": closed, "timeout": FACTS.limit_seconds, "fail_closed": True}  # which version 0.20 has


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    from interlock.agents.yaml_edit import with_entries  # 20 ms that a call does not need

    entries = {event: _entry(event, client) for event in FACTS.hooked}
    if place.form == "yaml":
        return with_entries(text, entries)
    agreed = ({"event": event, "command": entry["command"]} for event, entry in entries.items())
    return with_hooks(text, [Hook(("approvals",), one) for one in agreed])


def _off(home: Path) -> list[str]:
    used = os.environ.get("HERMES_HOME", "").strip()
    elsewhere = used and not Path(used).is_relative_to(home / ".hermes")
    found = {"HERMES_SAFE_MODE": os.environ.get("HERMES_SAFE_MODE"), "HERMES_HOME": elsewhere}
    words = [f"{name} is set, so the hooks in {home / '.hermes'} do not run" for name, off in found.items() if off]
    configs = [place.path for place in _places("user", home, home) if place.form == "yaml"]
    ours = [path for path in configs if os.access(path, os.R_OK) and CLIENT in path.read_text("utf-8", "replace")]
    return words + [
        f"{path}: a profile without hooks; run `interlock install` again" for path in configs[1:] if path not in ours
    ]


def _calls(given: Json, event: Event) -> Event:
    extra = table(given, "extra") if given.get("extra") else {}
    if event.kind == "after" and extra.get("status") == "blocked":
        event = replace(event, kind="failed")  # it reports calls that did not run, too
    name, inner, cwd = required_text(given, "tool_name"), table(given, "tool_input"), required_text(given, "cwd")
    name = "apply_patch" if name == "patch" and inner.get("mode") == "patch" else name
    return replace(event, calls=FACTS.tools.judged(name, inner, cwd, text(extra, "tool_call_id")))


AGENT = FACTS.agent(_calls, places=_places, installed=_write, disabling_home=_off)
