"""A verb and its object mean the same in an operation's name, however it is spelled, and in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

from interlock import assess
from interlock.analysis import lexicon
from interlock.analysis.lexicon import split_name, verb_forms
from interlock.model import Level, intent, operation, tool

NOUNS = (
    "customer records", "inventory database", "backups", "web server", "user account", "api keys", "firewall", "audit log", "subscription",
    "permissions", "dns zone", "comment",
)  # fmt: skip
# reason -> verb -> last words of the objects about which name and sentence still disagree; an entry that agrees has to go
REASONS: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_name("disagreements.toml").read_text())
OPEN: dict[str, set[str]] = {
    verb: {noun for listed in REASONS.values() for noun in listed.get(verb, ())}
    for reason in REASONS.values()
    for verb in reason
}


def verbs() -> list[str]:
    plain = {verb for form, (verb, _, _) in verb_forms().items() if form == verb}
    return sorted(verb for verb in plain & set(lexicon.verbs()) if verb.isalpha())


def disagrees(one: Level, other: Level) -> bool:
    return (one >= Level.DESTRUCTIVE) is not (other >= Level.DESTRUCTIVE) or abs(one - other) > 1


def test_a_name_and_a_sentence_mean_the_same() -> None:
    found: dict[str, list[str]] = {}
    for verb in verbs():
        for noun in NOUNS:
            named = assess(operation("_".join((verb, *noun.split())), {})).level
            if disagrees(named, assess(intent(f"{verb.capitalize()} the {noun}")).level):
                found.setdefault(verb, []).append(noun.split()[-1])
    new = {verb: sorted({*nouns} - OPEN.get(verb, set())) for verb, nouns in found.items()}
    gone = {verb: sorted(nouns - {*found.get(verb, ())}) for verb, nouns in OPEN.items()}
    assert {verb: nouns for verb, nouns in new.items() if nouns} == {}, "these disagree"
    assert {verb: nouns for verb, nouns in gone.items() if nouns} == {}, "these agree by now: take them out"


def test_a_name_is_read_alike_in_every_spelling() -> None:
    for verb in verbs():
        for noun in NOUNS:
            words = (verb, *noun.split())
            humps = "".join((verb, *map(str.title, words[1:])))
            own = split_name("_".join(words))
            assert own == split_name("-".join(words)) == split_name(humps) == split_name(humps[0].upper() + humps[1:])
            assert split_name(f"mcp__server__{'_'.join(words)}")[2:] == own


def test_a_name_means_the_same_where_a_sentence_calls_it() -> None:
    for verb in verbs():
        name = f"{verb}_inventory_database"
        called = assess(intent(f"Calling {name}")).level
        assert not disagrees(called, assess(operation(name, {})).level), name
        assert not disagrees(called, assess(tool(f"mcp__server__{name}", {})).level), name
