"""Ephemeral targets: test databases on this machine, and whatever this session created; destroying them loses nothing of worth."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.programs.options import known_options
from interlock.analysis.targets.addresses import (
    DatabaseAddress,
    compose_down,
    container_of,
    database_of,
    database_of_url,
    deleted_in_cluster,
    deletes_only_pods,
    is_ephemeral_name,
    redis_of,
    scripts_of,
    stays_in_database,
)
from interlock.analysis.targets.ordering import Key, fact_key
from interlock.analysis.targets.provenance import (
    BRANCH,
    CONTAINER,
    DATABASE,
    DEVICE,
    IMAGE,
    INSIDE,
    PORT,
    PUSHED,
    TAG,
    Provenance,
    database_key,
)

EPHEMERAL_DATABASE = "a throw-away database on this machine"
CREATED_HERE = "made by this session"
RULES = frozenset(
    "data.drop data.truncate data.delete_all data.delete_rows data.drop_column data.drop_object data.update_all data.store_drop "
    "data.store_delete data.store_delete_all databases.drop migrations.reset migrations.step_back migrations.accept_loss "
    "docker.remove docker.remove_image docker.kill docker.wipe_volumes git.force_push forges.delete_item "
    "kubernetes.delete kubernetes.delete_pod kubernetes.delete_namespace kubernetes.helm_uninstall data.kill_session generic.delete macos.erase_simulators".split()
)
_NOT_HERE = frozenset({"remote", "privileged", "production"})
_AROUND = frozenset(
    {"bash -c", "sh -c", "timeout", "time", "nohup", "command", "nice", "bundle exec", "docker exec", "npx", "php"}
)
# Builtins that change the meaning of later commands.
_SHELL = frozenset(
    "export declare typeset readonly source . eval shopt alias unset exec trap enable hash direnv setopt".split()
)


class Ephemeral(Struct, frozen=True):
    """The reason why a target is ephemeral; `deed` is the effect that has to be inspected as well."""

    note: str
    deed: Mapping[str, Any] | None = None


def ephemeral_targets(facts: Sequence[Fact], accused: Collection[Key], made: Provenance) -> dict[Key, Ephemeral]:
    """The accused commands whose targets are ephemeral by the text alone, by the key of their findings."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    writes = any(isinstance(fact, Effect) and fact.verb in ("write", "append", "overwrite", "move") for fact in facts)
    found: dict[Key, Ephemeral] = {}
    for number, fact in enumerate(commands):
        reader = _READERS.get(fact.program)
        if reader is None or fact_key(fact) not in accused or not _here(fact):
            continue
        if any(one.program in _SHELL for one in commands[:number]):
            continue
        effects = [one for one in facts if isinstance(one, Effect) and fact_key(one) == fact_key(fact)]
        answer = reader(_Removal(fact, effects, commands, made, writes))
        if answer is not None:
            found[fact_key(fact)] = answer
    return found


class _Removal(Struct, frozen=True):
    fact: Command
    effects: Sequence[Effect]
    commands: Sequence[Command]
    created: Provenance
    writes: bool  # whether the line writes files, one of which may be a script that it runs

    @property
    def inside(self) -> str | None:
        """The container that it runs in; empty for none, None where that is unknown."""
        return container_of(self.fact, self.commands)


def _here(fact: Command) -> bool:
    return not fact.traits & _NOT_HERE and all(step in _AROUND for step in fact.via) and all(map(known, fact.words))


def _client(removal: _Removal) -> Ephemeral | None:
    place = database_of(removal.fact)
    if place is None or not place.local or removal.inside is None:
        return None
    if removal.inside and removal.created.has(INSIDE, removal.inside):
        return Ephemeral(f"{removal.inside} was {CREATED_HERE}") if _plain_words(removal) else None
    if not removal.inside and place.port and removal.created.has(PORT, place.port):
        return Ephemeral(f"the database server was {CREATED_HERE}") if _plain_words(removal) else None
    if (
        removal.effects
        and all(one.verb in ("sql_kill", "sql_read") for one in removal.effects)
        and _plain_words(removal)
    ):
        return Ephemeral("no data goes: connections end, and what they had not committed")
    scripts = scripts_of(removal.fact)
    if not stays_in_database(removal.fact, removal.effects) or (scripts and (removal.inside or removal.writes)):
        return None
    question = {"verb": "statements", "targets": list(scripts)} if scripts else None
    if removal.created.has(DATABASE, database_key(removal.inside, place.key)):
        return Ephemeral(f"{place.name} was {CREATED_HERE}", question)
    return Ephemeral(f"{place.name} is {EPHEMERAL_DATABASE}", question) if is_ephemeral_name(place.name) else None


def _plain_words(removal: _Removal) -> bool:
    """Whether it runs statements only, none of which runs a program or leaves the database."""
    return (
        "piped" not in removal.fact.traits
        and not any("\\" in word for word in removal.fact.words)
        and not any(one.verb in ("sql_shell", "sql_execute", "unreadable", "run_script") for one in removal.effects)
    )


def _redis(removal: _Removal) -> Ephemeral | None:
    found = redis_of(removal.fact)
    if found is None or not found[0].local or removal.inside is None:
        return None
    place, options = found
    if removal.inside and removal.created.has(INSIDE, removal.inside):
        return Ephemeral(f"{removal.inside} was {CREATED_HERE}")
    if not removal.inside and removal.created.has(PORT, place.port):
        return Ephemeral(f"the database server was {CREATED_HERE}")
    keys = options.operands[1:]
    if (
        options.operands[:1]
        and options.operands[0].lower() in ("del", "unlink")
        and keys
        and all(map(is_ephemeral_name, keys))
    ):
        return Ephemeral(f"{keys[0]} is in {EPHEMERAL_DATABASE}")
    return None


_SQLITE = ("-header", "-csv", "-json", "-line", "-column", "-batch", "-bail", "-list", "-noheader")


def _sqlite(removal: _Removal) -> Ephemeral | None:
    """A database file, which can be inspected and copied."""
    found = known_options(removal.fact.words, (), _SQLITE)
    if (
        found is None
        or len(found.operands) < 2
        or removal.fact.env
        or removal.fact.via
        or not stays_in_database(removal.fact, _on_tables(removal))
    ):
        return None
    file, *texts = found.operands
    if file.startswith(("file:", ":", "~")) or any(
        line.lstrip().startswith(".") for text in texts for line in text.split("\n")
    ):
        return None
    return Ephemeral("", {"verb": "database", "target": file, "sure": True})


def _on_tables(removal: _Removal) -> list[Effect]:
    return [one for one in removal.effects if one.verb != "read"]


# Those of one environment: `db:drop:all` goes through all of them, production included.
_RAILS_TASKS = frozenset(
    "db:drop db:create db:migrate db:reset db:setup db:prepare db:seed db:seed:replant db:rollback db:truncate_all db:schema:load db:version "
    "db:structure:load db:migrate:down db:migrate:up db:migrate:redo db:migrate:reset db:migrate:status db:test:prepare".split()
)
_RAILS_SETTINGS = frozenset({"RAILS_ENV", "RACK_ENV", "DATABASE_URL", "VERSION", "STEP", "VERBOSE", "PGPASSWORD"})


def _rails(removal: _Removal) -> Ephemeral | None:
    """Rails' own tasks in the environment test or development; the database of its settings is inspected."""
    words = removal.fact.words
    given = dict(removal.fact.env) | dict(word.split("=", 1) for word in words if "=" in word)
    tasks = [word for word in words if "=" not in word]
    if removal.fact.traits or not given.keys() <= _RAILS_SETTINGS or not set(tasks) <= _RAILS_TASKS:
        return None
    where = {given[name] for name in ("RAILS_ENV", "RACK_ENV") if name in given} or {"development"}
    if len(where) > 1 or not where <= {"test", "development"} or not _is_ephemeral_url(given.get("DATABASE_URL")):
        return None
    return _by_settings(where.pop())


def _migration_tool(removal: _Removal) -> Ephemeral | None:
    """Tools that take their database from settings, where the line selects the test environment."""
    given = dict(removal.fact.env)
    if (
        removal.fact.traits
        or given.get("NODE_ENV", given.get("APP_ENV")) != "test"
        or not given.keys() <= {"NODE_ENV", "APP_ENV", "DATABASE_URL"}
    ):
        return None
    return _by_settings("test") if _is_ephemeral_url(given.get("DATABASE_URL")) else None


# Tools that take the database address on their command line.
_ADDRESSED = {
    "migrate": "-database",
    "dbmate": "--url",
    "goose": "",
    "sqlx": "--database-url",
    "diesel": "--database-url",
    "atlas": "--url",
}


def _addressed_tool(removal: _Removal) -> Ephemeral | None:
    """One address of an ephemeral database, after the option that takes it."""
    words = removal.fact.words
    places = [number for number, word in enumerate(words) if "://" in word and not word.startswith("file:")]
    if len(places) != 1 or removal.fact.env or removal.fact.traits:
        return None
    option, at = _ADDRESSED[removal.fact.program], places[0]
    before, word = (words[at - 1] if at else ""), words[at]
    if option and not (before in (option, f"-{option}") or word.lstrip("-").startswith(f"{option.lstrip('-')}=")):
        return None
    place = database_of_url(word.partition("=")[2] if word.startswith("-") else word)
    if place is None or not place.local or not place.host or not is_ephemeral_name(place.name):
        return None
    return Ephemeral(f"{place.name} is {EPHEMERAL_DATABASE}")


_ARTISAN = frozenset("migrate:fresh migrate:refresh migrate:reset migrate:rollback db:wipe".split())


def _artisan(removal: _Removal) -> Ephemeral | None:
    """Laravel, where the line selects the test environment; the database of its settings is inspected."""
    words = removal.fact.words
    testing = bool(words) and words[0] in _ARTISAN and "--env=testing" in words
    plain = not removal.fact.traits and removal.fact.env in ((), (("APP_ENV", "testing"),))
    return _by_settings("testing") if testing and plain else None


def _device(removal: _Removal) -> Ephemeral | None:
    """An emulator that this session created, or a simulator with a test name."""
    words = removal.fact.words
    if removal.fact.program == "avdmanager" and words[:3] == ("delete", "avd", "-n") and len(words) == 4:
        return Ephemeral(f"{words[3]} was {CREATED_HERE}") if removal.created.has(DEVICE, words[3]) else None
    named = words[:2] == ("simctl", "delete") and len(words) > 2 and all(map(is_ephemeral_name, words[2:]))
    return Ephemeral(f"{', '.join(words[2:])}: to be thrown away, by name") if named else None


def _by_settings(environment: str) -> Ephemeral:
    return Ephemeral(
        f"the database for {environment}: {EPHEMERAL_DATABASE}", {"verb": "settings", "environment": environment}
    )


def _is_ephemeral_url(address: str | None) -> bool:
    if address is None:
        return True
    place: DatabaseAddress | None = database_of_url(address)
    return place is not None and place.local and bool(place.host) and is_ephemeral_name(place.name)


def _docker(removal: _Removal) -> Ephemeral | None:
    """Containers and images that this session created, and volumes with ephemeral names; all of the named ones."""
    words = removal.fact.words
    if words[:2] in (("volume", "rm"), ("volume", "remove")):
        return _volumes(removal)
    if words[:1] == ("compose",) or removal.fact.program == "docker-compose":
        return _compose(removal)
    words = words[1:] if words[:1] in (("container",), ("image",)) else words
    kind = IMAGE if removal.fact.words[:1] == ("image",) or words[:1] == ("rmi",) else CONTAINER
    found = known_options(words[1:], (), ("-f", "--force", "-v", "--volumes", "-s"))
    if (
        words[:1] not in (("rm",), ("rmi",), ("kill",), ("stop",))
        or found is None
        or removal.fact.env
        or removal.inside
    ):
        return None
    if not found.operands or not all(removal.created.has(kind, name) for name in found.operands):
        return None
    return Ephemeral(f"{', '.join(found.operands[:3])} {'was' if len(found.operands) == 1 else 'were'} {CREATED_HERE}")


def _compose(removal: _Removal) -> Ephemeral | None:
    """A compose project with a test name, or one of its own name from a file that this session wrote."""
    words = removal.fact.words[removal.fact.words[:1] == ("compose",) :]
    found = compose_down(words) if not removal.fact.env and not removal.fact.via else None
    if found is None:
        return None
    names, question = ", ".join(found.names), {"verb": "compose", "targets": list(found.files)}
    if found.for_tests:
        return Ephemeral(f"{names}: for tests, by name", None if found.project else question)
    if found.project and found.files:
        return Ephemeral(f"{names}: {CREATED_HERE}", question | {"own": True})
    return None


def _volumes(removal: _Removal) -> Ephemeral | None:
    """Volumes with test names; one for development may hold somebody's work."""
    found = known_options(removal.fact.words[2:], (), ("-f", "--force"))
    if found is None or not found.operands or removal.fact.env or removal.inside:
        return None
    gone = all(is_ephemeral_name(name) and "dev" not in name.lower() for name in found.operands)
    return Ephemeral(f"{', '.join(found.operands[:3])}: to be thrown away, by name") if gone else None


def _remote_ref(removal: _Removal) -> Ephemeral | None:
    """A tag or branch that this session created and pushed; its repository and remote have to be inspected."""
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


def _release(removal: _Removal) -> Ephemeral | None:
    """The release of a tag that this session created and pushed; it cannot be older than the tag."""
    found = known_options(removal.fact.words, (), ("-y", "--yes", "--cleanup-tag"))
    if (
        found is None
        or found.operands[:2] != ["release", "delete"]
        or len(found.operands) != 3
        or removal.fact.env
        or removal.fact.via
    ):
        return None
    tag = found.operands[2]
    remotes = [one.source for one in removal.created.things if (one.kind, one.name) == (PUSHED, tag)]
    if not removal.created.has(TAG, tag) or len(remotes) != 1:
        return None
    question = {"verb": "git", "words": ["push", "--delete", remotes[0], f"refs/tags/{tag}"]}
    return Ephemeral(f"the tag {tag} was {CREATED_HERE}, and so its release is no older", question)


def _cluster(removal: _Removal) -> Ephemeral | None:
    """A namespace or release that this session created, with its later content; pods, which are replaced anyway."""
    if deletes_only_pods(removal.fact) and not removal.fact.via:
        return Ephemeral("pods do not last: whatever runs them starts new ones")
    found = deleted_in_cluster(removal.fact) if not removal.fact.via else None
    if found is None or not removal.created.has(*found):
        return None
    return Ephemeral(f"the {found[0]} {found[1].split()[-1]} was {CREATED_HERE}")


def notes(answers: Mapping[Key, Ephemeral]) -> Iterator[str]:
    return (answer.note for answer in answers.values() if answer.note)


_READERS: Mapping[str, Callable[[_Removal], Ephemeral | None]] = {
    "psql": _client, "dropdb": _client, "mysql": _client, "mariadb": _client, "redis-cli": _redis, "sqlite3": _sqlite, "rails": _rails,
    "rake": _rails, "docker": _docker, "podman": _docker, "docker-compose": _docker, "git": _remote_ref, "gh": _release, "kubectl": _cluster, "helm": _cluster, "artisan": _artisan, "avdmanager": _device, "xcrun": _device,
    **dict.fromkeys(_ADDRESSED, _addressed_tool),
    **dict.fromkeys(("knex", "sequelize", "prisma", "typeorm", "sequelize-cli"), _migration_tool),
}  # fmt: skip
