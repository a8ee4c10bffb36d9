"""Targets of effects: whether one lies outside this machine or its named place, and which files a `find -delete` removes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from interlock.analysis.facts import QUOTED, Command, Effect, Fact, known
from interlock.analysis.lexicon import split_name
from interlock.analysis.programs.load import program_set
from interlock.model import Action, Kind, Span

_AWAY = frozenset({"remote", "container"})
_STORES = ("sql_", "store_")
# Options of a client that do not determine its database.
_PLAIN = frozenset("-c -e -q -X -A -t -x -N -s -B --command --execute --quiet --no-psqlrc".split())
# Last words of a parameter that names a place.
_PLACES = frozenset(
    "host hostname server cluster database databases db dbname catalog schema connection connections dsn datasource source endpoint "
    "url uri project instance account region profile env environment tenant workspace branch port socket target".split()
)


def happens_elsewhere(action: Action, facts: Sequence[Fact], accused: Collection[tuple[str, Span | None]]) -> bool:
    """Whether any accused effect happens in a place that its target does not name."""
    effects = [fact for fact in facts if isinstance(fact, Effect) and (fact.subject, fact.span) in accused]
    commands = [fact for fact in facts if isinstance(fact, Command)]
    return any(_away(effect) or _connected(action, effect, commands) for effect in effects)


def _away(effect: Effect) -> bool:
    return bool(effect.traits & _AWAY) or any(
        word in program_set("other_root") for step in effect.via for word in step.split()[:1]
    )


def runs_here(step: str, kind: str = "transparent") -> bool:
    """Whether a step of the way to a command only runs it, in this folder and with the same words."""
    return step.removesuffix(" -c") in program_set(kind)


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
    return any(words[-1] in _PLACES for key in keys if (words := [w for part in split_name(key) for w in part]))


_NAMES = {"-name": False, "-iname": True}
_TYPES = frozenset("fdl")
_IDLE_TESTS = frozenset({"-print", "-depth", "-mount", "-xdev"})


def find_delete_query(fact: Command) -> Mapping[str, Any] | None:
    """The root, names, types and depths of a `find … -delete`; None where it has other tests."""
    if fact.program != "find" or fact.words[-1:] != ("-delete",) or not all(map(known, fact.words)) or fact.env:
        return None
    words = list(fact.words[:-1])
    roots: list[str] = []
    while words and not words[0].startswith(("-", "(", "!")):
        roots.append(words.pop(0))
    if len(roots) > 1:
        return None
    found: dict[str, Any] = {"root": (roots or ["."])[0], "name": "", "icase": False, "type": "", "depth": [0, -1]}
    while words:
        word = words.pop(0)
        if word in _IDLE_TESTS:
            continue
        if not words or not _add_test(found, word, words.pop(0)):
            return None
    return found if found["name"] and not any(QUOTED in one for one in (found["root"], found["name"])) else None


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
