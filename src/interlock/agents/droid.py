"""Factory Droid: Claude-like hooks; a deny by exit 2, since the first hook with a JSON decision wins there."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from interlock.agents.facts import all_facts
from interlock.agents.hook_files import HookClient, HookFile, json_or_empty

FACTS = all_facts()["droid"]


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    if scope not in ("user", "project"):
        return ()
    folder = (home if scope == "user" else project) / ".factory"
    # Some versions read settings.json alone, others hooks.json where there is one: making one would hide the settings' hooks.
    hooks = (HookFile(folder / "hooks.json", bare=True),) if (folder / "hooks.json").exists() else ()
    return (HookFile(folder / "settings.json"), *hooks)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    """Some hooks.json have their events under `hooks`, as the settings do."""
    nested = text and '"hooks"' in text and isinstance(json_or_empty(text).get("hooks"), dict)
    return FACTS.installed(replace(place, bare=False) if nested else place, text, client)


AGENT = FACTS.agent(places=_places, installed=_write)
