"""Which database does a command go to, and is it one to throw away: on this machine, and called test, dev or tmp?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from interlock.core.options import Options, options_of
from interlock.core.read.facts import Command, Effect, known

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+")
THROWN_AWAY = frozenset("test tests testing dev development tmp temp scratch".split())
_KEPT = ("prod", "prd", "live", "main", "master", "stag", "real")  # also as the beginning of a word
_HERE = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
# What statements may do there: all of it stays in that one database.
_STATEMENTS = frozenset("sql_drop sql_truncate sql_delete sql_update sql_alter sql_write sql_read".split())
_PARTS = frozenset({"table", "column", "view", "index", "schema"})
_LEAVES = re.compile(r"\\|(?i:\b(?:use|attach|connect|dblink|load_extension|writefile|edit)\b)")


@dataclass(frozen=True, slots=True)
class Database:
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


def thrown_away(name: str) -> bool:
    """Whether a name has a word that says so, and none that says otherwise."""
    words = {word.lower() for word in _WORDS.findall(name)}
    thrown = words & THROWN_AWAY or any(word.startswith("tmp") for word in words)
    return bool(thrown) and not any(word.startswith(_KEPT) for word in words)


def database_of(fact: Command) -> Database | None:
    """What the words and the settings of one command name; None where something of it is not known here."""
    reader = _READERS.get(fact.program)
    if reader is None or not all(map(known, fact.words)) or not all(known(value) for _, value in fact.env):
        return None
    return reader(fact)


def stays(fact: Command, effects: Sequence[Effect]) -> bool:
    """Whether all that a client is told to do happens in the one database that it is connected to."""
    if "piped" in fact.traits or any(_LEAVES.search(word) for word in fact.words):
        return False
    return all((one.verb in _STATEMENTS and _inside(fact, one)) or _is_script(one) for one in effects)


def _is_script(effect: Effect) -> bool:
    """A file of statements, which is looked at by itself."""
    return effect.verb == "run_script" and "sql" in effect.traits


def _inside(fact: Command, effect: Effect) -> bool:
    """A whole database that is dropped has to be one itself; MySQL also reaches into others by their names; roles belong to all of them."""
    if effect.verb == "sql_drop" and not effect.traits & _PARTS:
        return "database" in effect.traits and thrown_away(effect.target)
    return (
        fact.program not in ("mysql", "mariadb") or "." not in effect.target or thrown_away(effect.target.split(".")[0])
    )


def of_url(text: str) -> Database | None:
    """A database by its address; None for one that names its place in a way that is not known here."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", str(parts.port or "")
    except ValueError:
        return None
    if "host" in parts.query or "service" in parts.query or "," in parts.netloc:
        return None
    return Database(host, port, unquote(parts.path.lstrip("/")))


_PG_VALUED = frozenset(
    "-c -d -h -p -U -v -P -F -R --command --dbname --host --port --username --set --variable --pset --maintenance-db -E -O -T".split()
)
_PG_BARE = frozenset(
    "-q -t -A -x -X -w -e -a -b -1 -n -i --quiet --tuples-only --no-psqlrc --no-password --if-exists --echo --force -f".split()
)
_PG_SETTINGS = frozenset({"PGPASSWORD", "PGUSER", "PGHOST", "PGPORT", "PGDATABASE", "PGSSLMODE", "PGCONNECT_TIMEOUT"})


def _psql_options(fact: Command) -> Options | None:
    return options_of(fact.words, _PG_VALUED | {"-f", "--file"}, _PG_BARE - {"-f", "-i", "-e"})


def scripts_of(fact: Command) -> tuple[str, ...]:
    """The files whose statements a client is given."""
    found = _psql_options(fact) if fact.program == "psql" else None
    return (*found.values.get("-f", ()), *found.values.get("--file", ())) if found is not None else ()


def _postgres(fact: Command) -> Database | None:
    settings = dict(fact.env)
    psql = fact.program == "psql"
    found = _psql_options(fact) if psql else options_of(fact.words, _PG_VALUED, _PG_BARE)
    if found is None or not settings.keys() <= _PG_SETTINGS or len(found.rest) > (2 if psql else 1):
        return None
    name = found.last("-d", "--dbname") if psql else None
    name = name or (found.rest[0] if found.rest else settings.get("PGDATABASE", ""))
    if "://" in name:
        return of_url(name) if not found.has("-h", "--host") else None
    if "=" in name:
        return None
    host = found.last("-h", "--host")
    port = found.last("-p", "--port")
    return Database(settings.get("PGHOST", "") if host is None else host, port or settings.get("PGPORT", ""), name)


_MY_VALUED = frozenset("-e -u -h -P -D -S --execute --user --host --port --database --socket --password".split())
_MY_BARE = frozenset("-N -B -s -t -f --force --batch --silent --skip-column-names".split())


def _mysql(fact: Command) -> Database | None:
    """Its own settings may name another machine, so that one without a host is not known."""
    words = [word for word in fact.words if not word.startswith("-p")]
    found = options_of(words, _MY_VALUED, _MY_BARE)
    if found is None or fact.env or len(found.rest) > 1 or not found.has("-h", "--host"):
        return None
    name = found.last("-D", "--database") or (found.rest[0] if found.rest else "")
    return Database(found.last("-h", "--host") or "?", found.last("-P", "--port") or "", name)


_READERS: Mapping[str, Callable[[Command], Database | None]] = {
    "psql": _postgres, "dropdb": _postgres, "createdb": _postgres, "mysql": _mysql, "mariadb": _mysql,
}  # fmt: skip


def redis_of(fact: Command) -> tuple[Database, Options] | None:
    """Where a Redis client goes, and its command; what its own settings say is a password at most."""
    found = options_of(
        fact.words, ("-h", "-p", "-n", "-a", "--user", "--pass"), ("--no-auth-warning", "--raw"), stops=True
    )
    if found is None or fact.env or not all(map(known, fact.words)) or "piped" in fact.traits:
        return None
    return Database(found.last("-h") or "", found.last("-p") or "6379", found.last("-n") or "0"), found
