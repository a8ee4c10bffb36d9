"""The objects that a command creates, removes, stops or changes, and the place that they are in, by its program's description."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from interlock.analysis.facts import Command
from interlock.analysis.places import resolve
from interlock.analysis.programs import ObjectEffect, Program
from interlock.analysis.programs.load import describe, shipped_programs
from interlock.analysis.programs.options import CommandOptions, holds, parse

EVERYTHING = "*"
OPERAND = "*"  # in a place: the first operand names it
NAMESPACE = "namespace"  # which is no part of its own place
_LOCAL = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
_USUAL_PORTS = frozenset({"", "5432", "3306", "6379", "27017"})


class NamedObject(Struct, frozen=True):
    """One object that a command does something to."""

    effect: str  # create, remove, stop, write, or the word of the subcommand
    kind: str
    name: str
    place: str  # a folder, `cluster:…`, `db:…`, `docker:…`; empty for this machine


def named_objects(command: Command, before: Iterable[Command] = ()) -> list[NamedObject]:
    """The objects of one command; `before` are earlier commands of the text, which may select the place."""
    program = shipped_programs().get(command.program)
    if program is None or not program.does:
        return []
    found = parse(program, command.words)
    for item in program.does:
        for path in item.subcommand:
            names = _behind(path, found.operands)
            if names is None or item.effect == "select" or not holds(item, found):
                continue
            verb = path[0] if item.effect == "named" else item.effect
            return [
                NamedObject(verb, kind, name, _place(command, program, item, found, before, kind, names))
                for kind, name in _objects(command, program, item, found, names)
            ]
    return []


def in_repository(command: Command) -> bool:
    """Whether the objects of this program are those of a repository: refs, commits, the files of its working tree."""
    return "repository" in describe(command.program).place


def _behind(path: Sequence[str], operands: Sequence[str]) -> list[str] | None:
    """The operands that name objects, where these begin with the subcommand."""
    if len(operands) < len(path):
        return None
    named: list[str] = []
    for want, have in zip(path, operands, strict=False):
        if want == EVERYTHING:
            named.append(have)
        elif want != have:
            return None
    return [*named, *operands[len(path) :]]


def _objects(
    command: Command, program: Program, item: ObjectEffect, found: CommandOptions, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Kind and name of each object."""
    given = [*(names if item.operands else ()), *found.all(*item.option)]
    if item.kind != EVERYTHING:
        every = [EVERYTHING] if item.everything and not given else []
        yield from ((item.kind, name) for name in given or every)
        return
    slashed = [word.partition("/") for word in given if "/" in word]
    yield from ((_kind(kind, program), name) for kind, _, name in slashed)
    if given and not slashed:
        yield from ((_kind(given[0], program), name) for name in given[1:] or [EVERYTHING])
    yield from (("manifest", resolve(path, command.cwd)) for path in found.all(*item.file_option))


def _kind(word: str, program: Program) -> str:
    bare = word.lower().partition(".")[0]
    return program.kinds.get(bare, bare)


def _place(
    command: Command,
    program: Program,
    item: ObjectEffect,
    found: CommandOptions,
    before: Iterable[Command],
    kind: str,
    names: Sequence[str],
) -> str:
    named = item.place or program.place
    if "context" in named:
        context = _value(named, "context", found)
        return f"cluster:{context}/" if kind == NAMESPACE else cluster_place(context, _value(named, "namespace", found))
    if "host" in named:
        env = dict(command.env)
        return database_place(_value(named, "host", found) or env.get("PGHOST", ""), _value(named, "port", found))
    if "engine" in named:
        host = _value(named, "engine", found) or dict(command.env).get("DOCKER_HOST", "")
        return f"docker:{host}" if host else ""
    if "folder" not in named:
        return "" if "machine" in named else command.cwd
    file = _value(named, "file", found)
    folder = _value(named, "folder", found) or posixpath.dirname(file)
    part = _value(named, "part", found) or (names[0] if names and OPERAND in named.get("part", ()) else "")
    part = part or _selected(command, program, named, before)
    where = resolve(folder, command.cwd) if folder else command.cwd
    return f"{where}#{part}" if part else where


def _value(named: Mapping[str, tuple[str, ...]], key: str, found: CommandOptions) -> str:
    return found.value(*named.get(key, ())) or ""


def _selected(
    command: Command, program: Program, named: Mapping[str, tuple[str, ...]], before: Iterable[Command]
) -> str:
    """The part of the place that the environment or an earlier command of the same text selects; none for the usual one."""
    env = dict(command.env)
    chosen = [env[name] for name in named.get("part_env", ()) if env.get(name)]
    selects = [path for item in program.does if item.effect == "select" for path in item.subcommand]
    for earlier in () if chosen else before:
        chosen += [rest[0] for path in selects if (rest := _behind(path, earlier.words))]
    return chosen[-1] if chosen and chosen[-1] != "default" else ""


def cluster_place(context: str, namespace: str) -> str:
    """`cluster:staging/shop`; empty for the caller's defaults."""
    namespace = "" if namespace == "default" else namespace
    return f"cluster:{context}/{namespace}" if context or namespace else ""


def database_place(host: str, port: str = "", name: str = "") -> str:
    """`db:db.example/shop`: this machine's own server has no name."""
    host = "" if host in _LOCAL or host.startswith("/") else host.casefold()
    server = f"{host}:{port}" if port not in _USUAL_PORTS else host
    return f"db:{server}/{name}" if name else f"db:{server}"
