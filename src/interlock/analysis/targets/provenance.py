"""What an action creates for certain, and what a session created: files, containers, images, databases, branches."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from interlock.analysis.facts import Command, Fact
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.objects import NAMESPACE, NamedObject, certain_objects, reused_names
from interlock.analysis.targets import container_of, database_of
from interlock.analysis.targets.migrations import MIGRATED, changes_of, folder_applied
from interlock.analysis.targets.ordering import CommandLine, commands_of
from interlock.model import Action, Kind

FILE, CONTAINER, INSIDE, IMAGE, DATABASE, PORT, BRANCH, TAG, PUSHED, DEVICE = (
    "file container inside image database port branch tag pushed device".split()
)
ALL = "*"  # stands for every name
MOST = 500  # things of one session
_LOCAL_KINDS = frozenset({FILE, BRANCH, TAG, PUSHED})


class CreatedThing(Struct, frozen=True):
    """With the data to find it again."""

    kind: str
    name: str
    base: str = ""  # the folder in which a file, a branch, a tag or a push was named
    source: str = ""  # what a file is a copy of, or where something was pushed
    mark: str = ""  # state of a file when it was created

    @property
    def body(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


class Provenance(Struct, frozen=True):
    things: tuple[CreatedThing, ...] = ()
    strayed: tuple[str, ...] = ()  # folders that its shell may still be in

    @classmethod
    def of(cls, things: Sequence[CreatedThing]) -> Provenance:
        return cls(tuple(things))

    def has(self, kind: str, name: str) -> bool:
        return any((one.kind, one.name) == (kind, name) for one in self.things)

    def sources(self, kind: str, name: str) -> list[str]:
        return [one.source for one in self.things if (one.kind, one.name) == (kind, name)]

    def local(self) -> list[dict[str, str]]:
        return [one.body for one in self.things if one.kind in _LOCAL_KINDS]


NOTHING_CREATED = Provenance()


def created_by(action: Action, facts: Sequence[Fact], line: CommandLine) -> list[CreatedThing]:
    """When it succeeds; a part of a pipe or after `;` may have failed."""
    if action.kind is Kind.TOOL:
        return list(_written(action))
    if action.kind is not Kind.COMMAND or not action.cwd.startswith("/"):
        return []
    commands = commands_of(facts)
    found = [thing for fact in commands for thing in _created(fact, action.cwd, line, commands)]
    found += [CreatedThing(MIGRATED, folder) for folder in folder_applied(facts, action.cwd, line.sure)]
    return [one for one in found if one.kind not in _LOCAL_KINDS] if any(map(_moves, commands)) else found


def copies_in(facts: Sequence[Fact], cwd: str, line: CommandLine) -> dict[str, str]:
    """Each file with its copy, before any name may mean another file."""
    commands = commands_of(facts)
    before = takewhile(lambda fact: not _moves(fact), commands)
    copied = [one for fact in before for one in _created(fact, cwd, line, commands) if one.kind == FILE and one.source]
    return {posixpath.join(cwd, one.source): posixpath.join(cwd, one.name) for one in copied}


def removed_by(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """Another object may have the name now."""
    found = [(MIGRATED, ALL)] if changes_of(facts) else []
    for fact in commands_of(facts):
        place = database_of(fact)
        found += [(kind, place.key if place and kind == DATABASE else key) for kind, key in reused_names(fact)]
    return found


def _written(action: Action) -> Iterator[CreatedThing]:
    match action.fields.get("input"):
        case {"file_path": str(path), "content": str()} if action.text == "Write" and path.startswith("/"):
            yield CreatedThing(FILE, path, "/")


def _created(fact: Command, cwd: str, line: CommandLine, commands: Sequence[Command]) -> Iterator[CreatedThing]:
    """Where the line has succeeded; an image can be built again, also before a pipe."""
    certain = line.sure(fact)
    if not certain or fact.traits - {"container"}:
        return
    objects = certain_objects(fact, ("create",))
    inside = container_of(fact, commands) if objects else ""
    for one in objects:
        if one.kind == DATABASE and inside is not None and certain == "yes":
            place = database_of(fact)
            if place is not None and place.local:
                yield CreatedThing(DATABASE, database_key(inside, place.key))
        elif not fact.via and not one.place.startswith("engine:") and (certain == "yes" or one.kind == IMAGE):
            if (thing := _thing(objects, one, cwd)) is not None:
                yield thing


def database_key(container: str, key: str) -> str:
    return f"{container} {key}" if container else key


def _thing(objects: Sequence[NamedObject], one: NamedObject, cwd: str) -> CreatedThing | None:
    name, first = one.name, objects[0].name
    second = len(objects) == 2 and one is objects[1]
    match one.kind:
        case "clone":  # others may work in it later
            return None
        case "port":  # of this machine, that leads into a container: `5555:5432`, `127.0.0.1:5555:5432`
            port = name.split(":")[-2:-1]
            return CreatedThing(PORT, port[0]) if port and port[0].isdigit() else None
        case "pushed":  # a ref under its own name, at the remote that stands before it
            own = second and ":" not in name and not name.startswith("+") and name != "HEAD"
            return CreatedThing(PUSHED, name.removeprefix("refs/tags/"), cwd, first) if own else None
        case "copy":  # one file that is copied to a name, and not into a folder
            plain = second and not any(set("*?[{~") & set(word.name) for word in objects) and not name.endswith("/")
            return CreatedThing(FILE, name, cwd, first) if plain else None
    cluster, _, rest = one.place.partition(":")
    context, _, namespace = rest.partition("/")
    if cluster == "cluster" and not (context and (namespace or one.kind == NAMESPACE)):
        return None  # in the cluster or namespace that happens to be the current one
    return CreatedThing(one.kind, one.key, cwd if one.kind in _LOCAL_KINDS else "")


def _moves(fact: Command) -> bool:
    """Whether a folder or a name may mean another one after this command."""
    kinds = ("relocates", "moves_folder", "folder_stack", "shell_state")
    return any(fact.program in program_set(kind) for kind in kinds)


def created_things_of(data: Any) -> tuple[CreatedThing, ...]:
    """Raises ValueError, KeyError and TypeError for anything but such objects."""
    return tuple(CreatedThing(*(str(one.get(name, "")) for name in CreatedThing.__struct_fields__)) for one in data)
