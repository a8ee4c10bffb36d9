"""Codex CLI: Claude-like hooks.json; no ask and no bare allow, which it would take for a broken hook and go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from interlock.agents.facts import all_facts
from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import parse_toml

FACTS = all_facts()["codex"]


def _off(home: Path, project: Path) -> list[str]:
    found = FACTS.disablers(home, project)
    for path in (home / ".codex" / "config.toml", project / ".codex" / "config.toml", Path("/etc/codex/config.toml")):
        try:
            features = parse_toml(path.read_text("utf-8")).get("features")
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError, EditError) as error:
            found.append(f"{path}: cannot be read ({error})")
            continue
        for key in ("hooks", "codex_hooks"):
            if isinstance(features, Mapping) and features.get(key) is False:
                found.append(f"{path}: features.{key} is false, so hooks do not run")
    return found


AGENT = FACTS.agent(disablers=_off)
