"""Resolves the database, container, Compose project or cluster that a command addresses; None where an option is unknown."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.programs.options import CommandOptions, known_options

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+")
EPHEMERAL_WORDS = frozenset("test tests testing dev development tmp temp scratch".split())
_KEPT = ("prod", "prd", "live", "main", "master", "stag", "real")  # also as the beginning of a word
_HERE = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
# What statements may do there: all of it stays in that one database.
_STATEMENTS = frozenset("sql_drop sql_truncate sql_delete sql_update sql_alter sql_write sql_read".split())
_PARTS = frozenset({"table", "column", "view", "index", "schema"})
_LEAVES = re.compile(r"\\|(?i:\b(?:use|attach|connect|dblink|load_extension|writefile|edit)\b)")


class DatabaseAddress(Struct, frozen=True):
    """Where a command goes."""

    host: str
    port: str
    name: str

    @property
    def local(self) -> bool:
        """On this machine: by its name for itself, or by a socket."""
        return self.host in _HERE or self.host.startswith("/")

    @property
    def key(self) -> str:
        return f"{self.host or '-'}:{self.port or '-'}/{self.name}"


def is_ephemeral_name(name: str) -> bool:
    """Whether a name has a word for tests or scratch data, and none that contradicts it."""
    words = {word.lower() for word in _WORDS.findall(name)}
    thrown = words & EPHEMERAL_WORDS or any(word.startswith("tmp") for word in words)
    return bool(thrown) and not any(word.startswith(_KEPT) for word in words)


def database_of(fact: Command) -> DatabaseAddress | None:
    """What the words and the settings of one command name; None where something of it is not known here."""
    reader = _READERS.get(fact.program)
    if reader is None or not all(map(known, fact.words)) or not all(known(value) for _, value in fact.env):
        return None
    return reader(fact)


def stays_in_database(fact: Command, effects: Sequence[Effect]) -> bool:
    """Whether all effects of a client stay in the database that it is connected to."""
    if "piped" in fact.traits or any(_LEAVES.search(word) for word in fact.words):
        return False
    return all((one.verb in _STATEMENTS and _inside(fact, one)) or _is_script(one) for one in effects)


def _is_script(effect: Effect) -> bool:
    """A file of statements, which is inspected by itself."""
    return effect.verb == "run_script" and "sql" in effect.traits


def _inside(fact: Command, effect: Effect) -> bool:
    """A whole database that is dropped has to be one itself; MySQL also reaches into others by their names; roles belong to all of them."""
    if effect.verb == "sql_drop" and not effect.traits & _PARTS:
        return "database" in effect.traits and is_ephemeral_name(effect.target)
    return (
        fact.program not in ("mysql", "mariadb")
        or "." not in effect.target
        or is_ephemeral_name(effect.target.split(".")[0])
    )


def database_of_url(text: str) -> DatabaseAddress | None:
    """A database by its address; None for one that names its place in a way that is not known here."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", str(parts.port or "")
    except ValueError:
        return None
    if "host" in parts.query or "service" in parts.query or "," in parts.netloc:
        return None
    return DatabaseAddress(host, port, unquote(parts.path.lstrip("/")))


_PG_VALUED = frozenset(
    "-c -d -h -p -U -v -P -F -R --command --dbname --host --port --username --set --variable --pset --maintenance-db -E -O -T".split()
)
_PG_BARE = frozenset(
    "-q -t -A -x -X -w -e -a -b -1 -n -i --quiet --tuples-only --no-psqlrc --no-password --if-exists --echo --force -f".split()
)
_PG_SETTINGS = frozenset({"PGPASSWORD", "PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSSLMODE", "PGCONNECT_TIMEOUT"})


def _psql_options(fact: Command) -> CommandOptions | None:
    return known_options(fact.words, _PG_VALUED | {"-f", "--file"}, _PG_BARE - {"-f", "-i", "-e"})


def scripts_of(fact: Command) -> tuple[str, ...]:
    """The files of statements that a client runs."""
    found = _psql_options(fact) if fact.program == "psql" else None
    return (*found.values.get("-f", ()), *found.values.get("--file", ())) if found is not None else ()


def _postgres(fact: Command) -> DatabaseAddress | None:
    settings = dict(fact.env)
    psql = fact.program == "psql"
    found = _psql_options(fact) if psql else known_options(fact.words, _PG_VALUED, _PG_BARE)
    if found is None or not settings.keys() <= _PG_SETTINGS or len(found.operands) > (2 if psql else 1):
        return None
    name = found.value("-d", "--dbname") if psql else None
    name = name or (found.operands[0] if found.operands else settings.get("PGDATABASE", ""))
    if "://" in name:
        return database_of_url(name) if not found.has("-h", "--host") else None
    if "=" in name:
        return None
    host = found.value("-h", "--host")
    port = found.value("-p", "--port")
    return DatabaseAddress(
        settings.get("PGHOST", "") if host is None else host, port or settings.get("PGPORT", ""), name
    )


_MY_VALUED = frozenset("-e -u -h -P -D -S --execute --user --host --port --database --socket --password".split())
_MY_BARE = frozenset("-N -B -s -t -f --force --batch --silent --skip-column-names".split())


def _mysql(fact: Command) -> DatabaseAddress | None:
    """Its own settings may name another machine, so that one without a host is not known."""
    words = [word for word in fact.words if not word.startswith("-p")]
    found = known_options(words, _MY_VALUED, _MY_BARE)
    if found is None or fact.env or len(found.operands) > 1 or not found.has("-h", "--host"):
        return None
    name = found.value("-D", "--database") or (found.operands[0] if found.operands else "")
    return DatabaseAddress(found.value("-h", "--host") or "?", found.value("-P", "--port") or "", name)


_READERS: Mapping[str, Callable[[Command], DatabaseAddress | None]] = {
    "psql": _postgres, "dropdb": _postgres, "createdb": _postgres, "mysql": _mysql, "mariadb": _mysql,
}  # fmt: skip


def redis_of(fact: Command) -> tuple[DatabaseAddress, CommandOptions] | None:
    """The address and the command of a Redis client; its own settings hold a password at most."""
    found = known_options(
        fact.words, ("-h", "-p", "-n", "-a", "--user", "--pass"), ("--no-auth-warning", "--raw"), stop_at_operand=True
    )
    if found is None or fact.env or not all(map(known, fact.words)) or "piped" in fact.traits:
        return None
    return DatabaseAddress(found.value("-h") or "", found.value("-p") or "6379", found.value("-n") or "0"), found


ENGINES = frozenset({"docker", "podman"})
_COMPOSE = ("-f", "--file", "-p", "--project-name", "--env-file", "--profile")
_DOWN = ("-v", "--volumes", "--remove-orphans", "--rmi")


def container_of(fact: Command, commands: Sequence[Command]) -> str | None:
    """The container that a command runs in; empty for none, None where that is unknown."""
    if "docker exec" not in fact.via:
        return ""
    around = [one for one in commands if one.program in ENGINES and one.span == fact.span]
    words = around[0].words if len(around) == 1 and not around[0].env else ()
    service = words[:1] == ("compose",)  # whose name is no container's
    words = words[1:] if service else words
    found = known_options(words[1:], ("-u", "--user", "-e", "--env", "-w"), ("-T", "-i", "-t"), stop_at_operand=True)
    if words[:1] != ("exec",) or found is None or not found.operands:
        return None
    return f"the service {found.operands[0]}" if service else found.operands[0]


class ComposeDown(Struct, frozen=True):
    """What `compose … down -v` takes away, by the names of files and projects."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    project: bool  # whether a project is named, so that its volumes are no other's

    @property
    def for_tests(self) -> bool:
        return all(is_ephemeral_name(one) and "dev" not in one.lower() for one in self.names)


def compose_down(words: Sequence[str]) -> ComposeDown | None:
    """None where the words are not known, or name neither a file nor a project."""
    found = known_options(words, _COMPOSE, (), stop_at_operand=True)
    if found is None or found.operands[:1] != ["down"]:
        return None
    down = known_options(found.operands[1:], ("-t", "--timeout"), _DOWN)
    files = (*found.values.get("-f", ()), *found.values.get("--file", ()))
    projects = (*found.values.get("-p", ()), *found.values.get("--project-name", ()))
    names = (*map(posixpath.basename, files), *projects)
    if down is None or down.operands or down.value("--rmi") not in (None, "local"):
        return None
    return ComposeDown(names, files, bool(projects)) if names else None


NAMESPACE, RELEASE = "namespace", "release"
_KUBECTL = ("--context", "-n", "--namespace", "--timeout", "--grace-period", "--request-timeout")
_HELM = (
    "--kube-context",
    "-n",
    "--namespace",
    "--timeout",
    "-f",
    "--values",
    "--set",
    "--version",
    "--description",
    "--set-string",
)
_KUBECTL_BARE = ("--wait", "--wait=false", "--wait=true", "--now", "--ignore-not-found")
_HELM_BARE = (
    "--wait",
    "--atomic",
    "--create-namespace",
    "--debug",
    "--keep-history",
    "--ignore-not-found",
    "--dependency-update",
)


def created_in_cluster(fact: Command) -> tuple[str, str] | None:
    """What it makes where there was none of that name: `create namespace` and `helm install` refuse otherwise."""
    return _named(fact, (("kubectl", ("create", "namespace")), ("kubectl", ("create", "ns")), ("helm", ("install",))))


def deleted_in_cluster(fact: Command) -> tuple[str, str] | None:
    """The one that it deletes."""
    verbs = [("kubectl", ("delete", name)) for name in ("namespace", "ns", "namespaces")]
    return _named(fact, (*verbs, *(("helm", (name,)) for name in ("uninstall", "delete", "un"))))


def _named(fact: Command, verbs: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, str] | None:
    if fact.env or not all(map(known, fact.words)):
        return None
    helm = fact.program == "helm"
    found = known_options(fact.words, _HELM if helm else _KUBECTL, _HELM_BARE if helm else _KUBECTL_BARE)
    cluster = found.value("--kube-context" if helm else "--context") if found is not None else None
    if found is None or not cluster:
        return None
    for program, verb in verbs:
        if fact.program == program and tuple(found.operands[: len(verb)]) == verb:
            names = found.operands[len(verb) :]
            where = found.value("-n", "--namespace") or ""
            if helm and where and (len(names) == 1 or (names and verb == ("install",))):
                return RELEASE, f"{cluster} {where} {names[0]}"
            if not helm and len(names) == 1:
                return NAMESPACE, f"{cluster} {names[0]}"
    return None


def deletes_only_pods(fact: Command) -> bool:
    """Whether it deletes pods by name or label and nothing else: Kubernetes ends and starts them anew as it likes, and so may others."""
    found = known_options(fact.words, (*_KUBECTL, "-l", "--selector"), _KUBECTL_BARE)
    if found is None or fact.env or not all(map(known, fact.words)) or found.value("--grace-period") is not None:
        return False
    kind = found.operands[:2] in (["delete", "pod"], ["delete", "pods"], ["delete", "po"])
    return kind and bool(found.operands[2:]) != found.has("-l", "--selector")
