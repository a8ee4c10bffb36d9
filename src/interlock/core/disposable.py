"""What is destroyed without a file of this machine: is it one to throw away, a test database here, or made by this session?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.core.beside import Key, key
from interlock.core.databases import Database, database_of, of_url, redis_of, scripts_of, stays, thrown_away
from interlock.core.made import CONTAINER, DATABASE, IMAGE, INSIDE, PORT, PUSHED, TAG, Made
from interlock.core.options import options_of
from interlock.core.read.facts import Command, Effect, Fact, known

THROWN_AWAY = "a throw-away database on this machine"
MADE = "made by this session"
RULES = frozenset(
    "data.drop data.truncate data.delete_all data.delete_rows data.drop_column data.drop_object data.update_all data.store_drop "
    "data.store_delete data.store_delete_all databases.drop migrations.reset migrations.step_back migrations.accept_loss "
    "docker.remove docker.remove_image docker.kill git.force_push".split()
)
_NOT_HERE = frozenset({"remote", "privileged", "production"})
_AROUND = frozenset(
    {"bash -c", "sh -c", "timeout", "time", "nohup", "command", "nice", "bundle exec", "docker exec", "npx"}
)
# What the shell itself does to all commands behind it.
_SHELL = frozenset(
    "export declare typeset readonly source . eval shopt alias unset exec trap enable hash direnv setopt".split()
)


@dataclass(frozen=True, slots=True)
class Answer:
    """Why nothing of worth goes; `deed` is what has to be looked at as well."""

    note: str
    deed: Mapping[str, Any] | None = None


def disposable(facts: Sequence[Fact], accused: Collection[Key], made: Made) -> dict[Key, Answer]:
    """What is known of the accused commands without a look, by what their findings point at."""
    commands = [fact for fact in facts if isinstance(fact, Command)]
    writes = any(isinstance(fact, Effect) and fact.verb in ("write", "append", "overwrite", "move") for fact in facts)
    found: dict[Key, Answer] = {}
    for number, fact in enumerate(commands):
        reader = _READERS.get(fact.program)
        if reader is None or key(fact) not in accused or not _here(fact):
            continue
        if any(one.program in _SHELL for one in commands[:number]):
            continue
        effects = [one for one in facts if isinstance(one, Effect) and key(one) == key(fact)]
        answer = reader(_Deed(fact, effects, commands, made, writes))
        if answer is not None:
            found[key(fact)] = answer
    return found


@dataclass(frozen=True, slots=True)
class _Deed:
    fact: Command
    effects: Sequence[Effect]
    commands: Sequence[Command]
    made: Made
    writes: bool  # whether the line writes files, of which one may be a script that it runs

    @property
    def inside(self) -> str | None:
        """The container that it happens in; empty for none, None where that cannot be told."""
        if "docker exec" not in self.fact.via:
            return ""
        around = [one for one in self.commands if one.program in ("docker", "podman") and one.span == self.fact.span]
        words = around[0].words if len(around) == 1 and not around[0].env else ()
        service = words[:1] == ("compose",)  # whose name is no container's
        words = words[1:] if service else words
        found = options_of(words[1:], ("-u", "--user", "-e", "--env", "-w"), ("-T", "-i", "-t"), stops=True)
        if words[:1] != ("exec",) or found is None or not found.rest:
            return None
        return f"the service {found.rest[0]}" if service else found.rest[0]


def _here(fact: Command) -> bool:
    return not fact.traits & _NOT_HERE and all(step in _AROUND for step in fact.via) and all(map(known, fact.words))


def _client(deed: _Deed) -> Answer | None:
    place = database_of(deed.fact)
    if place is None or not place.local or deed.inside is None:
        return None
    if deed.inside and deed.made.has(INSIDE, deed.inside):
        return Answer(f"{deed.inside} was {MADE}") if _plain_words(deed) else None
    if not deed.inside and place.port and deed.made.has(PORT, place.port):
        return Answer(f"the database server was {MADE}") if _plain_words(deed) else None
    scripts = scripts_of(deed.fact)
    if not stays(deed.fact, deed.effects) or (scripts and (deed.inside or deed.writes)):
        return None
    look = {"verb": "statements", "targets": list(scripts)} if scripts else None
    if not deed.inside and deed.made.has(DATABASE, place.key):
        return Answer(f"{place.name} was {MADE}", look)
    return Answer(f"{place.name} is {THROWN_AWAY}", look) if thrown_away(place.name) else None


def _plain_words(deed: _Deed) -> bool:
    """Whether it does nothing but statements: none of them runs a program or goes elsewhere."""
    return (
        "piped" not in deed.fact.traits
        and not any("\\" in word for word in deed.fact.words)
        and not any(one.verb in ("sql_shell", "sql_execute", "unreadable", "run_script") for one in deed.effects)
    )


def _redis(deed: _Deed) -> Answer | None:
    found = redis_of(deed.fact)
    if found is None or not found[0].local or deed.inside is None:
        return None
    place, options = found
    if deed.inside and deed.made.has(INSIDE, deed.inside):
        return Answer(f"{deed.inside} was {MADE}")
    if not deed.inside and deed.made.has(PORT, place.port):
        return Answer(f"the database server was {MADE}")
    keys = options.rest[1:]
    if options.rest[:1] and options.rest[0].lower() in ("del", "unlink") and keys and all(map(thrown_away, keys)):
        return Answer(f"{keys[0]} is in {THROWN_AWAY}")
    return None


_SQLITE = ("-header", "-csv", "-json", "-line", "-column", "-batch", "-bail", "-list", "-noheader")


def _sqlite(deed: _Deed) -> Answer | None:
    """A file, which a look can find, and which can be kept."""
    found = options_of(deed.fact.words, (), _SQLITE)
    if found is None or len(found.rest) < 2 or deed.fact.env or deed.fact.via or not stays(deed.fact, _on_tables(deed)):
        return None
    file, *texts = found.rest
    if file.startswith(("file:", ":", "~")) or any(
        line.lstrip().startswith(".") for text in texts for line in text.split("\n")
    ):
        return None
    return Answer("", {"verb": "database", "target": file, "sure": True})


def _on_tables(deed: _Deed) -> list[Effect]:
    return [one for one in deed.effects if one.verb != "read"]


# Those of one environment: `db:drop:all` goes through all of them, production included.
_RAILS_TASKS = frozenset(
    "db:drop db:create db:migrate db:reset db:setup db:prepare db:seed db:seed:replant db:rollback db:truncate_all db:schema:load db:version "
    "db:structure:load db:migrate:down db:migrate:up db:migrate:redo db:migrate:reset db:migrate:status db:test:prepare".split()
)
_RAILS_SETTINGS = frozenset({"RAILS_ENV", "RACK_ENV", "DATABASE_URL", "VERSION", "STEP", "VERBOSE", "PGPASSWORD"})


def _rails(deed: _Deed) -> Answer | None:
    """Rails' own tasks, in an environment that is no other than test or development; what its settings name is looked at."""
    words = deed.fact.words
    given = dict(deed.fact.env) | dict(word.split("=", 1) for word in words if "=" in word)
    tasks = [word for word in words if "=" not in word]
    if deed.fact.traits or not given.keys() <= _RAILS_SETTINGS or not set(tasks) <= _RAILS_TASKS:
        return None
    where = {given[name] for name in ("RAILS_ENV", "RACK_ENV") if name in given} or {"development"}
    if len(where) > 1 or not where <= {"test", "development"} or not _thrown_away_url(given.get("DATABASE_URL")):
        return None
    return _by_settings(where.pop())


def _migrated(deed: _Deed) -> Answer | None:
    """Tools that take their database from settings, where the line says that it is the one for tests."""
    given = dict(deed.fact.env)
    if (
        deed.fact.traits
        or given.get("NODE_ENV", given.get("APP_ENV")) != "test"
        or not given.keys() <= {"NODE_ENV", "APP_ENV", "DATABASE_URL"}
    ):
        return None
    return _by_settings("test") if _thrown_away_url(given.get("DATABASE_URL")) else None


def _by_settings(environment: str) -> Answer:
    return Answer(f"the database for {environment}: {THROWN_AWAY}", {"verb": "settings", "environment": environment})


def _thrown_away_url(address: str | None) -> bool:
    if address is None:
        return True
    place: Database | None = of_url(address)
    return place is not None and place.local and bool(place.host) and thrown_away(place.name)


def _docker(deed: _Deed) -> Answer | None:
    """Containers and images that this session started or built, and volumes whose names say that they may go, all of those that are named."""
    words = deed.fact.words
    if words[:2] in (("volume", "rm"), ("volume", "remove")):
        return _volumes(deed)
    words = words[1:] if words[:1] in (("container",), ("image",)) else words
    kind = IMAGE if deed.fact.words[:1] == ("image",) or words[:1] == ("rmi",) else CONTAINER
    found = options_of(words[1:], (), ("-f", "--force", "-v", "--volumes", "-s"))
    if words[:1] not in (("rm",), ("rmi",), ("kill",), ("stop",)) or found is None or deed.fact.env or deed.inside:
        return None
    if not found.rest or not all(deed.made.has(kind, name) for name in found.rest):
        return None
    return Answer(f"{', '.join(found.rest[:3])} {'was' if len(found.rest) == 1 else 'were'} {MADE}")


def _volumes(deed: _Deed) -> Answer | None:
    """A volume for development may hold what somebody worked on; one for tests does not."""
    found = options_of(deed.fact.words[2:], (), ("-f", "--force"))
    if found is None or not found.rest or deed.fact.env or deed.inside:
        return None
    gone = all(thrown_away(name) and "dev" not in name.lower() for name in found.rest)
    return Answer(f"{', '.join(found.rest[:3])}: to be thrown away, by name") if gone else None


def _remote_tag(deed: _Deed) -> Answer | None:
    """One tag at a remote that this session made and pushed; from which repository and to which remote has to be looked at."""
    words = [word for word in deed.fact.words if word not in ("-q", "--quiet", "--no-verify")]
    deletes = bool({"--delete", "-d"} & set(words))
    names = [word for word in words[1:] if word not in ("--delete", "-d")]
    if words[:1] != ["push"] or deed.fact.env or deed.fact.via or len(names) != 2 or names[0].startswith("-"):
        return None
    name = names[1] if deletes else names[1].removeprefix(":")
    if (not deletes and name == names[1]) or name.startswith((":", "-", "+", "refs/heads/")):
        return None
    tag = name.removeprefix("refs/tags/")
    if not deed.made.has(TAG, tag) or not deed.made.has(PUSHED, tag):
        return None
    return Answer(
        f"the tag {tag} was {MADE}", {"verb": "git", "words": ["push", "--delete", names[0], f"refs/tags/{tag}"]}
    )


def notes(answers: Mapping[Key, Answer]) -> Iterator[str]:
    return (answer.note for answer in answers.values() if answer.note)


_READERS: Mapping[str, Callable[[_Deed], Answer | None]] = {
    "psql": _client, "dropdb": _client, "mysql": _client, "mariadb": _client, "redis-cli": _redis, "sqlite3": _sqlite, "rails": _rails,
    "rake": _rails, "docker": _docker, "podman": _docker, "git": _remote_tag,
    **dict.fromkeys(("knex", "sequelize", "prisma", "typeorm", "sequelize-cli"), _migrated),
}  # fmt: skip
