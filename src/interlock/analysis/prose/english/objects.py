"""The words behind an English verb -> the kind of thing that they name, its traits, and whether it is only a piece of code or text."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.lexicon.forms import last_words, nouns, scope
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.prose.clauses import AROUND, ENGLISH, NOTHING, Around, Tokens, Traits, may_say

_PATTERNS = Patterns("objects")
_LISTS = WordLists("objects")

_NO_BACKUP_CUES = ("backup", "snapshot", "copy")
_NO_UNDO_CUES = ("good", "undo", "recover", "restored", "hard", "bypass")


class EnglishObject(Struct, frozen=True):
    """What an act is done to."""

    kind: str = ""
    words: str = ""
    traits: Traits = NOTHING
    pronoun: bool = False
    group: bool = False  # a group or role that somebody is in
    said: str = ""  # all of the words, in lower case
    bare: bool = False  # a pronoun and nothing else
    direct: bool = True  # the kind is that of the thing itself, not of what it belongs to
    guards: str = ""  # a safety measure among the words in front of the noun

    def with_traits(self, more: Traits) -> EnglishObject:
        return replace(self, traits=self.traits | more)


def thing_in(words: Tokens, start: int, end: int, particle: int = -1) -> EnglishObject:
    """The thing that these words name; what comes first counts, what it is in adds to it."""
    kept = words[start:end]
    if particle >= start:
        del kept[particle - start]
    low = [word.lower() for word in kept]
    phrases, scopes = _phrases(low), _scope(low)
    first = phrases[0]
    # `record 42`, `one row`: a piece of a store, and not the store
    single = not _LISTS.records.isdisjoint(first) and not any(scope().get(word) in ("all", "bulk") for word in first)
    kind, many, group, direct = "", False, False, True
    traits: set[str] = set()
    for number, phrase in enumerate(phrases):
        got = _noun(phrase)
        if got is None:
            continue
        their_kind, their_traits, their_many = got
        if not kind:
            kind, many = their_kind, their_many
            direct = number == 0 or not _LISTS.generic.isdisjoint(first)
            traits.update(their_traits if direct else set(their_traits) & {"production", "database"})
        else:
            traits.update(their_traits if kind == "data" and not single else set(their_traits) & {"production"})
        group = group or (number > 0 and not _LISTS.groups.isdisjoint(phrase))
    text = " ".join(low)
    if _LISTS.shared.isdisjoint(low):
        slots = {"words": low, "all": low, "first": first, "scopes": scopes, "traits": traits, "text": text}
        kind = _SCRAP.first((kind,), slots) or kind
    elif kind == "scrap":
        kind = "data"
    traits |= scopes
    if many:
        traits.add("bulk")
    if may_say(_NO_BACKUP_CUES, text) and _PATTERNS.no_backup.search(text):
        traits.add("no_backup")
    if may_say(_NO_UNDO_CUES, text) and _PATTERNS.no_undo.search(text):
        traits.add("permanent")
    if kind == "credential":
        traits |= {"secret", "permanent"} if any(word.startswith("encrypt") for word in low) else {"secret"}
    table, pronoun = nouns(), not low or not _LISTS.pronouns.isdisjoint(low[:3])
    bare, kinds = bool(low) and low[0] in _LISTS.bare, {table[word][0] for word in first if word in table}
    guards = "safety" if "safety" in kinds else "guard" if "guard" in kinds else ""
    return EnglishObject(kind, " ".join(kept[:12]), frozenset(traits), pronoun, group, text, bare, direct, guards)


_SCRAP = Rows("scrap", "kind", "words all first scopes traits text")


def _phrases(low: Tokens) -> list[Tokens]:
    """The words, cut at prepositions."""
    cuts, articles = ENGLISH.prepositions, ENGLISH.determiners
    found: list[Tokens] = [[]]
    spared = False
    for word in low:
        if word in cuts or word == ",":
            spared = word == "except"
            found.append([])
        elif word not in articles and not spared:
            found[-1].append(word)
    return list(filter(None, found)) or [[]]


def _noun(phrase: Tokens) -> tuple[str, tuple[str, ...], bool] | None:
    """The last noun of a phrase, by its longest name."""
    table, ends = nouns(), last_words()
    for end in range(len(phrase), 0, -1):
        last = phrase[end - 1]
        if last not in table and last not in ends and last.isalpha():
            continue
        bare = last.removesuffix("'s").removesuffix("'")
        for length in (3, 2, 1) if last in ends or bare in ends else (1,):
            if length > end:
                continue
            front = " ".join(phrase[end - length : end - 1]) + " " if length > 1 else ""
            known = table.get(front + last) or table.get(front + bare)
            if known is None:
                continue
            before = phrase[: end - length]
            worthless = known[0] in _LISTS.lasting and not _LISTS.throwaway.isdisjoint(before)
            if last in _LISTS.holders:  # is worth what it holds
                worthless |= any(word.endswith("cache") or table.get(word, ("",))[0] == "scrap" for word in before)
            return ("scrap", (), False) if worthless else known
        tail = last.rpartition("_")[2]
        if tail in table and tail != last:
            return table[tail]
        if shape := _PATTERNS.shapes.search(last):
            return (shape.lastgroup or "", (), False)
    return None


def _scope(low: Tokens) -> set[str]:
    """How many, where and for how long, by the words themselves and by the names among them."""
    table = scope()
    found = {table[word] for word in low if word in table}
    for at, word in enumerate(low):
        if word.isalpha():
            continue
        if word.isdigit() and int(word[:9]) > 1 and at + 1 < len(low) and low[at + 1].endswith("s"):
            found.add("bulk")
        if "_" in word:
            found.update(table[piece] for piece in word.split("_") if piece in table)
        if _PATTERNS.production.search(word):
            found.add("production")
        elif _PATTERNS.staging.search(word):
            found.add("staging")
    return found


_KINDS = Rows("object_kind", "kind verb thing", f"{AROUND} is traits words text named")


def kind_of(kind: str, verb: str, thing: EnglishObject, low: Tokens, at: int) -> str:
    """The kind of the object, where the verb and the words around say more than the noun."""
    if not _KINDS.of((kind, verb, thing.kind)):
        return thing.kind
    given = {
        "is": (thing.guards, thing.direct * "direct", thing.group * "group"),
        "traits": thing.traits,
        "words": thing.said.split(),
        "text": thing.said,
        "named": thing.words,
    }
    said = _KINDS.first((kind, verb, thing.kind), Around(low, at, given))
    return thing.kind if said is None else said


def in_code(thing: EnglishObject, low: Tokens, at: int, traits: Traits, kind: str) -> bool:
    """True when what goes is a piece of source or of a text, not the thing itself."""
    if traits & _LISTS.real or thing.kind in ("log", "machine", "device", "disk") or kind in _LISTS.no_edits:
        return False
    place = _PATTERNS.code_place.search(" ".join(low[at:]))
    return place is not None and not (thing.kind == "access" and place[0].startswith("to "))
