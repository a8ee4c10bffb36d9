"""Provenance: what an action creates for certain, and what a session created: files, containers, images, databases, branches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from interlock.analysis.facts import Command, Fact, known
from interlock.analysis.programs.options import CommandOptions, known_options
from interlock.analysis.shell.syntax import parse
from interlock.analysis.shell.syntax.nodes import AndOr, Node, ShellPipeline, SimpleCommand
from interlock.analysis.targets.addresses import (
    ENGINES,
    container_of,
    created_in_cluster,
    database_of,
    deleted_in_cluster,
)
from interlock.model import Action, Kind

FILE, CONTAINER, INSIDE, IMAGE, DATABASE, PORT, BRANCH, TAG, PUSHED, DEVICE = (
    "file container inside image database port branch tag pushed device".split()
)
ALL = "*"  # stands for every name
MOST = 500  # things of one session
_LOCAL_KINDS = frozenset({FILE, BRANCH, TAG, PUSHED})


class CreatedThing(Struct, frozen=True):
    """One object that a session created: its kind, its name, and the data to find it again."""

    kind: str
    name: str
    base: str = ""  # the folder in which a file, a branch, a tag or a push was named
    source: str = ""  # what a file is a copy of, or where something was pushed
    mark: str = ""  # state of a file when it was created

    @property
    def body(self) -> dict[str, str]:
        found = {name: str(getattr(self, name)) for name in ("kind", "name", "base", "source", "mark")}
        return {name: value for name, value in found.items() if value}


class Provenance(Struct, frozen=True):
    """The objects that one session created."""

    things: tuple[CreatedThing, ...] = ()
    names: frozenset[tuple[str, str]] = field(default=frozenset())
    strayed: tuple[str, ...] = ()  # folders that its shell may still be in

    @classmethod
    def of(cls, things: Sequence[CreatedThing]) -> Provenance:
        return cls(tuple(things), frozenset((one.kind, one.name) for one in things))

    def has(self, kind: str, name: str) -> bool:
        return (kind, name) in self.names

    def local(self) -> list[dict[str, str]]:
        """The objects that an inspection of this machine's files needs."""
        return [one.body for one in self.things if one.kind in _LOCAL_KINDS]


NOTHING_CREATED = Provenance()


def created_by(action: Action, facts: Sequence[Fact]) -> list[CreatedThing]:
    """The objects that an action certainly creates when it succeeds; a part of a pipe or after `;` may have failed."""
    if action.kind is Kind.TOOL:
        return list(_written(action))
    if action.kind is not Kind.COMMAND or not action.cwd.startswith("/"):
        return []
    sure = _sure(action.text)
    commands = [fact for fact in facts if isinstance(fact, Command)]
    found = [thing for fact in commands for thing in _created(fact, action.cwd, sure, commands)]
    return (
        found
        if not any(isinstance(fact, Command) and _moves(fact) for fact in facts)
        else [one for one in found if one.kind not in _LOCAL_KINDS]
    )


def removed_by(facts: Sequence[Fact]) -> list[tuple[str, str]]:
    """Names that no longer identify the session's object: another one may have the name now."""
    found: list[tuple[str, str]] = []
    for fact in facts:
        if isinstance(fact, Command) and fact.program in ENGINES:
            found += _released_names(fact)
        elif isinstance(fact, Command) and fact.program == "dropdb" and (place := database_of(fact)) is not None:
            found.append((DATABASE, place.key))
        elif isinstance(fact, Command) and (gone := deleted_in_cluster(fact)) is not None:
            found.append(gone)
    return found


def _released_names(fact: Command) -> list[tuple[str, str]]:
    """Names of containers and images that may identify others from now on, and ports that may have another listener."""
    named = {"rename", "tag", "commit", "load", "import", "rm", "rmi", "restore"} & set(fact.words[:2])
    unclear = {"prune", "compose", "system", "stack"} & set(fact.words[:2]) or (
        named and not all(map(known, fact.words))
    )
    words = [ALL] if unclear else [*fact.words[1:]] if named else []
    found = [(kind, word) for word in words for kind in (CONTAINER, INSIDE, IMAGE)]
    ends = named or unclear or {"stop", "kill", "restart", "pause", "down"} & set(fact.words[:2])
    return [*found, (PORT, ALL)] if ends else found


def _written(action: Action) -> Iterator[CreatedThing]:
    """A file that a tool of the agent itself writes as a whole."""
    given = action.fields.get("input")
    if action.text != "Write" or not isinstance(given, Mapping):
        return
    path = given.get("file_path")
    if isinstance(path, str) and path.startswith("/") and isinstance(given.get("content"), str):
        yield CreatedThing(FILE, path, "/")


def _created(
    fact: Command, cwd: str, sure: Callable[[Command], str], commands: Sequence[Command]
) -> Iterator[CreatedThing]:
    """`sure` gives `""` for a command that may have failed, `last` for a pipe whose last stage decides, `yes` for the rest."""
    maker = _MAKERS.get(fact.program)
    certain = sure(fact)
    if fact.program == "createdb" and fact.traits == {"container"} and certain == "yes":
        yield from _created_inside(fact, commands)
    if maker is None or not certain or fact.via or fact.traits or not all(map(known, fact.words)):
        return
    for thing in maker(fact, cwd):
        if certain == "yes" or thing.kind == IMAGE:  # an image can be built again in either case
            yield thing


def _docker(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    words = fact.words
    if fact.env or not words:
        return
    if words[0] == "run":
        found = known_options(words[1:], _RUN_VALUED, _RUN_BARE, stop_at_operand=True)
        name = found.value("--name") if found else None
        if found is not None and name:
            yield CreatedThing(CONTAINER, name)
            if not found.has("-v", "--volume", "--mount", "--volumes-from"):  # a volume may hold older data
                yield CreatedThing(INSIDE, name)
                yield from (
                    CreatedThing(PORT, port) for port in _ports(found) if not found.has("--rm")
                )  # which may end by itself
    elif (words[0] == "build" or words[:2] == ("buildx", "build")) and not any(map(_UNBUILT.fullmatch, words)):
        for place, word in enumerate(words[:-1]):
            if word in ("-t", "--tag"):
                yield CreatedThing(IMAGE, words[place + 1])


# Options of `docker build` with which it only checks, or leaves its result elsewhere.
_UNBUILT = re.compile(r"--(check|help|print|push|call|output|metadata-only)(=.*)?|-o.*|-h")


def _ports(found: CommandOptions) -> Iterator[str]:
    """Of this machine that lead into a container: `5555:5432`, `127.0.0.1:5555:5432`."""
    for value in (*found.values.get("-p", ()), *found.values.get("--publish", ())):
        parts = value.split(":")
        if len(parts) >= 2 and parts[-2].isdigit():
            yield parts[-2]


def _createdb(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    place = database_of(fact)
    if place is not None and place.local:
        yield CreatedThing(DATABASE, place.key)


def _created_inside(fact: Command, commands: Sequence[Command]) -> Iterator[CreatedThing]:
    """A database that `docker exec` creates in a container."""
    place, where = database_of(fact), container_of(fact, commands)
    if place is not None and place.local and where:
        yield CreatedThing(DATABASE, database_key(where, place.key))


def database_key(container: str, key: str) -> str:
    """The key of a database in the provenance: its container and its address."""
    return f"{container} {key}" if container else key


def _git(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    if fact.env or not fact.words:
        return
    name, rest = fact.words[0], [word for word in fact.words[1:] if word not in ("-q", "--quiet")]
    if (name, rest[:1]) in (("checkout", ["-b"]), ("switch", ["-c"]), ("switch", ["--create"])) and 2 <= len(rest) <= 3:
        yield CreatedThing(BRANCH, rest[1], cwd)
    elif name == "branch" and 1 <= len(rest) <= 2 and not any(word.startswith("-") for word in rest):
        yield CreatedThing(BRANCH, rest[0], cwd)
    elif name == "tag" and (tag := _new_tag(rest)):
        yield CreatedThing(TAG, tag, cwd)
    elif name == "push" and all(word in ("-u", "--set-upstream") for word in rest if word.startswith("-")):
        names = [word for word in rest if not word.startswith("-")]
        if len(names) == 2 and ":" not in names[1] and not names[1].startswith("+") and names[1] != "HEAD":
            yield CreatedThing(PUSHED, names[1].removeprefix("refs/tags/"), cwd, names[0])


def _new_tag(rest: Sequence[str]) -> str:
    """The name of a new tag; Git refuses an existing one unless it is forced."""
    found = known_options(
        rest, ("-m", "--message", "-F", "--file", "-u", "--local-user"), ("-a", "-s", "--annotate", "--sign")
    )
    return found.operands[0] if found is not None and 1 <= len(found.operands) <= 2 else ""


def _cp(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    found = known_options(fact.words, (), ("-a", "-p", "-v", "-f", "-n", "-L", "--preserve", "--verbose"))
    if (
        found is not None
        and len(found.operands) == 2
        and not fact.env
        and not any(set("*?[{~") & set(word) for word in found.operands)
    ):
        source, target = found.operands
        if not target.endswith("/"):
            yield CreatedThing(FILE, target, cwd, source)


def _device(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    """An emulator; `avdmanager create avd` refuses an existing name unless it is forced."""
    found = known_options(
        fact.words, ("-n", "--name", "-k", "--package", "-d", "--device", "-b", "--abi", "-g", "--tag", "-c"), ()
    )
    name = found.value("-n", "--name") if found is not None and found.operands == ["create", "avd"] else None
    if name:
        yield CreatedThing(DEVICE, name)


def _cluster(fact: Command, cwd: str) -> Iterator[CreatedThing]:
    found = created_in_cluster(fact)
    if found is not None:
        yield CreatedThing(*found)


_RUN_VALUED = frozenset(
    "-e --env -p --publish --name -m --memory --cpus -w --workdir -u --user --entrypoint --network --net -h --hostname --platform --pull "
    "--restart -l --label --env-file --shm-size --health-cmd --health-interval -v --volume --mount --volumes-from --add-host --ulimit".split()
)
_RUN_BARE = frozenset("-d --detach --rm -i -t -P --init --interactive --tty --quiet -q".split())
_MAKERS: Mapping[str, Callable[[Command, str], Iterator[CreatedThing]]] = {
    "docker": _docker, "podman": _docker, "createdb": _createdb, "git": _git, "cp": _cp, "kubectl": _cluster, "helm": _cluster, "avdmanager": _device,
}  # fmt: skip
_MOVERS = frozenset("mv ln rsync tar unzip install cd pushd export source . eval exec".split())


def _moves(fact: Command) -> bool:
    """Whether a folder or a name may mean another one after this command."""
    return fact.program in _MOVERS


_ENDINGS = frozenset({"trap", "exec"})


def _sure(text: str) -> Callable[[Command], str]:
    """Which commands of a line have succeeded where the line has: those that only `&&` joins."""
    nodes, errors = parse(text, lambda _: None)
    certain: dict[int, str] = {}
    if not errors and len(nodes) == 1:
        chain: list[Node] = [nodes[0]]
        if isinstance(nodes[0], AndOr):
            chain = nodes[0].nodes if set(nodes[0].operators) == {"&&"} else []
        for one in chain:
            first = one.stages[0] if isinstance(one, ShellPipeline) else one
            if not isinstance(first, SimpleCommand) or first.negated:
                continue
            if first.words and first.words[0].literal in _ENDINGS:  # they decide the exit status of the line
                return lambda fact: ""
            certain[first.span[0]] = "last" if isinstance(one, ShellPipeline) else "yes"
    return lambda fact: certain.get(fact.span[0], "") if fact.span is not None else ""


def created_things_of(data: Any) -> tuple[CreatedThing, ...]:
    """Reads objects from JSON; raises ValueError, KeyError and TypeError for anything else."""
    return tuple(
        CreatedThing(*(str(one.get(name, "")) for name in ("kind", "name", "base", "source", "mark"))) for one in data
    )
