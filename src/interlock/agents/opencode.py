"""OpenCode: a plugin file that asks before each tool and throws unless it is told to go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from interlock.agents.facts import all_facts
from interlock.agents.rewriting import LEAVE, SILENT, ShellCall, read_tables


def _off(home: Path) -> list[str]:
    return ["OPENCODE_PURE is set, so OpenCode loads no plugins"] if os.environ.get("OPENCODE_PURE") else []


def _passage(call: ShellCall) -> str:
    """OpenCode applies its permissions to the new text: it runs what they do not mention."""
    folders = [call.home / ".config/opencode", *call.folders]
    names = ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc")
    tables = read_tables(folder / name for folder in folders for name in names)
    return LEAVE if tables is None or any('"permission"' in json.dumps(table) for table in tables) else SILENT


AGENT = all_facts()["opencode"].agent(disabling_home=_off, passage=_passage)
