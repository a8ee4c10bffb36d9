"""Kimi CLI and Kimi Code: `[[hooks]]` tables in config.toml; only exit 2 blocks, and nothing asks."""

from __future__ import annotations

import json
from pathlib import Path

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import answer, refuse_by_exit_code
from interlock.agents.toml_edit import with_block, without_block

FACTS = all_facts()["kimi"]
_FOLDERS = (".kimi", ".kimi-code")


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    if event.kind == "before" and verdict.word != "allow":
        return refuse_by_exit_code(event, verdict)
    return answer({"message": verdict.context} if verdict.context else None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    """The files of those of the two programs that are there; a new file would stand in the way of their own defaults."""
    if scope != "user":
        return ()
    there = [folder for folder in _FOLDERS if (home / folder).is_dir()]
    return tuple(HookFile(home / folder / "config.toml", "toml") for folder in there or _FOLDERS[:1])


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    return with_block(text, "\n".join(_table(event, client) for event in FACTS.hooked))


def _table(event: str, client: HookClient) -> str:
    command = json.dumps(client.shell(FACTS.word, event), ensure_ascii=False)
    return f'[[hooks]]\nevent = "{event}"\ncommand = {command}\ntimeout = {FACTS.limit}'


def _erase(place: HookFile, text: str) -> str | None:
    return without_block(text)


AGENT = FACTS.agent(FACTS.fill(), _say, _write, places=_places, removed=_erase)
