"""The database or container that a command addresses, and whether their names are ephemeral."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe
from interlock.analysis.programs.objects import OPERAND, certain_objects, certain_options, place_value

_WORDS = lazy_regex(r"[A-Z]+(?![a-z])|[A-Za-z][a-z]*|\d+")
EPHEMERAL_WORDS = frozenset("test tests testing dev development tmp temp scratch".split())
_KEPT = ("prod", "prd", "live", "main", "master", "stag", "real")  # also as the beginning of a word
_HERE = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]"})
# What statements may do there: all of it stays in that one database.
_STATEMENTS = frozenset("sql_drop sql_truncate sql_delete sql_update sql_alter sql_write sql_read".split())
_PARTS = frozenset({"table", "column", "view", "index", "schema"})
_LEAVES = lazy_regex(r"\\|(?i:\b(?:use|attach|connect|dblink|load_extension|writefile|edit)\b)")
_REACHING = "sql mysql"  # statements that reach into other databases of the server by their names


class DatabaseAddress(Struct, frozen=True):
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
    """A word for tests or scratch data, and none that contradicts it."""
    words = {word.lower() for word in _WORDS.findall(name)}
    thrown = words & EPHEMERAL_WORDS or any(word.startswith("tmp") for word in words)
    return bool(thrown) and not any(word.startswith(_KEPT) for word in words)


def is_for_tests(name: str) -> bool:
    """Not for development, which may hold somebody's work."""
    return is_ephemeral_name(name) and "dev" not in name.lower()


def database_of(fact: Command) -> DatabaseAddress | None:
    """Its own settings may name another where it says none."""
    program = describe(fact.program)
    named = program.place
    if "name" not in named or not all(map(known, (*fact.words, *(value for _, value in fact.env)))):
        return None
    if (found := certain_options(fact, program)) is None:
        return None
    name = found.value(*named["name"]) or ""
    if not name and OPERAND in named["name"]:
        addresses = [word for word in found.operands if "://" in word]
        if not addresses and len(found.operands) > 2:
            return None
        name = next(iter(addresses or found.operands), "")
    name = name or place_value(fact, named, "name", found)
    host = place_value(fact, named, "host", found)
    if "://" in name:
        place = database_of_url(name) if not found.has(*named.get("host", ())) else None
    elif "=" in name:
        return None
    else:
        place = DatabaseAddress(host, place_value(fact, named, "port", found), name)
    return None if place is None or ("host" in named.get("needs", ()) and not place.host) else place


def stays_in_database(fact: Command, effects: Sequence[Effect]) -> bool:
    if "piped" in fact.traits or any(_LEAVES.search(word) for word in fact.words):
        return False
    return all(
        (one.verb in _STATEMENTS and _inside(fact, one))
        or (one.verb == "run_script" and "sql" in one.traits)  # a file of statements, which is inspected by itself
        for one in effects
    )


def _inside(fact: Command, effect: Effect) -> bool:
    """A database that is dropped, or reached by its name, has to be ephemeral itself; roles belong to all of them."""
    if effect.verb == "sql_drop" and not effect.traits & _PARTS:
        return "database" in effect.traits and is_ephemeral_name(effect.target)
    reaches = any(one.stdin == _REACHING for one in describe(fact.program).carries)
    return not reaches or "." not in effect.target or is_ephemeral_name(effect.target.split(".")[0])


def database_of_url(text: str) -> DatabaseAddress | None:
    """None for one that names its place in a way that is not known here."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", str(parts.port or "")
    except ValueError:
        return None
    if "host" in parts.query or "service" in parts.query or "," in parts.netloc:
        return None
    return DatabaseAddress(host, port, unquote(parts.path.lstrip("/")))


def scripts_of(fact: Command) -> tuple[str, ...]:
    program = describe(fact.program)
    found = certain_options(fact, program)
    return tuple(found.all(*(name for one in program.carries for name in one.files))) if found is not None else ()


def is_entering(step: str) -> bool:
    return "engine" in describe(step.partition(" ")[0]).place


def container_of(fact: Command, commands: Sequence[Command]) -> str | None:
    """Empty for none, None where that is unknown."""
    if not any(map(is_entering, fact.via)):
        return ""
    around = [one for one in commands if one.span == fact.span and is_entering(one.program)]
    entered = certain_objects(around[0], ("enter",)) if len(around) == 1 else []
    if not entered or entered[0].place:
        return None
    return entered[0].name if entered[0].kind == "container" else f"the {entered[0].kind} {entered[0].name}"
