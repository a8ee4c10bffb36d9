"""Vocabularies are loaded strictly: a typo in one never makes a language deaf."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cases import each
from interlock import analysis
from interlock.analysis import lexicon
from interlock.analysis.lexicon.english import LONGEST, English, build_phrases
from interlock.analysis.lexicon.load import (
    Rows,
    check_packs,
    english,
    pattern_lists,
    rows_of,
    vocabularies,
    word_lists,
    word_maps,
)
from interlock.analysis.lexicon.vocabulary import Language
from interlock.analysis.operations.effects import NAMED, as_deed
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.settings import SETTINGS, key_senses
from interlock.analysis.packs import PackError
from interlock.analysis.prose import read_prose
from recording_report import Recorder

HARMLESS = {"act_change", "act_read", "act_vague"}

LANGUAGE: dict[str, Any] = {
    "code": "xx",
    "verbs": {"destroy": "żabować* raz_na_zawsze"},
    "nouns": {"data": "Dane"},
    "scope": {"all": "wszystko"},
    "words": {"look": "patrz*", "never": "nie"},
}


SCOPED = {one.match: one for scoped in english().scoped.values() for one in scoped}


@each("sentence", sorted(SCOPED))
def test_scope_changes_an_effect_and_nothing_else_does(sentence: str) -> None:
    one, out = SCOPED[sentence], Recorder()
    read_prose(sentence, out)
    found = {fact[0] for fact in out.facts}
    assert one.effect in found if one.effect else not found <= HARMLESS
    spared = Recorder()
    read_prose(one.spare, spared)
    assert {fact[0] for fact in spared.facts} <= HARMLESS


OPERATIONS = [row for table in ("named", "raising", "given", "setting") for row in rows_of(table)]


@each("row", OPERATIONS, ids=lambda row: row["match"])
def test_a_row_for_operations_has_its_effect_and_only_there(row: dict[str, str]) -> None:
    effect, traits = as_deed(row["then"])
    found, spared = Recorder(), Recorder()
    for example, out in ((row["match"], found), (row["spare"], spared)):
        name, _, params = example.partition(" ")
        read_operation(name, json.loads(params or "{}"), "", out)
    assert (effect, {*traits}) in [(fact[0], {*traits} & {*fact[2:]}) for fact in found.facts], found.facts
    assert effect == "act_change" or effect not in {fact[0] for fact in spared.facts}, spared.facts


@each("row", rows_of("sense"), ids=lambda row: row["match"])
def test_a_row_for_keys_has_its_sense_and_only_there(row: dict[str, str]) -> None:
    assert f"*{row['then']}" in key_senses(row["match"])
    assert f"*{row['then']}" not in key_senses(row["spare"])


@pytest.mark.parametrize(
    "change",
    [{"then": "ruin"}, {"then": ""}, {"verbs": ""}, {"nouns": ""}, {"spare": ""}, {"noun": "dns"}],
)
def test_a_wrong_row_for_names_is_refused(change: dict[str, str]) -> None:
    row = {"verbs": "zap", "nouns": "dns", "then": "delete", "match": "zap_dns", "spare": "get_dns"}
    assert NAMED.read([row])
    with pytest.raises(PackError, match="row 1 of named"):
        NAMED.read([row | change])


@pytest.mark.parametrize("change", [{"then": "ruin"}, {"value": ""}, {"key": ""}, {"match": ""}, {"keys": "mfa"}])
def test_a_wrong_row_for_settings_is_refused(change: dict[str, str]) -> None:
    row = {"value": "off", "key": "mfa", "then": "override", "match": 'set_x {"mfa": 0}', "spare": 'set_x {"mfa": 1}'}
    assert SETTINGS.read([row])
    with pytest.raises(PackError, match="row 1 of setting"):
        SETTINGS.read([row | change])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"effects": {"*": "ruin"}}, "unknown 'ruin'"),
        ({"effects": {"*": "change", "databse": "delete"}}, "unknown 'databse'"),
        ({"effects": {"data": "delete"}}, "no effect on `\\*`"),
        ({"verb": "zap"}, "unknown field `verb`"),
        ({"verbs": "zap zap2 look_at"}, ""),
    ],
)
def test_a_wrong_kind_of_verb_is_refused(change: dict[str, Any], message: str) -> None:
    kind = {"name": "delete", "sentence": "destroy", "verbs": "zap", "effects": {"*": "delete"}} | change
    pack = {
        "kind": {"zap": kind},
        "scope": {"all": "all"},
        "scoped": [],
        "tame": {"named": {"read": "look"}, "said": {"look": "look"}},
        "nominals": {"both": {}, "named": {}, "said": {}},
        "nouns": {"data": "row"},
        "name_nouns": {},
        "phrasals": {},
    }
    if not message:
        assert English(pack).senses["zap2"] == "zap"
        return
    with pytest.raises(PackError, match=message):
        English(pack)


def test_a_verb_has_one_kind() -> None:
    kind = {"name": "delete", "verbs": "zap", "effects": {"*": "delete"}}
    pack = {
        "kind": {"one": kind, "other": kind},
        "scope": {"all": "all"},
        "scoped": [],
        "tame": {"named": {}, "said": {}},
        "nominals": {"both": {}, "named": {}, "said": {}},
        "nouns": {"data": "row"},
        "name_nouns": {},
        "phrasals": {},
    }
    with pytest.raises(PackError, match="'zap' is listed twice"):
        English(pack)


def phrases_of(phrase: dict[str, Any]) -> dict[str, Any]:
    return {"idiom": [phrase], "harmless": [], "lists": {"away": ["away", "west"]}, "parts": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"patterns": ["{nobody}"]}, "no list 'nobody'"),
        ({"patterns": ["{prose.nobody}"]}, "no list 'prose.nobody'"),
        ({"patterns": ["x" * 201]}, "length <= 200"),
        ({"patterns": ["(x"]}, "unterminated"),
        ({"patterns": []}, "length >= 1"),
        ({"cues": ""}, "no cues"),
        ({"kind": "destroy"}, "expected one that is known"),
        ({"effect": "ruin"}, "expected one that is known"),
        ({"strongly": True}, "unknown field `strongly`"),
    ],
)
def test_a_wrong_phrase_is_refused(change: dict[str, Any], message: str) -> None:
    phrase = {"cues": "go", "effect": "delete", "patterns": [r"\bgo {away}"]} | change
    with pytest.raises(PackError, match=message):
        build_phrases(phrases_of(phrase), english())


def test_a_phrase_is_found_wherever_a_word_begins_with_its_cue() -> None:
    phrase = {"cues": "go", "effect": "delete", "patterns": [r"\bgo(?:es)? {away}"]}
    found, _ = build_phrases(phrases_of(phrase), english())
    assert [start for start, _ in found.found("it goes west")] == [3]
    assert list(found.found("it is going west")) == []


def test_a_phrase_with_a_starred_cue_is_found_wherever_that_stands() -> None:
    phrase = {"cues": "*.gone", "effect": "delete", "patterns": [r"\w+\.gone\b"]}
    found, _ = build_phrases(phrases_of(phrase), english())
    assert [start for start, _ in found.found("see key.gone")] == [4]
    assert list(found.found("all is gone")) == []


@each("code", sorted(vocabularies()))
def test_every_language_has_each_kind_of_word(code: str) -> None:
    language = vocabularies()[code].language
    assert {"destroy", "stop", "disable", "revoke", "send", "reset", "grant", "bypass"} <= set(language.verbs)
    assert {"data", "resource", "safety", "credential", "account", "code"} <= set(language.nouns)
    assert {"all", "production", "permanent", "admin"} <= set(language.scope)
    assert all(map(language.listed, ("look", "make", "never", "asked", "joints", "empty")))


def test_words_are_kept_in_plain_letters() -> None:
    (pack,) = check_packs([LANGUAGE])
    assert pack["verbs"]["destroy"].split()[0] == "zabowac*"
    assert pack["nouns"]["data"] == "dane"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verb": {"destroy": "x"}}, "unknown field `verb`"),
        ({"words": {"looks": "x"}}, "unknown key 'looks'"),
        ({"verbs": {}}, r"length >= 1 - at `\$.verbs`"),
        ({"nouns": {"data": ""}}, r"length >= 1 - at `\$.nouns"),
        ({"idioms": {"verb destroy": "x"}}, "Expected `array`"),
        ({"idioms": {"verb destroy": ["(x"]}}, "unterminated"),
        ({"idioms": {"verb destroy": ["x" * 201]}}, "length <= 200"),
        ({"idioms": {"verbs destroy": ["x"]}}, "unknown 'verbs'"),
        ({"spaced": "no"}, r"Expected `bool`, got `str` - at `\$.spaced`"),
        ({"past": "(x"}, "unterminated"),
    ],
)
def test_a_wrong_vocabulary_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PackError, match=message.replace("(", r"\(")):
        check_packs([LANGUAGE | change])


def test_a_row_with_a_slot_that_nobody_fills_is_refused() -> None:
    with pytest.raises(PackError, match=r"row .* of is_thing: unknown key 'before2'"):
        Rows("is_thing", "form kind", "word before after front first").first(("base", "do"), dict)


def test_every_key_of_a_vocabulary_is_explained() -> None:
    explained = tomllib.loads((Path(lexicon.__file__).parent / "roles.toml").read_text())
    assert explained["keys"].keys() == set(Language.__struct_fields__)
    assert all(text for table in explained.values() for text in table.values())


def test_a_code_is_used_once() -> None:
    with pytest.raises(PackError, match="two languages have the code 'xx'"):
        check_packs([LANGUAGE, LANGUAGE])


READERS = [
    path
    for name in ("prose", "operations", "lexicon")
    for path in (Path(analysis.__file__).parent / name).rglob("*.py")
]


@pytest.mark.parametrize(
    ("kind", "held"), [("WordLists", word_lists()), ("WordMaps", word_maps()), ("Patterns", pattern_lists())]
)
def test_every_list_and_pattern_is_asked_for_and_every_one_asked_for_is_there(kind: str, held: dict[str, Any]) -> None:
    text = {path: path.read_text() for path in READERS}
    asked: dict[str, set[str]] = {}
    for path in READERS:
        for found in re.finditer(rf'^(\w+) = {kind}\("(\w+)"\)', text[path], re.MULTILINE):
            asking = [text[path]] if found[1].startswith("_") else text.values()
            asked[found[2]] = {
                name for one in asking for name in re.findall(rf"\b{found[1]}\.(?:in_order\(.)?([a-z]\w*)", one)
            }
            if "getattr(" + found[1] in text[path]:  # all of them
                asked[found[2]] = {*held[found[2]]}
    rows = (Path(lexicon.__file__).parent / "english_rows.toml").read_text()
    named = {"WordLists": (r"\{(\w+)\.(\w+)\}", str(pattern_lists()) + rows), "Patterns": (r"~(\w+)\.(\w+)", rows)}
    for reader, name in re.findall(*named[kind]) if kind in named else ():
        asked[reader].add(name)
    assert {reader: set(names) for reader, names in held.items() if reader != "lists"} == asked


@each("path", READERS, ids=str)
def test_no_reader_has_a_long_pattern_of_its_own(path: Path) -> None:
    literals = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    assert [one for one in literals if isinstance(one, str) and len(one) > LONGEST and "(?" in one] == []
