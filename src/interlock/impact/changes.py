"""Every change of local files that an action makes, as targets to inspect and to keep; says whether the list is exact."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.analysis.facts import APPROXIMATE, HOLE, QUOTED, Command, Effect, Fact, known, without_holes
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.objects import in_repository, replaced_kinds
from interlock.analysis.targets import SEARCHED, find_delete_query, search_behind, searches_in
from interlock.analysis.targets.ordering import fact_key
from interlock.policy.real_paths import RESOLVED

# The verb of a fact -> the verb in the inspection.
VERBS = {"delete": "delete", "truncate": "truncate", "overwrite": "overwrite", "write": "overwrite"}
AWAY = frozenset({"remote", "container", "privileged"})
_PASSING = ("/tmp/", "/var/tmp/", "/dev/", "/proc/", "/sys/")
_HOLES = re.compile(f"{HOLE}[^{HOLE}]*{HOLE}")
Deed = Mapping[str, Any]
ANYTHING: Deed = {"verb": "anything"}  # some file of the project


class LocalChanges(Struct, frozen=True):
    """The targets that change, the sources of moves, and whether these are all and exactly the ones that the shell will name."""

    deeds: tuple[Deed, ...] = ()
    moved: tuple[Deed, ...] = ()  # a move destroys nothing, but an undo has to put its source back
    exact: bool = True


def local_changes(facts: Sequence[Fact], cwd: str, copies: Mapping[str, str] = MappingProxyType({})) -> LocalChanges:
    """The changes of an action; a target in part unknown stands for every name that it may have.

    `copies` are the files that it surely copies, each with its copy: one that is copied before it is replaced is no loss.
    """
    effects = [fact for fact in facts if isinstance(fact, Effect) and _is_local(fact)]
    commands = [fact for fact in facts if isinstance(fact, Command)]
    found = _Found(cwd, effects, commands if effects else ())
    for fact in effects:
        if fact.verb in VERBS:
            if not _copied_before(fact, effects, copies):
                found.change(fact)
        elif fact.verb == "move":
            found.move(fact)
    for command in commands:
        if not AWAY & command.traits:
            found.deeds += _replaced(command) if in_repository(command) else _named_files(command, effects)
    if any(one.program in program_set("globbing") for one in commands):
        found.exact = False
    return LocalChanges(tuple(found.deeds), tuple(found.moved), found.exact)


def _copied_before(fact: Effect, effects: Sequence[Effect], copies: Mapping[str, str]) -> bool:
    """Whether an earlier step copied the file, and nothing else reaches its copy."""
    copy = copies.get(fact.path)
    if copy is None or not known(copy) or copy.startswith(_PASSING):
        return False
    reaching = [one for one in effects if one.verb != "read" and _touches(one.path, copy)]
    return len(reaching) == 1 and effects.index(reaching[0]) < effects.index(fact)


def _replaced(fact: Command) -> Iterator[dict[str, Any]]:
    for kind in replaced_kinds(fact):
        yield {"verb": "replaced" if kind == "file" else "git", "words": list(fact.words)}


_LISTS = frozenset("-l -t -v -Z --list l t".split())
_WRITES_DATABASE = re.compile(r"\s*\.(?:restore|import|read|recover|archive|ar)\b")


def _named_files(fact: Command, effects: Sequence[Effect]) -> Iterator[dict[str, Any]]:
    """Files that a program names and may write, where nothing says that it only reads them; a copy of these is no condition."""
    if fact.program in program_set("neutral") or "wrapper" in fact.traits:
        return
    own = [one for one in effects if _key(one) == fact_key(fact)]
    if fact.program in program_set("file_database"):
        yield from _database_files(fact, own)
        return
    if fact.program in program_set("unpacker") and not _LISTS.intersection(fact.words):
        yield {"verb": "overwrite", "target": ".", "maybe": True}
    if any(one.verb in VERBS or one.verb == "move" for one in own):  # they are listed already
        return
    read = {one.target for one in own if one.verb == "read"}
    for word in fact.words:
        value = word.partition("=")[2] if word.startswith("-") else word
        if value and value not in read and known(value) and not set("*?[ \n") & set(value):
            yield {"verb": "overwrite", "target": value, "maybe": True}


def _database_files(fact: Command, own: Sequence[Effect]) -> Iterator[dict[str, Any]]:
    """The database that statements change, and the files that dot-commands name."""
    named = [word for word in fact.words if not word.startswith("-") and known(word)]
    commands = [word for word in named[1:] if word.lstrip().startswith(".")]
    changes = any(one.verb.startswith("sql_") and one.verb != "sql_read" for one in own)
    if named and (changes or any(map(_WRITES_DATABASE.match, commands))):
        yield {"verb": "database", "target": named[0], "maybe": True}
    for word in (word.strip("'\"") for command in commands for word in command.split()[1:]):
        yield {"verb": "overwrite", "target": word, "maybe": True}


def _is_local(fact: Effect) -> bool:
    return (
        not AWAY & fact.traits and RESOLVED not in fact.traits and not (fact.path or fact.target).startswith(_PASSING)
    )


class _Found:
    """Collects the targets of one action."""

    def __init__(self, cwd: str, effects: Sequence[Effect], commands: Sequence[Command]) -> None:
        self.cwd, self.effects = cwd, effects
        self.commands = {fact_key(one): one for one in commands}
        self.searches = searches_in(commands) if commands else {}
        self.deeds: list[dict[str, Any]] = []
        self.moved: list[dict[str, Any]] = []
        self.exact = True

    def change(self, fact: Effect) -> None:
        command = self.commands.get(fact_key(fact))
        if fact.verb == "write" and "link" in fact.traits:  # without force a link replaces nothing
            return
        query = find_delete_query(command) if command is not None else None
        query = None if APPROXIMATE in fact.traits else query or search_behind(fact, self.searches)
        loose = APPROXIMATE in fact.traits or (command is not None and query is None and "-iname" in command.words)
        more: dict[str, Any] = {"found": query} if query is not None else {}
        if VERBS[fact.verb] == "overwrite":
            more = {"from": self._sources(fact)}
        if query is None and self._searched(fact):
            self.deeds.append(_found_root(fact.target))
        if loose:
            self.exact = False
            self.deeds.append(dict(ANYTHING))
        if "shredded" in fact.traits and fact.verb == "delete":  # written through a link before its name goes
            self.deeds += [{"verb": "truncate", "target": target} for target, _ in self._targets(fact) if target]
        for target, exact in self._targets(fact):
            self.exact = self.exact and exact
            self.deeds.append({"verb": VERBS[fact.verb], "target": target, **more} if target else dict(ANYTHING))

    def _searched(self, fact: Effect) -> bool:
        """Whether a `find` deletes what it finds, which may be the very path that it starts from."""
        own = fact.subject.partition(" ")[0] in program_set("searches")
        return fact.verb == "delete" and "/**" in fact.target and (own or fact.via[-1:] == SEARCHED)

    def move(self, fact: Effect) -> None:
        """What is moved away; where another effect reaches its new place, it goes for good."""
        for target, exact in self._targets(fact):
            self.exact = self.exact and exact and APPROXIMATE not in fact.traits
            self.moved.append({"verb": "delete", "target": target or "."})
            if self._is_reached_later(fact):
                self.deeds.append({"verb": "delete", "target": target or "."})

    def _sources(self, fact: Effect) -> list[str] | None:
        """The files that are written into a folder; None where any name may come."""
        names = [one.target for one in self.effects if one.verb in ("read", "move") and _key(one) == _key(fact)]
        program = fact.subject.partition(" ")[0]
        return names if names and program in program_set("placing") and all(map(known, names)) else None

    def _is_reached_later(self, fact: Effect) -> bool:
        places = [one.path for one in self.effects if _key(one) == _key(fact) and one.verb in VERBS]
        others = [one for one in self.effects if _key(one) != _key(fact) and one.verb in ("delete", "truncate", *VERBS)]
        return any(_touches(one.path, place) for one in others for place in places)

    def _targets(self, fact: Effect) -> Iterator[tuple[str, bool]]:
        """The paths that a target may name, from where the action begins and from where it went; empty for any path."""
        here = posixpath.normpath(posixpath.join(self.cwd, fact.target)) == fact.path
        for path in dict.fromkeys((fact.target, "" if here else fact.path)):
            if path.startswith(QUOTED):
                path = f"./{path[1:]}"
            if known(path):
                if path:
                    yield path, True
                continue
            exact = not path.startswith(HOLE)
            rest = _HOLES.sub("*", path)
            yield (rest if exact else _below(path)), exact
            if (emptied := without_holes(path)).startswith("/") and fact.verb != "write":
                yield emptied, False


def _found_root(target: str) -> dict[str, Any]:
    """The path that a search starts from, where its own name is one of those that are looked for."""
    root, _, name = target.partition("/**")
    query = {"root": root or "/", "name": name.strip("/") or "*", "icase": False, "type": "", "depth": [0, 0]}
    return {"verb": "delete", "target": root or "/", "found": query}


def _below(path: str) -> str:
    """The same name anywhere in the project, for a path whose beginning is not known."""
    rest = _HOLES.sub("*", path).lstrip("*").lstrip("/")
    return f"**/{rest}" if rest.strip("*/.") else ""


def _key(fact: Effect) -> tuple[Any, ...]:
    return fact.subject, fact.span


def _touches(one: str, other: str) -> bool:
    if set("*?[") & set(one) or not known(one):
        return True
    return posixpath.normpath(one) == posixpath.normpath(other) or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")  # fmt: skip
