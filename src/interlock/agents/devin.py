"""Devin CLI: Claude-like hooks in its own files; exit 2 blocks, every other failure lets the call run."""

from __future__ import annotations

from interlock.agents import HookClient, HookFile
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import refuse_by_exit_code

FACTS = all_facts()["devin"]
# An ask happens only in Devin's own prompt.
_FILL = FACTS.fill(lambda given, event: event.kind == "permission")


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    lead = () if place.path.name == "hooks.v1.json" else ("hooks",)  # that file has events at the top
    return FACTS.write_groups(".*", *lead)(place, text, client)


AGENT = FACTS.agent(_FILL, refuse_by_exit_code, _write, disablers=FACTS.disabled)
