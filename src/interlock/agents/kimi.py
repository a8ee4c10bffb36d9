"""Kimi CLI and Kimi Code: `[[hooks]]` tables in config.toml; only exit 2 blocks, and nothing asks."""

from __future__ import annotations

from pathlib import Path

from interlock.agents.facts import all_facts
from interlock.agents.hook_files import HookFile

_FOLDERS = (".kimi", ".kimi-code")


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    """Of the programs that are there: a new file would stand in the way of another's defaults."""
    if scope != "user":
        return ()
    there = [folder for folder in _FOLDERS if (home / folder).is_dir()]
    return tuple(HookFile(home / folder / "config.toml", "toml") for folder in there or _FOLDERS[:1])


AGENT = all_facts()["kimi"].agent(places=_places)
