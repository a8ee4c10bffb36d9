"""Targets of effects: the database or container that a command addresses, whether it lies outside this machine, and which files a `find -delete` removes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from interlock.analysis.facts import QUOTED, Command, Effect, Fact, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import split_name
from interlock.analysis.programs.load import describe, program_set, word_set
from interlock.analysis.programs.objects import OPERAND, certain_objects, certain_options, place_value
from interlock.model import Action, Kind, Span

_AWAY = frozenset({"remote", "container"})
_STORES = ("sql_", "store_")
# Options of a client that do not determine its database.
_PLAIN = frozenset("-c -e -q -X -A -t -x -N -s -B --command --execute --quiet --no-psqlrc".split())


def happens_elsewhere(action: Action, facts: Sequence[Fact], accused: Collection[tuple[str, Span | None]]) -> bool:
    """Whether any accused effect happens in a place that its target does not name."""
    effects = [fact for fact in facts if isinstance(fact, Effect) and (fact.subject, fact.span) in accused]
    commands = [fact for fact in facts if isinstance(fact, Command)]
    return any(_away(effect) or _connected(action, effect, commands) for effect in effects)


def _away(effect: Effect) -> bool:
    return bool(effect.traits & _AWAY) or any(
        word in program_set("other_root") for step in effect.via for word in step.split()[:1]
    )


def runs_here(step: str) -> bool:
    """Whether a step of the way to a command only runs it, in this folder and with the same words."""
    return step.removesuffix(" -c") in program_set("transparent")


def _connected(action: Action, effect: Effect, commands: Sequence[Command]) -> bool:
    """Whether a statement goes to a database that is named outside it."""
    if not effect.verb.startswith(_STORES):
        return False
    if commands:  # an earlier command may set the database, too
        return len(commands) > 1 or any(map(_names_a_place, commands))
    return action.kind in (Kind.OPERATION, Kind.TOOL) and _params_name_a_place(action)


def _names_a_place(command: Command) -> bool:
    given = [word for word in command.words if word not in _PLAIN]
    return bool(command.env) or len(given) > 1 or any(word.startswith("-") or " " not in word.strip() for word in given)


def _params_name_a_place(action: Action) -> bool:
    given = action.fields.get("params") or action.fields.get("input")
    keys = [str(key) for key in given] if isinstance(given, Mapping) else []
    return any(
        words[-1] in word_set("placing_parameters")
        for key in keys
        if (words := [w for part in split_name(key) for w in part])
    )


_NAMES = {"-name": False, "-iname": True}
_TYPES = frozenset("fdl")
_IDLE_TESTS = frozenset({"-print", "-depth", "-mount", "-xdev", "-prune"})
SEARCHED = ("find -exec",)  # the way to a command that a `find` runs
_REMOVAL_FLAGS = lazy_regex(r"-[rRfv]+|--")


def searches_in(facts: Sequence[Fact]) -> dict[Span | None, Mapping[str, Any]]:
    """The queries of the `find` commands that only run a deletion, by their place in the text; none of one that a loop repeats."""
    found = [fact for fact in facts if isinstance(fact, Command) and "-exec" in fact.words]
    places = [fact.span for fact in found]
    queries = {fact.span: find_delete_query(fact) for fact in found if places.count(fact.span) == 1}
    return {span: query for span, query in queries.items() if query is not None}


def search_behind(effect: Effect, searches: Mapping[Span | None, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The query that finds what is deleted, where a `find` runs the deletion."""
    return searches.get(effect.span) if effect.via == SEARCHED and effect.verb == "delete" else None


def find_delete_query(fact: Command) -> Mapping[str, Any] | None:
    """The root, names, types and depths of a `find` that only deletes, and whether whole trees go; None where it has other tests."""
    words = _before_deletion(fact.words) if fact.program == "find" else None
    if words is None or not all(map(known, fact.words)) or fact.env:
        return None
    roots: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        roots.append(words.pop(0))
    if len(roots) > 1:
        return None
    found: dict[str, Any] = {"root": (roots or ["."])[0], "name": "", "icase": False, "type": "", "depth": [0, -1]}
    found |= {"trees": True} if fact.words[-1] != "-delete" else {}
    while words:
        word = words.pop(0)
        if word in _IDLE_TESTS:
            continue
        if not words or not _add_test(found, word, words.pop(0)):
            return None
    return found if found["name"] and not any(QUOTED in one for one in (found["root"], found["name"])) else None


def _before_deletion(words: Sequence[str]) -> list[str] | None:
    """The words before a `-delete` or an `-exec rm -rf {} +`; None where a `find` does anything else, or more."""
    if words[-1:] == ("-delete",):
        return list(words[:-1])
    at = words.index("-exec") if "-exec" in words else len(words)
    program, *flags = words[at + 1 : -2] or ("",)
    removes = program in program_set("deletes") and all(map(_REMOVAL_FLAGS.fullmatch, flags))
    return list(words[:at]) if removes and words[-2:] in (("{}", "+"), ("{}", ";")) else None


def _add_test(found: dict[str, Any], word: str, value: str) -> bool:
    """Adds a known test; False for any other, and for a second name or type."""
    if word in _NAMES and not found["name"]:
        found["name"], found["icase"] = value, _NAMES[word]
    elif word == "-type" and value in _TYPES and not found["type"]:
        found["type"] = value
    elif word in ("-maxdepth", "-mindepth") and value.isdecimal() and len(value) < 4:
        found["depth"][word == "-maxdepth"] = int(value)
    else:
        return False
    return True


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


def is_for_tests(name: str) -> bool:
    """Whether a name is ephemeral and not for development, which may hold somebody's work."""
    return is_ephemeral_name(name) and "dev" not in name.lower()


def database_of(fact: Command) -> DatabaseAddress | None:
    """The database that the words and the variables of a client name; its own settings may name another where it says none."""
    program = describe(fact.program)
    named = program.place
    if "name" not in named or not all(map(known, (*fact.words, *(value for _, value in fact.env)))):
        return None
    found = certain_options(fact, program)
    if found is None:
        return None
    name = found.value(*named["name"]) or ""
    if not name and OPERAND in named["name"]:
        addresses = [word for word in found.operands if "://" in word]
        if not addresses and len(found.operands) > 2:
            return None
        name = next(iter(addresses or found.operands), "")
    name = name or place_value(fact, named, "name", found)
    host = place_value(fact, named, "host", found)
    if "=" in name and "://" not in name:
        return None
    if "://" in name:
        place = database_of_url(name) if not found.has(*named.get("host", ())) else None
    else:
        place = DatabaseAddress(host, place_value(fact, named, "port", found), name)
    return None if place is None or ("host" in named.get("needs", ()) and not place.host) else place


def stays_in_database(fact: Command, effects: Sequence[Effect]) -> bool:
    """Whether all effects of a client stay in the database that it is connected to."""
    if "piped" in fact.traits or any(_LEAVES.search(word) for word in fact.words):
        return False
    return all((one.verb in _STATEMENTS and _inside(fact, one)) or _is_script(one) for one in effects)


def _is_script(effect: Effect) -> bool:
    """A file of statements, which is inspected by itself."""
    return effect.verb == "run_script" and "sql" in effect.traits


def _inside(fact: Command, effect: Effect) -> bool:
    """A whole database that is dropped has to be one itself, and so one that is reached by its name; roles belong to all of them."""
    if effect.verb == "sql_drop" and not effect.traits & _PARTS:
        return "database" in effect.traits and is_ephemeral_name(effect.target)
    reaches = any(one.stdin == _REACHING for one in describe(fact.program).carries)
    return not reaches or "." not in effect.target or is_ephemeral_name(effect.target.split(".")[0])


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


def scripts_of(fact: Command) -> tuple[str, ...]:
    """The files of statements that a client runs."""
    program = describe(fact.program)
    found = certain_options(fact, program)
    return tuple(found.all(*(name for one in program.carries for name in one.files))) if found is not None else ()


def is_entering(step: str) -> bool:
    """Whether a step of the way to a command is a container engine."""
    return "engine" in describe(step.partition(" ")[0]).place


def container_of(fact: Command, commands: Sequence[Command]) -> str | None:
    """The container that a command runs in; empty for none, None where that is unknown."""
    if not any(map(is_entering, fact.via)):
        return ""
    around = [one for one in commands if one.span == fact.span and is_entering(one.program)]
    entered = certain_objects(around[0], ("enter",)) if len(around) == 1 else []
    if not entered or entered[0].place:
        return None
    return entered[0].name if entered[0].kind == "container" else f"the {entered[0].kind} {entered[0].name}"
