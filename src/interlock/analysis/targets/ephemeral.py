"""Ephemeral targets, whose loss is none: test databases on this machine, and whatever this session created."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.programs.objects import EVERYTHING, REMOVING, NamedObject, certain_objects, certain_options
from interlock.analysis.targets import (
    container_of,
    database_of,
    database_of_url,
    is_entering,
    is_ephemeral_name,
    is_for_tests,
    scripts_of,
    stays_in_database,
)
from interlock.analysis.targets.migrations import MIGRATED, folder_stepped_back
from interlock.analysis.targets.ordering import CommandLine, Key, commands_of, fact_key, runs_here
from interlock.analysis.targets.provenance import BRANCH, DATABASE, INSIDE, PORT, PUSHED, TAG, Provenance, database_key
from interlock.model import Action

EPHEMERAL_DATABASE = "a throw-away database on this machine"
CREATED_HERE = "made by this session"
_NOT_HERE = frozenset({"remote", "privileged", "production"})
_TEST_ENVIRONMENTS = frozenset({"test", "testing"})


class Ephemeral(Struct, frozen=True):
    """`deed` is the effect that has to be inspected as well."""

    note: str
    deed: Mapping[str, Any] | None = None


def ephemeral_targets(
    action: Action, facts: Sequence[Fact], line: CommandLine, accused: Collection[Key], made: Provenance
) -> dict[Key, Ephemeral]:
    """The accused commands whose targets are ephemeral by the text alone, by the key of their findings."""
    commands = commands_of(facts)
    writes = any(isinstance(fact, Effect) and fact.verb in ("write", "append", "overwrite", "move") for fact in facts)
    found: dict[Key, Ephemeral] = {}
    for number, fact in enumerate(commands):
        key = fact_key(fact)
        if key not in accused or any(one.program in program_set("shell_state") for one in commands[:number]):
            continue
        effects = [one for one in facts if isinstance(one, Effect) and fact_key(one) == key]
        removal = _Removal(fact, effects, commands, made, writes, action, line)
        answer = next(filter(None, (reader(removal) for reader in _readers(fact))), None)
        if answer is not None:
            found[key] = answer
    return found


class _Removal(Struct, frozen=True):
    fact: Command
    effects: Sequence[Effect]
    commands: Sequence[Command]
    created: Provenance
    writes: bool  # whether the line writes files, one of which may be a script that it runs
    action: Action
    line: CommandLine

    @property
    def inside(self) -> str | None:
        """Empty for none, None where that is unknown."""
        return container_of(self.fact, self.commands)


def _here(fact: Command) -> bool:
    if fact.traits & _NOT_HERE or not all(map(known, fact.words)):
        return False
    launches = program_set("launches")
    return all(runs_here(step) or step.partition(" ")[0] in launches or is_entering(step) for step in fact.via)


def _readers(fact: Command) -> Iterator[Callable[[_Removal], Ephemeral | None]]:
    program = describe(fact.program)
    if program.migrations:
        yield _migration
    if not _here(fact):
        return
    if program.does:
        yield _objects
    yield from (reader for key, reader in _BY_PLACE.items() if key in program.place)


def _objects(removal: _Removal) -> Ephemeral | None:
    """Created by this session, or to be thrown away by kind or name."""
    objects = certain_objects(removal.fact, REMOVING)
    if removal.inside or not objects or any(one.name == EVERYTHING for one in objects):
        return _compose(removal) if objects else None
    names = ", ".join(one.name for one in objects[:3])
    if all(removal.created.has(one.kind, one.key) for one in objects):
        return Ephemeral(f"{names} {'was' if len(objects) == 1 else 'were'} {CREATED_HERE}")
    if all(one.throwaway == "always" for one in objects):
        return Ephemeral(f"{names}: whatever runs it starts a new one")
    if all(one.throwaway == "name" and not one.place and is_for_tests(one.name) for one in objects):
        return Ephemeral(f"{names}: to be thrown away, by name")
    return _release(removal, objects)


def _release(removal: _Removal, objects: Sequence[NamedObject]) -> Ephemeral | None:
    """It cannot be older than the tag, which this session created and pushed."""
    tag = objects[0].name
    remotes = removal.created.sources(PUSHED, tag)
    if [one.kind for one in objects] != ["release"] or not removal.created.has(TAG, tag) or len(remotes) != 1:
        return None
    if objects[0].place or removal.fact.via:
        return None
    question = {"verb": "git", "words": ["push", "--delete", remotes[0], f"refs/tags/{tag}"]}
    return Ephemeral(f"the tag {tag} was {CREATED_HERE}, and so its release is no older", question)


def _compose(removal: _Removal) -> Ephemeral | None:
    """A project with a test name, or one of its own name from a file that this session wrote."""
    program = describe(removal.fact.program)
    entries = [(item, path) for item in program.does for path in item.subcommand if item.kind == "compose"]
    for item, path in entries:
        found = certain_options(removal.fact, program, item, path)
        if found is None or found.operands or removal.fact.env or removal.fact.via:
            continue
        place = item.place or program.place
        files, projects = found.all(*place["file"]), found.all(*place["part"])
        names = [*map(posixpath.basename, files), *projects]
        if not names or found.has(*place["folder"]):
            return None
        question = {"verb": "compose", "targets": files}
        if all(map(is_for_tests, names)):
            return Ephemeral(f"{', '.join(names)}: for tests, by name", None if projects else question)
        own = projects and files
        return Ephemeral(f"{', '.join(names)}: {CREATED_HERE}", question | {"own": True}) if own else None
    return None


def _client(removal: _Removal) -> Ephemeral | None:
    place, inside, plain = database_of(removal.fact), removal.inside, _plain_words(removal)
    if place is None or not place.local or inside is None:
        return None
    if inside and removal.created.has(INSIDE, inside):
        return Ephemeral(f"{inside} was {CREATED_HERE}") if plain else None
    if not inside and place.port and removal.created.has(PORT, place.port):
        return Ephemeral(f"the database server was {CREATED_HERE}") if plain else None
    if plain and removal.effects and all(one.verb in ("sql_kill", "sql_read") for one in removal.effects):
        return Ephemeral("no data goes: connections end, and what they had not committed")
    keys = [one for one in certain_objects(removal.fact, REMOVING) if one.throwaway == "name"]
    if keys and "piped" not in removal.fact.traits and all(is_ephemeral_name(one.name) for one in keys):
        return Ephemeral(f"{keys[0].name} is in {EPHEMERAL_DATABASE}")
    scripts = scripts_of(removal.fact)
    if not stays_in_database(removal.fact, removal.effects) or (scripts and (inside or removal.writes)):
        return None
    question = {"verb": "statements", "targets": list(scripts)} if scripts else None
    if removal.created.has(DATABASE, database_key(inside, place.key)):
        return Ephemeral(f"{place.name} was {CREATED_HERE}", question)
    return Ephemeral(f"{place.name} is {EPHEMERAL_DATABASE}", question) if is_ephemeral_name(place.name) else None


def _plain_words(removal: _Removal) -> bool:
    """None of its statements runs a program or leaves the database."""
    leaves = any(one.verb in ("sql_shell", "sql_execute", "unreadable", "run_script") for one in removal.effects)
    return not leaves and "piped" not in removal.fact.traits and "\\" not in "".join(removal.fact.words)


def _file(removal: _Removal) -> Ephemeral | None:
    fact, program = removal.fact, describe(removal.fact.program)
    found = certain_options(fact, program)
    verbs = [_FILE_VERBS[one.operands] for one in program.carries if one.opens and one.operands in _FILE_VERBS]
    if found is None or found.values or not verbs or len(found.operands) < 2 or fact.env or fact.via:
        return None
    file, *texts = found.operands
    changes = [one for one in removal.effects if one.verb != "read"]
    if not stays_in_database(fact, changes) or file.startswith(("file:", ":", "~")):
        return None
    if any(line.lstrip().startswith(".") for text in texts for line in text.split("\n")):
        return None
    return Ephemeral("", {"verb": verbs[0], "target": file, "sure": True})


_FILE_VERBS = {"sql sqlite": "database", "sql duckdb": "overwrite"}  # the one can be inspected, the other copied


def _by_environment(removal: _Removal) -> Ephemeral | None:
    """The settings of a test environment, which are inspected."""
    program = describe(removal.fact.program)
    named = program.place["environment"]
    given = [word for word in removal.fact.words if "=" in word and not word.startswith("-")]
    words = tuple(word for word in removal.fact.words if word not in given)
    settings = ((name, value) for name, _, value in (word.partition("=") for word in given))
    fact = replace(removal.fact, words=words, env=(*removal.fact.env, *settings))
    found = certain_options(fact, program)
    only = program.place.get("only", ())
    if removal.fact.traits or found is None or (only and not set(found.operands) <= set(only)):
        return None
    usual = {name[1:] for name in named if name.startswith("=")}
    chosen = {value for name, value in fact.env if name in named} | set(found.all(*named)) or usual
    addresses = [value for name, value in fact.env if name in program.place.get("name_env", ())]
    if len(chosen) != 1 or not chosen <= _TEST_ENVIRONMENTS | usual or not all(map(_is_ephemeral_url, addresses)):
        return None
    question = {"verb": "settings", "environment": chosen.pop()}
    return Ephemeral(f"the database for {question['environment']}: {EPHEMERAL_DATABASE}", question)


def _is_ephemeral_url(address: str) -> bool:
    place = database_of_url(address)
    return place is not None and place.local and bool(place.host) and is_ephemeral_name(place.name)


def _remote_ref(removal: _Removal) -> Ephemeral | None:
    """Created and pushed by this session; its repository and remote have to be inspected."""
    words = [word for word in removal.fact.words if word not in ("-q", "--quiet", "--no-verify")]
    deletes = bool({"--delete", "-d"} & set(words))
    names = [word for word in words[1:] if word not in ("--delete", "-d")]
    if words[:1] != ["push"] or removal.fact.env or removal.fact.via or len(names) != 2 or names[0].startswith("-"):
        return None
    name = names[1] if deletes else names[1].removeprefix(":")
    if (not deletes and name == names[1]) or name.startswith((":", "-", "+")):
        return None
    for kind, where in ((TAG, "refs/tags/"), (BRANCH, "refs/heads/")):
        short = name.removeprefix(where)
        if not short.startswith("refs/") and removal.created.has(kind, short) and removal.created.has(PUSHED, short):
            question = {"verb": "git", "words": ["push", "--delete", names[0], f"{where}{short}"]}
            return Ephemeral(f"the {kind} {short} was {CREATED_HERE}", question)
    return None


def _migration(removal: _Removal) -> Ephemeral | None:
    """After this session applied all of them; whether it made the last one is inspected."""
    folder, applied = folder_stepped_back(removal.fact, removal.commands, removal.line.sure)
    last = list(filter(None, removal.created.sources(MIGRATED, posixpath.join(removal.action.cwd, folder))))
    if not folder or not (applied or last):
        return None
    question = {"verb": "migrations", "target": folder, "applied": "" if applied else last[-1]}
    return Ephemeral(f"the migrations in {folder} were applied by this session", question)


_BY_PLACE: Mapping[str, Callable[[_Removal], Ephemeral | None]] = {
    "name": _client,
    "store": _file,
    "environment": _by_environment,
    "repository": _remote_ref,
}
