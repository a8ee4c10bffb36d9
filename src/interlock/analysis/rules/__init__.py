"""Builds rules strictly from data, refusing unknown, empty or missing keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import re2
from msgspec import Struct

from interlock.analysis.facts import effect_verbs
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns
from interlock.analysis.packs import Pack, PackError, Words, known_only, only_keys, typed_field, word_list
from interlock.analysis.places import known_places
from interlock.analysis.programs import Program
from interlock.model import Action, Category, Level, command, intent, operation, tool

if TYPE_CHECKING:
    from interlock.analysis.opinion import Opinion

_EFFECT_KEYS = frozenset("effect place no_place trait no_trait target no_target".split())
EXAMPLE_CWD = "/home/dev/app"  # the default folder of an example
_ID = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+")


class Clause(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One way for a rule to fire: everything in it must hold."""

    program: Words = ()
    subcommand: tuple[Words, ...] = ()
    any_flag: Words = ()
    all_flags: Words = ()
    no_flag: Words = ()
    any_word: Words = ()
    all_words: Words = ()
    no_word: Words = ()
    no_line: Words = ()  # all words, joined by a space
    min_words: int = 0
    max_words: int = -1
    any_env: Words = ()
    effect: Words = ()
    place: frozenset[str] = frozenset()
    no_place: frozenset[str] = frozenset()
    target: Words = ()
    no_target: Words = ()
    trait: frozenset[str] = frozenset()
    no_trait: frozenset[str] = frozenset()


class Rule(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One kind of harm (or of harmlessness, at level safe): its conditions and its finding."""

    id: str
    level: Level
    irreversible: bool
    reason: str
    when: tuple[Clause, ...]
    category: Category | None = None
    instead: str = ""
    undo: str = ""
    approvable: bool = True
    requirement: str = ""
    files: bool = False  # its harm is to files alone, which the journal can restore
    match: tuple[Action, ...] = ()  # what must fire
    spare: tuple[Action, ...] = ()


def _check_pattern(text: str) -> None:
    """Refuses an invalid pattern, even if it would be valid when joined with others."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        told = detail.decode() if isinstance(detail, bytes) else detail
        raise PackError(f"pattern {text!r}: {told}") from None


def build_rule(data: Pack) -> Rule:
    """Raises PackError on anything that is not exactly right."""
    name = str(data.get("id", "?"))
    where = f"rule {name}"
    only_keys(where, data, _RULE_KEYS)
    if not _ID.fullmatch(name):
        raise PackError(f"rule {name!r}: an id is lower-case words joined by dots, such as git.force_push")
    level = _level(where, data.get("level"))
    examples = data.get("examples", {})
    only_keys(f"{where}: examples", examples, {"match", "spare"})
    for kind in ("match", "spare"):
        if not examples.get(kind):
            raise PackError(f"{where}: needs at least one example to {kind}")
    for key in ("reason", "when"):
        if not data.get(key):
            raise PackError(f"{where}: {key} is missing or empty")
    if level >= Level.DESTRUCTIVE and not data.get("instead"):
        raise PackError(f"{where}: says not what to do instead")
    if level >= Level.DESTRUCTIVE and "irreversible" not in data:
        raise PackError(f"{where}: says not whether it is irreversible")
    made = {key: typed_field(where, key, data[key], usual) for key, usual in _PLAIN.items() if key in data}
    spared = word_list(where, "no_trait", data.get("no_trait", []))  # of every clause
    return Rule(
        id=name,
        level=level,
        when=tuple(_clause(where, clause, spared) for clause in made.pop("when")),
        category=_category(where, data.get("category"), level),
        match=tuple(_example(where, item) for item in examples["match"]),
        spare=tuple(_example(where, item) for item in examples["spare"]),
        **{"irreversible": False, **made},
    )


# The keys of a rule that are taken as they are, each with a value of its type; and the others.
_PLAIN = {
    "irreversible": False, "reason": "", "when": [], "instead": "", "undo": "", "approvable": True, "files": False, "requirement": "",
}  # fmt: skip
_RULE_KEYS = frozenset({*_PLAIN, "id", "level", "category", "no_trait", "examples"})


def _level(where: str, word: object) -> Level:
    for level in Level:
        if level.word == word:
            return level
    raise PackError(f"{where}: level {word!r}; known: {', '.join(level.word for level in Level)}")


def _category(where: str, word: object, level: Level) -> Category | None:
    if word is None and level < Level.DESTRUCTIVE:
        return None
    try:
        return Category(str(word))
    except ValueError:
        raise PackError(f"{where}: category {word!r}; known: {', '.join(c.value for c in Category)}") from None


def _example(where: str, item: object) -> Action:
    """A command as text, or a table: {command, cwd}, {operation, params, crude}, {tool, input}, {hint}."""
    if isinstance(item, str):
        return command(item, EXAMPLE_CWD)
    if isinstance(item, Mapping):
        data = dict(item)
        cwd = str(data.pop("cwd", EXAMPLE_CWD))
        keys = set(data)
        if keys == {"command"}:
            return command(str(data["command"]), cwd)
        if "operation" in keys and keys <= {"operation", "params", "crude", "declared"}:
            declared = _level(where, data["declared"]) if "declared" in keys else None
            return operation(str(data["operation"]), data.get("params", {}), str(data.get("crude", "")), cwd, declared)
        if "tool" in keys and keys <= {"tool", "input"}:
            return tool(str(data["tool"]), data.get("input", {}), cwd)
        if keys == {"hint"}:
            return intent(str(data["hint"]), cwd)
    raise PackError(
        f"{where}: example {item!r}, expected a command, {{operation, params}}, {{tool, input}} or {{hint}}"
    )


def _clause(where: str, data: Pack, no_trait: Sequence[str]) -> Clause:
    if not isinstance(data, Mapping) or ("program" in data) == ("effect" in data):
        raise PackError(f"{where}: a clause names either a program or an effect, got {data!r}")
    only_keys(where, data, _COMMAND_KEYS if "program" in data else _EFFECT_KEYS)
    lists = {key: typed_field(where, key, value, getattr(_NO_CLAUSE, key)) for key, value in data.items()}
    if empty := next((key for key, words in lists.items() if words in ((), frozenset())), ""):
        raise PackError(f"{where}: {empty} is empty")
    for key in ("any_word", "all_words", "no_word", "no_line", "any_env", "target", "no_target"):
        for text in lists.get(key, ()):
            _check_pattern(text)
    for key, known in (("effect", effect_verbs()), ("place", known_places()), ("no_place", known_places())):
        known_only(where, key, lists.get(key, ()), known)
    lists["subcommand"] = tuple(tuple(item.split()) for item in lists.get("subcommand", ()))
    lists["no_trait"] = lists.get("no_trait", frozenset()).union(no_trait)
    return Clause(**lists)


_NO_CLAUSE = Clause()
_COMMAND_KEYS = frozenset(Clause.__struct_fields__) - _EFFECT_KEYS | {"trait", "no_trait"}


ANY = "*"
# The one subcommand of the clause that an entry is for; and the same where having been found does not prove that it is given.
Entry = tuple[Rule, Clause, Words, Words]
Index = Mapping[Words, Sequence[Entry]]  # the entries of one program, by the words under which they are found


class Rulebook(Struct, frozen=True):
    rules: Mapping[str, Rule]
    programs: Mapping[str, Program]
    by_program: Mapping[str, Sequence[tuple[Rule, Clause]]]
    by_effect: Mapping[tuple[str, str], Sequence[tuple[Rule, Clause]]]
    targets: Mapping[tuple[str, str], Words]  # every target that a clause of by_effect names
    patterns: NamePatterns = BUILT_IN_PATTERNS  # of names
    opinion: Callable[[], Opinion] | None = None  # on intents and calls that no rule matches; built on first use
    indexes: dict[str, Index] = {}  # of the programs that were asked for
    # of the effects that were met, by verb, place and traits
    by_traits: dict[tuple[str, str, frozenset[str]], Sequence[tuple[Rule, Clause]]] = {}

    @classmethod
    def of(cls, rules: Iterable[Rule], programs: Mapping[str, Program]) -> Rulebook:
        by_program: dict[str, list[tuple[Rule, Clause]]] = {}
        by_effect: dict[tuple[str, str], list[tuple[Rule, Clause]]] = {}
        named = {rule.id: rule for rule in rules}
        for rule in named.values():
            for clause in rule.when:
                for program in clause.program:
                    by_program.setdefault(program, []).append((rule, clause))
                for verb in clause.effect:
                    for place in clause.place or {""}:
                        by_effect.setdefault((verb, place), []).append((rule, clause))
        targets = {
            key: tuple(dict.fromkeys(text for _, clause in entries for text in (*clause.target, *clause.no_target)))
            for key, entries in by_effect.items()
        }
        return cls(MappingProxyType(named), programs, by_program, by_effect, targets)
