"""English as data: kinds of verbs, one table of kind x object x scope -> effect for names and sentences, and phrases that announce one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import replace

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import Pack, PackError, only_keys

LONGEST = 200  # characters of one pattern
Text = Annotated[str, Meta(min_length=1)]  # words
Regex = Annotated[str, Meta(min_length=1, max_length=LONGEST)]
Regexes = Annotated[Sequence[Regex], Meta(min_length=1)]
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
_SOFT = frozenset({"act_account", "act_terminate", "act_delete"})  # what can be undone where the verb is a gentle one
_DEEPEST = 4  # rows like other rows


class Words(tuple[str, ...]):
    """Words that stand as one text in the data, in their order."""


def decode(where: str, data: Any, kind: Any) -> Any:
    """The data as a value of this kind; raises PackError where it is none."""
    try:
        return convert(data, kind, dec_hook=_split)
    except ValidationError as error:
        raise PackError(f"{where}: {error}") from None


def _split(_: type, value: object) -> Words:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80}, expected words")
    return Words(value.split())


def known(where: str, name: str, names: Iterable[str]) -> str:
    """A name that is among these; raises PackError for any other."""
    if name not in names:
        raise PackError(f"{where}: unknown {name!r}; known: {', '.join(sorted(names))}")
    return name


class VerbKind(Struct, frozen=True, forbid_unknown_fields=True):
    name: str  # how a name is parsed that they lead
    effects: Mapping[str, str]
    sentence: str = ""  # what they are in a sentence; empty where they are no verbs there
    verbs: Words = Words()
    named: Words = Words()  # verbs only in a name
    said: Words = Words()  # verbs only in a sentence
    adds: str = ""  # a trait of whatever they harm


class ScopedEffect(Struct, frozen=True, forbid_unknown_fields=True):
    """What traits of an object change."""

    kinds: Words
    objects: Words
    traits: Words
    match: Text  # a sentence that has the effect
    spare: Text  # one that has none
    effect: str = ""
    like: str = field(name="as", default="")  # the kind that it amounts to


class _ByUse(Struct, frozen=True, forbid_unknown_fields=True):
    """What stands for words -> the words of names, those of sentences, and those of both."""

    named: Mapping[str, Words]
    said: Mapping[str, Words]
    both: Mapping[str, Words] = {}


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Mapping[str, VerbKind]
    scoped: tuple[Any, ...]
    tame: _ByUse
    nominals: _ByUse
    nouns: Mapping[str, Words]
    name_nouns: Mapping[str, Words]
    phrasals: Mapping[str, Words]
    scope: Mapping[str, Words]
    pasts: Mapping[str, Words] = {}
    many: Words = Words()
    in_names: Mapping[str, Words] = {}


class English:
    """The words of English, by kind; raises PackError on anything in its pack that is not exactly right."""

    def __init__(self, pack: Pack) -> None:
        table: _Table = decode("english", pack, _Table)
        self.kinds = {name: replace(kind, effects=_row(name, table.kind)) for name, kind in table.kind.items()}
        tame = by_word(table.tame.named)
        self.named = dict(tame)  # verb of a name -> how the name is parsed
        self.said = {name: [*words] for name, words in table.tame.said.items()}  # what verbs are in a sentence -> them
        self.senses: dict[str, str] = {}  # verb -> its kind
        for name, kind in self.kinds.items():
            for word in (*kind.verbs, *kind.named, *kind.said):
                if self.senses.setdefault(word, name) != name or (word in tame and word not in kind.said):
                    raise PackError(f"english: the verb {word!r} is listed twice")
            self.named |= dict.fromkeys((*kind.verbs, *kind.named), kind.name)
            if kind.sentence:
                self.said.setdefault(kind.sentence, []).extend((*kind.verbs, *kind.said))
        self.scoped: dict[str, tuple[ScopedEffect, ...]] = {}
        for number, data in enumerate(table.scoped, 1):
            one = _scoped(f"english: scoped effect {number}", data, self.kinds)
            for name in one.kinds:
                self.scoped[name] = (*self.scoped.get(name, ()), one)
        # nouns that name a deed -> the kind of verb: in a name, and in a sentence
        both = by_word(table.nominals.both, self.kinds)
        self.named_nouns = both | by_word(table.nominals.named, self.kinds)
        self.said_nouns = both | by_word(table.nominals.said, self.kinds)
        self.nouns = _nouns(table)  # every noun, singular and plural
        in_names = by_word(table.in_names)
        own = {
            noun: next((trait for trait in traits if trait in (*_SPECIFIC, "organization")), in_names[kind])
            for noun, (kind, traits, _) in self.nouns.items()
            if kind in in_names and noun.isalnum() and noun not in self.named
        }
        self.name_nouns = own | by_word(table.name_nouns)  # noun of a name -> the kind that names know
        self.phrasals: dict[str, dict[str, str]] = {}  # verb -> particle -> the kind of both together
        for pair, name in by_word(table.phrasals, self.kinds).items():
            verb, plus, particle = pair.partition("+")
            if not plus or not particle:
                raise PackError(f"english: {pair!r}, expected two words with a `+` between them")
            self.phrasals.setdefault(verb, {})[particle] = name
        self.scope = by_word(table.scope)  # word of a sentence -> how much, where or for how long
        self.pasts = table.pasts  # verb -> its past forms, where no rule makes them

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
            if not traits.isdisjoint(scoped.traits) and (ANY in scoped.objects or (thing or UNKNOWN) in scoped.objects):
                return scoped.effect or self._effect(scoped.like, thing, traits, named)
        asked = [trait for trait in _SPECIFIC if thing and trait in traits]
        asked += [STORE] if thing == "data" and not STORES.isdisjoint(traits) else []
        asked += [thing] if thing else [UNKNOWN_NAMED, UNKNOWN] if named else [UNKNOWN]
        return next(row[key] for key in (*asked, ANY) if key in row)


def by_word(table: Mapping[str, Words], kinds: Mapping[str, VerbKind] | None = None) -> dict[str, str]:
    """Each word -> what it is listed under, which is one of the kinds where these are given."""
    listed = table if kinds is None else {known("english", kind, kinds): words for kind, words in table.items()}
    return {word: kind for kind, words in listed.items() for word in words}


def _row(name: str, given: Mapping[str, VerbKind], depth: int = 0) -> dict[str, str]:
    """The effects of a kind, and those of the kind that it is like."""
    where, data = f"english: kind {name}", given[name].effects
    row = _row(data["like"], given, depth + 1) if "like" in data and depth < _DEEPEST else {}
    for thing, effect in data.items():
        if thing != "like":
            row[known(where, thing, _KEYS)] = f"act_{known(where, effect, EFFECTS)}"
    if ANY not in row:
        raise PackError(f"{where}: no effect on `*`")
    return row


def _scoped(where: str, data: Any, kinds: Mapping[str, VerbKind]) -> ScopedEffect:
    one: ScopedEffect = decode(where, data, ScopedEffect)
    for name in (*one.kinds, *one.like.split()):
        known(where, name, kinds)
    for name in one.objects:
        known(where, name, _KEYS)
    if bool(one.effect) is bool(one.like) or not one.traits:
        raise PackError(f"{where}: expected traits, and either an effect or `as`")
    return replace(one, effect=f"act_{known(where, one.effect, EFFECTS)}") if one.effect else one


def _nouns(table: _Table) -> dict[str, Noun]:
    found: dict[str, Noun] = {}
    for name, words in table.nouns.items():
        kind, *traits = name.split()
        known("english: nouns", kind, OBJECTS)
        for word in words:
            noun = word if word.startswith(("__", ".")) or word == "node_modules" else word.replace("_", " ")
            found[noun] = (kind, tuple(traits), noun in table.many)
            found.setdefault(plural(noun), (kind, tuple(traits), True))
    return found


VOWELS = frozenset("aeiou")


def plural(noun: str) -> str:
    if noun.endswith(("s", "sh", "ch", "x", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


# -- phrases

_PART = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)?)\}")
_LETTERS = re.compile(r"\S")
_DEEPEST_PART = 6  # lists inside lists


class Phrase(Struct, frozen=True, forbid_unknown_fields=True):
    """A wording that only as a whole says what happens."""

    cues: Words  # of which a word begins with one, or has it inside where the cue begins with `*`
    pattern: str
    effect: str = ""  # empty where the object decides
    kind: str = ""  # of the verb that it stands for, where the object decides
    traits: Words = Words()
    strong: bool = False  # counts even behind a verb of making


def blank(match: re.Match[str]) -> str:
    """As many words as were found, none of which says anything."""
    return _LETTERS.sub("_", match[0])


class Phrases:
    """All phrases, indexed by their cues."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self.phrases, self.patterns = phrases, [lazy_regex(phrase.pattern) for phrase in phrases]
        cues = [(cue, number) for number, phrase in enumerate(phrases) for cue in phrase.cues]
        self.inside = [(cue[1:], number) for cue, number in cues if cue[0] == "*"]  # may stand anywhere in a word
        self.begun: dict[str, list[int]] = {}  # a cue -> its phrases
        for cue, number in cues:
            self.begun.setdefault(cue, []).append(number)
        self.longest = max(map(len, self.begun), default=0)
        self.begun_by = lru_cache(maxsize=4096)(self._begun_by)

    def found(self, text: str) -> Iterator[tuple[int, Phrase]]:
        """Where a text in lower case has which phrases, in their order."""
        for number in self._begun_in(text):
            match = self.patterns[number].search(text)
            if match:
                yield match.start(), self.phrases[number]

    def without(self, text: str) -> str:
        for number in self._begun_in(text):
            text = self.patterns[number].sub(blank, text)
        return text

    def _begun_in(self, text: str) -> list[int]:
        words = text.split()
        if "-" in text:
            words += [piece for word in words if "-" in word for piece in word.split("-")[1:]]
        inside = {number for piece, number in self.inside if piece in text}
        return sorted(inside.union(chain.from_iterable(map(self.begun_by, words))))

    def _begun_by(self, word: str) -> tuple[int, ...]:
        """The numbers of the phrases that one word may begin; none for most words."""
        ends = range(1, min(len(word), self.longest) + 1)
        return tuple(number for end in ends for number in self.begun.get(word[:end], ()))


def build_parts(pack: Pack) -> dict[str, str]:
    lists = decode("lists", pack["lists"], Mapping[str, Regexes])
    parts: dict[str, str] = decode("parts", pack.get("parts", {}), Mapping[str, Regex])
    return {name: f"(?:{'|'.join(words)})" for name, words in lists.items()} | parts


def build_phrases(pack: Pack, english: English) -> tuple[Phrases, Phrases]:
    """The phrases that announce an effect, and those that make a word of harm harmless; raises PackError on anything wrong."""
    only_keys("idioms", pack, {"harmless", "idiom", "lists", "parts"})
    parts = build_parts(pack)
    idioms = [_phrase(f"idiom {number}", data, parts) for number, data in enumerate(pack["idiom"], 1)]
    for number, one in enumerate(idioms, 1):
        known = one.kind in english.kinds or one.effect == READS or one.effect[4:] in EFFECTS
        if bool(one.effect) is bool(one.kind) or not known:
            raise PackError(f"idiom {number}: effect {one.effect!r} and kind {one.kind!r}, expected one that is known")
    harmless = [_phrase(f"harmless {number}", data, parts) for number, data in enumerate(pack["harmless"], 1)]
    return Phrases(idioms), Phrases(harmless)


def _phrase(where: str, data: Mapping[str, Any], parts: Mapping[str, str]) -> Phrase:
    rest = {key: value for key, value in data.items() if key != "patterns"}
    one: Phrase = decode(where, rest | {"pattern": joined(where, data.get("patterns"), parts)}, Phrase)
    if not one.cues:
        raise PackError(f"{where}: no cues, expected words that begin it")
    return one if one.effect in ("", READS) else replace(one, effect=f"act_{one.effect}")


def joined(where: str, alternatives: Any, parts: Mapping[str, str]) -> str:
    """One pattern of all alternatives, with the parts that they name; raises PackError where it is none."""
    pattern = "|".join(decode(where, alternatives, Regexes))
    try:
        for _ in range(_DEEPEST_PART):
            pattern = _PART.sub(lambda name: parts[name[1]], pattern)
        re.compile(pattern)
    except KeyError as error:
        raise PackError(f"{where}: no list {error}") from None
    except re.error as error:
        raise PackError(f"{where}: {error}") from None
    return pattern
