"""In which container does a command run, and is what Compose would wipe one for tests, by name?"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.core.databases import thrown_away
from interlock.core.options import options_of
from interlock.core.read.facts import Command

ENGINES = frozenset({"docker", "podman"})
_COMPOSE = ("-f", "--file", "-p", "--project-name", "--env-file", "--profile")
_DOWN = ("-v", "--volumes", "--remove-orphans", "--rmi=local")


def inside(fact: Command, commands: Sequence[Command]) -> str | None:
    """The container that it happens in; empty for none, None where that cannot be told."""
    if "docker exec" not in fact.via:
        return ""
    around = [one for one in commands if one.program in ENGINES and one.span == fact.span]
    words = around[0].words if len(around) == 1 and not around[0].env else ()
    service = words[:1] == ("compose",)  # whose name is no container's
    words = words[1:] if service else words
    found = options_of(words[1:], ("-u", "--user", "-e", "--env", "-w"), ("-T", "-i", "-t"), stops=True)
    if words[:1] != ("exec",) or found is None or not found.rest:
        return None
    return f"the service {found.rest[0]}" if service else found.rest[0]


@dataclass(frozen=True, slots=True)
class Wiped:
    """What `compose … down -v` takes away, by the names of files and projects."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    project: bool  # whether a project is named, so that its volumes are no other's

    @property
    def for_tests(self) -> bool:
        return all(thrown_away(one) and "dev" not in one.lower() for one in self.names)


def wiped(words: Sequence[str]) -> Wiped | None:
    """None where the words are not known, or name neither a file nor a project."""
    found = options_of(words, _COMPOSE, (), stops=True)
    if found is None or found.rest[:1] != ("down",):
        return None
    down = options_of(found.rest[1:], ("-t", "--timeout"), _DOWN)
    files = (*found.values.get("-f", ()), *found.values.get("--file", ()))
    projects = (*found.values.get("-p", ()), *found.values.get("--project-name", ()))
    names = (*map(posixpath.basename, files), *projects)
    return Wiped(names, files, bool(projects)) if down is not None and not down.rest and names else None
