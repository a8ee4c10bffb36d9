"""The objects that a command creates, removes, stops or changes, and their place, by its program's description."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from interlock.analysis.facts import Command, known
from interlock.analysis.places import resolve
from interlock.analysis.programs import ObjectEffect, Program
from interlock.analysis.programs.load import describe
from interlock.analysis.programs.options import CommandOptions, behind, holds, known_options, parse

EVERYTHING = "*"
OPERAND = "*"  # in a place: the first operand names it
NAMESPACE = "namespace"  # which is no part of its own place
REMOVING = frozenset({"remove", "delete", "stop"})
_SILENT = frozenset({"read", "select", "enter", "reuse", "replace"})  # effects on nothing that they name
_KEEPING = frozenset({"read", "enter"})  # after these every name means what it meant before
_UNSAID = ObjectEffect()


class NamedObject(Struct, frozen=True):
    effect: str  # create, remove, stop, write, or the word of the subcommand
    kind: str
    name: str
    place: str  # a folder, `cluster:…`, `db:…`, `engine:…`; empty for this machine
    throwaway: str = ""

    @property
    def key(self) -> str:
        return f"{self.place} {self.name}".strip()


def named_objects(command: Command, before: Iterable[Command] = ()) -> list[NamedObject]:
    """`before` are earlier commands of the text, which may select the place."""
    program = describe(command.program)
    found = parse(program, command.words) if program.does else CommandOptions()
    for item, path, names in _meant(program, found.operands):
        if item.effect not in _SILENT and holds(item, found):
            return list(_objects_of(command, item, path, found, names, before))
    return []


def _meant(program: Program, operands: Sequence[str]) -> Iterator[tuple[ObjectEffect, Sequence[str], list[str]]]:
    for item in program.does:
        for path in item.subcommand:
            if (names := _behind(path, operands)) is not None:
                yield item, path, names


def certain_objects(command: Command, effects: Collection[str]) -> list[NamedObject]:
    """The objects of a command with one of these effects, each of whose options and variables is described.

    None where one is not: it may name others, or another place.
    """
    program, found = describe(command.program), list[NamedObject]()
    for item in program.does if known("".join(command.words)) else ():
        for path in item.subcommand:
            if (path[0] if item.effect == "named" else item.effect) not in effects:
                continue
            given = certain_options(command, program, item, path)
            if given is not None and holds(item, given):
                found += _objects_of(command, item, path, given, given.operands, ())
                break
        if found and "create" not in effects:
            break
    return found


def reused_names(command: Command) -> list[tuple[str, str]]:
    """Kinds and keys that may be others from now on; every one where a name is not known."""
    program, found = describe(command.program), list[tuple[str, str]]()
    kept = [(item, path) for item in program.does if item.effect in _KEEPING for path in item.subcommand]
    if any(certain_options(command, program, item, path) is not None for item, path in kept):
        return found
    created = {item.kind for item in program.does if item.effect == "create"}
    given = parse(program, command.words) if program.does else CommandOptions()
    for item, path, names in _meant(program, given.operands):
        verb = path[0] if item.effect == "named" else item.effect
        if verb not in ("remove", "delete", "reuse"):
            continue
        kinds = created if verb == "reuse" and item.kind in created and not item.everything else ()
        for one in _objects_of(command, item, path, given, names, ()):
            key = one.key if known(one.key) and one.name != EVERYTHING else EVERYTHING
            found += [(kind, key) for kind in kinds or (one.kind,)]
    return list(dict.fromkeys(found))


def replaced_kinds(command: Command) -> list[str]:
    """Kinds of which a command may put others in the place of some that it does not name."""
    program = describe(command.program)
    items = [one for one in program.does if one.effect == "replace"]
    if not any(path[0] in command.words for item in items for path in item.subcommand):
        return []
    found = parse(program, command.words)
    return [item.kind for item, _, _ in _meant(program, found.operands) if item in items and holds(item, found)]


def in_repository(command: Command) -> bool:
    """Whether its objects are refs, commits, the files of a working tree."""
    return "repository" in describe(command.program).place


def certain_options(
    command: Command, program: Program, item: ObjectEffect = _UNSAID, path: Sequence[str] = ()
) -> CommandOptions | None:
    """The options of a command and the operands behind a subcommand; None where an option or a variable is not described."""
    named = item.place or program.place
    told = {one for key, names in named.items() if key != "repository" for one in names}
    carried = [one for one in program.carries if not one.subcommand or tuple(path) in one.subcommand]
    told |= {name for one in carried for name in (*one.options, *one.files)}
    told |= {*item.option, *item.any_flag, *item.no_flag, *(item.plain or program.plain)}
    if not told.issuperset(name for name, _ in command.env):
        return None
    values = program.value_flags.union(item.option, *(one.value_flags for one in carried))
    values |= program.behind.get(path[0], frozenset()) if path else frozenset()
    glued = program.secrets.get("glued", ())
    words: Sequence[str] = [word for word in command.words if not glued or not word.startswith(glued)]
    found = CommandOptions()
    for step in (*path, None):
        first = step is not None or item.options_first or program.options_first
        part = known_options(words, told & values, told - values, stop_at_operand=first)
        if part is None or (step is not None and part.operands[:1] != [step]):
            return None
        found.add(part)
        words = part.operands[1:]
        found.operands = part.operands
    return found


def _behind(path: Sequence[str], operands: Sequence[str]) -> list[str] | None:
    rest = behind((path,), operands)
    if rest is None or EVERYTHING not in path:
        return rest
    return [*(have for want, have in zip(path, operands, strict=False) if want == EVERYTHING), *rest]


def _objects_of(
    command: Command,
    item: ObjectEffect,
    path: Sequence[str],
    found: CommandOptions,
    names: Sequence[str],
    before: Iterable[Command],
) -> Iterator[NamedObject]:
    verb = path[0] if item.effect == "named" else item.effect
    given = [*(names if item.operands < 0 else names[: item.operands]), *found.all(*item.option)]
    if item.kind != EVERYTHING:
        objects = [(item.kind, name) for name in given or [EVERYTHING] * item.everything]
    else:  # KIND/NAME…, or KIND NAME…
        slashed = [word.partition("/") for word in given if "/" in word]
        named = [(kind, name) for kind, _, name in slashed]
        if given and not slashed:
            named = [(given[0], name) for name in given[1:] or [EVERYTHING]]
        short = describe(command.program).kinds
        bare = ((kind.lower().partition(".")[0], name) for kind, name in named)
        objects = [(short.get(kind, kind), name) for kind, name in bare]
        objects += [("manifest", resolve(path, command.cwd)) for path in found.all(*item.file_option)]
    for kind, name in objects:
        yield NamedObject(verb, kind, name, _place(command, item, found, before, kind, names), item.throwaway)


def _place(
    command: Command,
    item: ObjectEffect,
    found: CommandOptions,
    before: Iterable[Command],
    kind: str,
    names: Sequence[str],
) -> str:
    program = describe(command.program)
    named = item.place or program.place

    def value(part: str) -> str:
        return place_value(command, named, part, found)

    if "context" in named:
        context = value("context")
        return f"cluster:{context}/" if kind == NAMESPACE else cluster_place(context, value("namespace"))
    if "host" in named:
        return database_place(value("host"), value("port"))
    if "engine" in named:
        return f"engine:{host}" if (host := value("engine")) else ""
    if "folder" not in named:
        return "" if "machine" in named else command.cwd
    folder = value("folder") or posixpath.dirname(value("file"))
    part = value("part") or (names[0] if names and OPERAND in named.get("part", ()) else "")
    if not part:  # an earlier command of the same text may select it
        selects = [path for one in program.does if one.effect == "select" for path in one.subcommand]
        chosen = [rest[0] for earlier in before for path in selects if (rest := _behind(path, earlier.words))]
        part = "".join(chosen[-1:])
    where = resolve(folder, command.cwd) if folder else command.cwd
    return f"{where}#{part}" if part and part != "default" else where


def place_value(command: Command, named: Mapping[str, tuple[str, ...]], key: str, found: CommandOptions) -> str:
    """A part of the place: by an option, a variable (`key_env`), or what stands for it where nothing is said (`=5432`)."""
    names = named.get(key, ())
    env = dict(command.env)
    given = found.value(*names) or next((env[name] for name in named.get(f"{key}_env", ()) if env.get(name)), "")
    return given or next((name[1:] for name in names if name.startswith("=")), "")


def cluster_place(context: str, namespace: str) -> str:
    """`cluster:staging/shop`; empty for the caller's defaults."""
    namespace = "" if namespace == "default" else namespace
    return f"cluster:{context}/{namespace}" if context or namespace else ""


def database_place(host: str, port: str = "", name: str = "") -> str:
    """`db:db.example/shop`: this machine's own server has no name."""
    host = "" if host in {"", "localhost", "127.0.0.1", "::1", "[::1]"} or host.startswith("/") else host.casefold()
    server = f"{host}:{port}" if port not in {"", "5432", "3306", "6379", "27017"} else host
    return f"db:{server}/{name}" if name else f"db:{server}"
