"""English as data: kinds of verbs with their words, and one table of kind x object x scope -> effect for names and sentences alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from interlock.analysis.lexicon.named_effects import NamedEffects, build_given, build_named
from interlock.analysis.packs import Pack, PackError, only_keys

Traits = frozenset[str]
Noun = tuple[str, tuple[str, ...], bool]  # kind, traits, whether it is many
CHANGE = "act_change"
STORES: Traits = frozenset({"database", "table", "schema", "volume", "bucket", "repository", "project"})
UNKNOWN, UNKNOWN_NAMED, ANY, STORE = "-", "named", "*", "store"
_SPECIFIC = ("database", "table", "schema", "volume", "bucket", "repository", "project", "backup", "cluster")
OBJECTS = frozenset(
    "data log account access credential config guard safety resource money order event run disk device machine history source private"
    " code scrap message".split()
)
_KEYS = OBJECTS | {*_SPECIFIC, UNKNOWN, UNKNOWN_NAMED, ANY, STORE}
EFFECTS = frozenset(
    "account block change delete disk escalate invalidate leak override pay revoke rewrite run send terminate unconfigure".split()
)
READS = "read"  # the effect of showing what a file or a store holds
_TABLES = frozenset(
    "given kind name_nouns name_words named nominals nouns pairs parameters phrasals scope scoped tame".split()
)
PARAMETERS = frozenset(
    "closes demanded demands ending erases guards let_in lets lifted lifts lost mild not_switches prevented public spares takes".split()
)
_KIND_KEYS = frozenset({"adds", "effects", "name", "named", "said", "sentence", "verbs"})
_SCOPED_KEYS = frozenset({"as", "effect", "kinds", "match", "objects", "spare", "traits"})
_SOFT = frozenset({"act_account", "act_terminate", "act_delete"})  # what can be undone where the verb is a gentle one


class VerbKind(Struct, frozen=True):
    """Verbs that do the same."""

    name: str  # how a name is parsed that they lead
    sentence: str  # what they are in a sentence; empty where they are no verbs there
    named: tuple[str, ...]
    said: tuple[str, ...]
    effects: Mapping[str, str]
    adds: str = ""  # a trait of whatever they harm


class ScopedEffect(Struct, frozen=True):
    """What traits of an object change."""

    objects: frozenset[str]
    traits: Traits
    effect: str = ""
    like: str = ""  # the kind that it amounts to
    match: str = ""  # a sentence that has the effect
    spare: str = ""  # one that has none


class English(Struct, frozen=True):
    """The words of English, by kind."""

    kinds: Mapping[str, VerbKind]
    scoped: Mapping[str, tuple[ScopedEffect, ...]]
    named: Mapping[str, str]  # verb of a name -> how the name is parsed
    senses: Mapping[str, str]  # verb -> its kind
    said: Mapping[str, tuple[str, ...]]  # what verbs are in a sentence -> the verbs, tame ones first
    named_nouns: Mapping[str, str]  # noun that names a deed in a name -> the kind of verb
    said_nouns: Mapping[str, str]  # and in a sentence
    nouns: Mapping[str, Noun]  # every noun, singular and plural
    name_nouns: Mapping[str, str]  # noun of a name -> the kind that names know
    phrasals: Mapping[str, Mapping[str, str]]  # verb -> particle -> the kind of both together
    pairs: Mapping[tuple[str, str], str]  # two words of a name that are one idea -> the word that they are read as
    carriers: frozenset[str]  # verbs of a name that carry a noun which names a deed
    weak: frozenset[str]  # verbs of a name that are as often nouns
    parameters: Mapping[str, frozenset[str]]  # groups of words in the names of parameters
    first: NamedEffects  # rows that are asked before the table, for names
    raising: NamedEffects  # and those for names that do no harm by the table
    given: NamedEffects  # rows for names with parameters
    scope: Mapping[str, str]  # word of a sentence -> how much, where or for how long

    def kind_of(self, verb: str, default: str) -> str:
        """The kind of a verb, or of a noun that names a deed."""
        return self.senses.get(verb) or self.named_nouns.get(verb) or default

    def effect(self, kind: str, thing: str, traits: Traits, named: bool = False) -> tuple[str, Traits]:
        """What a verb of this kind does to a thing of this kind, and what that adds to the thing's traits."""
        effect = self._effect(kind, thing, traits, named)
        if effect == CHANGE:
            return effect, traits
        adds = self.kinds[kind].adds
        if adds and (adds != "undoable" or effect in _SOFT) and (adds != "physical" or effect == "act_terminate"):
            traits = traits | {adds}
        return effect, traits | {"physical"} if thing == "machine" else traits

    def _effect(self, kind: str, thing: str, traits: Traits, named: bool) -> str:
        row = self.kinds[kind].effects
        thing = thing if thing in OBJECTS else ""
        if thing in ("code", "scrap"):
            return row.get(thing, CHANGE)
        for scoped in self.scoped.get(kind, ()):
            if not scoped.traits.isdisjoint(traits) and (ANY in scoped.objects or (thing or UNKNOWN) in scoped.objects):
                return scoped.effect or self._effect(scoped.like, thing, traits, named)
        if not thing:
            return (row.get(UNKNOWN_NAMED) if named else None) or row.get(UNKNOWN) or row[ANY]
        if not traits.isdisjoint(_SPECIFIC):
            for trait in _SPECIFIC:
                if trait in traits and trait in row:
                    return row[trait]
            if STORE in row and thing == "data" and not STORES.isdisjoint(traits):
                return row[STORE]
        return row.get(thing) or row[ANY]


def build_english(pack: Pack) -> English:
    """English from its pack; raises PackError on anything that is not exactly right."""
    only_keys("english", pack, _TABLES)
    given = pack["kind"]
    kinds = {name: _kind(name, data, given) for name, data in given.items()}
    tame = pack["tame"]
    only_keys("english: tame", tame, {"named", "said"})
    named = {word: name for name, words in tame["named"].items() for word in words.split()}
    said: dict[str, list[str]] = {name: words.split() for name, words in tame["said"].items()}
    senses: dict[str, str] = {}
    for name, kind in kinds.items():
        for word in (*kind.named, *kind.said):
            if senses.setdefault(word, name) != name or (word in named and word in kind.named):
                raise PackError(f"english: the verb {word!r} is listed twice")
        named.update(dict.fromkeys(kind.named, kind.name))
        if kind.sentence:
            said.setdefault(kind.sentence, []).extend(kind.said)
    scoped: dict[str, tuple[ScopedEffect, ...]] = {}
    for number, data in enumerate(pack["scoped"], 1):
        one = _scoped(f"english: scoped effect {number}", data, kinds)
        for name in data["kinds"].split():
            scoped[name] = (*scoped.get(name, ()), one)
    nouns = pack["nominals"]
    only_keys("english: nominals", nouns, {"both", "named", "said"})
    both = _nominals(nouns["both"], kinds)
    return English(
        kinds,
        scoped,
        named,
        senses,
        {name: tuple(words) for name, words in said.items()},
        both | _nominals(nouns["named"], kinds),
        both | _nominals(nouns["said"], kinds),
        things := _nouns(pack["nouns"]),
        _name_nouns(pack["name_nouns"], things, named),
        _phrasals(pack["phrasals"], kinds),
        {_pair(pair): word for word, listed in pack["pairs"].items() for pair in listed.split()},
        frozenset(pack["name_words"]["carriers"].split()),
        frozenset(pack["name_words"]["weak"].split()),
        _parameters(pack["parameters"]),
        *build_named(pack["named"], EFFECTS | {READS}),
        build_given(pack["given"], EFFECTS),
        {word: trait for trait, words in pack["scope"].items() for word in words.split()},
    )


def _parameters(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    only_keys("english: parameters", table, PARAMETERS)
    if missing := PARAMETERS - set(table):
        raise PackError(f"english: parameters: no {', '.join(sorted(missing))}")
    return {group: frozenset(words.split()) for group, words in table.items()}


def _phrasals(table: Mapping[str, str], kinds: Mapping[str, VerbKind]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for kind, listed in table.items():
        for verb, particle in map(_pair, listed.split()):
            found.setdefault(verb, {})[particle] = _known("english: phrasals", kind, kinds)
    return found


def _pair(text: str) -> tuple[str, str]:
    first, plus, second = text.partition("+")
    if not plus or not second:
        raise PackError(f"english: {text!r}, expected two words with a `+` between them")
    return first, second


def _nouns(table: Mapping[str, str]) -> dict[str, Noun]:
    found: dict[str, Noun] = {}
    for name, words in table.items():
        kind, *traits = name.split()
        _known("english: nouns", kind, OBJECTS)
        for word in words.split():
            noun = word if word.startswith(("__", ".")) or word == "node_modules" else word.replace("_", " ")
            found[noun] = (kind, tuple(traits), noun in _MANY)
            found.setdefault(plural(noun), (kind, tuple(traits), True))
    return found


_MANY = frozenset("data contents content changes people staff everyone history information drafts work".split())


def plural(noun: str) -> str:
    """The plural of an English noun."""
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


VOWELS = frozenset("aeiou")
# What a kind of thing is called where the noun of a name is meant; what has none is nothing that a name is about.
_IN_NAMES = {
    "data": "data", "log": "audit", "access": "access", "credential": "credential", "config": "config", "guard": "safety", "safety": "safety",
    "resource": "machine", "account": "person", "money": "money", "event": "money", "disk": "disk", "device": "physical", "machine": "physical",
    "history": "data", "source": "data",
}  # fmt: skip
_SPECIAL = frozenset("database table schema volume bucket repository project backup cluster organization".split())


def _name_nouns(table: Mapping[str, str], nouns: Mapping[str, Noun], verbs: Mapping[str, str]) -> dict[str, str]:
    found = {
        noun: next((trait for trait in traits if trait in _SPECIAL), _IN_NAMES[kind])
        for noun, (kind, traits, _) in nouns.items()
        if kind in _IN_NAMES and noun.isalnum() and noun not in verbs
    }
    return found | {word: kind for kind, words in table.items() for word in words.split()}


def _nominals(table: Mapping[str, str], kinds: Mapping[str, VerbKind]) -> dict[str, str]:
    return {word: _known("english: nominals", kind, kinds) for kind, words in table.items() for word in words.split()}


def _kind(name: str, data: Mapping[str, Any], given: Mapping[str, Any]) -> VerbKind:
    where = f"english: kind {name}"
    only_keys(where, data, _KIND_KEYS)
    both = data.get("verbs", "").split()
    return VerbKind(
        str(data["name"]),
        str(data.get("sentence", "")),
        (*both, *data.get("named", "").split()),
        (*both, *data.get("said", "").split()),
        _row(where, data["effects"], given),
        str(data.get("adds", "")),
    )


def _row(where: str, data: Mapping[str, str], given: Mapping[str, Any], depth: int = 0) -> dict[str, str]:
    row = _row(where, given[data["like"]]["effects"], given, depth + 1) if "like" in data and depth < _DEEPEST else {}
    for thing, effect in data.items():
        if thing == "like":
            continue
        row[thing] = f"act_{_known(where, effect, EFFECTS)}"
        _known(where, thing, _KEYS)
    if ANY not in row:
        raise PackError(f"{where}: no effect on `*`")
    return row


def _scoped(where: str, data: Mapping[str, str], kinds: Mapping[str, VerbKind]) -> ScopedEffect:
    only_keys(where, data, _SCOPED_KEYS)
    for name in (*data["kinds"].split(), *data.get("as", "").split()):
        _known(where, name, kinds)
    objects = frozenset(_known(where, one, _KEYS) for one in data["objects"].split())
    effect = f"act_{_known(where, data['effect'], EFFECTS)}" if "effect" in data else ""
    if bool(effect) is bool(data.get("as")) or not data["traits"].split():
        raise PackError(f"{where}: expected traits, and either an effect or `as`")
    if not data.get("match") or not data.get("spare"):
        raise PackError(f"{where}: expected a sentence for `match` and one for `spare`")
    traits = frozenset(data["traits"].split())
    return ScopedEffect(objects, traits, effect, data.get("as", ""), data["match"], data["spare"])


def _known(where: str, name: str, known: Iterable[str]) -> str:
    if name not in known:
        raise PackError(f"{where}: unknown {name!r}; known: {', '.join(sorted(known))}")
    return name


_DEEPEST = 4
