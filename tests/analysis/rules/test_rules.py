"""A rule that is not exactly right does not load, and the message says which and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cases import each
from interlock.analysis.classify import pattern
from interlock.analysis.facts import effect_verbs
from interlock.analysis.packs import PackError
from interlock.analysis.places import known_places
from interlock.analysis.programs import build_program
from interlock.analysis.rules import build_rule
from interlock.analysis.rules.load import build_rulebook
from interlock.model import Category, Level, command


def rule(**changes: Any) -> dict[str, Any]:
    """A rule that loads, with changes; a change to None takes the key away."""
    data: dict[str, Any] = {
        "id": "demo.wipe",
        "level": "dangerous",
        "irreversible": True,
        "category": "data_deletion",
        "reason": "Wipes the demo.",
        "instead": "demo list",
        "when": [{"program": ["demo"], "subcommand": ["wipe"]}],
        "examples": {"match": ["demo wipe"], "spare": ["demo list"]},
        **changes,
    }
    return {key: value for key, value in data.items() if value is not None}


def clause(**changes: Any) -> dict[str, Any]:
    return rule(when=[{"program": ["demo"], **changes}])


def effect(**changes: Any) -> dict[str, Any]:
    return rule(when=[{"effect": ["delete"], **changes}])


LEVELS = "safe, reversible, destructive, dangerous, forbidden"
CATEGORIES = ", ".join(category.value for category in Category)
RULE_KEYS = (
    "approvable, category, examples, files, id, instead, irreversible, level, no_trait, reason, requirement, undo, when"
)
COMMAND_KEYS = "all_flags, all_words, any_env, any_flag, any_word, max_words, min_words, no_flag, no_line, no_trait, no_word, program, subcommand, trait"
EFFECT_KEYS = "effect, no_place, no_target, no_trait, place, target, trait"

REFUSED = [
    (rule(any_flags=["-f"]), f"rule demo.wipe: unknown key 'any_flags'; known: {RULE_KEYS}"),
    (rule(id="Wipe"), "rule 'Wipe': an id is lower-case words joined by dots, such as git.force_push"),
    (rule(id="wipe"), "rule 'wipe': an id is lower-case words joined by dots, such as git.force_push"),
    (rule(id=None), "rule '?': an id is lower-case words joined by dots, such as git.force_push"),
    (rule(level="bad"), f"rule demo.wipe: level 'bad'; known: {LEVELS}"),
    (rule(level=None), f"rule demo.wipe: level None; known: {LEVELS}"),
    (rule(level=3), f"rule demo.wipe: level 3; known: {LEVELS}"),
    (rule(category="mischief"), f"rule demo.wipe: category 'mischief'; known: {CATEGORIES}"),
    (rule(category=None), f"rule demo.wipe: category None; known: {CATEGORIES}"),
    (rule(reason=""), "rule demo.wipe: reason is missing or empty"),
    (rule(reason=None), "rule demo.wipe: reason is missing or empty"),
    (rule(when=[]), "rule demo.wipe: when is missing or empty"),
    (rule(when=None), "rule demo.wipe: when is missing or empty"),
    (rule(instead=None), "rule demo.wipe: says not what to do instead"),
    (rule(irreversible=None), "rule demo.wipe: says not whether it is irreversible"),
    (rule(irreversible="yes"), "rule demo.wipe: irreversible is 'yes', expected bool"),
    (rule(approvable=0), "rule demo.wipe: approvable is 0, expected bool"),
    (rule(undo=["x"]), "rule demo.wipe: undo is ['x'], expected str"),
    (rule(examples=None), "rule demo.wipe: needs at least one example to match"),
    (rule(examples={"spare": ["x"]}), "rule demo.wipe: needs at least one example to match"),
    (rule(examples={"match": ["x"]}), "rule demo.wipe: needs at least one example to spare"),
    (rule(examples={"match": ["x"], "spare": []}), "rule demo.wipe: needs at least one example to spare"),
    (rule(examples={"match": ["x"], "spar": ["y"]}), "rule demo.wipe: examples: unknown key 'spar'; known: match, spare"),
    (rule(examples={"match": [7], "spare": ["y"]}), "rule demo.wipe: example 7, expected a command, {operation, params}, {tool, input} or {hint}"),
    (rule(examples={"match": [{"commnd": "x"}], "spare": ["y"]}), "rule demo.wipe: example {'commnd': 'x'}, expected a command, {operation, params}, {tool, input} or {hint}"),
    (rule(when=[{}]), "rule demo.wipe: a clause names either a program or an effect, got {}"),
    (rule(when=["demo"]), "rule demo.wipe: a clause names either a program or an effect, got 'demo'"),
    (clause(effect=["delete"]), "rule demo.wipe: a clause names either a program or an effect, got {'program': ['demo'], 'effect': ['delete']}"),
    (clause(flag=["-f"]), f"rule demo.wipe: unknown key 'flag'; known: {COMMAND_KEYS}"),
    (clause(place=["root"]), f"rule demo.wipe: unknown key 'place'; known: {COMMAND_KEYS}"),
    (clause(any_flag=[]), "rule demo.wipe: any_flag is empty"),
    (clause(any_flag="-f"), "rule demo.wipe: any_flag is '-f', expected a list of words"),
    (clause(any_flag=["-f", ""]), "rule demo.wipe: any_flag is ['-f', ''], expected a list of words"),
    (clause(min_words="2"), "rule demo.wipe: min_words is '2', expected a number"),
    (clause(any_word=["("]), "pattern '(': missing ): ("),
    (clause(any_word=["a)|(b"]), "pattern 'a)|(b': unexpected ): a)|(b"),
    (clause(any_word=["(?=x)"]), "pattern '(?=x)': invalid perl operator: (?="),
    (effect(any_flag=["-f"]), f"rule demo.wipe: unknown key 'any_flag'; known: {EFFECT_KEYS}"),
    (effect(effect=["remove"]), f"rule demo.wipe: unknown effect 'remove'; known: {', '.join(sorted(effect_verbs()))}"),
    (effect(place=["moon"]), f"rule demo.wipe: unknown place 'moon'; known: {', '.join(sorted(known_places()))}"),
    (effect(no_place=["moon"]), f"rule demo.wipe: unknown no_place 'moon'; known: {', '.join(sorted(known_places()))}"),
    (effect(place=[]), "rule demo.wipe: place is empty"),
]  # fmt: skip


@each(("data", "message"), REFUSED, ids=[message[:60] for _, message in REFUSED])
def test_a_rule_that_is_not_exactly_right_is_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError) as error:
        build_rule(data)
    assert str(error.value) == message


def refused(what: Callable[[], object]) -> str:
    with pytest.raises(PackError) as error:
        what()
    return str(error.value)


def test_an_id_can_be_taken_only_once() -> None:
    assert (
        refused(lambda: build_rulebook([{"rule": [rule()]}, {"rule": [rule()]}])) == "rule demo.wipe: the id is taken"
    )


def test_a_pack_with_an_unknown_table_is_refused() -> None:
    assert refused(lambda: build_rulebook([{"rules": []}])) == "unknown table 'rules'; known: program, rule"


def test_a_program_is_described_once_and_with_known_keys() -> None:
    twice = [{"program": {"demo": {}}}, {"program": {"demo": {}}}]
    assert refused(lambda: build_rulebook(twice)) == "program 'demo' is described twice"
    assert refused(lambda: build_program("demo", {"flag": []})).startswith("program demo: unknown key 'flag'; known: ")
    assert (
        refused(lambda: build_program("demo", {"reader": "web", "read_at": {"wed": ["get"]}}))
        == "program demo: read_at: unknown key 'wed'; known: web"
    )
    assert (
        refused(lambda: build_program("demo", {"dry_run": "-n"}))
        == "program demo: dry_run is '-n', expected a list of words"
    )
    assert (
        refused(lambda: build_program("demo", {"operands": "words"}))
        == "program demo: operands is 'words', expected one of code, files, names, text"
    )


def test_a_rule_that_is_right_loads_with_everything_it_says() -> None:
    built = build_rule(rule(undo="demo restore", approvable=False, requirement="X-02"))
    assert (built.id, built.level, built.irreversible, built.category) == (
        "demo.wipe",
        Level.DANGEROUS,
        True,
        Category.DATA_DELETION,
    )
    assert (built.undo, built.approvable, built.requirement) == ("demo restore", False, "X-02")
    assert built.when[0].subcommand == (("wipe",),)
    assert built.match == (command("demo wipe", "/home/dev/app"),)


def test_an_example_may_say_where_it_runs() -> None:
    built = build_rule(rule(examples={"match": [{"command": "demo wipe", "cwd": "/"}], "spare": ["demo list"]}))
    assert built.match == (command("demo wipe", "/"),)


@pytest.mark.parametrize("level", ["safe", "reversible"])
def test_below_destructive_neither_category_nor_advice_is_needed(level: str) -> None:
    assert build_rule(rule(level=level, category=None, instead=None, irreversible=None)).category is None


def test_a_pattern_matches_the_whole_word_in_any_case() -> None:
    assert pattern(("pro?d", "live"))("PROD")
    assert not pattern(("prod", "live"))("prod-db")


def test_a_pattern_cannot_be_made_to_hang() -> None:
    assert not pattern(("(a+)+b",))("a" * 50_000)
