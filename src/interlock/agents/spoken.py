"""An agent whose hooks speak JSON: what all of them share, and the functions that each of them brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interlock.agents.contract import Client, Event, Place, Reply, Verdict
from interlock.agents.reading import Fill, Kinds, decoded


@dataclass(frozen=True, slots=True)
class Spoken:
    """One agent: its names, its limits, how it is read and answered, and what install does to its files."""

    word: str
    title: str
    kinds: Kinds
    fill: Fill
    say: Callable[[Event, Verdict], Reply]
    files: Callable[[str, Path, Path], tuple[Place, ...]]
    write: Callable[[Place, str | None, Client], str]
    erase: Callable[[Place, str], str | None]
    off: Callable[[Path, Path], list[str]]
    names: tuple[str, ...] = ("hook_event_name", "hookEventName")  # of the field that says which event it is
    limit_seconds: float = 300.0
    posts: bool = False

    def decode(self, data: bytes, event: str = "") -> Event:
        return decoded(data, event, self.kinds, self.names, self.fill)

    def encode(self, event: Event, verdict: Verdict) -> Reply:
        return self.say(event, verdict)

    def broken(self, reason: str) -> Reply:
        gate = next(name for name, kind in self.kinds.items() if kind == "before")
        return self.say(Event("before", gate), Verdict("deny", reason))

    def places(self, scope: str, home: Path, project: Path) -> tuple[Place, ...]:
        return self.files(scope, home, project)

    def installed(self, place: Place, text: str | None, client: Client) -> str:
        return self.write(place, text, client)

    def removed(self, place: Place, text: str) -> str | None:
        return self.erase(place, text)

    def disablers(self, home: Path, project: Path) -> list[str]:
        return self.off(home, project)
